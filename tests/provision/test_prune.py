"""With ``prune`` the file is the whole truth."""

from __future__ import annotations

import pytest

from sessions_app.models import Agent, ApiKey, Price, Provider
from sessions_app.provision import ProvisionError, apply
from sessions_app.provision.report import Outcome
from sessions_app.store.catalog import candidates_of
from tests.provision.conftest import AGENT, PRICE, PROVIDER, WHOLE
from widget.models import Embed

pytestmark = pytest.mark.django_db

OTHERS = (
    WHOLE.replace("primary", "second")
    .replace("helper", "other")
    .replace("lk_ci", "lk_other")
    .replace('"ci"', '"other"')
    .replace("pk_shop", "pk_other")
)


def test_unnamed_rows_are_disabled():
    apply(WHOLE + OTHERS)
    report = apply(WHOLE, prune=True)
    assert report.things(Outcome.DISABLED) == [
        "provider second",
        "agent other",
        "key other",
        "embed pk_other",
    ]
    for model in (Provider, Agent, ApiKey, Embed):
        assert model.objects.filter(is_enabled=True).count() == 1
    assert not apply(WHOLE, prune=True).has_changes


def test_unnamed_prices_of_named_providers_are_deleted():
    apply(WHOLE + OTHERS + PRICE.replace("gpt-*", "old-*"))
    report = apply(WHOLE, prune=True)
    assert report.things(Outcome.DELETED) == ["price primary/old-*"]
    assert Price.objects.filter(provider__name="second").count() == 1


def test_empty_file_disables_everything():
    apply(WHOLE)
    apply("", prune=True)
    for model in (Provider, Agent, ApiKey, Embed):
        assert not model.objects.filter(is_enabled=True).exists()


def test_pruned_rows_come_back_when_named():
    apply(WHOLE)
    apply("", prune=True)
    assert len(apply(WHOLE).things(Outcome.CHANGED)) == 4


def test_pruned_provider_is_gone_at_once():
    apply(WHOLE + OTHERS)
    assert candidates_of(["second/x"])
    apply(WHOLE, prune=True)
    assert not candidates_of(["second/x"])


def test_route_through_a_pruned_provider_is_refused():
    apply(PROVIDER)
    with pytest.raises(ProvisionError, match="--prune would disable it") as caught:
        apply(AGENT, prune=True)
    assert caught.value.line == 3
    assert Provider.objects.get().is_enabled
