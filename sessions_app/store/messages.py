"""The transcript."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Q

from sessions_app.domain import ids
from sessions_app.domain.attachments import StoredFile, told
from sessions_app.domain.errors import BadRequest
from sessions_app.domain.outcome import ToolCallRecord
from sessions_app.domain.prompt import PromptMessage
from sessions_app.domain.transcript import StoredMessage, build_prompt
from sessions_app.models import Message
from sessions_app.store import attachments, sql

MAX_MESSAGES = 1000
"""Of the newest, beyond what any prompt has use for: a session has no end."""
MAX_CALLS = 200
READ_AT_ONCE = 50


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
    found = list(messages.order_by("ordinal", "position")[: limit + 1])
    attachments.fetch_names(found)
    return found


def newest(session_id: str, max_characters: int) -> tuple[list[Message], bool]:
    """The last messages that fit, oldest first, and whether these are all there are.

    Answers that were given again are left out.
    """
    messages = Message.objects.filter(session=session_id, is_superseded=False)
    found: list[Message] = []
    room = max_characters
    for message in messages.order_by("-ordinal", "-position").iterator(READ_AT_ONCE):
        room -= len(message.content)
        if room < 0:
            break
        found.append(message)
    attachments.fetch_names(found)
    return found[::-1], room >= 0


def prompt_of(
    session_id: str,
    asked_ordinal: int,
    system_prompt: str,
    *,
    after: int = 0,
    with_tools: bool = False,
) -> list[PromptMessage]:
    """What the model is told: the conversation up to the question it answers.

    ``after`` leaves out the turns up to that ordinal; ``with_tools`` adds the tool
    calls of earlier turns.
    """
    rows = sql.rows(
        "SELECT role, content, ordinal, has_attachments FROM sessions_app_message"
        " WHERE session_id = %s AND NOT is_superseded"
        " AND ordinal > %s AND (ordinal < %s OR (ordinal = %s AND position = 0))"
        " ORDER BY ordinal DESC, position DESC LIMIT %s",
        session_id,
        after,
        asked_ordinal,
        asked_ordinal,
        MAX_MESSAGES,
    )
    calls = _calls_of(session_id, asked_ordinal) if with_tools and len(rows) > 1 else {}
    files = {}
    if any(row[3] for row in rows):
        files = attachments.of_questions(session_id, after, asked_ordinal)
    messages = [_stored(row, files) for row in reversed(rows)]
    return build_prompt(system_prompt, messages, calls)


def reply_of(turn_id: str) -> str:
    """What is stored as the turn's reply; an operator's words are from the start."""
    found = sql.rows(
        "SELECT content FROM sessions_app_message WHERE turn_id = %s AND position = 1",
        turn_id,
    )
    return str(found[0][0]) if found else ""


def _stored(row: sql.Row, files: Mapping[int, list[StoredFile]]) -> StoredMessage:
    role, content, ordinal, has_files = row
    if not has_files:
        return StoredMessage(role, content, ordinal)
    text, images = told(content, files.get(ordinal, ()))
    return StoredMessage(role, text, ordinal, tuple(images))


def _calls_of(session_id: str, before: int) -> dict[int, list[ToolCallRecord]]:
    """The newest tool calls of earlier turns, by ordinal, whole turns only."""
    rows = sql.rows(
        "SELECT t.ordinal, c.call_id, c.round, c.position, c.name, c.arguments,"
        " c.status, c.result, c.error FROM sessions_app_toolcall c"
        " JOIN sessions_app_turn t ON t.id = c.turn_id"
        " WHERE t.session_id = %s AND t.ordinal < %s"
        " ORDER BY t.ordinal DESC, c.round DESC, c.position DESC LIMIT %s",
        session_id,
        before,
        MAX_CALLS,
    )
    found: dict[int, list[ToolCallRecord]] = {}
    for ordinal, call_id, round_no, position, name, arguments, *end in reversed(rows):
        call = ToolCallRecord(
            call_id, round_no, position, name, sql.decoded(arguments), *end
        )
        found.setdefault(ordinal, []).append(call)
    if len(rows) == MAX_CALLS:
        del found[min(found)]  # it may be there in part
    return found
