"""Providers in the file."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from sessions_app.domain.route import OUTPUTS, ProviderConfig
from sessions_app.models import Provider
from sessions_app.models.provider import LONGEST_WAIT_S
from sessions_app.providers.exec import command_fault
from sessions_app.providers.openai import Service, services
from sessions_app.providers.registry import ADAPTERS
from sessions_app.provision import fields as f
from sessions_app.provision.fields import Field, Refused
from sessions_app.provision.plan import Entry, Plan
from sessions_app.provision.reader import Table
from sessions_app.provision.section import Section

EXEC = "exec"
OPENAI = "openai"
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
    check = f.within(SHORTEST_WAIT_S, LONGEST_WAIT_S)
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
            f"Which API it speaks: {', '.join(sorted(ADAPTERS))}."
            f" Needed without a service, which is `{OPENAI}`.",
            check=f.one_of(ADAPTERS),
        ),
        Field(
            "service",
            f.TEXT,
            f"A known one, whose address need not be written: {', '.join(services())}.",
            check=f.one_of(services()),
        ),
        Field(
            "base_url",
            f.TEXT,
            "Where the API begins, mostly with `/v1` at the end;"
            f" needed for {', '.join(KINDS_WITH_URL)}, unless the service has one.",
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
            "Whether it may be at a private address (a local model), as a local"
            " service may anyway.",
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

    def read(self, table: Table) -> Entry:
        """A known service fills in what the table leaves out."""
        entry = super().read(table)
        values = entry.values
        service = services().get(values.setdefault("service", ""))
        if service is not None:
            values.setdefault("kind", OPENAI)
            if service.base_url:
                values.setdefault("base_url", service.base_url)
            if service.is_local:
                values.setdefault("allow_private", True)
        elif "kind" not in values:
            raise entry.fault("[[provider]] needs the key 'kind', or 'service'.")
        return entry

    def check(self, entry: Entry, plan: Plan) -> None:
        kind = entry.values["kind"]
        if service := services().get(entry.values["service"]):
            _check_service(entry, service)
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


def _check_service(entry: Entry, service: Service) -> None:
    values, name = entry.values, service.name
    if values["kind"] != OPENAI:
        raise entry.fault(
            f"[[provider]] service {name!r} is of the kind {OPENAI!r}.", "kind"
        )
    if "base_url" not in values:
        raise entry.fault(
            f"[[provider]] service {name!r} needs the key 'base_url', such as"
            f" {service.example!r}."
        )
    if service.needs_key and not values.get("api_key"):
        row = Provider.objects.filter(name=values["name"]).first()
        if "api_key" in values or row is None or not row.api_key:
            raise entry.fault(f"[[provider]] service {name!r} needs the key 'api_key'.")


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
