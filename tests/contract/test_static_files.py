from __future__ import annotations

from tests.fakes.edge import Live

SCRIPT = "/static/widget/widget.js"


# C26: Django's warning about synchronous iterators is an error here
async def test_static_file_is_answered_whole(live: Live) -> None:
    answer = await live.client_of(None).request("GET", SCRIPT)
    assert answer.status == 200
    assert len(answer.body) == int(answer.header("content-length") or 0) > 1000
    assert answer.header("content-type") == 'text/javascript; charset="utf-8"'
    assert answer.header("access-control-allow-origin") == "*"


async def test_static_file_has_a_head(live: Live) -> None:
    answer = await live.client_of(None).request("HEAD", SCRIPT)
    assert (answer.status, answer.body) == (200, b"")


async def test_part_of_a_static_file_is_answered(live: Live) -> None:
    answer = await live.client_of(None).request(
        "GET", SCRIPT, headers={"range": "bytes=0-9"}
    )
    assert (answer.status, len(answer.body)) == (206, 10)
