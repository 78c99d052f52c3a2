"""Requests that nobody sends by mistake: whatever they are, never a 500."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sessions_app.models import Message, Turn
from sessions_app.store.db import in_thread
from tests.contract.test_error_shape import assert_error_shape
from tests.fakes.edge import Live

METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"]
SAFE_PATHS = ["/", "/health", "/ready", "/widget.js", "/v1/schema", "/v1/docs"]


def paths_of(live: Live) -> list[str]:
    names = ["messages", "regenerate", "ticket", "events", "turns/tur_x", "nothing"]
    return [
        *SAFE_PATHS,
        "/v1/sessions",
        "/v1/widget/bootstrap",
        live.path,
        *(f"{live.path}/{name}" for name in names),
        f"{live.path}/turns/tur_x/cancel",
        f"{live.path}/turns/tur_x/feedback",
        "/v1/sessions/%00/messages",
        "/v1/sessions/%00/events",
        "/v1/sessions/%ED%A0%80/messages",
        f"/v1/sessions/{'x' * 50_000}/events",
        "/%00",
        "//v1//sessions",
        "/v1/sessions/",
        "/static/../manage.py",
        "/static/%00",
    ]


@pytest.mark.parametrize("method", METHODS)
async def test_every_method_on_every_path_is_answered(live: Live, method: str) -> None:
    for path in paths_of(live):
        if method in ("GET", "DELETE") and path in (f"{live.path}/events", live.path):
            continue
        answer = await live.client.request(method, path)
        assert answer.status < 500, (method, path)


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "Bearer",
        "Bearer  lk_alice",
        "bearer lk_alice",
        "Bearer lk_alice extra",
        "Bearer lk_\xff\xfe",
        "Bearer lk_\x00",
        "Bearer " + "lk_" * 20_000,
        "Bearer lv_" + ":" * 100,
        "Bearer lv_.a:b:c",
        "Bearer lt_x",
        "Basic bGtfYWxpY2U6",
        "Token lk_alice",
        "\xff\xff",
    ],
)
async def test_odd_credentials_are_alike_at_both_doors(live: Live, value: str) -> None:
    headers = {"authorization": value}
    get = await live.client.request("GET", live.path, headers=headers)
    post = await live.client.request(
        "POST", f"{live.path}/messages", json={"content": "x"}, headers=headers
    )
    events = live.client.exchange("GET", f"{live.path}/events", headers=headers)
    await events.start()
    await events.hang_up()
    expected = 200 if value == "bearer lk_alice" else 401
    assert (get.status, events.status) == (expected, expected)
    assert post.status == (202 if expected == 200 else 401)


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": ""},
        {"content-type": "garbage"},
        {"content-type": "application/json; charset=utf-16"},
        {"content-type": "multipart/form-data"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "\xff"},
        {"accept": "text/html"},
        {"accept": "garbage;;;q=x"},
        {"accept-language": "\xff"},
        {"cookie": 'sessionid="\\000\\000\\000"; \xff'},
        {"x-forwarded-for": "\xff"},
        {"host": "testserver:80"},
        {"origin": "\xff"},
        {"range": "bytes=0-"},
        {"x-http-method-override": "DELETE"},
        {"expect": "100-continue"},
    ],
)
async def test_odd_headers_change_nothing(live: Live, headers: dict[str, str]) -> None:
    body = {"title": "x"}
    answer = await live.client.request("PATCH", live.path, json=body, headers=headers)
    assert (answer.status, answer.json["title"]) == (200, "x")
    post = await live.client.request(
        "POST", f"{live.path}/messages", json={"content": "x"}, headers=headers
    )
    assert post.status == 202


@pytest.mark.parametrize("length", ["abc", "-1", "²", "", "1e3", "0x10"])
async def test_length_that_is_no_number_is_refused(live: Live, length: str) -> None:
    headers = {"content-length": length}
    answer = await live.client.request("PATCH", live.path, json={}, headers=headers)
    assert answer.status == 400
    assert_error_shape(answer)


async def test_foreign_host_is_a_bad_request(live: Live) -> None:
    headers = {"host": "evil.example"}
    answer = await live.client.request("GET", "/v1/sessions", headers=headers)
    assert answer.status == 400
    assert_error_shape(answer)


# A body without Content-Length was taken for an empty one.
async def test_chunked_body_is_read(live: Live) -> None:
    pieces = [b'{"title": ', b'"chu', b'nked"}']
    answer = await live.client.request("PATCH", live.path, body=pieces)
    assert answer.json["title"] == "chunked"


async def test_last_of_doubled_keys_counts(live: Live) -> None:
    answer = await live.client.request(
        "PATCH", live.path, body=[b'{"title":"a","title":"b"}']
    )
    assert answer.json["title"] == "b"


@pytest.mark.parametrize("path", ["", "/messages", "/events", "/ticket"])
async def test_long_body_is_refused_before_it_is_kept(
    live: Live, path: str, settings: Any
) -> None:
    settings.LANTERN = {"max_message_bytes": 2_000_000}  # longer, for its files
    method = "PATCH" if not path else "POST"
    pieces = [b"x" * 65_536] * 40
    for headers in ({}, {"content-length": "2621440"}, {"content-length": "9" * 5000}):
        answer = await live.client.request(
            method, live.path + path, body=pieces, headers=headers
        )
        assert (answer.status, answer.code) == (413, "payload_too_large")
        assert_error_shape(answer)


async def test_body_of_just_the_limit_is_read(live: Live) -> None:
    body = b'{"title":"x"}'.ljust(1_048_576)
    answer = await live.client.request("PATCH", live.path, body=[body])
    assert answer.status == 200


async def test_client_that_leaves_inside_its_body_is_no_error(live: Live) -> None:
    scopes = [("PATCH", live.path), ("POST", f"{live.path}/messages")]
    for method, path in scopes:
        exchange = live.client.exchange(method, path, body=[b"{", b"", b""])
        exchange._to_app.get_nowait()
        while not exchange._to_app.empty():
            exchange._to_app.get_nowait()
        await exchange.hang_up()
        assert exchange.task.exception() is None


BAD_BODIES: list[Any] = [
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b"\xff",
    b"\xef\xbb\xbf{}",
    b'{"a":1e999}',
    b'{"a":' + b"9" * 10_000 + b"}",
    b'{"a":"\\ud800x"}',
    b'{"a":"\\u0000"}',
    b'{"\\u0000":1}',
    b'{"content":"x","metadata":' + b"[" * 70 + b"]" * 70 + b"}",
    b"[" * 100_000,
    b'{"a":' * 10_000,
    b'{"content":"x","x":1}',
    b'{"content":7}',
]


@pytest.mark.parametrize("body", BAD_BODIES)
async def test_bad_body_is_refused_everywhere(live: Live, body: bytes) -> None:
    names = ["messages", "regenerate", "ticket", "turns/tur_x/cancel"]
    paths = [
        "/v1/sessions",
        "/v1/widget/bootstrap",
        *(f"{live.path}/{n}" for n in names),
    ]
    answers = [await live.client.request("POST", path, body=[body]) for path in paths]
    answers.append(await live.client.request("PATCH", live.path, body=[body]))
    for answer in answers:
        assert answer.status == 400
        assert_error_shape(answer)
    assert not await in_thread(Turn.objects.exists)


# C33 (1), C32: twenty at once over the server's threads
async def test_parallel_posts_of_one_key_are_one_turn(live: Live) -> None:
    headers = {"idempotency-key": "k"}
    answers = await asyncio.gather(
        *(
            live.client.request(
                "POST", f"{live.path}/messages", json={"content": "x"}, headers=headers
            )
            for _ in range(20)
        )
    )
    assert {answer.status for answer in answers} == {202}
    assert len({answer.json["turnId"] for answer in answers}) == 1
    replayed = [a.header("idempotency-replayed") for a in answers]
    assert replayed.count(None) == 1
    assert await in_thread(Message.objects.filter(role="user").count) == 1
    await live.ended(answers[0].json["turnId"])
    assert len(live.provider.requests) == 1


# C32: never two at once, and history alternates.
async def test_parallel_posts_run_one_after_the_other(live: Live) -> None:
    posted = await asyncio.gather(*(live.post(f"m{n}") for n in range(8)))
    for answer in posted:
        await live.ended(answer.json["turnId"])
    transcript = await live.client.request("GET", f"{live.path}/messages?limit=100")
    roles = [row["role"] for row in transcript.json["data"]]
    assert roles == ["user", "assistant"] * 8
    lengths = [len(request.messages) for request in live.provider.requests]
    assert lengths == [1, 3, 5, 7, 9, 11, 13, 15]
