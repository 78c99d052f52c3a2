"""How often whoever asks may ask: the same for REST, streams, sockets and the widget.

Visitors have limits by themselves, by address and by embed (the settings, or what
``RequestLimit`` says instead); API keys and agents have none unless one is set.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, ip_address

from sessions_app.bus.counters import Quota, Taken, get_counters
from sessions_app.conf import conf
from sessions_app.domain.errors import RateLimited
from sessions_app.edge.auth import Principal
from sessions_app.store.budgets import Payer
from sessions_app.store.limits import limits


class Act(StrEnum):
    """What is counted, each for itself."""

    BOOTSTRAP = "bootstrap"
    SESSION = "session"
    MESSAGE = "message"
    MAIL = "mail"
    CONFIG = "config"
    LOGIN = "login"


UNASKED = frozenset({Act.CONFIG, Act.LOGIN})
"""Only the settings limit these: nobody who lets each address write ten messages a
minute means that a launcher shall lose its looks on the eleventh page."""


def no_agent() -> str:
    """Where no agent is known yet."""
    return ""


def require_pace(
    principal: Principal,
    act: Act,
    address: str | None,
    agent: Callable[[], str] = no_agent,
) -> None:
    """Count a request of the principal, or raise RateLimited; staff are not counted.

    ``agent`` finds the slug of the request's agent; it is only asked if that matters.
    """
    if principal.kind == "staff":
        return
    known = limits.get()
    is_visitor = principal.kind == "visitor"
    if not is_visitor and not known.per_minute:
        return
    slug = agent() if known.has_agents else ""
    subjects = Payer(principal.caller.name, slug, "").subjects(known.keys)
    if is_visitor:
        subjects |= address_subject(address)
    take(act, subjects)


def address_subject(address: str | None) -> dict[str, str]:
    """The target ``address`` and who it is for this one."""
    return {"address": _line_of(address)} if address else {}


def take(act: Act, subjects: Mapping[str, str]) -> None:
    """Count an act on all limits that these subjects have, or raise RateLimited.

    ``subjects`` are by target, such as ``{"embed:pk_shop": "pk_shop"}``.
    """
    applying = [
        (on, subject, limit)
        for on, subject in subjects.items()
        if (limit := limit_on(on, act)) is not None
    ]
    if not applying:
        return
    quotas = [
        Quota(counter_name(act, on, subject), limit) for on, subject, limit in applying
    ]
    taken = get_counters().take(quotas)
    if taken.full >= 0:
        raise too_fast(taken, applying[taken.full][0])


def too_fast(taken: Taken, on: str) -> RateLimited:
    """The refusal; whole seconds, and never one too few."""
    return RateLimited(retry_after_s=max(1, math.ceil(taken.wait_s)), limit=on)


def limit_on(on: str, act: Act) -> int | None:
    """How many of an act in any 60 seconds; None is any number."""
    if act not in UNASKED:
        limit = limits.get().per_minute.get(on)
        if limit is not None:
            return limit
    setting = f"{on.partition(':')[0]}_{act}s_per_minute"
    found: int | None = getattr(conf(), setting, None)
    return found


def counter_name(act: str, on: str, subject: str) -> str:
    """The counter's name; what callers choose is hashed, so its length is bounded."""
    who = hashlib.sha256(f"{on}\n{subject}".encode()).hexdigest()[:32]
    return f"{act}:{who}"


def _line_of(address: str) -> str:
    """What one subscriber has: an IPv4 address, or a /64 of IPv6."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return IPv6Address(int(parsed) >> 64 << 64).compressed
