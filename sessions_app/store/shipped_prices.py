"""Prices that Lantern brings along, for accounts that are at the vendor itself."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sessions_app.domain.usage import LongPrompt, PriceRule, price_for

FILE = Path(__file__).with_name("shipped_prices.toml")
SATURDAY = 5


@dataclass(frozen=True, slots=True)
class ShippedPrice:
    """One entry of the file: what some models of a vendor cost, and since when.

    ``rule`` is named after the first glob; ``peak_hours`` are hours of the day, UTC,
    each from its first and before its second, in which ``peak`` holds instead.
    """

    vendor: str
    host: str
    models: tuple[str, ...]
    as_of: date
    source: str
    rule: PriceRule
    peak: PriceRule | None = None
    peak_hours: tuple[tuple[int, int], ...] = ()
    begins: date = date.min
    ends: date = date.max

    def holds(self, now: datetime) -> bool:
        """Whether it is in force."""
        return self.begins <= now.date() < self.ends

    def rules(self, now: datetime) -> list[PriceRule]:
        """One rule a glob, at the hour's price."""
        rule = self.rule
        if self.peak is not None and self._is_peak(now):
            rule = self.peak
        return [replace(rule, model=glob) for glob in self.models]

    def _is_peak(self, now: datetime) -> bool:
        if now.weekday() >= SATURDAY:
            return False
        return any(first <= now.hour < end for first, end in self.peak_hours)


def shipped_price(
    base_url: str, model: str, now: datetime | None = None
) -> PriceRule | None:
    """What the model costs at that address; None unless it is a known vendor's own.

    ``now`` is the time of the call, UTC.
    """
    now = now or datetime.now(UTC)
    rules = [
        rule
        for each in shipped_at(base_url)
        if each.holds(now)
        for rule in each.rules(now)
    ]
    # Google lists its models under this name, and takes both.
    return price_for(model.removeprefix("models/"), rules) if rules else None


def shipped_at(base_url: str) -> tuple[ShippedPrice, ...]:
    """The entries for an account of that address.

    A server of the host's own may call its models what it likes, so nothing but the
    vendor's very host counts: no other scheme, port, region or proxy.
    """
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:
        return ()
    if parts.scheme != "https" or port not in (None, 443):
        return ()
    return _table().get((parts.hostname or "").rstrip("."), ())


def shipped_prices() -> tuple[ShippedPrice, ...]:
    """All entries, in the order of the file."""
    return tuple(entry for entries in _table().values() for entry in entries)


@lru_cache(maxsize=1)
def _table() -> Mapping[str, tuple[ShippedPrice, ...]]:
    """The entries by the vendor's host."""
    content = tomllib.loads(FILE.read_text("utf-8"))
    found: dict[str, tuple[ShippedPrice, ...]] = {}
    for row in content["price"]:
        host = content["vendor"][row["vendor"]]
        found[host] = (*found.get(host, ()), _entry(row, host))
    return found


def _entry(row: dict[str, Any], host: str) -> ShippedPrice:
    models, as_of = tuple(row["models"]), row["as_of"]
    origin = f"shipped {as_of}"
    rule = _rule(row, models[0], origin)
    if long := row.get("long"):
        over = long["over"]
        long_rule = _rule(long, models[0], f"{origin}, prompt over {over} tokens")
        rule = replace(rule, long=LongPrompt(over, long_rule))
    peak = row.get("peak")
    return ShippedPrice(
        vendor=row["vendor"],
        host=host,
        models=models,
        as_of=as_of,
        source=row["source"],
        rule=rule,
        peak=_rule(peak, models[0], f"{origin}, peak hours") if peak else None,
        peak_hours=tuple((first, end) for first, end in peak["hours"]) if peak else (),
        begins=row.get("from", date.min),
        ends=row.get("until", date.max),
    )


def _rule(row: dict[str, Any], model: str, origin: str) -> PriceRule:
    def amount(name: str) -> Decimal | None:
        return Decimal(row[name]) if name in row else None

    return PriceRule(
        model=model,
        input=Decimal(row["input"]),
        output=Decimal(row["output"]),
        cached_input=amount("cached_input"),
        cache_write=amount("cache_write"),
        origin=origin,
    )
