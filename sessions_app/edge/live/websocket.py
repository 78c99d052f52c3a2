"""``lantern.v1``: conversations over one WebSocket, owned by the connection."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, assert_never

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer

from sessions_app import service
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.errors import (
    BadRequest,
    LanternError,
    NotFound,
    RequestError,
)
from sessions_app.domain.states import OnBusy
from sessions_app.edge.auth import Principal
from sessions_app.edge.errors import as_lantern_error
from sessions_app.edge.live.follower import Follower, OwnedSession, Terms
from sessions_app.edge.live.open_streams import open_streams
from sessions_app.edge.live.openings import shown_n
from sessions_app.edge.live.request import PROTOCOL, LiveRequest
from sessions_app.edge.live.standing import Standing
from sessions_app.edge.posting import require_message_pace, require_session_pace
from sessions_app.edge.tool_fields import (
    approvals_of,
    client_tools_of,
    tool_choice_of,
    tool_results_of,
)
from sessions_app.service import Caller, NewMessage
from sessions_app.store import catalog
from sessions_app.store.db import in_thread
from sessions_app.store.posting import PostedTurn
from sessions_app.wire import lantern_v1 as wire
from sessions_app.wire import lantern_v1_server as said

logger = logging.getLogger(__name__)

MAX_SESSIONS = 32
MAX_FRAME_BYTES = 1_048_576
CLOSE_UNSUPPORTED = 1003
CLOSE_REFUSED = 1008
CLOSE_TOO_BIG = 1009
CLOSE_RESTART = 1012


class SocketConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One connection; each session it started or attached has a follower task."""

    channel_layer_alias = ""
    transport_name = "websocket"

    def __init__(self) -> None:
        super().__init__()
        self._standing: Standing | None = None
        self._address: str | None = None
        self._owned: dict[str, OwnedSession] = {}
        self._followers: dict[str, Follower] = {}

    async def dispatch(self, message: dict[str, Any]) -> None:
        # The base class would visit a thread to close database connections.
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        request = LiveRequest(self.scope)
        offered = self.scope.get("subprotocols", [])
        try:
            if offered and PROTOCOL not in offered:
                raise BadRequest()
            standing = await in_thread(request.socket_standing)
            hello = await in_thread(_hello, standing.principal)
        except Exception as error:
            as_lantern_error(error)  # logs what is not a refusal
            await self.close()  # before accept: 403
            return
        self._standing, self._address = standing, request.address
        # The token-bearing protocol is never echoed.
        await self.accept(PROTOCOL if offered else None)
        await self.send(hello)
        open_streams.add(self)

    @property
    def is_idle(self) -> bool:
        """Whether no session that it started has an open turn."""
        return all(owned.is_quiet() for owned in self._owned.values())

    def leave(self) -> None:
        """Close the socket, as a server does that is being restarted."""
        self._leaving = asyncio.create_task(self.close(CLOSE_RESTART))

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None
    ) -> None:
        if text_data is None:
            await self.close(CLOSE_UNSUPPORTED)
            return
        if len(text_data.encode()) > MAX_FRAME_BYTES:
            await self.close(CLOSE_TOO_BIG)
            return
        value: object = None
        try:
            value = wire.decode_json(text_data)
            frame = wire.read_frame(value)
            if isinstance(frame, wire.Ping) or await self._renew(frame):
                await self._handle(frame)
        except Exception as error:
            await self._say_error(as_lantern_error(error), wire.request_id_of(value))

    async def _renew(self, frame: wire.ClientFrame) -> bool:
        """Look the caller up with the rights of now; False if the socket is closed.

        A failure of the database is raised: it says nothing of the credential.
        """
        assert self._standing is not None
        try:
            await in_thread(self._standing.renew)
        except RequestError as error:
            await self._turn_away(error, frame.request_id)
            return False
        return True

    async def is_standing(self) -> bool:
        """What followers ask, now and then, before they show more."""
        assert self._standing is not None
        refused = await self._standing.refusal()
        if refused is not None:
            # Not in the follower's own task: the end of the socket cancels that.
            self._leaving = asyncio.create_task(self._turn_away(refused, None))
        return refused is None

    async def _turn_away(self, error: LanternError, request_id: str | None) -> None:
        """Say why, and close; what it started ends with it."""
        for follower in self._followers.values():
            follower.task.cancel()
        await self._say_error(error, request_id)
        await self.close(CLOSE_REFUSED)

    async def disconnect(self, code: int) -> None:
        open_streams.discard(self)
        tasks = [follower.task for follower in self._followers.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for session_id in self._owned:
            try:
                await in_thread(service.close_session, self._caller, session_id)
            except NotFound:
                continue
            except Exception:
                logger.exception("A socket's session could not be closed.")

    async def _handle(self, frame: wire.ClientFrame) -> None:
        match frame:
            case wire.Start():
                await self._start(frame)
            case wire.Prompt():
                await self._prompt(frame)
            case wire.ToolResults() | wire.Approve():
                await self._answer_calls(frame)
            case wire.Cancel():
                await self._cancel(frame)
            case wire.Close():
                await self._close_session(frame)
            case wire.Attach():
                await self._attach(frame)
            case wire.Ping():
                await self._say(said.Pong(request_id=frame.request_id))
            case _:
                assert_never(frame)

    async def _start(self, frame: wire.Start) -> None:
        terms = Terms(
            client_tools_of(frame.tools, "tools"),
            tool_choice_of(frame.tool_choice, "toolChoice"),
            frame.raw,
        )
        if len(self._followers) >= MAX_SESSIONS:
            raise BadRequest(f"A socket has at most {MAX_SESSIONS} sessions.")
        posted = await in_thread(self._create_and_post, frame, terms)
        session = said.SessionRef(posted.session_id, "running")
        await self._say(
            said.SessionStarted(request_id=frame.request_id, session=session)
        )
        owned = OwnedSession(posted, terms, self)
        self._owned[posted.session_id] = owned
        self._follow(posted.session_id, owned)

    def _create_and_post(self, frame: wire.Start, terms: Terms) -> PostedTurn:
        principal = self._writer()
        principal.require_write("add")
        if terms.with_raw and principal.kind == "visitor":
            raise BadRequest("A visitor may not see provider messages.", param="raw")
        route = ""
        if frame.provider is not None or frame.model is not None:
            if principal.kind == "visitor":
                raise BadRequest("A visitor may not choose a model.", param="provider")
            allowed = principal.caller.agents
            route = catalog.route_to(frame.provider, frame.model, allowed)
        require_session_pace(principal, frame.agent, self._address)
        session = service.create_session(principal.caller, frame.agent, {}, route)
        try:
            return self._post(session.pk, frame.prompt, terms)
        except LanternError:
            service.delete_session(principal.caller, session.pk)
            raise

    async def _prompt(self, frame: wire.Prompt) -> None:
        owned = self._require_owned(frame.session_id)
        async with owned.posting:
            posted = await in_thread(
                self._post, frame.session_id, frame.prompt, owned.terms
            )
            owned.remember(posted, frame.request_id)

    def _post(self, session_id: str, prompt: str, terms: Terms) -> PostedTurn:
        principal = self._writer()
        require_message_pace(principal, session_id, self._address)
        message = NewMessage(
            prompt,
            OnBusy.REJECT,
            client_tools=terms.tools,
            tool_choice=terms.tool_choice,
            with_raw=terms.with_raw,
        )
        return service.post_message(principal.caller, session_id, message)

    async def _answer_calls(self, frame: wire.ToolResults | wire.Approve) -> None:
        """Results and approvals for the turn that waits for them."""
        session_id = frame.session_id
        turn_id = self._require_owned(session_id).last.turn_id
        ids = (self._writer().caller, session_id, turn_id)
        if isinstance(frame, wire.ToolResults):
            results = tool_results_of(frame.results, "results")
            await in_thread(service.send_tool_results, *ids, results)
        else:
            approvals = approvals_of(frame.approvals, "approvals")
            await in_thread(service.approve_calls, *ids, approvals)
        await self._send_state(session_id, frame.request_id)

    async def _cancel(self, frame: wire.Cancel) -> None:
        turn_id = self._require_owned(frame.session_id).last.turn_id
        caller = self._writer().caller
        await in_thread(service.cancel_turn, caller, frame.session_id, turn_id)
        await self._send_state(frame.session_id, frame.request_id)

    async def _close_session(self, frame: wire.Close) -> None:
        owned = self._require_owned(frame.session_id)
        caller = self._writer().caller
        owned.is_closed = True  # from here on, "idle" would be misleading
        await in_thread(service.close_session, caller, frame.session_id)
        del self._owned[frame.session_id]
        await self._send_state(frame.session_id, frame.request_id)
        if owned.is_done():
            owned.task.cancel()

    async def _attach(self, frame: wire.Attach) -> None:
        if frame.session_id in self._followers:
            raise BadRequest("This session is followed already.", param="sessionId")
        if len(self._followers) >= MAX_SESSIONS:
            raise BadRequest(f"A socket has at most {MAX_SESSIONS} sessions.")
        cursor = None if frame.after is None else Cursor.parse(frame.after)
        caller, session_id = self._caller, frame.session_id
        start = await in_thread(service.find_start, caller, session_id, cursor)
        if cursor is not None:
            logged_n = await shown_n(session_id, cursor)
            await in_thread(service.check_cursor, session_id, cursor, logged_n)
        await self._send_state(session_id, frame.request_id)
        self._follow(session_id, Follower(session_id, start, self))

    def _follow(self, session_id: str, follower: Follower) -> None:
        self._followers[session_id] = follower
        follower.task.add_done_callback(lambda _: self._followers.pop(session_id, None))

    def _writer(self) -> Principal:
        assert self._standing is not None
        principal = self._standing.principal
        principal.require_write()
        return principal

    @property
    def _caller(self) -> Caller:
        assert self._standing is not None
        return self._standing.principal.caller

    def _require_owned(self, session_id: str) -> OwnedSession:
        owned = self._owned.get(session_id)
        if owned is None:
            raise NotFound("This connection has no such session.")
        return owned

    async def _send_state(self, session_id: str, request_id: str | None) -> None:
        session = await in_thread(service.get_session, self._caller, session_id)
        await self._say(
            said.SessionState(
                request_id=request_id,
                session_id=session_id,
                state=session.status.value,
            )
        )

    async def _say_error(self, error: LanternError, request_id: str | None) -> None:
        code, message = error.code, error.message
        await self._say(said.Error(request_id=request_id, code=code, message=message))

    async def _say(self, frame: said.ServerFrame) -> None:
        await self.send(said.text_of(frame))


def _hello(principal: Principal) -> str:
    """What this caller may start."""
    agents = catalog.enabled_agents()
    caller = principal.caller
    if caller.agent is not None:
        agents = [caller.agent]
    elif caller.agents is not None:
        agents = [slug for slug in agents if slug in caller.agents]
    is_server = principal.kind != "visitor"
    providers = catalog.provider_names.get() if is_server else []
    models = catalog.route_models(caller.agents) if is_server else []
    return said.text_of(
        said.Hello(protocol=PROTOCOL, agents=agents, providers=providers, models=models)
    )
