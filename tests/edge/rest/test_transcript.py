"""The transcript to take along."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from lantern_site.environment import mail_server
from sessions_app.models import Message, Session, Turn
from sessions_app.store.messages import newest
from tests.fakes.edge import People, Rest
from tests.fakes.smtp_server import SmtpServer, smtp_server

AT = datetime(2026, 12, 2, 18, 5, tzinfo=UTC)


def say(session: Session, *texts: str, operator: str = "") -> None:
    """Turns of a question and an answer."""
    for number in range(0, len(texts), 2):
        ordinal = session.messages.count() + 1
        turn = Turn.objects.create(session=session, ordinal=ordinal, state="completed")
        for position, content in enumerate(texts[number : number + 2]):
            Message.objects.create(
                session=session,
                turn=turn,
                ordinal=ordinal,
                position=position,
                role=("user", "assistant")[position],
                content=content,
                operator=operator,
            )
    Message.objects.update(created_at=AT)


@pytest.fixture
def path(people: People) -> str:
    Session.objects.update(title="Order\n4711")
    say(people.session, "Where is it?", "On its way.\nWait.")
    say(people.session, "Really?", "Yes!", operator="Olga")
    return f"{people.path}/transcript"


def test_transcript_is_a_plain_text(rest: Rest, people: People, path: str) -> None:
    answer = rest("GET", path)
    assert answer.header("content-type") == "text/plain; charset=utf-8"
    name = f'attachment; filename="{people.session.pk}.txt"'
    assert answer.header("content-disposition") == name
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("cache-control") == "no-store"
    assert answer.body.decode() == (
        "Order 4711\n\n"
        "User, 2026-12-02 18:05 UTC:\nWhere is it?\n\n"
        "Assistant, 2026-12-02 18:05 UTC:\nOn its way.\nWait.\n\n"
        "User, 2026-12-02 18:05 UTC:\nReally?\n\n"
        "Olga, 2026-12-02 18:05 UTC:\nYes!\n"
    )


@pytest.mark.parametrize("accept", ["text/markdown", "Text/Markdown;q=0.9, */*"])
def test_transcript_is_markdown_if_asked_for(
    rest: Rest, path: str, accept: str
) -> None:
    answer = rest("GET", path, accept=accept)
    assert answer.header("content-type") == "text/markdown; charset=utf-8"
    assert ".md" in str(answer.header("content-disposition"))
    text = answer.body.decode()
    assert text.startswith("# Order 4711\n\n**User** · 2026-12-02 18:05 UTC\n\nWhere")


@pytest.mark.parametrize("accept", ["*/*", "text/html", "text/plain, text/markdown"])
def test_transcript_is_plain_otherwise(rest: Rest, path: str, accept: str) -> None:
    assert "plain" in str(rest("GET", path, accept=accept).header("content-type"))


def test_superseded_answers_are_left_out(rest: Rest, path: str) -> None:
    Message.objects.filter(content="Yes!").update(is_superseded=True)
    assert b"Yes!" not in rest("GET", path).body


def test_strangers_find_no_transcript(rest: Rest, path: str) -> None:
    assert rest.triple("GET", path) == (200, 404, 401)
    assert rest.triple("POST", path, {"email": "a@b.example"}) == (400, 404, 401)


def test_longest_transcripts_lose_their_beginning(people: People, path: str) -> None:
    found, is_whole = newest(people.session.pk, 20)
    assert [each.content for each in found] == ["Really?", "Yes!"]
    assert not is_whole
    assert newest(people.session.pk, 1000)[1]


@pytest.fixture
def post_office(settings: Any) -> Iterator[SmtpServer]:
    with smtp_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.EMAIL_TIMEOUT = 2
        settings.LANTERN_EMAIL_FROM = "Shop <chat@shop.example>"
        settings.LANTERN = {"recipient_mails_per_minute": 100}
        yield server


def test_transcript_is_sent(rest: Rest, path: str, post_office: SmtpServer) -> None:
    answer = rest("POST", path, {"email": "alice@shop.example"})
    assert (answer.status, answer.body) == (204, b"")
    ((recipients, mail),) = post_office.mails
    assert recipients == ["alice@shop.example"]
    assert (mail["subject"], mail["to"]) == ("Order 4711", "alice@shop.example")
    assert mail["from"] == "Shop <chat@shop.example>"
    assert mail["auto-submitted"] == "auto-generated"
    assert mail.get_content_type() == "text/plain"
    assert mail.get_content().replace("\r\n", "\n") == rest("GET", path).body.decode()


def test_words_of_any_script_arrive(
    rest: Rest, people: People, path: str, post_office: SmtpServer
) -> None:
    say(people.session, ".\n..\nمرحبا 👋", "x" * 3000)
    assert rest("POST", path, {"email": "a@b.example"}).status == 204
    text = post_office.mails[0][1].get_content().replace("\r\n", "\n")
    assert "\n.\n..\nمرحبا 👋\n" in text
    assert "x" * 3000 in text


@pytest.mark.parametrize(
    "address",
    [
        "",
        "alice",
        "alice@",
        "a@b.example, c@d.example",
        "a@b.example\r\nBcc: c@d.example",
        "a@b.example\nBcc: c@d.example",
        "Alice <a@b.example>",
        "a@b.example>\r\nRCPT TO:<c@d.example",
        "ä@b.example",
        "a@bücher.example",
        "a" * 300 + "@b.example",
        7,
        None,
        ["a@b.example"],
    ],
)
def test_what_is_no_address_is_refused(
    rest: Rest, path: str, post_office: SmtpServer, address: Any
) -> None:
    answer = rest("POST", path, {"email": address})
    assert (answer.status, answer.json["error"]["param"]) == (400, "email")
    assert post_office.mails == []


def test_title_adds_no_header(rest: Rest, path: str, post_office: SmtpServer) -> None:
    Session.objects.update(title="Hi\r\nBcc: eve@evil.example\u2028\x1b[1m")
    assert rest("POST", path, {"email": "a@b.example"}).status == 204
    recipients, mail = post_office.mails[0]
    assert (recipients, mail["bcc"]) == (["a@b.example"], None)
    assert mail["subject"].startswith("Hi Bcc: eve@evil.example")


def test_nothing_is_sent_without_a_mail_server(rest: Rest, path: str) -> None:
    answer = rest("POST", path, {"email": "a@b.example"})
    assert (answer.status, answer.code) == (400, "bad_request")
    assert "no e-mail" in answer.json["error"]["message"]


def test_failure_is_told(rest: Rest, path: str, post_office: SmtpServer) -> None:
    body = {"email": "a@b.example"}
    post_office.refusing = {"RCPT": "550 no such user"}
    answer = rest("POST", path, body)
    assert (answer.status, answer.json["error"]["param"]) == (400, "email")
    post_office.refusing = {"DATA": "451 later"}
    answer = rest("POST", path, body)
    assert (answer.status, answer.code) == (502, "mail_failed")
    assert "451" not in answer.body.decode()
    post_office.hangs_up = True
    assert rest("POST", path, body).status == 502


def test_no_mail_server_there_is_told(rest: Rest, path: str, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    settings.LANTERN_EMAIL_FROM = "chat@shop.example"
    answer = rest("POST", path, {"email": "a@b.example"})
    assert (answer.status, answer.code) == (502, "mail_failed")


def test_mails_of_a_session_are_few(
    rest: Rest, path: str, post_office: SmtpServer
) -> None:
    statuses = [
        rest("POST", path, {"email": f"a{number}@b.example"}).status
        for number in range(7)
    ]
    assert statuses == [204] * 5 + [429] * 2
    assert len(post_office.mails) == 5


def test_mails_to_an_address_are_few(
    rest: Rest, path: str, post_office: SmtpServer, settings: Any
) -> None:
    settings.LANTERN = {}
    assert rest("POST", path, {"email": "a@b.example"}).status == 204
    answer = rest("POST", path, {"email": "A@b.example"})
    assert (answer.status, answer.code) == (429, "rate_limited")
    assert int(answer.header("retry-after") or 0) > 0


def test_mail_server_is_read_off_its_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANTERN_EMAIL_URL", "smtp+tls://us%40er:p%3Aw@mail.example")
    found = mail_server("chat@shop.example")
    assert found["EMAIL_HOST"] == "mail.example"
    assert (found["EMAIL_PORT"], found["EMAIL_USE_TLS"]) == (587, True)
    assert (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"]) == ("us@er", "p:w")


@pytest.mark.parametrize("url", ["mail.example", "http://x", "smtp://", "smtp://x:y"])
def test_wrong_url_of_a_mail_server_is_refused(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("LANTERN_EMAIL_URL", url)
    with pytest.raises(ImproperlyConfigured):
        mail_server("chat@shop.example")


def test_mail_server_needs_a_sender(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANTERN_EMAIL_URL", "smtp://mail.example")
    with pytest.raises(ImproperlyConfigured, match="set both"):
        mail_server("")
