"""Files that go with a message."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from sessions_app.domain.prompt import PromptMessage
from sessions_app.models import Agent, Attachment, Message, Turn
from sessions_app.store import retention
from sessions_app.store.claim import claim
from tests.fakes.edge import NOTHING, Answer, People, Rest
from tests.fakes.people import make_embed
from tests.widget.conftest import Visitors

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
JPEG = b"\xff\xd8\xff\xe0" + b"0" * 20


def file(
    content: bytes = PNG, name: str = "a.png", kind: str = "image/png"
) -> dict[str, str]:
    data = base64.b64encode(content).decode()
    return {"name": name, "mediaType": kind, "data": data}


def post(rest: Rest, path: str, *files: Any, content: str = "Look") -> Answer:
    body = {"content": content, "attachments": list(files)}
    return rest("POST", f"{path}/messages", body)


@pytest.fixture
def path(people: People) -> str:
    Agent.objects.update(attachments=True)
    return people.path


def prompt_of_last() -> list[PromptMessage]:
    turn = Turn.objects.order_by("-ordinal")[0]
    work = claim(turn.pk, "worker")
    assert work is not None
    return list(work.prompt)


def test_files_are_listed_and_given_back(rest: Rest, path: str) -> None:
    text = file("Grüße\n".encode(), "C:\\tmp\\ä b.txt", "text/csv")
    assert post(rest, path, file(), text).status == 202
    message = rest("GET", f"{path}/messages").json["data"][0]
    image, note = message["attachments"]
    assert (image["name"], image["mediaType"], image["size"]) == (
        "a.png",
        "image/png",
        len(PNG),
    )
    assert (note["name"], note["mediaType"]) == ("ä b.txt", "text/plain")
    got = rest("GET", f"{path}/attachments/{image['id']}")
    assert (got.status, got.body) == (200, PNG)
    assert got.header("content-type") == "image/png"
    assert got.header("content-security-policy") == "sandbox; default-src 'none'"
    assert got.header("x-content-type-options") == "nosniff"
    got = rest("GET", f"{path}/attachments/{note['id']}")
    assert got.body.decode() == "Grüße\n"
    assert got.header("content-type") == "text/plain; charset=utf-8"
    named = "attachment; filename*=UTF-8''%C3%A4%20b.txt"
    assert got.header("content-disposition") == named


def test_files_are_the_sessions_own(rest: Rest, path: str) -> None:
    post(rest, path, file())
    url = f"{path}/attachments/{Attachment.objects.get().pk}"
    assert rest.triple("GET", url) == (200, 404, 401)
    assert rest("GET", f"{path}/attachments/file_other").status == 404
    made = rest("POST", "/v1/sessions", {}).json["id"]
    other = url.replace(path, f"/v1/sessions/{made}")
    assert rest("GET", other).status == 404


def test_file_that_is_known_is_not_sent_again(rest: Rest, path: str) -> None:
    post(rest, path, file())
    url = f"{path}/attachments/{Attachment.objects.get().pk}"
    first = rest("GET", url)
    assert first.header("cache-control") == "private, no-cache"
    etag = first.header("etag") or ""
    again = rest("GET", url, if_none_match=etag)
    assert (again.status, again.body, again.header("etag")) == (304, b"", etag)
    assert again.header("cache-control") == "private, no-cache"
    assert rest("GET", url, if_none_match='"file_other"').body == PNG


def test_known_file_is_only_for_those_who_may_see_it(people: People) -> None:
    """Else a browser would show what it kept to whoever comes after."""
    visitors = Visitors(Rest())
    embed = make_embed(people.agent)
    embed.attachments = True
    embed.save()
    token = visitors.token()
    path = visitors.session(token)
    body = {"content": "", "attachments": [file()]}
    visitors.call(token, "POST", f"{path}/messages", body)
    url = f"{path}/attachments/{Attachment.objects.get().pk}"
    known = {"if_none_match": visitors.call(token, "GET", url).header("etag") or ""}
    assert visitors.call(token, "GET", url, **known).status == 304
    assert visitors.call(visitors.token(), "GET", url, **known).status == 404
    assert visitors.rest("GET", url, key=None, **known).status == 401
    assert visitors.call(token, "DELETE", "/v1/widget/visitor").status == 204
    gone = visitors.call(token, "GET", url, **known)
    assert (gone.status, gone.header("cache-control")) == (401, "no-store")


def test_bytes_decide_what_a_file_is(rest: Rest, path: str) -> None:
    post(rest, path, file(JPEG, "x.png", "image/png"), file(PNG, "x.txt", "text/plain"))
    kinds = Attachment.objects.values_list("media_type", flat=True)
    assert list(kinds) == ["image/jpeg", "image/png"]


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        (file(b"<html>", "x.png", "image/png"), "attachments.0.data"),
        (file(b"MZ\x90\x00\xff", "x.exe", "text/plain"), "attachments.0.data"),
        (file(b"%PDF-1.7\n\xe2\xe3", "x.pdf", "application/pdf"), "attachments.0.data"),
        (file(b""), "attachments.0.data"),
        (file(b"a\x00b", "x.txt", "text/plain"), "attachments.0.data"),
        ({**file(), "data": "no base64!"}, "attachments.0.data"),
        ({**file(), "data": 7}, "attachments.0.data"),
        ({**file(), "url": "http://x"}, "attachments.0.url"),
        ({**file(), "name": " / "}, "attachments.0.name"),
        ({"name": "a", "data": "YQ=="}, "attachments.0.mediaType"),
        ("a.png", "attachments.0"),
    ],
)
def test_what_is_no_file_is_refused(
    rest: Rest, path: str, wrong: Any, param: str
) -> None:
    answer = post(rest, path, wrong)
    assert (answer.status, answer.json["error"]["param"]) == (400, param)
    assert not Message.objects.exists()


def test_files_are_few_and_small(rest: Rest, path: str) -> None:
    assert post(rest, path, *[file()] * 5).status == 400
    large = file(b"a" * (256 * 1024 + 1), "a.txt", "text/plain")
    answer = post(rest, path, file(), large)
    assert (answer.status, answer.code) == (413, "payload_too_large")
    assert answer.json["error"]["param"] == "attachments.1.data"
    body = {"content": "x", "attachments": {"a": 1}}
    assert rest("POST", f"{path}/messages", body).status == 400
    assert rest("POST", f"{path}/regenerate", {"attachments": [file()]}).status == 400


def test_picture_that_would_fill_the_memory_is_refused(rest: Rest, path: str) -> None:
    """A few KB may be 900 million pixels wherever they are drawn."""
    header = PNG[:8] + b"\x00\x00\x00\rIHDR" + (30_000).to_bytes(4, "big") * 2
    answer = post(rest, path, file(header))
    assert (answer.status, answer.code) == (413, "payload_too_large")
    assert answer.json["error"]["param"] == "attachments.0.data"
    assert not Attachment.objects.exists()


def test_agent_that_takes_none_says_so(rest: Rest, people: People) -> None:
    answer = post(rest, people.path, file())
    assert (answer.status, answer.code) == (403, "not_allowed")
    assert post(rest, people.path).status == 202
    assert post(rest, "/v1/sessions/sess_x", file()).status == 404


def test_embed_decides_for_its_visitors(people: People) -> None:
    visitors = Visitors(Rest())
    embed = make_embed(people.agent)
    token = visitors.token()
    path = visitors.session(token)
    body = {"content": "", "attachments": [file()]}
    assert visitors.call(token, "POST", f"{path}/messages", body).status == 403
    assert visitors.bootstrap().json["config"]["attachments"] is False
    embed.attachments = True
    embed.save()
    assert visitors.call(token, "POST", f"{path}/messages", body).status == 202
    assert visitors.bootstrap().json["config"]["attachments"] is True


def test_model_is_told_of_files(rest: Rest, path: str) -> None:
    post(rest, path, file(), file(b"a```\nb", "n.md", "text/markdown"))
    (message,) = prompt_of_last()
    assert message.content == "Look\n\nFile n.md:\n````\na```\nb\n````"
    (image,) = message.images
    assert (image.media_type, base64.b64decode(image.data)) == ("image/png", PNG)


def test_later_turns_are_told_too(rest: Rest, path: str) -> None:
    for number in range(10):
        post(rest, path, file(PNG + bytes([number])), content=f"No. {number}")
        Turn.objects.update(state="completed")
    post(rest, path, content="And?")
    (message,) = prompt_of_last()
    assert len(message.images) == 8
    assert "No. 0\n\n[File a.png, not shown again]\n\nNo. 1" in message.content
    assert message.content.endswith("No. 9\n\nAnd?")


def test_same_key_with_another_file_is_told_apart(rest: Rest, path: str) -> None:
    body = {"content": "Look", "attachments": [file()]}
    url, key = f"{path}/messages", {"idempotency_key": "k"}
    first = rest("POST", url, body, **key)
    assert rest("POST", url, body, **key).json == first.json
    other = {**body, "attachments": [file(JPEG)]}
    assert rest("POST", url, other, **key).status == 422
    assert Attachment.objects.count() == 1


def test_files_go_with_their_conversation(
    rest: Rest, people: People, path: str, settings: Any
) -> None:
    settings.LANTERN = {"log_ttl_s": 0.000001}
    post(rest, path, file())
    Turn.objects.update(state="completed")
    Agent.objects.update(retention_days=0)
    assert retention.purge_some() == [people.session.pk]
    assert not Attachment.objects.exists()
    made = rest("POST", "/v1/sessions", {}).json["id"]
    post(rest, f"/v1/sessions/{made}", file())
    assert rest("DELETE", f"/v1/sessions/{made}", NOTHING).status == 204
    assert not Attachment.objects.exists()


def test_transcript_names_the_files(rest: Rest, path: str) -> None:
    post(rest, path, file(), content="")
    assert "[File a.png]" in rest("GET", f"{path}/transcript").body.decode()
