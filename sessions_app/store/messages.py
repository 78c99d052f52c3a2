"""The transcript."""

from __future__ import annotations

from django.db.models import Q

from sessions_app.domain import ids
from sessions_app.domain.errors import BadRequest
from sessions_app.domain.prompt import PromptMessage
from sessions_app.domain.transcript import StoredMessage, build_prompt
from sessions_app.models import Message
from sessions_app.store import sql


def page(session_id: str, *, limit: int, after: str | None) -> list[Message]:
    """Oldest first, ``limit`` and one more."""
    messages = Message.objects.filter(session=session_id)
    if after is not None:
        last = messages.filter(pk=after).first() if ids.could_be_id(after) else None
        if last is None:
            raise BadRequest("There is no such message.", param="after")
        messages = messages.filter(
            Q(ordinal__gt=last.ordinal)
            | Q(ordinal=last.ordinal, position__gt=last.position)
        )
    return list(messages.order_by("ordinal", "position")[: limit + 1])


def prompt_of(
    session_id: str, asked_ordinal: int, system_prompt: str
) -> list[PromptMessage]:
    """What the model is told: the conversation up to the question it answers."""
    rows = sql.rows(
        "SELECT role, content FROM sessions_app_message"
        " WHERE session_id = %s AND NOT is_superseded"
        " AND (ordinal < %s OR (ordinal = %s AND position = 0))"
        " ORDER BY ordinal, position",
        session_id,
        asked_ordinal,
        asked_ordinal,
    )
    return build_prompt(system_prompt, [StoredMessage(*row) for row in rows])
