"""The database says what the file says."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sessions_app.edge.auth import principal_of_token
from sessions_app.models import Agent, ApiKey, Price, Provider
from sessions_app.provision import apply
from sessions_app.provision.reference import EXAMPLE
from sessions_app.provision.report import Outcome
from tests.provision.conftest import AGENT, EMBED, KEY, PRICE, PROVIDER, WHOLE
from widget.models import Embed

pytestmark = pytest.mark.django_db


def test_every_section_is_written():
    report = apply(WHOLE)
    assert report.things(Outcome.CREATED) == [
        "provider primary",
        "price primary/gpt-*",
        "agent helper",
        "key ci",
        "embed pk_shop",
    ]
    price = Price.objects.get(provider__name="primary")
    assert (price.input, price.output) == (Decimal("0.15"), Decimal(1))
    assert Agent.objects.get().route == ["primary/gpt-x"]
    assert Embed.objects.get().agent.slug == "helper"
    assert principal_of_token("lk_ci_0123456789", None).kind == "key"


def test_example_of_the_reference_is_accepted(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    report = apply(EXAMPLE)
    assert Provider.objects.get(name="primary").api_key == "sk-test"
    assert list(report.keys) == ["ci"]
    assert not apply(EXAMPLE).has_changes


def test_second_run_changes_nothing():
    apply(WHOLE)
    report = apply(WHOLE)
    assert not report.has_changes
    assert report.lines() == ["Nothing to change: 5 unchanged."]


def test_order_in_the_file_does_not_matter():
    report = apply(EMBED + KEY + AGENT + PRICE + PROVIDER)
    assert len(report.things(Outcome.CREATED)) == 5


def test_changed_value_is_told_by_its_key():
    apply(WHOLE)
    report = apply(WHOLE.replace("0.15", "0.2").replace("gpt-x", "gpt-y"))
    assert report.lines() == [
        "changed   price primary/gpt-* (input)",
        "changed   agent helper (route)",
        "2 changed, 3 unchanged",
    ]


def test_what_the_file_leaves_out_stays():
    apply(WHOLE)
    Provider.objects.update(api_key="typed in the admin", idle_timeout_s=7)
    Agent.objects.create(slug="other", route=["primary/x"])
    assert not apply(WHOLE).has_changes
    provider = Provider.objects.get()
    assert (provider.api_key, provider.idle_timeout_s) == ("typed in the admin", 7)
    assert Agent.objects.get(slug="other").is_enabled


def test_route_may_name_a_stored_provider():
    apply(PROVIDER)
    assert apply(AGENT).things(Outcome.CREATED) == ["agent helper"]


def test_disabled_row_is_enabled_again():
    apply(WHOLE)
    Agent.objects.update(is_enabled=False)
    assert apply(WHOLE).lines()[0] == "changed   agent helper (enabled)"
    assert Agent.objects.get().is_enabled


def test_new_default_takes_over():
    apply(PROVIDER + AGENT + "default = true\n")
    report = apply(AGENT + AGENT.replace("helper", "other") + "default = true\n")
    assert Agent.objects.get(is_default=True).slug == "other"
    assert report.things(Outcome.CHANGED) == ["agent helper"]


def test_default_can_be_swapped_in_one_file():
    second = AGENT.replace("helper", "other")
    apply(f"{PROVIDER}{AGENT}default = true\n{second}default = false\n")
    apply(f"{AGENT}default = false\n{second}default = true\n")
    assert Agent.objects.get(is_default=True).slug == "other"


def test_default_false_leaves_no_default():
    apply(PROVIDER + AGENT + "default = true\n")
    apply(AGENT + "default = false\n")
    assert not Agent.objects.filter(is_default=True).exists()


def test_left_out_key_is_made_once():
    text = '[[key]]\nname = "ci"\n'
    made = apply(text).keys["ci"]
    assert len(made) == 46
    assert made.startswith("lk_") and made[3:].isalnum()
    assert (
        principal_of_token(made, None).caller.name == f"key:{ApiKey.objects.get().pk}"
    )
    report = apply(text)
    assert not report.keys and not report.has_changes
    assert principal_of_token(made, None)


def test_given_key_replaces_the_stored_one():
    apply('[[key]]\nname = "ci"\n')
    assert apply(KEY).lines()[0] == "changed   key ci (key)"
    assert principal_of_token("lk_ci_0123456789", None)


def test_environment_fills_any_string(monkeypatch):
    for name, value in {
        "T_NAME": "primary",
        "T_ROUTE": "primary/gpt-z",
        "T_PRICE": "0.25",
    }.items():
        monkeypatch.setenv(name, value)
    text = WHOLE.replace('name = "primary"', 'name = "env:T_NAME"')
    text = text.replace('"primary/gpt-x"', '"env:T_ROUTE"').replace(
        '"0.15"', '"env:T_PRICE"'
    )
    apply(text)
    assert Agent.objects.get().route == ["primary/gpt-z"]
    assert Price.objects.get().input == Decimal("0.25")


def test_environment_may_name_a_file(monkeypatch, tmp_path):
    (tmp_path / "secret").write_text("sk-file\n")
    monkeypatch.delenv("T_SECRET", raising=False)
    monkeypatch.setenv("T_SECRET_FILE", str(tmp_path / "secret"))
    apply(PROVIDER + 'api_key = "env:T_SECRET"\n')
    assert Provider.objects.get().api_key == "sk-file"


def test_embed_takes_all_its_keys():
    texts = {
        "secret": "s3cret",
        "title": "Shop",
        "greeting": "Hi",
        "placeholder": "Ask",
        "accent": "#0a7",
        "agent_name": "Ada",
    }
    apply(WHOLE + "".join(f'{key} = "{text}"\n' for key, text in texts.items()))
    embed = Embed.objects.get()
    assert {key: getattr(embed, key) for key in texts} == texts


def test_days_of_retention_are_written():
    apply(f"{PROVIDER}{AGENT}retention_days = 30\n{EMBED}retention_days = 0\n")
    assert Agent.objects.get().retention_days == 30
    assert Embed.objects.get().retention_days == 0


def test_inline_tables_are_sections_too():
    apply('provider = [\n{ name = "d", kind = "demo" },\n]\n')
    assert Provider.objects.get().kind == "demo"


def test_empty_file_changes_nothing():
    assert apply("").lines() == ["Nothing to change: 0 unchanged."]
