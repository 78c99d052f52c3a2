"""The transcript."""

from __future__ import annotations

from django.db.models import Q

from sessions_app.domain import ids
from sessions_app.domain.errors import BadRequest
from sessions_app.domain.prompt import PromptMessage
from sessions_app.domain.transcript import StoredMessage, build_prompt
from sessions_app.models import Message


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
    rows = (
        Message.objects.filter(session=session_id, is_superseded=False)
        .filter(Q(ordinal__lt=asked_ordinal) | Q(ordinal=asked_ordinal, position=0))
        .order_by("ordinal", "position")
        .values_list("role", "content")
    )
    stored = [StoredMessage(role, content) for role, content in rows]  # type: ignore[arg-type]
    return build_prompt(system_prompt, stored)
