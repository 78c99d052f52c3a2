"""What live edges read off an ASGI scope."""

from __future__ import annotations

import base64
import binascii
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings

from sessions_app.domain.errors import BadRequest, Unauthorized
from sessions_app.edge.auth import (
    Principal,
    principal_of_cookie,
    principal_of_name,
    principal_of_ticket,
    principal_of_token,
)
from sessions_app.edge.body import require_known
from sessions_app.edge.live.standing import Standing

PROTOCOL = "lantern.v1"
AUTH_PROTOCOL = "lantern.auth."
MAX_HEADER_LENGTH = 8192


class LiveRequest:
    """Headers, query and credential of a scope; look-ups block, so use a thread."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self.scope = scope
        self._headers: dict[bytes, bytes] = dict(scope["headers"])

    def header(self, name: str) -> str | None:
        """The header's value, its last one if it was repeated."""
        value = self._headers.get(name.encode())
        if value is None:
            return None
        return value[:MAX_HEADER_LENGTH].decode("latin-1")

    def query(self, *known: str) -> dict[str, str]:
        """The query's parameters; unknown ones are refused."""
        try:
            query = parse_qs(
                self.scope["query_string"].decode("ascii"),
                keep_blank_values=True,
                max_num_fields=20,
            )
        except ValueError as error:
            raise BadRequest("The query cannot be read.") from error
        require_known(query, known, what="parameter")
        return {name: values[-1] for name, values in query.items()}

    @property
    def address(self) -> str | None:
        """The address of the peer."""
        client = self.scope.get("client")
        return client[0] if client else None

    def principal(
        self, *, ticket: tuple[str, str] | None = None, allow_cookie: bool = False
    ) -> Principal:
        """Who asks; ``ticket`` is a ticket and the session it is to open."""
        if header := self.header("authorization"):
            scheme, _, token = header.partition(" ")
            if scheme.lower() != "bearer":
                raise Unauthorized()
            return principal_of_token(token, self.header("origin"))
        if ticket is not None:
            return principal_of_ticket(*ticket, self.header("origin"))
        if allow_cookie and self._is_same_origin():
            return principal_of_cookie(self._session_cookie())
        raise Unauthorized()

    def standing(
        self, *, ticket: tuple[str, str] | None = None, allow_cookie: bool = False
    ) -> Standing:
        """Who opens a stream, to be looked up again while it is open."""
        principal = self.principal(ticket=ticket, allow_cookie=allow_cookie)
        scope, name, origin = self.scope, principal.caller.name, self.header("origin")
        if ticket is not None:
            # The ticket itself is for a minute.
            return Standing(principal, lambda: principal_of_name(name, origin))
        return Standing(
            principal, lambda: LiveRequest(scope).principal(allow_cookie=allow_cookie)
        )

    def socket_standing(self) -> Standing:
        """As ``standing``, for a socket."""
        return Standing(self._socket_principal(), self._socket_principal)

    def _socket_principal(self) -> Principal:
        """Who opens a socket: a token in a header or a subprotocol, or staff."""
        for offered in self.scope.get("subprotocols", ()):
            if offered.startswith(AUTH_PROTOCOL):
                token = _decode_token(offered.removeprefix(AUTH_PROTOCOL))
                return principal_of_token(token, self.header("origin"))
        # A browser sends the cookie from anywhere, but Origin tells where from.
        return self.principal(allow_cookie=self.header("origin") is not None)

    def _is_same_origin(self) -> bool:
        origin = self.header("origin")
        if origin is None:
            return True  # EventSource and fetch send none to their own origin
        return origin.partition("://")[2] == self.header("host")

    def _session_cookie(self) -> str | None:
        try:
            cookies = SimpleCookie(self.header("cookie") or "")
        except CookieError:
            return None
        cookie = cookies.get(settings.SESSION_COOKIE_NAME)
        return cookie.value if cookie else None


def _decode_token(text: str) -> str:
    try:
        padded = text + "=" * (-len(text) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise Unauthorized() from error
