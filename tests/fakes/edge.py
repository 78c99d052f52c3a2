"""REST without a server, and the whole application with an engine behind it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from lantern_site.asgi import build_application
from sessions_app.engine.consumer import EngineTask
from sessions_app.models import Agent, ApiKey, Session
from sessions_app.providers.base import ProviderAdapter
from sessions_app.store import db
from sessions_app.store.db import in_thread
from tests.fakes.asgi import Answer, AsgiClient
from tests.fakes.people import ALICE_KEY, BOB_KEY, make_agent, make_key, make_session
from tests.fakes.scripted_provider import ScriptedProvider, says

NOTHING = object()


class Rest:
    """Calls the REST endpoints as Alice, or whoever holds ``key``."""

    def __init__(self) -> None:
        self.client = Client()

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = NOTHING,
        key: str | None = ALICE_KEY,
        **headers: str,
    ) -> Answer:
        if body is NOTHING:
            body = b""
        elif not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        response = self.client.generic(
            method,
            path,
            body,
            content_type="application/json",
            headers={name.replace("_", "-"): text for name, text in headers.items()},
        )
        found = [(name.lower(), value) for name, value in response.items()]
        whole = b"".join(response) if response.streaming else response.content
        return Answer(response.status_code, found, whole)

    def triple(
        self, method: str, path: str, body: Any = NOTHING
    ) -> tuple[int, int, int]:
        """The statuses for owner, stranger and anonymous; the owner comes last."""
        stranger = self(method, path, body, key=BOB_KEY).status
        anonymous = self(method, path, body, key=None).status
        return self(method, path, body).status, stranger, anonymous


@dataclass
class People:
    """Alice and Bob hold keys; the session is Alice's."""

    agent: Agent
    alice: ApiKey
    bob: ApiKey
    session: Session

    @property
    def path(self) -> str:
        return f"/v1/sessions/{self.session.pk}"


def make_people() -> People:
    agent = make_agent()
    alice, bob = make_key(ALICE_KEY), make_key(BOB_KEY)
    return People(agent, alice, bob, make_session(agent, f"key:{alice.pk}"))


@pytest.fixture
def people(db: None) -> People:
    return make_people()


@pytest.fixture
def rest(people: People) -> Rest:
    return Rest()


class Live:
    """The whole application over a scripted provider; ``client`` speaks as Alice."""

    def __init__(self, people: People) -> None:
        self.people = people
        self.path = people.path
        self.provider = ScriptedProvider(says("Hel", "lo"))
        self.engine = EngineTask(self._find)
        self.app = build_application(self.engine)
        self.client = self.client_of(ALICE_KEY)

    def _find(self, kind: str) -> ProviderAdapter:
        return self.provider

    def client_of(self, key: str | None) -> AsgiClient:
        """A client that carries a key, or none."""
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return AsgiClient(self.app, lambda: headers)

    def plays(self, *scripts: Any) -> ScriptedProvider:
        """Replace the provider."""
        self.provider = ScriptedProvider(*scripts)
        return self.provider

    async def post(self, content: str = "hello", **fields: Any) -> Answer:
        """Post a message to the session."""
        body = {"content": content, **fields}
        return await self.client.request("POST", f"{self.path}/messages", json=body)

    async def ended(self, turn_id: str) -> dict[str, Any]:
        """The turn, once it has ended."""
        while True:
            answer = await self.client.request("GET", f"{self.path}/turns/{turn_id}")
            if answer.json["endedAt"]:
                return dict(answer.json)
            await asyncio.sleep(0.01)

    async def run(self, content: str = "hello") -> dict[str, Any]:
        """Post a message and wait for the end of its turn."""
        return await self.ended((await self.post(content)).json["turnId"])


@pytest.fixture
async def live(transactional_db: None) -> AsyncIterator[Live]:
    made = Live(await in_thread(make_people))
    async with asyncio.timeout(15):
        yield made
    await made.engine.stop()
    await db.quiet()
