"""What the admin shows of the prices that Lantern brings along."""

from __future__ import annotations

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from sessions_app.models import Provider
from sessions_app.store.shipped_prices import shipped_at
from sessions_app.store.shipped_reference import price_lines


def shipped_table(provider: Provider) -> SafeString | str:
    """The shipped prices that apply to an account, as a table."""
    rows = [
        (
            ", ".join(entry.models),
            when,
            rule.input,
            rule.output,
            "as input" if rule.cached_input is None else rule.cached_input,
            "as input" if rule.cache_write is None else rule.cache_write,
            entry.source,
            entry.as_of,
        )
        for entry in shipped_at(provider.base_url)
        for when, rule in price_lines(entry)
    ]
    if not rows:
        return "None: the address is not that of a vendor whose prices are known."
    return format_html(
        "<table><thead><tr><th>Model</th><th>When</th><th>Input</th><th>Output</th>"
        "<th>Cached</th><th>Cache write</th><th>As of</th></tr></thead>"
        "<tbody>{}</tbody></table>",
        format_html_join(
            "",
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
            '<td><a href="{}" rel="noreferrer">{}</a></td></tr>',
            rows,
        ),
    )
