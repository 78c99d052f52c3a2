"""Each stored answer is read alike, wherever the network cuts it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from sessions_app.providers.anthropic.stream import MessageStream
from sessions_app.providers.openai.stream import ReplyStream
from tests.fakes.outcomes import read_reply

FOLDER = Path(__file__).parent / "fixtures"
FAMILIES = {"anthropic": MessageStream, "openai": ReplyStream}
FIXTURES = sorted(FOLDER.glob("*/*.sse")) + sorted(FOLDER.glob("*/*.json"))


@pytest.fixture(params=FIXTURES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def fixture(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_every_cut_gives_equal_parts(fixture: Path) -> None:
    read = partial(read_reply, family=FAMILIES[fixture.parent.name])
    raw = fixture.read_bytes()
    whole = read([raw]).key()
    for at in range(1, len(raw)):
        assert read([raw[:at], raw[at:]]).key() == whole, at


def test_byte_by_byte_gives_equal_parts(fixture: Path) -> None:
    read = partial(read_reply, family=FAMILIES[fixture.parent.name])
    raw = fixture.read_bytes()
    single = [raw[at : at + 1] for at in range(len(raw))]
    assert read(single).key() == read([raw]).key()
