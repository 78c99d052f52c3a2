from __future__ import annotations

from decimal import Decimal

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.domain.cursor import Cursor
from sessions_app.domain.events import (
    MessageCompleted,
    MessageDelta,
    ToolCallStarted,
    UsageSummary,
)
from sessions_app.wire.payload import DeltaEncoder, Entry

PLACE = Cursor(3, 14)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.integers(1))
def test_delta_encoder_writes_the_general_bytes(text: str, seq: int) -> None:
    event = MessageDelta("sess_1", "tur_1", seq, text)
    entry = DeltaEncoder("sess_1", "tur_1").entry(PLACE, seq, text)
    assert entry.sse == Entry.of(PLACE, event).sse


def test_frame_is_one_event_on_one_line() -> None:
    frame = Entry.of(PLACE, MessageDelta("s", "t", 1, "a\nb\r\n\u2028")).sse
    assert frame.startswith(b"id: 3-14\nevent: message_delta\ndata: {")
    assert frame.count(b"\n") == 4
    assert frame.endswith(b"}\n\n")


def test_cost_is_a_number_and_keys_are_camel_case() -> None:
    usage = UsageSummary(1, 2, Decimal("0.0000000001"), estimated=True)
    event = MessageCompleted("s", "t", "x", usage, "stop", "d")
    body = msgspec.json.decode(Entry.of(PLACE, event).body)
    assert body["usage"]["costUsd"] == 1e-10
    assert set(body) == {
        "sessionId",
        "turnId",
        "text",
        "usage",
        "stopReason",
        "digest",
    }


def test_names_inside_arguments_stay_as_they_are() -> None:
    event = ToolCallStarted("s", "t", 1, "call_1", "f", {"snake_case": 1})
    body = msgspec.json.decode(Entry.of(PLACE, event).body)
    assert body["arguments"] == {"snake_case": 1}
