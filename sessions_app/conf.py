"""The settings of Lantern: one table of name, default and help.

Each is read from the environment variable ``LANTERN_<NAME>`` (or, from the file that
``LANTERN_<NAME>_FILE`` names); Django's ``LANTERN`` setting overrides both.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from dataclasses import field as dataclass_field
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed


def _setting(default: Any, help_text: str) -> Any:
    return dataclass_field(default=default, metadata={"help": help_text})


@dataclass(frozen=True, slots=True)
class Conf:
    """Values in use; times in seconds, sizes in bytes."""

    heartbeat_s: float = _setting(15.0, "Comment sent on a silent event stream.")
    lease_s: float = _setting(9.0, "How long a claimed turn belongs to its process.")
    renew_s: float = _setting(3.0, "How often the leases are renewed.")
    give_up_s: float = _setting(6.0, "A process that could not renew stops its turns.")
    sweep_s: float = _setting(2.0, "How often abandoned turns are looked for.")
    purge_s: float = _setting(
        60.0, "How often conversations are looked for that are to be removed."
    )
    max_cool_down_s: float = _setting(
        600.0, "Longest that a provider is left alone because it asked for it."
    )
    health_window_s: float = _setting(
        3600.0, "How far back the health of providers is looked at."
    )
    budget_output_tokens: int = _setting(
        4096, "Longest reply under a budget, if the agent sets no max_output_tokens."
    )
    drain_s: float = _setting(
        30.0, "What running turns get to end by themselves when the server stops."
    )
    header_timeout_s: float = _setting(
        10.0, "A connection whose request line and headers take longer is closed."
    )
    body_timeout_s: float = _setting(
        60.0, "A connection whose request body takes longer is closed."
    )
    keep_alive_s: float = _setting(
        75.0, "How long a connection is kept between requests."
    )
    max_connections: int = _setting(20_000, "Connections of one server process.")
    max_connections_per_address: int = _setting(
        1000, "Of them from one address; trusted proxies and loopback are exempt."
    )
    turn_timeout_s: float = _setting(300.0, "Limit of a whole turn.")
    log_ttl_s: float = _setting(600.0, "How long a quiet session's events are kept.")
    log_bytes: int = _setting(4_194_304, "Events kept of one session's ended turns.")
    log_total_bytes: int = _setting(
        268_435_456, "Events kept of ended turns in the memory of the process."
    )
    max_body_bytes: int = _setting(1_048_576, "Largest request body.")
    max_message_bytes: int = _setting(
        29_360_128, "Largest body of a message, with its attachments in base64."
    )
    max_held_body_bytes: int = _setting(
        134_217_728, "Bodies over max_body_bytes that a process holds at a time."
    )
    max_reply_characters: int = _setting(
        500_000, "A longer reply is cut there; each delta counts as four at least."
    )
    max_message_characters: int = _setting(100_000, "Longest message.")
    idempotency_ttl_s: float = _setting(86_400.0, "How long an Idempotency-Key counts.")
    tool_timeout_s: float = _setting(60.0, "Limit of one tool call.")
    max_tool_result_bytes: int = _setting(65_536, "Longer tool results are cut.")
    mcp_wait_s: float = _setting(
        10.0, "How long a turn waits for an MCP server to answer the first time."
    )
    tool_wait_s: float = _setting(
        600.0, "How long a turn waits for results or a yes of somebody."
    )
    database_threads: int = _setting(2, "Threads that the engine's queries run on.")
    visitor_messages_per_minute: int = _setting(20, "Messages of one visitor.")
    visitor_sessions_per_minute: int = _setting(10, "New sessions of one visitor.")
    visitor_bootstraps_per_minute: int = _setting(
        30, "Starts of the widget of one visitor who is known already."
    )
    address_messages_per_minute: int = _setting(
        60, "Messages of all visitors of one address."
    )
    address_sessions_per_minute: int = _setting(60, "The same for new sessions.")
    address_bootstraps_per_minute: int = _setting(
        120, "The same for starts of the widget."
    )
    address_configs_per_minute: int = _setting(
        600, "The same for pages that ask how the launcher looks."
    )
    address_logins_per_minute: int = _setting(
        10, "Passwords tried at the dashboard from one address."
    )
    embed_messages_per_minute: int = _setting(
        600, "Messages of all visitors of one embed: its ceiling."
    )
    embed_sessions_per_minute: int = _setting(600, "The same for new sessions.")
    embed_bootstraps_per_minute: int = _setting(
        1200, "The same for starts of the widget."
    )
    proof_of_work_bits: int = _setting(
        16, "Difficulty of the puzzle for new visitors; each bit more doubles the work."
    )
    visitor_mails_per_minute: int = _setting(2, "Transcripts sent for one visitor.")
    address_mails_per_minute: int = _setting(5, "Transcripts sent for one address.")
    embed_mails_per_minute: int = _setting(60, "Transcripts sent from one embed.")
    recipient_mails_per_minute: int = _setting(
        1, "Transcripts sent to one e-mail address, whoever asks."
    )
    visitor_token_s: float = _setting(3600.0, "Life of a visitor token.")


@lru_cache(maxsize=1)
def conf() -> Conf:
    """The settings in force."""
    overrides: dict[str, Any] = getattr(settings, "LANTERN", {})
    known = {item.name for item in fields(Conf)}
    unknown = sorted(set(overrides) - known)
    if unknown:
        raise ImproperlyConfigured(f"LANTERN has no setting {unknown[0]!r}.")
    values = {item.name: setting_from_env(item.name) for item in fields(Conf)}
    return Conf(**{**values, **overrides})


def setting_from_env(name: str) -> Any:
    """What the environment says of one setting, else its default."""
    default = next(item.default for item in fields(Conf) if item.name == name)
    text = read_env(f"LANTERN_{name.upper()}")
    return default if text is None else _number(name, text, type(default))


def read_env(name: str) -> str | None:
    """The variable ``name``, or the content of the file that ``name_FILE`` names."""
    path = os.environ.get(f"{name}_FILE")
    if path:
        try:
            return Path(path).read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(
                f"{name}_FILE names {path}, which cannot be read: {error.strerror}."
            ) from error
    return os.environ.get(name)


def _number(name: str, text: str, kind: type) -> Any:
    try:
        value = kind(text)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"LANTERN_{name.upper()} is {text!r}; write a number."
        ) from error
    if value <= 0:
        raise ImproperlyConfigured(f"LANTERN_{name.upper()} must be above 0.")
    return value


def _forget(*, setting: str, **_: Any) -> None:
    if setting == "LANTERN":
        conf.cache_clear()


setting_changed.connect(_forget)
