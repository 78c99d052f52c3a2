from __future__ import annotations

from typing import Any

import pytest

from sessions_app import desk
from sessions_app.domain.tooling import ToolContext
from sessions_app.models import Session
from sessions_app.outbound.client import close_sessions
from sessions_app.store.db import in_thread
from sessions_app.tools.base import ToolError
from sessions_app.tools.registry import configs_of, load_tools
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.people import make_agent, make_session


def context(session_id: str = "sess_1") -> ToolContext:
    return ToolContext(session_id, "tur_1", "call_1")


async def test_built_in_tools_can_be_loaded() -> None:
    tools = await load_tools(configs_of(["hand_over", "open_ticket"], {}))
    assert [tool.spec.input_schema["required"] for tool in tools.values()] == [
        ["reason"],
        ["title", "details"],
    ]


async def test_hand_over_flags_the_session(transactional_db: None) -> None:
    session = await in_thread(lambda: make_session(make_agent()))
    tools = await load_tools(configs_of(["hand_over"], {}))
    arguments = {"reason": "wants a person"}
    await tools["hand_over"].call(arguments, context(session.pk))
    found = await in_thread(Session.objects.get, pk=session.pk)
    assert (found.needs_human, found.handover_reason) == (True, "wants a person")


async def test_ticket_is_posted_once_with_its_key(settings: Any) -> None:
    async with FakeUpstream() as helpdesk:
        settings.LANTERN_TICKET_URL = f"{helpdesk.base_url}/tickets"
        helpdesk.enqueue(Reply([b"No. 7"], content_type="text/plain"))
        told = await desk.open_ticket("Broken", "It smokes", context())
        await close_sessions()
    assert told == "The ticket was opened. No. 7"
    assert helpdesk.requests[0].json["sessionId"] == "sess_1"
    assert helpdesk.requests[0].headers["idempotency-key"] == "tur_1/call_1"


async def test_ticket_without_a_help_desk_is_an_error(settings: Any) -> None:
    settings.LANTERN_TICKET_URL = ""
    with pytest.raises(ToolError, match="No help desk"):
        await desk.open_ticket("Broken", "It smokes", context())
