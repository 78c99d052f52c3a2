"""From a stored end to the events that announce it, live or years later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sessions_app.domain.events import (
    AgentMessage,
    MessageCompleted,
    MessageError,
    SessionEvent,
    StatusIdle,
    TerminalEvent,
    ToolApprovalRequested,
    ToolCallRequested,
    TurnAwaitingTools,
    TurnFailed,
)
from sessions_app.domain.outcome import CallStatus, ToolCallRecord, TurnEnd


def requests_of(
    session_id: str, turn_id: str, calls: Iterable[ToolCallRecord], wait_s: float
) -> list[SessionEvent]:
    """What a turn says when it begins to wait for these calls."""
    events: list[SessionEvent] = []
    for call in calls:
        is_client = call.status == CallStatus.REQUESTED
        kind = ToolCallRequested if is_client else ToolApprovalRequested
        events.append(
            kind(
                session_id,
                turn_id,
                call.round_no,
                call.call_id,
                call.name,
                call.arguments,
            )
        )
    return [*events, TurnAwaitingTools(session_id, turn_id, round(wait_s))]


@dataclass(frozen=True, slots=True)
class Announcement:
    """The events of an end, in order; the first is the terminal one."""

    session_id: str
    turn_id: str
    end: TurnEnd
    canned_reply: str = ""

    def terminal(self) -> TerminalEvent:
        """The terminal event alone."""
        end, ids = self.end, (self.session_id, self.turn_id)
        if end.text is not None:
            return MessageCompleted(
                *ids,
                end.text,
                end.usage.summary(),
                end.stop_reason,
                end.digest,
                end.operator,
            )
        if end.has_deltas:
            return MessageError(*ids, end.error, end.error_code)
        return TurnFailed(*ids, end.error, end.error_code, end.error_retryable)

    def events(self) -> list[SessionEvent]:
        """The terminal event, the legacy message, and the idle state."""
        events: list[SessionEvent] = [self.terminal()]
        reply = self.end.text
        if reply is None and not self.end.has_deltas:
            reply = self.canned_reply
        if reply is not None:
            events.append(AgentMessage(self.session_id, self.turn_id, reply))
        events.append(StatusIdle(self.session_id))
        return events
