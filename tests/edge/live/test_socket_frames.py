from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions_app.domain.errors import BadRequest
from sessions_app.domain.states import OPEN_STATES
from sessions_app.models import Turn
from sessions_app.wire.lantern_v1 import FRAMES, read_frame
from tests.edge.live.conftest import Socket

BAD_FRAMES = [
    ("", "bad_request"),
    ("{", "bad_request"),
    ("[]", "bad_request"),
    ("null", "bad_request"),
    ('"ping"', "bad_request"),
    ("{}", "bad_request"),
    ('{"type":"nothing"}', "bad_request"),
    ('{"type":["ping"]}', "bad_request"),
    ('{"type":"ping","x":1}', "unknown_field"),
    ('{"type":"ping","requestId":1}', "bad_request"),
    ('{"type":"session.start"}', "bad_request"),
    ('{"type":"session.start","prompt":7}', "bad_request"),
    ('{"type":"session.start","prompt":"a\\u0000"}', "bad_request"),
    ('{"type":"session.start","prompt":"\\ud800"}', "bad_request"),
    ('{"type":"session.start","prompt":"x","agent":"nobody"}', "bad_request"),
    ('{"type":"session.start","prompt":"x","provider":"nobody"}', "bad_request"),
    ("[" * 100_000 + "]" * 100_000, "bad_request"),
    ('{"type":"ping","x":' + "[" * 80 + "]" * 80 + "}", "bad_request"),
]


@pytest.mark.parametrize(("text", "code"), BAD_FRAMES)
async def test_bad_frame_gets_an_error_and_no_more(
    socket: Socket, text: str, code: str
) -> None:
    await socket.communicator.send_input({"type": "websocket.receive", "text": text})
    answer = await socket.read()
    assert (answer["type"], answer["code"]) == ("error", code)
    assert (await socket.ask("ping"))["type"] == "pong"


async def test_error_echoes_the_request(socket: Socket) -> None:
    answer = await socket.ask("nothing", requestId="r7")
    assert answer["requestId"] == "r7"


@pytest.mark.parametrize(
    ("frame", "code"),
    [({"bytes_data": b"\x00"}, 1003), ({"text_data": "x" * 1_048_577}, 1009)],
)
async def test_malformed_frame_closes(socket: Socket, frame, code: int) -> None:
    await socket.communicator.send_to(**frame)
    closed = await socket.communicator.receive_output(5)
    assert (closed["type"], closed["code"]) == ("websocket.close", code)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELD_NAMES = sorted(
    {name for kind in FRAMES.values() for name in kind.__struct_encode_fields__}
)
FRAME = st.dictionaries(st.sampled_from(FIELD_NAMES), JSON, max_size=5).flatmap(
    lambda fields: st.sampled_from([*FRAMES, "other"]).map(
        lambda kind: {**fields, "type": kind}
    )
)


@given(FRAME | JSON)
@settings(max_examples=300, deadline=None)
def test_any_json_is_a_frame_or_a_bad_request(value: object) -> None:
    try:
        assert type(read_frame(value)) in FRAMES.values()
    except BadRequest as error:
        assert error.http_status == 400


# Kept within one socket: a new one for each example would take a second each.
async def test_random_frames_never_close_the_socket(
    socket: Socket, in_database
) -> None:
    frames: list[object] = []

    @given(st.lists(FRAME | JSON, min_size=60, max_size=60))
    @settings(
        max_examples=3,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def collect(found: list[object]) -> None:
        frames.extend(found)

    collect()
    for frame in frames[-150:]:
        text = msgspec.json.encode(frame, enc_hook=str).decode(errors="replace")
        await socket.communicator.send_to(text_data=text)
    await socket.say("ping", requestId="the end")
    while (await socket.read()).get("requestId") != "the end":
        pass
    await socket.hang_up()
    while await in_database(Turn.objects.filter(state__in=OPEN_STATES).exists):
        pass
