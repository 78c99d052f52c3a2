from __future__ import annotations

import pytest

from sessions_app.edge.pace import Act, limit_on
from sessions_app.models import RequestLimit
from sessions_app.provision import ProvisionError, apply
from tests.provision.conftest import WHOLE

pytestmark = pytest.mark.django_db

LIMIT = """\
[[limit]]
on = "key:ci"
requests_per_minute = 30
"""


def test_limit_of_the_file_counts_at_once():
    apply(WHOLE + LIMIT + "concurrent_turns = 2\n")
    row = RequestLimit.objects.get()
    assert (row.requests_per_minute, row.concurrent_turns) == (30, 2)
    assert limit_on("key:ci", Act.MESSAGE) == 30
    assert not apply(WHOLE + LIMIT + "concurrent_turns = 2\n").has_changes


@pytest.mark.parametrize("on", ["agent:helper", "embed:pk_shop", "visitor", "address"])
def test_every_target_is_known(on):
    apply(WHOLE + LIMIT.replace("key:ci", on))
    assert limit_on(on, Act.SESSION) == 30


def test_pruned_limit_counts_no_more():
    apply(WHOLE + LIMIT)
    apply(WHOLE, prune=True)
    assert not RequestLimit.objects.get().is_enabled
    assert limit_on("key:ci", Act.MESSAGE) is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("key:ci", "everybody", "'on' must be key:NAME"),
        ("key:ci", "session", "'on' must be key:NAME"),
        ("key:ci", "key:", "'on' must be key:NAME"),
        ("key:ci", "key:nobody", "There is no key 'nobody'"),
        ("= 30", "= -1", "must be from 0"),
        ("= 30", "= 1.5", "must be a whole number"),
        ("requests_per_minute = 30\n", "", "needs the key 'requests_per_minute'"),
        ('"key:ci"\n', '"address"\nconcurrent_turns = 1\n', "not counted by address"),
    ],
)
def test_limit_that_cannot_be_is_refused(old, new, words):
    with pytest.raises(ProvisionError, match=words):
        apply(WHOLE + LIMIT.replace(old, new))
    assert not RequestLimit.objects.exists()
