"""The page ``docs/reference/prices.md``, from the file of prices."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from sessions_app.domain.usage import PriceRule
from sessions_app.store.shipped_prices import ShippedPrice, shipped_prices

_HEAD = """\
# Shipped prices

What Lantern takes a model to cost as long as you have typed no price for it, in USD
per million tokens. This page is generated from
`sessions_app/store/shipped_prices.toml`, whose first lines say how the figures were
checked; renew it with `make docs`.

- They hold for accounts whose `base_url` is `https://` and the vendor's own host, as
  below. A local server, a proxy, a regional endpoint or another port is not priced by
  them, whatever its models are called.
- A `[[price]]` of yours for the account that matches the model wins, also `"*"`.
- The receipt of a turn says which price it was charged at: its `origin` is `shipped`
  and the date, or `configured`.
- A long prompt makes the whole call dearer where the table says so, reply included; a
  turn that begins in a vendor's peak hours is charged at their price.
- A model that is not here costs `null` until you give it a price: better no figure
  than a wrong one.
"""
_COLUMNS = "| model | when | input | output | cached | cache write | as of |\n"
_RULE = "|---|---|---|---|---|---|---|\n"


def price_reference() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    hosts = dict.fromkeys((each.vendor, each.host) for each in shipped_prices())
    for vendor, host in hosts:
        entries = [each for each in shipped_prices() if each.vendor == vendor]
        rows = [row for entry in entries for row in _rows(entry)]
        title = f"## {vendor}\n\n`https://{host}`\n\n"
        parts.append(title + _COLUMNS + _RULE + "\n".join(rows) + "\n")
    return "\n".join(parts)


def price_lines(entry: ShippedPrice) -> list[tuple[str, PriceRule]]:
    """The prices of an entry, each with when it holds."""
    lines = [(_span(entry), entry.rule)]
    if entry.rule.long is not None:
        over = f"prompt over {entry.rule.long.over:,} tokens"
        lines.append((over, entry.rule.long.rule))
    if entry.peak is not None:
        hours = ", ".join(f"{a:02}:00–{b:02}:00" for a, b in entry.peak_hours)
        lines.append((f"Monday to Friday {hours} UTC", entry.peak))
    return lines


def _rows(entry: ShippedPrice) -> list[str]:
    names = ", ".join(f"`{glob}`" for glob in entry.models)
    as_of = f"[{entry.as_of}]({entry.source})"
    return [
        f"| {names} | {when} | {_shown(rule.input)} | {_shown(rule.output)}"
        f" | {_shown(rule.cached_input)} | {_shown(rule.cache_write)} | {as_of} |"
        for when, rule in price_lines(entry)
    ]


def _span(entry: ShippedPrice) -> str:
    words = []
    if entry.begins != date.min:
        words.append(f"from {entry.begins}")
    if entry.ends != date.max:
        words.append(f"before {entry.ends}")
    return " ".join(words)


def _shown(amount: Decimal | None) -> str:
    return "as input" if amount is None else f"{amount}"
