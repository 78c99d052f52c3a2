from __future__ import annotations

import pytest

from sessions_app.models import Message, Session, Turn
from tests.fakes.edge import People, Rest
from tests.fakes.people import make_agent, make_key, make_session


def test_only_its_owner_reads_a_session(rest: Rest, people: People) -> None:
    assert rest.triple("GET", people.path) == (200, 404, 401)


def test_only_its_owner_changes_a_session(rest: Rest, people: People) -> None:
    assert rest.triple("PATCH", people.path, {"title": "x"}) == (200, 404, 401)


def test_only_its_owner_deletes_a_session(rest: Rest, people: People) -> None:
    assert rest.triple("DELETE", people.path) == (204, 404, 401)
    assert rest("GET", people.path).status == 404


# C67: what is foreign looks like what is not there.
def test_foreign_and_unknown_look_alike(rest: Rest, people: People) -> None:
    def shown(path: str, key: str) -> object:
        error = rest("GET", path, key=key).json["error"]
        return {**error, "requestId": ""}

    assert shown(people.path, "lk_bob") == shown("/v1/sessions/sess_x", "lk_alice")


@pytest.mark.parametrize(
    "id_", ["%00", "sess_%00", "1", "%F0%9F", "x" * 5000, "..", "%2F"]
)
def test_odd_ids_are_not_found(rest: Rest, id_: str) -> None:
    for method in ("GET", "PATCH", "DELETE"):
        answer = rest(method, f"/v1/sessions/{id_}")
        assert (answer.status, answer.code) == (404, "not_found")


def test_change_keeps_what_is_not_named(rest: Rest, people: People) -> None:
    rest("PATCH", people.path, {"title": "a", "metadata": {"x": 1}})
    shown = rest("PATCH", people.path, {"title": "b"}).json
    assert (shown["title"], shown["metadata"]) == ("b", {"x": 1})
    assert rest("PATCH", people.path, {}).json["title"] == "b"


@pytest.mark.parametrize(
    "body",
    [
        {"user": "x"},
        {"agent": "helper"},
        {"status": "closed"},
        {"systemPrompt": "x"},
        {"title": 1},
        {"title": "x" * 201},
        {"metadata": None},
        {"metadata": {"x": "y" * 16_400}},
    ],
)
def test_bad_change_is_refused_and_changes_nothing(
    rest: Rest, people: People, body
) -> None:
    assert rest("PATCH", people.path, {"title": "new", **body}).status == 400
    assert Session.objects.get(pk=people.session.pk).title == ""


def test_deletion_takes_everything_below(rest: Rest, people: People) -> None:
    turn = Turn.objects.create(session=people.session, ordinal=1, state="completed")
    Message.objects.create(
        session=people.session, turn=turn, ordinal=1, position=0, role="user"
    )
    assert rest("DELETE", people.path).status == 204
    assert not Turn.objects.exists()
    assert not Message.objects.exists()


def test_deleting_twice_is_not_found(rest: Rest, people: People) -> None:
    rest("DELETE", people.path)
    assert rest("DELETE", people.path).status == 404


def test_key_of_some_agents_starts_those_only(rest: Rest, people: People) -> None:
    make_agent("other")
    make_key("lk_bound", agents=["other"])
    refused = rest("POST", "/v1/sessions", {"agent": "helper"}, key="lk_bound")
    made = rest("POST", "/v1/sessions", {}, key="lk_bound")
    assert (refused.status, refused.code) == (403, "not_allowed")
    assert made.json["agent"] == "other"


def test_scope_sessions_all_sees_its_agents_sessions(
    rest: Rest, people: People
) -> None:
    hidden = make_session(make_agent("other"), "key:99")
    make_key("lk_all", agents=["helper"], scopes=["sessions", "sessions.all"])
    assert rest("GET", people.path, key="lk_all").status == 200
    assert rest("GET", f"/v1/sessions/{hidden.pk}", key="lk_all").status == 404
    shown = rest("GET", "/v1/sessions", key="lk_all").json["data"]
    assert [row["id"] for row in shown] == [people.session.pk]


def test_key_without_the_scope_is_refused(rest: Rest, people: People) -> None:
    make_key("lk_other", scopes=["completions"])
    for method, path in (("GET", people.path), ("POST", "/v1/sessions")):
        answer = rest(method, path, key="lk_other")
        assert (answer.status, answer.code) == (403, "not_allowed")


def test_disabled_key_is_unknown(rest: Rest, people: People) -> None:
    make_key("lk_off", is_enabled=False)
    assert rest("GET", people.path, key="lk_off").status == 401
