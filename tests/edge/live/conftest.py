from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from sessions_app.store.db import in_thread
from sessions_app.wire.lantern_v1_server import socket_schema
from tests.fakes.asgi import PATIENCE_S
from tests.fakes.edge import Live


@pytest.fixture
def in_database() -> Callable[..., Any]:
    """Call a blocking function off the loop."""
    return in_thread


SERVER_FRAME = Draft202012Validator(
    {**socket_schema(), "anyOf": [{"$ref": "#/$defs/ServerMessage"}]}
)


class Socket:
    """A connected socket of Alice, read frame by frame; each must fit the schema."""

    def __init__(self, live: Live, **handshake: Any) -> None:
        self.communicator = live.client.socket(**handshake)
        self.hello: dict[str, Any] = {}

    async def open(self) -> Socket:
        is_open, self.protocol = await self.communicator.connect(PATIENCE_S)
        assert is_open
        self.hello = await self.read()
        return self

    async def say(self, kind: str, **fields: Any) -> None:
        message = msgspec.json.encode({"type": kind, **fields})
        await self.communicator.send_to(text_data=message.decode())

    async def read(self) -> dict[str, Any]:
        text = await self.communicator.receive_from(PATIENCE_S)
        frame = dict(msgspec.json.decode(text))
        SERVER_FRAME.validate(frame)
        return frame

    async def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Say something, give the next frame."""
        await self.say(kind, **fields)
        return await self.read()

    async def until(self, kind: str) -> list[dict[str, Any]]:
        """The frames up to one of a kind."""
        found = [await self.read()]
        while found[-1]["type"] != kind:
            found.append(await self.read())
        return found

    async def start(self, prompt: str = "hello", **fields: Any) -> str:
        """Start a session, give its id."""
        started = await self.ask("session.start", prompt=prompt, **fields)
        assert started["type"] == "session.started", started
        return str(started["session"]["id"])

    async def hang_up(self) -> None:
        await self.communicator.disconnect(timeout=PATIENCE_S)


@pytest.fixture
async def socket(live: Live) -> AsyncIterator[Socket]:
    made = await Socket(live).open()
    yield made
    await made.hang_up()
