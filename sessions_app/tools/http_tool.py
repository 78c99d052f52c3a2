"""Tools that are HTTP requests."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import msgspec

from sessions_app.domain.prompt import ToolSpec
from sessions_app.domain.tooling import ToolConfig, ToolContext
from sessions_app.outbound.addresses import AddressRefused, check_url
from sessions_app.outbound.client import OutboundError, Request, fetch
from sessions_app.tools.base import ToolError, ToolFault, check_arguments, check_schema

logger = logging.getLogger(__name__)

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
IN_QUERY = ("GET", "DELETE")
MAX_ANSWER_BYTES = 1_048_576
MAX_REFUSAL_CHARACTERS = 1_000
# The caller's limit comes first, and tells the model; this one frees the connection.
TIMEOUT_S = 120.0
EMPTY_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}

Fetch = Callable[..., Any]

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NO_HEADER = re.compile(r"[^\t\x20-\x7e]")


@dataclass(frozen=True, slots=True)
class HttpTool:
    """Fills its templates with the arguments and sends one request.

    Arguments that no template names go to the query of a GET or DELETE, else into a
    JSON body.
    """

    spec: ToolSpec
    method: str
    url: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any] | None
    allow_private: bool
    needs_approval: bool = False
    fetch: Fetch = fetch

    @classmethod
    def of(cls, config: ToolConfig) -> HttpTool:
        """The tool as set up; ToolFault says what is wrong with it."""
        settings = config.settings
        schema = dict(settings.get("input_schema") or EMPTY_SCHEMA)
        check_schema(schema)
        method = str(settings.get("method") or "GET").upper()
        if method not in METHODS:
            raise ToolFault(f"method must be one of {', '.join(METHODS)}.", "method")
        url = str(settings.get("url", ""))
        _check_template(url, allow_private=config.allow_private)
        for name, text in config.headers.items():
            if fault := header_fault(name, text):
                raise ToolFault(fault, "headers")
        return cls(
            ToolSpec(config.name, config.description, schema),
            method,
            url,
            config.headers,
            dict(settings.get("query") or {}),
            settings.get("body"),
            config.allow_private,
            config.needs_approval,
        )

    async def call(self, arguments: dict[str, Any], context: ToolContext) -> str:
        check_arguments(self.spec.input_schema, arguments)
        request = self._request(arguments, context)
        try:
            answer = await self.fetch(
                request, timeout_s=TIMEOUT_S, max_bytes=MAX_ANSWER_BYTES
            )
        except OutboundError as error:
            # What is where in the host's network is not the model's to know.
            logger.warning("The tool %s failed: %s", self.spec.name, error)
            raise ToolError("The tool could not be reached.") from error
        text: str = answer.text()
        if not 200 <= answer.status < 300:
            said = text[:MAX_REFUSAL_CHARACTERS]
            raise ToolError(f"The tool answered with status {answer.status}: {said}")
        return text

    def _request(self, arguments: dict[str, Any], context: ToolContext) -> Request:
        used: set[str] = set()

        def fill(template: str, quoted: Callable[[str], str]) -> str:
            def value(match: re.Match[str]) -> str:
                used.add(match[1])
                return quoted(_plain(arguments.get(match[1], "")))

            return _PLACE.sub(value, template)

        parts = urlsplit(self.url)
        path = fill(parts.path, _in_path)
        pairs = [
            (name, fill(text, str))
            for name, text in [
                *parse_qsl(parts.query, keep_blank_values=True),
                *self.query.items(),
            ]
        ]
        headers = {name: fill(text, _in_header) for name, text in self.headers.items()}
        body = None if self.body is None else _filled(self.body, fill, arguments, used)
        rest = {key: each for key, each in arguments.items() if key not in used}
        if self.method in IN_QUERY:
            pairs += [(name, _plain(each)) for name, each in rest.items()]
        else:
            body = {**(body or {}), **rest}
        encoded = None
        if body is not None and self.method not in IN_QUERY:
            encoded = msgspec.json.encode(body)
            headers.setdefault("Content-Type", "application/json")
        # The same for each try of a call, should there be more than one.
        headers.setdefault("Idempotency-Key", f"{context.turn_id}/{context.call_id}")
        url = urlunsplit((parts.scheme, parts.netloc, path, urlencode(pairs), ""))
        return Request(self.method, url, headers, encoded, self.allow_private)


def header_fault(name: str, text: str) -> str:
    """Why a header cannot be sent, without its value; empty if it can."""
    if _HEADER_NAME.fullmatch(name) and not _NO_HEADER.search(text):
        return ""
    return f"the header {name!r} cannot be sent."


def _check_template(url: str, *, allow_private: bool) -> None:
    """ToolFault unless the URL can be asked and its host is fixed."""
    parts = urlsplit(url)
    if _PLACE.search(parts.scheme + parts.netloc) or "{" in parts.netloc:
        raise ToolFault("url may have places for arguments only after its host.", "url")
    try:
        check_url(_PLACE.sub("x", url), allow_private=allow_private)
    except AddressRefused as error:
        raise ToolFault(f"url cannot be used: {error}.", "url") from error


def _filled(
    template: Any,
    fill: Callable[[str, Callable[[str], str]], str],
    arguments: Mapping[str, Any],
    used: set[str],
) -> Any:
    """The body's template with its places filled; a lone place keeps its type."""
    if isinstance(template, dict):
        return {
            key: _filled(each, fill, arguments, used) for key, each in template.items()
        }
    if isinstance(template, list):
        return [_filled(each, fill, arguments, used) for each in template]
    if not isinstance(template, str):
        return template
    lone = _PLACE.fullmatch(template)
    if lone is not None:
        used.add(lone[1])
        return arguments.get(lone[1])
    return fill(template, str)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _in_path(text: str) -> str:
    if text in ("", ".", ".."):
        raise ToolError("An argument that names a place may not be empty or dots.")
    return quote(text, safe="")


def _in_header(text: str) -> str:
    if _NO_HEADER.search(text):
        raise ToolError("An argument holds characters that no header may hold.")
    return text
