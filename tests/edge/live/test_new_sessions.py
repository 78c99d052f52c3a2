"""Sessions made ahead of Django's handler: the same answers as behind it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sessions_app.models import ApiKey, Session
from sessions_app.store.db import in_thread
from tests.fakes.asgi import Answer
from tests.fakes.edge import NOTHING, Live, Rest
from tests.fakes.people import ALICE_KEY, make_key

URL = "/v1/sessions"
SHOWN = {"title": "Grüße 🙂", "user": "u1", "metadata": {"a": [1, None]}}
TIMES = ("createdAt", "updatedAt")
MADE_FOR_EACH = ("id", "requestId", *TIMES)

BODIES = [
    NOTHING,
    {},
    b"  ",
    {**SHOWN, "agent": "helper", "systemPrompt": "Be."},
    b"{",
    b"[]",
    b'{"title": "\xff"}',
    b'{"title": "\\ud800"}',
    {"title": "a\0b"},
    {"title": 1},
    {"title": "x" * 201},
    {"metadata": []},
    {"metadata": {"a": "x" * 100_000}},
    {"agent": "nobody"},
    {"agent": ""},
    {"nonsense": 1},
    b"[" * 100_000,
]


async def ahead(live: Live, path: str, body: Any, key: str) -> Answer:
    given = {"json": body} if isinstance(body, dict) else {}
    if isinstance(body, bytes):
        given = {"body": [body]}
    return await live.client_of(key).request("POST", path, **given)


def told(answer: Answer) -> Any:
    """The answer without what is new each time."""
    said = answer.json
    for name in MADE_FOR_EACH:
        said.get("error", said).pop(name, None)
    return answer.status, said, answer.header("cache-control")


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
async def test_body_is_answered_as_behind_django(live: Live, body: Any) -> None:
    here = await ahead(live, URL, body, ALICE_KEY)
    there = await in_thread(Rest(), "POST", URL, body)
    assert told(here) == told(there)


@pytest.mark.parametrize(
    ("path", "key"),
    [(URL, "lk_wrong"), (URL, "wrong"), (f"{URL}?a=1", ALICE_KEY), (URL, "lk_narrow")],
)
async def test_caller_is_judged_as_behind_django(
    live: Live, path: str, key: str
) -> None:
    narrow = await in_thread(make_key, "lk_narrow")
    await in_thread(ApiKey.objects.filter(pk=narrow.pk).update, scopes=["completions"])
    here = await ahead(live, path, {}, key)
    there = await in_thread(Rest(), "POST", path, {}, key=key)
    assert here.status in (400, 401, 403)
    assert told(here) == told(there)
    assert here.header("www-authenticate") == there.header("www-authenticate")


async def test_session_is_stored_and_shown_with_all_its_fields(live: Live) -> None:
    fields = {**SHOWN, "agent": "helper", "systemPrompt": "Be."}
    shown = (await ahead(live, URL, fields, ALICE_KEY)).json
    assert {name: shown[name] for name in SHOWN} == SHOWN
    assert set(shown) == {*SHOWN, "id", "agent", "status", "operator", *TIMES}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", shown["createdAt"])
    stored = await in_thread(Session.objects.get, pk=shown["id"])
    owner = live.people.session.owner
    assert (stored.system_prompt, stored.owner) == ("Be.", owner)


async def test_message_follows_at_once(live: Live) -> None:
    made = (await ahead(live, URL, {}, ALICE_KEY)).json["id"]
    path = f"{URL}/{made}/messages"
    posted = await live.client.request("POST", path, json={"content": "hello"})
    assert posted.status == 202
