"""The one door to sessions: what REST, sockets, widget and dashboard all call.

The functions are synchronous; ``store.db.in_thread`` calls them from the event loop.
A ``Caller`` says who asks; what it may not see is not found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import msgspec

from sessions_app import erasure
from sessions_app.conf import conf
from sessions_app.domain.attachments import NewFile
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.errors import (
    BadRequest,
    NotAllowed,
    WorkerShutdown,
)
from sessions_app.domain.prompt import AUTO, ToolChoice, ToolSpec
from sessions_app.domain.route import split_route_entry
from sessions_app.domain.states import OnBusy, SessionStatus
from sessions_app.domain.text import storable
from sessions_app.engine.consumer import (
    tell_cancel,
    tell_turn,
    wake_to_end,
    wake_turn,
)
from sessions_app.engine.toolbox import cut
from sessions_app.lifecycle import lifecycle
from sessions_app.models import Agent, Message, Session, Turn
from sessions_app.store import (
    catalog,
    messages,
    posting,
    progress,
    replay,
    sessions,
    takeover,
    turns,
)
from sessions_app.store.posting import PostedTurn, TurnDraft
from sessions_app.store.progress import ToolResult
from sessions_app.store.sessions import SessionFilter


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: ``name`` owns what it makes, ``scope`` is what it may see.

    ``agents`` None means every agent; ``agent`` is the one it is bound to. ``user`` is
    whom its sessions are for; ``profile`` is what the site vouches for of them, and
    None for a caller that is believed itself. ``may_attach`` lets it send files
    also to agents that take none from others.
    """

    name: str
    scope: SessionFilter
    agents: frozenset[str] | None = None
    agent: str | None = None
    user: str = ""
    profile: Mapping[str, str] | None = None
    may_attach: bool = False


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to post; ``content`` None asks for the last answer again.

    ``operator`` is the name of the person who answers with it, empty if it asks.
    ``with_raw`` has the provider's own messages brought along for the socket.
    """

    content: str | None
    on_busy: OnBusy = OnBusy.QUEUE
    allow_failover: bool = True
    client_tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = AUTO
    idempotency_key: str = ""
    operator: str = ""
    with_raw: bool = False
    attachments: tuple[NewFile, ...] = ()

    def digest(self) -> str:
        """What tells two bodies under one Idempotency-Key apart."""
        body = (self.content, self.on_busy, self.allow_failover)
        tools = (self.client_tools, self.tool_choice)
        said = [self.operator] if self.operator else []
        said += (
            f"{each.name} {hashlib.sha256(each.content).hexdigest()}"
            for each in self.attachments
        )
        return hashlib.sha256(msgspec.json.encode((*body, *tools, *said))).hexdigest()


def create_session(
    caller: Caller, agent: str | None, fields: dict[str, Any], route: str = ""
) -> Session:
    """A new session of the caller; ``route`` is ``provider/model`` to use instead."""
    chosen = _agent_of_new(caller, agent)
    if route:
        split_route_entry(route)
        fields = {**fields, "route": [route]}
    if caller.profile is not None:
        metadata = _vouched(caller.profile, fields.get("metadata", {}))
        fields = {**fields, "metadata": metadata, "user": caller.user}
    return sessions.create(chosen, caller.name, fields)


def _vouched(profile: Mapping[str, str], metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata, its ``user`` what the site says and not what the browser does."""
    others = {name: each for name, each in metadata.items() if name != "user"}
    return {**others, "user": dict(profile)} if profile else others


def agent_of_new(caller: Caller, agent: str | None) -> str:
    """The slug of the agent that a new session of the caller would have."""
    return _agent_of_new(caller, agent).slug


def _agent_of_new(caller: Caller, agent: str | None) -> Agent:
    slug = caller.agent or agent
    chosen = catalog.agent_for(slug)
    if slug is None and not _may_use(caller, chosen.slug):
        chosen = catalog.first_agent_of(caller.agents or frozenset())
    if agent not in (None, chosen.slug) or not _may_use(caller, chosen.slug):
        raise NotAllowed("This credential may not use that agent.", param="agent")
    return chosen


def agent_of_session(caller: Caller, session_id: str) -> str:
    """The slug of the session's agent; empty if the caller may not see it."""
    return sessions.agent_of(caller.scope, session_id)


def _may_use(caller: Caller, slug: str) -> bool:
    return caller.agents is None or slug in caller.agents


def get_session(caller: Caller, session_id: str) -> Session:
    """The session, or NotFound."""
    return sessions.find(caller.scope, session_id)


def list_sessions(
    caller: Caller,
    *,
    limit: int,
    after: str | None,
    agent: str | None,
    status: SessionStatus | None,
    user: str | None,
) -> list[Session]:
    """Up to ``limit`` sessions, newest first, and one more if there is one."""
    return sessions.page(
        caller.scope, limit=limit, after=after, agent=agent, status=status, user=user
    )


def update_session(caller: Caller, session_id: str, changes: dict[str, Any]) -> Session:
    """Change title or metadata."""
    session = sessions.find(caller.scope, session_id)
    if caller.profile is not None and "metadata" in changes:
        metadata = _vouched(caller.profile, changes["metadata"])
        changes = {**changes, "metadata": metadata}
    if changes:
        sessions.update(session, changes)
    return session


def hand_over_sessions(owner: str, caller: Caller) -> int:
    """Give all sessions of an owner to a caller; how many there were."""
    return sessions.hand_over(owner, caller.name, caller.user, caller.profile or {})


def close_session(caller: Caller, session_id: str) -> None:
    """Cancel what is open and take no more messages; the transcript stays."""
    sessions.require(caller.scope, session_id)
    for turn_id in sessions.close(session_id):
        wake_to_end(turn_id)


def delete_session(caller: Caller, session_id: str) -> None:
    """End what runs, then remove the session and everything below it."""
    sessions.require(caller.scope, session_id)
    erasure.delete([session_id])


def accept_message(caller: Caller, session_id: str, message: NewMessage) -> PostedTurn:
    """Store a message: when this returns, its turn will end exactly once.

    Whoever calls it calls ``wake`` next, or the turn waits for a sweep.
    """
    if lifecycle.is_draining:
        raise WorkerShutdown()
    content = message.content
    if content is not None:
        if not content.strip() and not message.attachments:
            raise BadRequest("The message is empty.", param="content")
        if len(content) > conf().max_message_characters:
            raise BadRequest(
                f"A message has at most {conf().max_message_characters} characters.",
                param="content",
            )
    if message.attachments:
        require_attachments(caller, session_id)
    return posting.post(
        TurnDraft(
            session_id=session_id,
            caller=caller.name,
            scope=caller.scope,
            content=content,
            operator=message.operator,
            attachments=message.attachments,
            on_busy=message.on_busy,
            allow_failover=message.allow_failover,
            client_tools=[_as_stored(each) for each in message.client_tools],
            tool_choice={}
            if message.tool_choice == AUTO
            else asdict(message.tool_choice),
            idempotency_key=message.idempotency_key,
            with_raw=message.with_raw,
            body_digest=message.digest(),
            # A visitor goes on with the agent that the embed had at the beginning.
            agents=None if caller.agent is not None else caller.agents,
        )
    )


def _as_stored(tool: ToolSpec) -> dict[str, Any]:
    name, description, schema = tool.name, tool.description, tool.input_schema
    return {"name": name, "description": description, "inputSchema": schema}


def require_attachments(caller: Caller, session_id: str) -> None:
    """Raise NotFound or NotAllowed unless the caller may send files to the session."""
    sessions.require(caller.scope, session_id)
    if not caller.may_attach and not sessions.takes_attachments(session_id):
        raise NotAllowed("This agent takes no attachments.", param="attachments")


async def wake(posted: PostedTurn) -> None:
    """Have an accepted turn run now; for callers on the event loop."""
    if posted.interrupted:
        await tell_cancel(posted.interrupted)
        await tell_turn(posted.interrupted)  # it may have waited for somebody
    if not posted.is_replay:
        await tell_turn(posted.turn_id)


def post_message(caller: Caller, session_id: str, message: NewMessage) -> PostedTurn:
    """Accept a message and have it run; for synchronous callers."""
    posted = accept_message(caller, session_id, message)
    if posted.interrupted:
        wake_to_end(posted.interrupted)
    if not posted.is_replay:
        wake_turn(posted.turn_id)
    return posted


def take_over(caller: Caller, session_id: str, operator: str) -> Session:
    """Have a person answer in the agent's place; a turn that runs is cancelled."""
    sessions.require(caller.scope, session_id)
    for turn_id in takeover.begin(session_id, operator):
        wake_to_end(turn_id)
    return sessions.find(caller.scope, session_id)


def give_back(caller: Caller, session_id: str) -> Session:
    """Let the agent answer again; harmless if it does."""
    sessions.require(caller.scope, session_id)
    takeover.end(session_id)
    return sessions.find(caller.scope, session_id)


def reply_as_operator(
    caller: Caller, session_id: str, operator: str, message: NewMessage
) -> PostedTurn:
    """Answer the visitor as a person, who takes the session over with it."""
    return post_message(caller, session_id, replace(message, operator=operator))


def read_transcript(
    caller: Caller, session_id: str, *, limit: int, after: str | None
) -> list[Message]:
    """Up to ``limit`` messages, oldest first, and one more if there is one."""
    sessions.require(caller.scope, session_id)
    return messages.page(session_id, limit=limit, after=after)


def get_turn(caller: Caller, session_id: str, turn_id: str) -> Turn:
    """One turn with its attempts."""
    sessions.require(caller.scope, session_id)
    return turns.detail(session_id, turn_id)


def cancel_turn(caller: Caller, session_id: str, turn_id: str) -> Turn:
    """Ask a turn to end; harmless if it has ended."""
    sessions.require(caller.scope, session_id)
    if turns.request_cancel(session_id, turn_id):
        wake_to_end(turn_id)
    return turns.detail(session_id, turn_id)


def send_tool_results(
    caller: Caller, session_id: str, turn_id: str, results: Sequence[ToolResult]
) -> Turn:
    """Give a waiting turn the results of all calls that the client was asked to run."""
    turn = get_turn(caller, session_id, turn_id)
    fit = [replace(each, content=cut(storable(each.content))) for each in results]
    if progress.take_results(turn, fit):
        wake_turn(turn_id)
    return turns.detail(session_id, turn_id)


def approve_calls(
    caller: Caller, session_id: str, turn_id: str, approvals: Mapping[str, bool]
) -> Turn:
    """Allow or decline calls that a turn waits with."""
    turn = get_turn(caller, session_id, turn_id)
    if progress.take_approvals(turn, approvals):
        wake_turn(turn_id)
    return turns.detail(session_id, turn_id)


def rate_turn(
    caller: Caller, session_id: str, turn_id: str, rating: str, comment: str
) -> Turn:
    """Keep feedback on a turn."""
    turn = get_turn(caller, session_id, turn_id)
    turns.rate(turn, rating, comment)
    return turn


def find_start(caller: Caller, session_id: str, cursor: Cursor | None) -> Cursor:
    """Where a reader of the events begins; NotFound if it may not read them."""
    sessions.require(caller.scope, session_id)
    return replay.start_cursor(session_id) if cursor is None else cursor


def check_cursor(session_id: str, cursor: Cursor, logged_n: int | None) -> None:
    """Refuse a cursor that never existed with BadCursor."""
    replay.check_cursor(session_id, cursor, logged_n)
