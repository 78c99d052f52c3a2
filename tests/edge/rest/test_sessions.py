from __future__ import annotations

import pytest
from django.db.models import JSONField, Value

from sessions_app.models import ApiKey, Session
from sessions_app.models.api_key import hash_key
from tests.fakes.edge import People, Rest
from tests.fakes.people import ALICE_KEY, make_agent, make_session

URL = "/v1/sessions"
JSON = JSONField()


def ids_of(answer) -> list[str]:
    return [row["id"] for row in answer.json["data"]]


def make_many(people: People, count: int) -> list[str]:
    owner = people.session.owner
    made = [people.session, *(make_session(people.agent, owner) for _ in range(count))]
    return [session.pk for session in reversed(made)]


def test_owner_makes_anonymous_may_not(rest: Rest) -> None:
    assert rest("POST", URL, {}).status == 201
    assert rest("POST", URL, {}, key=None).status == 401


def test_new_session_shows_all_its_fields(rest: Rest, people: People) -> None:
    fields = {"title": "Grüße", "user": "u1", "metadata": {"a": [1, None]}}
    answer = rest("POST", URL, {**fields, "agent": "helper", "systemPrompt": "Be."})
    shown = answer.json
    assert {name: shown[name] for name in fields} == fields
    assert (shown["agent"], shown["status"]) == ("helper", "idle")
    own = {"id", "agent", "status", "operator", "createdAt", "updatedAt"}
    assert set(shown) == {*fields, *own}
    stored = Session.objects.get(pk=shown["id"])
    assert (stored.system_prompt, stored.owner) == ("Be.", people.session.owner)


def test_list_says_how_the_user_began(rest: Rest, people: People) -> None:
    rest("POST", URL, {})
    asked = {"content": "Where is\nmy order? " + "x" * 300}
    rest("POST", f"{people.path}/messages", asked)
    rest("POST", f"{people.path}/messages", {"content": "And now?"})
    empty, asked_first = rest("GET", URL).json["data"]
    assert empty["firstWords"] is None
    assert asked_first["firstWords"] == ("Where is my order? " + "x" * 300)[:80]
    assert "firstWords" not in rest("GET", people.path).json


def test_times_are_rfc_3339_utc(rest: Rest) -> None:
    created = rest("POST", URL, {}).json["createdAt"]
    assert created.endswith("Z")
    assert created[10] == "T"


def test_body_may_be_empty(rest: Rest) -> None:
    assert rest("POST", URL).status == 201


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"agent": "nobody"}, "agent"),
        ({"agent": ""}, "agent"),
        ({"agent": 7}, "agent"),
        ({"title": 7}, "title"),
        ({"title": None}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"user": "x" * 201}, "user"),
        ({"user": {}}, "user"),
        ({"metadata": []}, "metadata"),
        ({"metadata": "x"}, "metadata"),
        ({"metadata": {"x": "y" * 16_400}}, "metadata"),
        ({"systemPrompt": "x" * 100_001}, "systemPrompt"),
        ({"id": "sess_mine"}, "id"),
        ({"owner": "key:1"}, "owner"),
        ({"status": "closed"}, "status"),
    ],
)
def test_bad_field_is_refused_by_name(rest: Rest, body, param: str) -> None:
    answer = rest("POST", URL, body)
    assert answer.status == 400
    assert answer.json["error"]["param"] == param


def test_list_shows_own_sessions_only(rest: Rest, people: People) -> None:
    make_session(people.agent, f"key:{people.bob.pk}")
    assert ids_of(rest("GET", URL)) == [people.session.pk]
    assert rest("GET", URL, key=None).status == 401


def test_pages_cover_everything_once_newest_first(rest: Rest, people: People) -> None:
    expected = make_many(people, 6)
    found, after = [], ""
    while after is not None:
        answer = rest("GET", f"{URL}?limit=3{after and f'&after={after}'}")
        found += ids_of(answer)
        after = answer.json["nextCursor"]
    assert found == expected


def test_last_full_page_has_no_next_cursor(rest: Rest, people: People) -> None:
    make_many(people, 2)
    assert rest("GET", f"{URL}?limit=3").json["nextCursor"] is None
    assert rest("GET", f"{URL}?limit=2").json["nextCursor"] is not None


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=101",
        "limit=-1",
        "limit=%2B5",
        "limit=²",
        "limit=1.5",
        "limit=",
        "limit=000000010" + "0" * 5000,
        "limit=" + "9" * 5000,
        "after=sess_none",
        "after=%00",
        "after=",
        "after=" + "x" * 5000,
        "status=running%00",
        "status=busy",
        "user=%00",
        "sort=up",
        "limit[]=1",
    ],
)
def test_bad_query_is_refused(rest: Rest, query: str) -> None:
    assert rest("GET", f"{URL}?{query}").status == 400


def test_foreign_cursor_is_refused(rest: Rest, people: People) -> None:
    foreign = make_session(people.agent, f"key:{people.bob.pk}")
    assert rest("GET", f"{URL}?after={foreign.pk}").status == 400


def test_filters_narrow_the_list(rest: Rest, people: People) -> None:
    owner = people.session.owner
    other = make_session(make_agent("other"), owner, user="u2")
    closed = make_session(people.agent, owner, is_closed=True)
    rest("POST", f"/v1/sessions/{other.pk}/messages", {"content": "x"})
    assert ids_of(rest("GET", f"{URL}?agent=other")) == [other.pk]
    assert ids_of(rest("GET", f"{URL}?user=u2")) == [other.pk]
    assert ids_of(rest("GET", f"{URL}?status=closed")) == [closed.pk]
    assert ids_of(rest("GET", f"{URL}?status=running")) == [other.pk]
    assert ids_of(rest("GET", f"{URL}?status=idle")) == [people.session.pk]
    assert ids_of(rest("GET", f"{URL}?status=awaiting_tools")) == []
    assert ids_of(rest("GET", f"{URL}?user=&agent=nobody")) == []


@pytest.mark.parametrize("bad", [5, "*", "helper", {"*": 1}, ["*", 5], [["*"]], None])
def test_malformed_agents_of_a_key_allow_none(rest: Rest, bad: object) -> None:
    ApiKey.objects.filter(digest=hash_key(ALICE_KEY)).update(agents=Value(bad, JSON))
    assert rest("POST", URL, {}).status in (400, 403)
    assert rest("GET", URL).status == 200


@pytest.mark.parametrize("bad", [5, "sessions", {"sessions": 1}, ["sessions", 5]])
def test_malformed_scopes_of_a_key_allow_nothing(rest: Rest, bad: object) -> None:
    ApiKey.objects.filter(digest=hash_key(ALICE_KEY)).update(scopes=Value(bad, JSON))
    assert rest("GET", URL).status == 403
