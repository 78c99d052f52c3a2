"""What a client sees of a deployment, with all proxies between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from lantern_site.doctor.finding import Finding
from lantern_site.doctor.inside import Caller

TIMEOUT_S = 30.0
HEARTBEAT_S = 15.0
GRACE_S = 4.0
MAX_SKEW_S = 5.0
IDLE = "session.status_idle"
FOREIGN = "https://doctor.invalid"
UNBUFFER = (
    "A proxy keeps the stream back: switch its buffering and compression off for"
    " text/event-stream (nginx: proxy_buffering off; Caddy: flush_interval -1)."
)
KEEP_OPEN = (
    "A proxy cuts quiet connections: let it wait for longer than 15 s"
    " (nginx: proxy_read_timeout 60s)."
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event and when it came, in seconds."""

    id: str
    name: str
    at: float


class Outside:
    """The checks, over one client."""

    def __init__(self, url: str, caller: Caller, hold_s: float) -> None:
        self._url = url.rstrip("/")
        self._caller = caller
        self._hold_s = hold_s
        self._http = httpx.AsyncClient(
            base_url=self._url,
            headers={"Authorization": f"Bearer {caller.key}"},
            timeout=httpx.Timeout(TIMEOUT_S, read=max(TIMEOUT_S, hold_s)),
        )

    async def run(self, public_key: str | None) -> list[Finding]:
        """All checks, those that take long beside the others."""
        async with self._http:
            reached = await self._reach()
            if reached.status == "failed":
                return [reached]
            rest = await asyncio.gather(
                _safely("stream", self._stream()),
                _safely("cancel", self._cancel()),
                _safely("quiet streams", self._quiet()),
                _safely("websocket", self._socket()),
                _safely("origins", self._origins(public_key)),
            )
        return [reached, *(finding for findings in rest for finding in findings)]

    async def _reach(self) -> Finding:
        try:
            answer = await self._http.get("/ready")
        except httpx.HTTPError as error:
            advice = "See that the address is right and the server runs."
            return Finding("ready", "failed", f"No answer: {error}", advice)
        if answer.status_code == 400:
            advice = "Add the host to LANTERN_ALLOWED_HOSTS, or have the proxy send it."
            return Finding("ready", "failed", "The host is not allowed.", advice)
        if answer.status_code != 200:
            said = answer.text[:200]
            return Finding("ready", "failed", f"Not ready: {said}", "Read the log.")
        skew_s = _skew_s(answer)
        if abs(skew_s) > MAX_SKEW_S:
            text = f"Ready, but the clocks differ by {skew_s:.0f} s."
            advice = "Have both machines keep time by NTP: tokens expire by the clock."
            return Finding("ready", "warning", text, advice)
        return Finding("ready", "ok", "The server is ready, and its clock is right.")

    async def _stream(self) -> list[Finding]:
        posted = await self._post("hello")
        arrivals = [
            a async for a in self._events(posted["sessionId"], posted["cursor"])
        ]
        findings = [_buffering(arrivals)]
        middle = arrivals[len(arrivals) // 2].id
        again = [a async for a in self._events(posted["sessionId"], middle)]
        first = [a.id for a in arrivals]
        if [a.id for a in again] == first[first.index(middle) + 1 :]:
            findings.append(Finding("resume", "ok", "A cursor brings the rest, once."))
        else:
            advice = "A proxy drops the header Last-Event-ID: let it pass."
            text = "A stream opened with a cursor does not go on from there."
            findings.append(Finding("resume", "failed", text, advice))
        return findings

    async def _cancel(self) -> list[Finding]:
        posted = await self._post("/long")
        session_id, turn_id = posted["sessionId"], posted["turnId"]
        began = time.monotonic()
        path = f"/v1/sessions/{session_id}/turns/{turn_id}/cancel"
        (await self._http.post(path)).raise_for_status()
        async for _ in self._events(session_id, posted["cursor"]):
            pass
        took_s = time.monotonic() - began
        if took_s > 5:
            text = f"A cancelled turn ended after {took_s:.0f} s."
            advice = "See that the workers and the web processes share one REDIS_URL."
            return [Finding("cancel", "failed", text, advice)]
        return [Finding("cancel", "ok", f"A cancelled turn ends ({took_s:.1f} s).")]

    async def _quiet(self) -> list[Finding]:
        """Hold a stream on which nothing happens."""
        session_id = await self._create()
        began = time.monotonic()
        beats: list[float] = []
        path = f"/v1/sessions/{session_id}/events"
        try:
            async with asyncio.timeout(self._hold_s):
                async with self._http.stream("GET", path) as answer:
                    async for piece in answer.aiter_raw():
                        beats += [time.monotonic() - began] * piece.count(b": heart")
        except TimeoutError:
            return [_heartbeats(beats, self._hold_s)]
        except httpx.HTTPError:
            pass
        lasted_s = time.monotonic() - began
        text = f"A quiet stream was cut after {lasted_s:.0f} s."
        return [Finding("quiet streams", "failed", text, KEEP_OPEN)]

    async def _socket(self) -> list[Finding]:
        url = self._url.replace("http", "ws", 1) + "/v1/socket"
        headers = {"Authorization": f"Bearer {self._caller.key}"}
        try:
            async with connect(url, additional_headers=headers) as socket:
                await asyncio.wait_for(socket.recv(), TIMEOUT_S)
        except (OSError, WebSocketException, TimeoutError) as error:
            advice = "Have the proxy pass Upgrade and Connection (docs/howto/proxy.md)."
            return [Finding("websocket", "failed", f"No socket: {error}", advice)]
        return [Finding("websocket", "ok", "A WebSocket passes.")]

    async def _origins(self, public_key: str | None) -> list[Finding]:
        if public_key is None:
            return []
        answer = await self._http.post(
            "/v1/widget/bootstrap",
            json={"key": public_key},
            headers={"Origin": FOREIGN},
        )
        if answer.status_code == 403:
            return [Finding("origins", "ok", "A foreign site is refused.")]
        text = f"A foreign site got {answer.status_code} from the widget's door."
        advice = "Let the proxy pass the header Origin, and look at the embed's list."
        return [Finding("origins", "failed", text, advice)]

    async def _create(self) -> str:
        fields = {"agent": self._caller.agent} if self._caller.agent else {}
        answer = await self._http.post("/v1/sessions", json=fields)
        answer.raise_for_status()
        return str(answer.json()["id"])

    async def _post(self, content: str) -> dict[str, Any]:
        path = f"/v1/sessions/{await self._create()}/messages"
        answer = await self._http.post(path, json={"content": content})
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    async def _events(self, session_id: str, after: str) -> AsyncIterator[Arrival]:
        """The events of a turn, to its idle state."""
        path, headers = f"/v1/sessions/{session_id}/events", {"Last-Event-ID": after}
        rest = b""
        async with self._http.stream("GET", path, headers=headers) as answer:
            answer.raise_for_status()
            async for piece in answer.aiter_bytes():
                at = time.monotonic()
                *blocks, rest = (rest + piece).split(b"\n\n")
                for block in blocks:
                    lines = block.decode().split("\n")
                    fields = dict(line.split(": ", 1) for line in lines if ": " in line)
                    if "id" not in fields:
                        continue  # a comment
                    yield Arrival(fields["id"], fields["event"], at)
                    if fields["event"] == IDLE:
                        return


async def _safely(check: str, work: Any) -> list[Finding]:
    try:
        found: list[Finding] = await work
        return found
    except (httpx.HTTPError, LookupError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"[:300]
        return [Finding(check, "failed", said, "Read the log of proxy and server.")]


def _buffering(arrivals: list[Arrival]) -> Finding:
    """The demo speaks for seconds: its words must not come in a few lumps."""
    times = [a.at for a in arrivals if a.name == "message_delta"]
    if len(times) < 10:
        text = f"Only {len(times)} pieces of text came."
        advice = "An agent with tools answers in one piece: use --agent without tools."
        return Finding("buffering", "warning", text, advice)
    lumps = 1 + sum(b - a > 0.005 for a, b in zip(times, times[1:], strict=False))
    spread_s = times[-1] - times[0]
    if lumps < len(times) / 4 or spread_s < 0.5:
        text = f"{len(times)} pieces came in {lumps} lumps within {spread_s:.1f} s."
        return Finding("buffering", "failed", text, UNBUFFER)
    return Finding(
        "buffering", "ok", f"Events arrive as they are sent ({lumps} reads)."
    )


def _heartbeats(beats: list[float], held_s: float) -> Finding:
    if held_s < HEARTBEAT_S + GRACE_S:
        text = f"A quiet stream held {held_s:.0f} s, too short for a heartbeat."
        return Finding("quiet streams", "ok", text)
    gaps = [b - a for a, b in zip([0.0, *beats], beats, strict=False)]
    if not beats or max(gaps) > HEARTBEAT_S + GRACE_S:
        text = "No heartbeat came within 15 s."
        return Finding("quiet streams", "failed", text, UNBUFFER)
    return Finding("quiet streams", "ok", f"Heartbeats came; held for {held_s:.0f} s.")


def _skew_s(answer: httpx.Response) -> float:
    """How far the server's clock is ahead; 0 if it does not say."""
    try:
        there = parsedate_to_datetime(answer.headers.get("date", ""))
    except ValueError:
        return 0.0
    return there.timestamp() - time.time()
