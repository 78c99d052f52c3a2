"""Tools that lead from the model to people: a colleague, or a ticket."""

from __future__ import annotations

import logging

import msgspec
from django.conf import settings

from sessions_app.domain.text import storable
from sessions_app.domain.tooling import ToolContext
from sessions_app.outbound.client import OutboundError, Request, fetch
from sessions_app.store import sessions
from sessions_app.store.db import in_thread
from sessions_app.tools.base import ToolError
from sessions_app.tools.python_tool import tool

logger = logging.getLogger(__name__)

MAX_REASON_LENGTH = 1_000
TICKET_TIMEOUT_S = 20.0
MAX_ANSWER_BYTES = 8_192


@tool
async def hand_over(reason: str, context: ToolContext) -> str:
    """Ask a human colleague to look at this conversation.

    Use it when the visitor asks for a person, or when you cannot help.

    Args:
        reason: Why, in a sentence that the colleague will read.
    """
    told = storable(reason)[:MAX_REASON_LENGTH]
    # On the store's threads: a tool's own would keep its connection for ever.
    await in_thread(sessions.ask_for_human, context.session_id, told)
    return (
        "A colleague was asked to take over this conversation. Tell the visitor so, and"
        " go on helping until they are here."
    )


@tool
async def open_ticket(title: str, details: str, context: ToolContext) -> str:
    """Open a ticket in the help desk.

    Args:
        title: One line.
        details: All that a colleague needs to know.
    """
    url = str(settings.LANTERN_TICKET_URL)
    if not url:
        raise ToolError("No help desk is connected.")
    body = {
        "title": title,
        "details": details,
        "sessionId": context.session_id,
        "turnId": context.turn_id,
    }
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": f"{context.turn_id}/{context.call_id}",
    }
    # The address is the host's own setting, so it may be inside.
    request = Request("POST", url, headers, msgspec.json.encode(body), True)
    try:
        answer = await fetch(
            request, timeout_s=TICKET_TIMEOUT_S, max_bytes=MAX_ANSWER_BYTES
        )
    except OutboundError as error:
        logger.warning("The help desk could not be reached: %s", error)
        raise ToolError("The help desk could not be reached.") from error
    if not 200 <= answer.status < 300:
        logger.warning("The help desk answered with status %s.", answer.status)
        raise ToolError("The help desk did not take the ticket.")
    return f"The ticket was opened. {answer.text()}".strip()
