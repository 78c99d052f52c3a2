from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

import pytest

from sessions_app.domain.budget import Limit, Period, Unit
from sessions_app.domain.usage import PriceRule, Usage, cost_of
from sessions_app.models import Price, Provider
from sessions_app.store.catalog import candidates_of
from sessions_app.store.shipped_prices import FILE, shipped_price, shipped_prices

D = Decimal
OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com/v1"
DEEPSEEK = "https://api.deepseek.com/v1"
WEDNESDAY = datetime(2026, 12, 2, 12, tzinfo=UTC)


def price(base_url: str, model: str, now: datetime = WEDNESDAY) -> PriceRule:
    found = shipped_price(base_url, model, now)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("base_url", "model", "tokens", "cost"),
    [
        (OPENAI, "gpt-6.2-sol", (1_000_000, 0), "2"),
        (OPENAI, "gpt-4.1-mini", (1000, 1000), "0.002"),
        (ANTHROPIC, "claude-haiku-4-5", (0, 1_000_000), "5"),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "models/gemini-2.5-pro",
            (1000, 1000),
            "0.01125",
        ),
        ("https://api.mistral.ai/v1", "mistral-large-4", (1_000_000, 0), "0.68"),
        (DEEPSEEK, "deepseek-flash", (0, 1_000_000), "0.6"),
    ],
)
def test_vendor_is_known_by_its_host(
    base_url: str, model: str, tokens: tuple[int, int], cost: str
) -> None:
    rule = shipped_price(base_url, model, WEDNESDAY)
    assert rule is not None and rule.origin.startswith("shipped 2026-")
    # A million tokens would be a long prompt, at another price.
    flat = PriceRule("*", rule.input, rule.output)
    assert cost_of(Usage(*tokens), flat) == D(cost)


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1:11434/v1",
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://eu.api.openai.com/v1",
        "https://api.openai.com.evil.example/v1",
        "https://api.openai.com@evil.example/v1",
        "https://evil.example/api.openai.com/v1",
        "https://api.anthropic.com/v1",
        "https://[::1/v1",
        "https://api.openai.com:x/v1",
        "",
    ],
)
def test_other_address_has_no_shipped_price(base_url: str) -> None:
    assert shipped_price(base_url, "gpt-4.1-mini") is None


@pytest.mark.parametrize(
    "base_url", ["https://API.OpenAI.com", "https://api.openai.com:443/v1/"]
)
def test_vendors_host_may_be_spelled_otherwise(base_url: str) -> None:
    assert shipped_price(base_url, "gpt-4.1-mini") is not None


@pytest.mark.parametrize(
    ("base_url", "alias", "model"),
    [
        (OPENAI, "gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"),
        (OPENAI, "gpt-4o-2024-11-20", "gpt-4o"),
        (ANTHROPIC, "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
    ],
)
def test_dated_alias_costs_what_its_model_does(
    base_url: str, alias: str, model: str
) -> None:
    assert price(base_url, alias).output == price(base_url, model).output


@pytest.mark.parametrize(
    ("base_url", "model"),
    [
        (OPENAI, "gpt-4o-2024-05-13"),  # dearer than the others of its name
        (OPENAI, "gpt-4o-audio-preview"),
        (OPENAI, "gpt-5.6-sol"),
        (OPENAI, "gpt-image-1"),
        (OPENAI, "gpt-5-turbo-2030"),
        (ANTHROPIC, "claude-haiku-6"),
    ],
)
def test_unknown_model_of_a_vendor_has_no_price(base_url: str, model: str) -> None:
    assert shipped_price(base_url, model) is None


def test_long_prompt_makes_the_whole_call_dearer() -> None:
    rule = price(ANTHROPIC, "claude-haiku-5-5")
    assert cost_of(Usage(100_000, 1000), rule) == D("0.0105")
    assert cost_of(Usage(100_001, 1000), rule) == D("0.0525005")
    assert cost_of(Usage(200_000, 0, 150_000), rule) == D("0.0325")
    assert rule.for_prompt(100_001).origin.endswith("prompt over 100000 tokens")


def test_budget_sets_aside_what_a_long_prompt_costs() -> None:
    limit = Limit(1, "session", Period.TOTAL, Unit.USD, 10**12)
    rule = price(ANTHROPIC, "claude-haiku-5-5")
    # The dearest input of all is that of what is written to the cache.
    assert limit.needed(200_000, 1000, rule) == 127_500 * 10**6


@pytest.mark.parametrize(
    ("at", "output"),
    [
        ("2026-12-02T00:59", "0.6"),
        ("2026-12-02T01:00", "1.2"),
        ("2026-12-02T03:59", "1.2"),
        ("2026-12-02T04:00", "0.6"),
        ("2026-12-02T09:59", "1.2"),
        ("2026-12-05T02:00", "0.6"),  # a Saturday
    ],
)
def test_peak_hours_have_a_price_of_their_own(at: str, output: str) -> None:
    now = datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert price(DEEPSEEK, "deepseek-flash", now).output == D(output)


def test_price_changes_on_its_day() -> None:
    google = "https://generativelanguage.googleapis.com/v1beta/openai"
    days = [datetime(2026, 12, 31, 23, 59), datetime(2027, 1, 1)]
    found = [price(google, "gemini-3.8-flash", day.replace(tzinfo=UTC)) for day in days]
    assert [rule.input for rule in found] == [D("0.75"), D("1.5")]


@pytest.fixture
def openai(db: None) -> Provider:
    return Provider.objects.create(name="openai", kind="openai", base_url=OPENAI)


def test_account_at_the_vendor_needs_no_typed_price(openai: Provider) -> None:
    (candidate,) = candidates_of(["openai/gpt-4.1-mini"])
    assert candidate.price is not None and candidate.price.input == D("0.4")


# The host knows better, also where it says less: a contract covers all models.
def test_typed_price_wins_even_if_it_is_less_specific(openai: Provider) -> None:
    Price.objects.create(provider=openai, model="*", input="9", output="9")
    (candidate,) = candidates_of(["openai/gpt-4.1-mini"])
    assert candidate.price is not None
    assert (candidate.price.input, candidate.price.origin) == (D(9), "configured")


def test_typed_price_for_another_model_changes_nothing(openai: Provider) -> None:
    Price.objects.create(provider=openai, model="my-*", input="9", output="9")
    (candidate,) = candidates_of(["openai/gpt-4.1-mini"])
    assert candidate.price is not None and candidate.price.input == D("0.4")


def rows() -> list[dict[str, Any]]:
    content = tomllib.loads(FILE.read_text())
    return list(content["price"])


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["models"][0])
def test_entry_says_what_it_must(row: dict[str, Any]) -> None:
    assert row["source"].startswith("https://")
    assert isinstance(row["as_of"], date)
    for amounts in (row, row.get("long", row), row.get("peak", row)):
        assert isinstance(amounts["input"], str)
        assert D(amounts["output"]) >= D(amounts["input"]) > 0
        assert D(amounts.get("cached_input", "0")) < D(amounts["input"])
    if "long" in row:
        assert D(row["long"]["input"]) > D(row["input"])


def test_no_two_entries_claim_one_model() -> None:
    for day in (WEDNESDAY, datetime(2027, 1, 1, tzinfo=UTC)):
        entries = [each for each in shipped_prices() if each.holds(day)]
        for entry in entries:
            for model in entry.models:
                claims = [
                    each
                    for each in entries
                    if each.vendor == entry.vendor
                    and any(fnmatchcase(model, glob) for glob in each.models)
                ]
                assert claims == [entry], model
