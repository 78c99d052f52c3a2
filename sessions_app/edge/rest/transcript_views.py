"""The transcript to take along: a file, or an e-mail."""

from __future__ import annotations

from datetime import UTC

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app import keepsakes, mail, service
from sessions_app.domain.errors import BadRequest
from sessions_app.domain.text import one_line
from sessions_app.edge.pace import Act, require_pace, take
from sessions_app.edge.rest.base import (
    Endpoint,
    StrictCharField,
    StrictSerializer,
    address_of,
    read_body,
)
from sessions_app.models import Message, Session
from sessions_app.wire.transcript import Form, Line, transcript

MAX_CHARACTERS = 5_000_000
MAX_MAIL_CHARACTERS = 1_000_000
NAMES = {"user": "User", "assistant": "Assistant"}
KINDS: dict[Form, tuple[str, str]] = {
    "plain": ("text/plain", "txt"),
    "markdown": ("text/markdown", "md"),
}


class MailBody(StrictSerializer):
    email = StrictCharField(max_length=1000)


class TranscriptEndpoint(Endpoint):
    """The transcript of a session, as a text."""

    @extend_schema(
        "getTranscript",
        responses={(200, kind): str for kind, _ in KINDS.values()},
    )
    def get(self, request: Request, session_id: str) -> HttpResponse:
        """Download the transcript: `text/plain`, or `text/markdown` if asked for."""
        form = _wanted_form(request.headers.get("Accept", ""))
        media_type, ending = KINDS[form]
        session = service.get_session(self.principal.caller, session_id)
        text = self._transcript(session, MAX_CHARACTERS, form)
        return HttpResponse(
            text,
            content_type=f"{media_type}; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="{session.pk}.{ending}"',
                "X-Content-Type-Options": "nosniff",
                "Vary": "Accept",
            },
        )

    @extend_schema("mailTranscript", request=MailBody, responses={204: None})
    def post(self, request: Request, session_id: str) -> Response:
        """Send the transcript to an e-mail address; answered once it was sent."""
        address = mail.checked_address(read_body(MailBody, request)["email"])
        session = service.get_session(self.principal.caller, session_id)
        if not mail.can_send():
            raise BadRequest("This server sends no e-mail.")
        require_pace(self.principal, Act.MAIL, address_of(request))
        take(Act.MAIL, {"recipient": address.lower()})
        keepsakes.count_mail(session)
        text = self._transcript(session, MAX_MAIL_CHARACTERS, "plain")
        mail.send(address, _title(session), text)
        return Response(status=204)

    def _transcript(self, session: Session, max_characters: int, form: Form) -> str:
        found, is_whole = keepsakes.newest_messages(
            self.principal.caller, session.pk, max_characters
        )
        lines = [_line(message) for message in found]
        return transcript(_title(session), lines, is_whole=is_whole, form=form)


def _title(session: Session) -> str:
    title = one_line(session.title, mail.MAX_SUBJECT_LENGTH)
    return title or f"Conversation of {session.created_at:%Y-%m-%d}"


def _line(message: Message) -> Line:
    name = message.operator if message.role == "assistant" else ""
    at = message.created_at.astimezone(UTC)
    stored = message.attachments.all() if message.has_attachments else ()
    files = [f"[File {file.name}]" for file in stored]
    text = "\n".join([message.content, *files])
    return Line(name or NAMES.get(message.role, message.role), at, text)


def _wanted_form(accept: str) -> Form:
    """The first of the two that is named."""
    for item in accept.lower().split(","):
        media_type = item.partition(";")[0].strip()
        for form, (known, _) in KINDS.items():
            if media_type == known:
                return form
    return "plain"
