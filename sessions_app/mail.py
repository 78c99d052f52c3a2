"""Sending e-mail through the server that ``LANTERN_EMAIL_URL`` names."""

from __future__ import annotations

import logging
from smtplib import SMTPRecipientsRefused

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import connection

from sessions_app.domain.errors import BadRequest, MailFailed
from sessions_app.domain.text import one_line

logger = logging.getLogger(__name__)

MAX_ADDRESS_LENGTH = 254
MAX_SUBJECT_LENGTH = 100
HEADERS = {"Auto-Submitted": "auto-generated"}


def can_send() -> bool:
    """Whether there is a mail server to send through."""
    return bool(settings.LANTERN_EMAIL_FROM)


def checked_address(text: str) -> str:
    """One bare address, or BadRequest."""
    try:
        if len(text) > MAX_ADDRESS_LENGTH or not text.isascii():
            raise ValidationError("too long, or not ASCII")
        validate_email(text)
    except ValidationError as error:
        raise BadRequest("This is not an e-mail address.", param="email") from error
    return text


def send(address: str, subject: str, body: str) -> None:
    """Send a plain text; MailFailed if the mail server does not take it.

    It may take the server's whole patience, and holds no database connection meanwhile.
    """
    if not connection.in_atomic_block:
        connection.close()
    message = EmailMessage(
        one_line(subject, MAX_SUBJECT_LENGTH),
        body,
        settings.LANTERN_EMAIL_FROM,
        [address],
        headers=HEADERS,
    )
    try:
        message.send()
    except SMTPRecipientsRefused as error:
        sentence = "The mail server does not take this address."
        raise BadRequest(sentence, param="email") from error
    except (OSError, ValueError) as error:
        # Without the address: who asked is nobody's concern here.
        logger.warning("An e-mail could not be sent: %s", type(error).__name__)
        raise MailFailed() from error
