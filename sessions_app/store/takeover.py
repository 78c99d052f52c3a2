"""A person answers in the agent's place, until they give the session back."""

from __future__ import annotations

from django.db import transaction

from sessions_app.domain.errors import NotFound
from sessions_app.domain.states import OPEN_STATES, TurnState
from sessions_app.models import Message, Session, Turn
from sessions_app.store.turns import ask_to_end


@transaction.atomic
def begin(session_id: str, operator: str) -> list[str]:
    """From here on no model is asked; the ids of the turns that end because of it.

    Messages that wait for the agent are brought to the operator, and what the agent
    is at, one turn at most, is cancelled. Taken over twice, the name that came last is
    shown.
    """
    # The lock keeps out a post that has read that nobody has taken over.
    sessions = Session.objects.select_for_update(no_key=True)
    found = sessions.filter(pk=session_id, purged_at=None)
    session = found.first()
    if session is None:
        raise NotFound("There is no such session.")
    if session.operator != operator or session.needs_human:
        session.operator = operator
        session.needs_human, session.handover_reason = False, ""
        changed = ["operator", "needs_human", "handover_reason", "updated_at"]
        session.save(update_fields=changed)
    turns = Turn.objects.filter(session=session_id, operator="", state__in=OPEN_STATES)
    # One that has shown events already waited for a tool: it is the agent's to end.
    waiting = turns.filter(state=TurnState.QUEUED, next_n=1)
    messages = Message.objects.filter(turn__in=waiting, position=0)
    messages.update(operator=operator)
    waiting.update(operator=operator)
    ask_to_end(turns)
    return list(turns.values_list("pk", flat=True))


def end(session_id: str) -> None:
    """The agent answers what is asked from here on."""
    Session.objects.filter(pk=session_id).exclude(operator="").update(operator="")
