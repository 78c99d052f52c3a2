"""Providers in the file."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from sessions_app.domain.route import OUTPUTS, ProviderConfig
from sessions_app.models import Provider
from sessions_app.providers.exec import command_fault
from sessions_app.providers.registry import ADAPTERS
from sessions_app.provision import fields as f
from sessions_app.provision.fields import Field, Refused
from sessions_app.provision.plan import Entry, Plan
from sessions_app.provision.section import Section

EXEC = "exec"
KINDS_WITH_URL = ("anthropic", "openai", "truss")
SHORTEST_WAIT_S = 0.01


def check_base_url(url: str) -> None:
    """An http(s) address to which paths can be added."""
    f.up_to(500)(url)
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        has_host = False
    if not has_host or parts.scheme not in ("http", "https") or re.search(r"\s", url):
        raise Refused("must be an address such as https://api.example.com/v1.")
    if "?" in url or "#" in url:
        raise Refused("must be an address without a query or fragment.")
    if "@" in parts.netloc:
        raise Refused("must not hold a user or password; use api_key.")


def _timeout(name: str, help_text: str) -> Field:
    check = f.within(SHORTEST_WAIT_S, f.LONGEST_WAIT_S)
    return Field(name, f.NUMBER, f"{help_text}, in seconds.", check=check)


class ProviderSection(Section[Provider]):
    """Accounts at model providers."""

    model = Provider
    about = "An account at a model provider."
    identity = ("name",)
    fields = (
        Field("name", f.TEXT, "What routes call it.", True, f.slug_up_to(64)),
        Field(
            "kind",
            f.TEXT,
            f"Which API it speaks: {', '.join(sorted(ADAPTERS))}.",
            True,
            f.one_of(ADAPTERS),
        ),
        Field(
            "base_url",
            f.TEXT,
            "Where the API begins, mostly with `/v1` at the end;"
            f" needed for {', '.join(KINDS_WITH_URL)}.",
            check=check_base_url,
        ),
        Field(
            "command",
            f.TEXTS,
            "Of the kind `exec`: the program and its arguments. No shell reads them.",
        ),
        Field(
            "output",
            f.TEXT,
            "Of the kind `exec`: `text`, or `jsonl` for one JSON value a line.",
            check=f.one_of(OUTPUTS),
        ),
        Field(
            "text_path",
            f.TEXT,
            "Where a line of `jsonl` has the text, such as `choices.0.text`.",
            check=f.up_to(200),
        ),
        Field("api_key", f.TEXT, "Sent to the provider; stored encrypted."),
        Field(
            "allow_private",
            f.FLAG,
            "Whether it may be at a private address (a local model).",
        ),
        Field(
            "context_tokens",
            f.INTEGER,
            "How much its models can be told, reply included, as a local server was"
            " started with; left out, it goes by the model's name.",
            check=f.within(256, f.LARGEST_INTEGER),
        ),
        _timeout("connect_timeout_s", "Limit for the connection"),
        _timeout("first_content_timeout_s", "Limit for the first content"),
        _timeout("idle_timeout_s", "Limit for a silence in the reply"),
    )

    def check(self, entry: Entry, plan: Plan) -> None:
        kind = entry.values["kind"]
        if kind in KINDS_WITH_URL and "base_url" not in entry.values:
            raise entry.fault(
                f"[[provider]] of kind {kind!r} needs the key 'base_url'."
            )
        if kind == EXEC:
            _check_command(entry)
        elif "command" in entry.values:
            raise entry.fault(
                f"[[provider]] command is only for the kind {EXEC!r}.", "command"
            )


def _check_command(entry: Entry) -> None:
    values = entry.values
    if "command" not in values:
        raise entry.fault(f"[[provider]] of kind {EXEC!r} needs the key 'command'.")
    config = ProviderConfig(
        name=values["name"],
        kind=EXEC,
        command=tuple(values["command"]),
        output=values.get("output", OUTPUTS[0]),
        text_path=values.get("text_path", ""),
    )
    if fault := command_fault(config):
        key, sentence = fault
        raise entry.fault(f"[[provider]] {key} {sentence}", key)
