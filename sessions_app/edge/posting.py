"""From a request to a message: the same for REST and for the streamed answer."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from django.core.cache import cache, caches
from django.core.cache.backends.base import BaseCache

from sessions_app.bus import FAILURES
from sessions_app.conf import conf
from sessions_app.domain.errors import BadRequest, NotAllowed, RateLimited
from sessions_app.domain.states import OnBusy
from sessions_app.edge.auth import Principal
from sessions_app.edge.body import idempotency_key
from sessions_app.edge.rest.shapes import NewMessageBody, TurnOptionsBody
from sessions_app.edge.tool_fields import client_tools_of, tool_choice_of
from sessions_app.service import NewMessage

WINDOW_S = 60
NOT_YET = ("attachments",)
SERVER_ONLY = {"agent": "agent", "system_prompt": "systemPrompt", "user": "user"}


def message_of(
    body: Mapping[str, Any], key_header: str | None, *, has_content: bool
) -> NewMessage:
    """The validated message; ``has_content`` False for another answer."""
    for name in NOT_YET:
        if body.get(name):
            raise BadRequest(f"{name} is not supported by this server.", param=name)
    apart = (*NOT_YET, "clientTools", "toolChoice")
    known = {name: value for name, value in body.items() if name not in apart}
    form = (NewMessageBody if has_content else TurnOptionsBody)(data=known)
    form.is_valid(raise_exception=True)
    fields = form.validated_data
    return NewMessage(
        content=fields.get("content"),
        on_busy=OnBusy(fields.get("onBusy", OnBusy.QUEUE)),
        allow_failover=fields.get("failover", "on") == "on",
        client_tools=client_tools_of(body.get("clientTools"), "clientTools"),
        tool_choice=tool_choice_of(body.get("toolChoice"), "toolChoice"),
        idempotency_key=idempotency_key(key_header),
    )


def require_session_fields(principal: Principal, fields: Mapping[str, Any]) -> None:
    """A visitor's session is what its embed says, whatever the browser asks."""
    if principal.kind != "visitor":
        return
    for name, wire_name in SERVER_ONLY.items():
        if name in fields:
            raise NotAllowed("A visitor may not set this.", param=wire_name)


def require_visitor_pace(principal: Principal, address: str | None) -> None:
    """Limit the messages of a visitor and of an address; servers have no limit."""
    if principal.kind != "visitor":
        return
    if address:
        _count(f"address:{_line_of(address)}", conf().address_messages_per_minute)
    _count(principal.caller.name, conf().visitor_messages_per_minute)


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


def _count(who: str, limit: int) -> None:
    window, elapsed = divmod(time.time(), WINDOW_S)
    key = f"pace:{hashlib.sha256(who.encode()).hexdigest()}:{window:.0f}"
    if _counted(key) > limit:
        raise RateLimited(retry_after_s=max(1, round(WINDOW_S - elapsed)))


def _counted(key: str) -> int:
    try:
        return _counted_in(cache, key)
    except FAILURES:  # without Redis, each process counts what comes to it
        return _counted_in(caches["process"], key)


def _counted_in(counters: BaseCache, key: str) -> int:
    counters.add(key, 0, WINDOW_S * 2)
    try:
        return counters.incr(key)
    except ValueError:  # evicted in between
        counters.set(key, 1, WINDOW_S * 2)
        return 1
