from __future__ import annotations

import pytest
from django.conf import settings as django_settings

from sessions_app.models import Message, Turn
from tests.fakes.edge import People, Rest
from tests.fakes.people import make_key, make_session


def add_messages(people: People, count: int) -> list[str]:
    found = []
    for ordinal in range(1, count + 1):
        turn = Turn.objects.create(
            session=people.session, ordinal=ordinal, state="completed"
        )
        for position, role in enumerate(("user", "assistant")):
            message = Message.objects.create(
                session=people.session,
                turn=turn,
                ordinal=ordinal,
                position=position,
                role=role,
                content=f"{role} {ordinal}",
            )
            found.append(message.pk)
    return found


@pytest.fixture
def url(people: People) -> str:
    return f"{people.path}/messages"


def test_only_its_owner_posts_to_a_session(rest: Rest, url: str) -> None:
    assert rest.triple("POST", url, {"content": "x"}) == (202, 404, 401)


def test_only_its_owner_reads_the_transcript(rest: Rest, url: str) -> None:
    assert rest.triple("GET", url) == (200, 404, 401)


def test_posted_message_gives_turn_and_cursor(rest: Rest, people: People, url) -> None:
    first, second = (
        rest("POST", url, {"content": "x"}),
        rest("POST", url, {"content": "y"}),
    )
    turns = list(Turn.objects.order_by("ordinal").values_list("pk", flat=True))
    assert first.json == {
        "sessionId": people.session.pk,
        "turnId": turns[0],
        "cursor": "1-0",
    }
    assert (second.json["turnId"], second.json["cursor"]) == (turns[1], "2-0")


def test_transcript_pages_oldest_first(rest: Rest, people: People, url: str) -> None:
    expected = add_messages(people, 3)
    found, after = [], ""
    while after is not None:
        page = rest("GET", f"{url}?limit=4{after and f'&after={after}'}").json
        found += [row["id"] for row in page["data"]]
        after = page["nextCursor"]
    assert found == expected


def test_message_shows_the_five_fields(rest: Rest, people: People, url: str) -> None:
    add_messages(people, 1)
    shown = rest("GET", url).json["data"][0]
    assert set(shown) == {"id", "role", "content", "turnId", "createdAt"}
    assert (shown["role"], shown["content"]) == ("user", "user 1")


@pytest.mark.parametrize("query", ["limit=0", "after=msg_x", "after=%00", "x=1"])
def test_bad_page_is_refused(rest: Rest, url: str, query: str) -> None:
    assert rest("GET", f"{url}?{query}").status == 400


def test_cursor_of_another_session_is_refused(rest: Rest, people: People) -> None:
    message = add_messages(people, 1)[0]
    other = make_session(people.agent, people.session.owner)
    answer = rest("GET", f"/v1/sessions/{other.pk}/messages?after={message}")
    assert answer.status == 400


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"content": ""},
        {"content": " \n"},
        {"content": None},
        {"content": 7},
        {"content": ["x"]},
        {"content": {"text": "x"}},
        {"content": "x" * 100_001},
        {"content": "x", "onBusy": "never"},
        {"content": "x", "onBusy": ["queue"]},
        {"content": "x", "failover": True},
        {"content": "x", "failover": "maybe"},
        {"content": "x", "attachments": [{}]},
        {"content": "x", "clientTools": {"name": "t"}},
        {"content": "x", "clientTools": ["t"]},
        {"content": "x", "clientTools": [{"name": "no spaces"}]},
        {"content": "x", "clientTools": [{"name": "t", "run": True}]},
        {"content": "x", "clientTools": [{"name": "t", "inputSchema": []}]},
        {"content": "x", "clientTools": [{"name": "t"}, {"name": "t"}]},
        {"content": "x", "clientTools": [{"name": "t", "description": "x" * 5000}]},
        {"content": "x", "clientTools": [{"name": f"t{n}"} for n in range(65)]},
        {"content": "x", "toolChoice": "maybe"},
        {"content": "x", "toolChoice": {"type": "tool"}},
        {"content": "x", "toolChoice": {"type": "auto", "name": "t"}},
        {"content": "x", "toolChoice": 7},
        # C70 (3)
        {"content": "x", "role": "system"},
        {"content": "x", "model": "gpt-x"},
        {"content": "x", "max_tokens": 100_000},
        {"content": "x", "tools": []},
        {"content": "x", "system": "x"},
        {"messages": [{"role": "system", "content": "x"}]},
    ],
)
def test_bad_message_leaves_nothing(rest: Rest, url: str, body) -> None:
    assert rest("POST", url, body).status == 400
    assert not Turn.objects.exists()
    assert not Message.objects.exists()


# C19: refused where it would otherwise be lost at the end of the turn.
@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "\udc00"])
def test_text_that_cannot_be_stored_is_refused(rest: Rest, url: str, text: str) -> None:
    answer = rest("POST", url, {"content": text})
    assert (answer.status, answer.code) == (400, "bad_request")
    assert not Turn.objects.exists()


def test_content_is_stored_as_it_is(rest: Rest, url: str) -> None:
    text = "  好 🙂\r\n\u2028\ufeff<script>\t "
    rest("POST", url, {"content": text})
    assert Message.objects.get().content == text


def test_closed_session_takes_no_message(rest: Rest, people: People, url: str) -> None:
    people.session.is_closed = True
    people.session.save()
    answer = rest("POST", url, {"content": "x"})
    assert (answer.status, answer.code) == (409, "session_closed")


def test_eight_wait_and_the_ninth_is_refused(rest: Rest, people: People, url) -> None:
    Turn.objects.create(session=people.session, ordinal=99, state="running")
    people.session.last_ordinal = 99
    people.session.save()
    statuses = [rest("POST", url, {"content": "x"}).status for _ in range(8)]
    ninth = rest("POST", url, {"content": "x"})
    assert statuses == [202] * 8
    assert (ninth.status, ninth.code) == (429, "queue_full")
    assert int(ninth.header("retry-after")) > 0


def test_reject_names_the_turn_in_the_way(rest: Rest, url: str) -> None:
    running = rest("POST", url, {"content": "x"}).json["turnId"]
    answer = rest("POST", url, {"content": "y", "onBusy": "reject"})
    assert (answer.status, answer.code) == (409, "session_busy")
    assert answer.json["error"]["turnId"] == running


def test_interrupt_asks_the_running_turn_to_end(rest: Rest, url: str) -> None:
    first = rest("POST", url, {"content": "x"}).json["turnId"]
    assert rest("POST", url, {"content": "y", "onBusy": "interrupt"}).status == 202
    assert Turn.objects.get(pk=first).cancel_requested


# C33 (2)
def test_same_key_gives_the_same_turn(rest: Rest, url: str) -> None:
    first = rest("POST", url, {"content": "x"}, idempotency_key="k")
    again = rest("POST", url, {"content": "x"}, idempotency_key="k")
    assert again.json == first.json
    assert again.header("idempotency-replayed") == "true"
    assert first.header("idempotency-replayed") is None
    assert Message.objects.count() == 1


# C33 (3)
def test_same_key_with_another_body_is_refused(rest: Rest, url: str) -> None:
    rest("POST", url, {"content": "x"}, idempotency_key="k")
    for body in ({"content": "y"}, {"content": "x", "onBusy": "interrupt"}):
        answer = rest("POST", url, body, idempotency_key="k")
        assert (answer.status, answer.code) == (422, "idempotency_mismatch")


# C33 (4)
def test_keys_of_others_are_independent(rest: Rest, people: People, url: str) -> None:
    make_key("lk_all", scopes=["sessions", "sessions.all"])
    other = make_session(people.agent, people.session.owner)
    turns = {
        rest("POST", path, {"content": "x"}, key=key, idempotency_key="k").json[
            "turnId"
        ]
        for path, key in (
            (url, "lk_alice"),
            (url, "lk_all"),
            (f"/v1/sessions/{other.pk}/messages", "lk_alice"),
        )
    }
    assert len(turns) == 3


# C33 (5)
def test_same_text_without_key_is_two_messages(rest: Rest, url: str) -> None:
    turns = {rest("POST", url, {"content": "ok"}).json["turnId"] for _ in range(2)}
    assert len(turns) == 2


# C33 (6)
def test_key_of_a_refused_post_is_still_free(rest: Rest, url: str) -> None:
    assert rest("POST", url, {"content": ""}, idempotency_key="k").status == 400
    assert rest("POST", url, {"content": "x"}, idempotency_key="k").status == 202


def test_key_counts_for_a_limited_time(rest: Rest, url: str, settings) -> None:
    first = rest("POST", url, {"content": "x"}, idempotency_key="k")
    settings.LANTERN = {"idempotency_ttl_s": -1.0}
    again = rest("POST", url, {"content": "x"}, idempotency_key="k")
    assert again.json["turnId"] != first.json["turnId"]


@pytest.mark.parametrize("key", ["", "k" * 256, "käse", "a\tb", "a\x7fb"])
def test_malformed_key_is_refused(rest: Rest, url: str, key: str) -> None:
    answer = rest("POST", url, {"content": "x"}, idempotency_key=key)
    assert (answer.status, answer.json["error"]["param"]) == (400, "Idempotency-Key")


def test_longest_key_is_taken(rest: Rest, url: str) -> None:
    answer = rest("POST", url, {"content": "x"}, idempotency_key="k" * 255)
    assert answer.status == 202


def test_django_keeps_what_a_body_may_hold() -> None:
    assert django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE >= 1_048_576


@pytest.mark.parametrize("call", ["messages", "regenerate"])
def test_narrowed_key_only_reads_its_older_sessions(
    rest: Rest, people: People, call: str
) -> None:
    people.alice.agents = ["other"]
    people.alice.save()
    body = {"content": "x"} if call == "messages" else {}
    answer = rest("POST", f"{people.path}/{call}", body)
    assert (answer.status, answer.code) == (403, "not_allowed")
    assert rest("GET", f"{people.path}/messages").status == 200


def test_disabled_agent_is_asked_nothing(rest: Rest, people: People) -> None:
    people.agent.is_enabled = False
    people.agent.save()
    answer = rest("POST", f"{people.path}/messages", {"content": "x"})
    made = rest("POST", "/v1/sessions", {"agent": people.agent.slug})
    assert (answer.status, answer.code) == (made.status, made.code)
    assert answer.json["error"]["message"] == made.json["error"]["message"]
