"""The generated pages of ``docs/reference``, and the one of the settings itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, fields

from sessions_app.conf import Conf
from sessions_app.edge.rest.reference import rest_reference
from sessions_app.providers.openai.services_reference import services_reference
from sessions_app.provision.reference import reference as provision_reference
from sessions_app.store.shipped_reference import price_reference
from sessions_app.wire.reference import event_reference
from sessions_app.wire.socket_reference import socket_reference


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of the environment that is no number in the table of settings."""

    name: str
    default: str
    help: str


VARIABLES = (
    Variable("PORT", "`8000`", "Port of `make run` and `manage.py serve`."),
    Variable(
        "LANTERN_DATA_DIR",
        "`var`",
        "Folder of the database, the kept secrets and the lock of the server.",
    ),
    Variable(
        "DATABASE_URL",
        "SQLite in the data folder",
        "`sqlite:///path` or `postgresql://user:password@host:port/name`; what follows"
        " a `?` goes to PostgreSQL, such as `sslmode=require`. A process opens at most"
        " twice `LANTERN_DATABASE_THREADS` connections.",
    ),
    Variable(
        "REDIS_URL",
        "",
        "Lets several processes share streams, wake-ups and counters: `redis://`,"
        " `rediss://` or `unix://`, or `redis+sentinel://host:port,host:port/master`."
        " Without it there is one process, which keeps them in its memory.",
    ),
    Variable(
        "LANTERN_ENGINE",
        "`on`",
        "`off`: this web process leaves the turns to `manage.py runworker`.",
    ),
    Variable(
        "LANTERN_SECRET_KEYS",
        "made once, kept in the data folder",
        "Fernet keys, comma-separated. The first encrypts what is stored, such as"
        " providers' keys; all of them decrypt.",
    ),
    Variable(
        "LANTERN_ALLOWED_HOSTS",
        "`localhost,127.0.0.1,[::1]`",
        "Host names that the server answers to, comma-separated;"
        " [probes](../howto/operate.md#is-it-well) need none of them.",
    ),
    Variable(
        "LANTERN_TRUSTED_PROXIES",
        "",
        "Addresses or networks of your reverse proxies, comma-separated: from them,"
        " `X-Forwarded-For` and `X-Forwarded-Proto` are believed.",
    ),
    Variable(
        "LANTERN_METRICS_TOKEN",
        "",
        "Bearer token that opens `/metrics`, of web processes and workers. Without one,"
        " only this machine may read it.",
    ),
    Variable(
        "LANTERN_EMAIL_URL",
        "",
        "The mail server that transcripts are sent through: `smtp://`, `smtp+tls://`"
        " (STARTTLS) or `smtps://`, then `user:password@host:port`. Without it none are"
        " sent, and the widget does not offer it.",
    ),
    Variable(
        "LANTERN_EMAIL_FROM",
        "",
        "Whom these are from, such as `Shop <chat@shop.example>`.",
    ),
    Variable(
        "LANTERN_TICKET_URL",
        "",
        "Where the tool `open_ticket` posts `{title, details, sessionId, turnId}`.",
    ),
    Variable(
        "OPENAI_API_KEY",
        "",
        "Makes the provider `openai` at the first start, and renews its key at later"
        " ones.",
    ),
    Variable(
        "OPENAI_BASE_URL",
        "`https://api.openai.com/v1`",
        "Where that provider is: any server that speaks the same API.",
    ),
    Variable(
        "LANTERN_MODEL",
        "`gpt-4.1-mini`, or the first of a local server",
        "The model of the first agent.",
    ),
)

_HEAD = """\
# Settings

All of them are variables of the environment. Each can also be given as a file: if
`NAME_FILE` is set, the value is what stands in the file that it names. A wrong value
stops the server with a sentence that says what to write.

This page is generated: `make docs`.

## Where things are

| variable | default | meaning |
|---|---|---|
"""

_NUMBERS_HEAD = """
## Limits and times

Names that end in `_S` are seconds, those that end in `_BYTES` are bytes.

| variable | default | meaning |
|---|---|---|
"""


def _help(item: Field[object]) -> str:
    return str(item.metadata["help"])


def settings_reference() -> str:
    """The page as Markdown."""
    rows = [f"| `{each.name}` | {each.default} | {each.help} |" for each in VARIABLES]
    numbers = [
        f"| `LANTERN_{each.name.upper()}` | `{each.default}` | {_help(each)} |"
        for each in fields(Conf)
    ]
    return _HEAD + "\n".join(rows) + "\n" + _NUMBERS_HEAD + "\n".join(numbers) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "events.md": event_reference,
    "prices.md": price_reference,
    "provision.md": provision_reference,
    "services.md": services_reference,
    "rest.md": rest_reference,
    "settings.md": settings_reference,
    "socket.md": socket_reference,
}
