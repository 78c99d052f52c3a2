from __future__ import annotations

import pytest

from sessions_app.provision import ProvisionError, apply
from tests.provision.conftest import WHOLE
from widget.models import Embed

pytestmark = pytest.mark.django_db

EMBED = """\
[[embed]]
key = "pk_users"
agent = "helper"
"""
SECRET = 'secret = "a secret of the site itself, not short"\n'
REQUIRED = 'identity = "required"\n'


def test_identity_and_proof_of_work_are_set():
    more = SECRET + REQUIRED + 'proof_of_work = "auto"\ntokens_only = true\n'
    apply(WHOLE + EMBED + more)
    embed = Embed.objects.get(key="pk_users")
    assert (embed.identity, embed.proof_of_work) == ("required", "auto")
    assert embed.tokens_only
    assert not apply(WHOLE + EMBED + more).has_changes


def test_stored_secret_is_enough_to_require_identity():
    apply(WHOLE + EMBED + SECRET)
    apply(WHOLE + EMBED + REQUIRED)
    assert Embed.objects.get(key="pk_users").is_identity_required


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (REQUIRED, "without a secret"),
        (REQUIRED + 'secret = ""\n', "without a secret"),
        ('tokens_only = true\nsecret = "s3cret"\n', "32 characters or more"),
        ('identity = "maybe"\n', "is 'maybe', which is not known"),
        ("identity = true\n", "must be a string"),
        ('proof_of_work = "yes"\n', "is 'yes', which is not known"),
    ],
)
def test_what_cannot_be_is_refused(more, words):
    with pytest.raises(ProvisionError, match=words):
        apply(WHOLE + EMBED + more)
    assert not Embed.objects.filter(key="pk_users").exists()
