"""What callers take along of a session: its last messages, and files."""

from __future__ import annotations

from sessions_app.domain.errors import RateLimited
from sessions_app.models import Attachment, Message, Session
from sessions_app.service import Caller
from sessions_app.store import attachments, messages, sessions

MAX_MAILS = 5
"""Of one session: a chat that anybody may begin must not become a way to send spam."""


def newest_messages(
    caller: Caller, session_id: str, max_characters: int
) -> tuple[list[Message], bool]:
    """The last messages that fit, oldest first, and whether these are all."""
    sessions.require(caller.scope, session_id)
    return messages.newest(session_id, max_characters)


def count_mail(session: Session) -> None:
    """Count a transcript that is sent; RateLimited if there were enough."""
    if not sessions.count_mail(session.pk, MAX_MAILS):
        raise RateLimited("This conversation was sent often enough.")


def get_attachment(caller: Caller, session_id: str, attachment_id: str) -> Attachment:
    """A file that came with a message."""
    sessions.require(caller.scope, session_id)
    return attachments.find(session_id, attachment_id)
