from __future__ import annotations

import base64
from typing import Any

from sessions_app.models import Agent
from sessions_app.store.db import in_thread
from tests.fakes.edge import Live

PNG = b"\x89PNG\r\n\x1a\n"


def message(size: int) -> dict[str, Any]:
    data = base64.b64encode(PNG + b"0" * (size - len(PNG))).decode()
    file = {"name": "a.png", "mediaType": "image/png", "data": data}
    return {"content": "Look", "attachments": [file]}


async def test_images_of_megabytes_are_taken(live: Live) -> None:
    await in_thread(lambda: Agent.objects.update(attachments=True))
    url = f"{live.path}/messages"
    taken = await live.client.request("POST", url, json=message(5 * 1024 * 1024))
    assert taken.status == 202
    await live.ended(taken.json["turnId"])
    (asked,) = live.provider.requests
    assert len(asked.messages[-1].images[0].data) > 6_000_000
    larger = await live.client.request("POST", url, json=message(5 * 1024 * 1024 + 1))
    assert (larger.status, larger.code) == (413, "payload_too_large")


async def test_other_bodies_are_as_short_as_before(live: Live) -> None:
    fields = {"title": "x" * 1_100_000}
    for path in ("/v1/sessions", f"{live.path}/regenerate"):
        answer = await live.client.request("POST", path, json=fields)
        assert (answer.status, answer.code) == (413, "payload_too_large")
