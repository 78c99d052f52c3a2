from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.asgi import Answer
from tests.fakes.edge import People, Rest, live, people, rest
from tests.fakes.people import SHOP, make_embed
from widget.models import Embed

__all__ = ["live", "people", "rest"]


@pytest.fixture
def embed(people: People) -> Embed:
    return make_embed(people.agent)


class Visitors:
    """Browsers on the shop's site."""

    def __init__(self, rest: Rest) -> None:
        self.rest = rest

    def bootstrap(self, origin: str | None = SHOP, **body: Any) -> Answer:
        headers = {} if origin is None else {"origin": origin}
        body = {"key": "pk_shop", **body}
        return self.rest("POST", "/v1/widget/bootstrap", body, None, **headers)

    def config(self, key: str = "pk_shop", origin: str | None = SHOP) -> Answer:
        headers = {} if origin is None else {"origin": origin}
        return self.rest("GET", f"/v1/widget/config?key={key}", key=None, **headers)

    def token(self, **body: Any) -> str:
        """A visitor token, of a new visitor if nothing else is said."""
        answer = self.bootstrap(**body)
        assert answer.status == 200, answer.body
        return str(answer.json["visitorToken"])

    def call(
        self, token: str, method: str, path: str, *body: Any, **headers: str
    ) -> Answer:
        return self.rest(method, path, *body, key=token, origin=SHOP, **headers)

    def session(self, token: str) -> str:
        """The path of a new session."""
        made = self.call(token, "POST", "/v1/sessions", {})
        assert made.status == 201, made.body
        return f"/v1/sessions/{made.json['id']}"


@pytest.fixture
def visitors(rest: Rest, embed: Embed) -> Visitors:
    return Visitors(rest)
