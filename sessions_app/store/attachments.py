"""Files of messages: kept with them, told to the model, given back."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Prefetch, prefetch_related_objects

from sessions_app.domain import ids
from sessions_app.domain.attachments import NewFile, StoredFile
from sessions_app.domain.errors import NotFound
from sessions_app.models import Attachment, Message

MAX_TOLD = 8
MAX_TOLD_BYTES = 20 * 1024 * 1024
"""Of the newest, in one prompt; of older ones the model is told the names."""
MAX_NAMED = 100


def fetch_names(messages: Sequence[Message]) -> None:
    """Look up the files of the messages that have any, all at once, for their names."""
    with_files = [message for message in messages if message.has_attachments]
    names = Prefetch("attachments", Attachment.objects.defer("content"))
    prefetch_related_objects(with_files, names)


def keep(message_id: str, files: Sequence[NewFile]) -> None:
    """Store the files of a message that was just stored."""
    Attachment.objects.bulk_create(
        Attachment(
            message_id=message_id,
            position=position,
            name=file.name,
            media_type=file.media_type,
            size=len(file.content),
            content=file.content,
        )
        for position, file in enumerate(files)
    )


def find(session_id: str, attachment_id: str) -> Attachment:
    """One file of the session, or NotFound."""
    found = None
    if ids.could_be_id(attachment_id):
        files = Attachment.objects.filter(message__session=session_id)
        found = files.filter(pk=attachment_id).first()
    if found is None:
        raise NotFound("There is no such attachment.")
    return found


def of_questions(
    session_id: str, after: int, up_to: int
) -> dict[int, list[StoredFile]]:
    """The files of the questions between two ordinals, by ordinal."""
    files = Attachment.objects.filter(
        message__session=session_id,
        message__position=0,
        message__ordinal__gt=after,
        message__ordinal__lte=up_to,
    )
    columns = ("pk", "message__ordinal", "name", "media_type", "size")
    newest = files.order_by("-message__ordinal", "position")
    rows = list(newest.values_list(*columns)[:MAX_NAMED])
    shown, room = [], MAX_TOLD_BYTES
    for pk, _, _, _, size in rows[:MAX_TOLD]:
        room -= size
        if room < 0:
            break
        shown.append(pk)
    stored = Attachment.objects.filter(pk__in=shown).values_list("pk", "content")
    contents = {pk: bytes(content) for pk, content in stored}
    found: dict[int, list[StoredFile]] = {}
    for pk, ordinal, name, media_type, _ in rows:
        file = StoredFile(name, media_type, contents.get(pk))
        found.setdefault(ordinal, []).append(file)
    return found
