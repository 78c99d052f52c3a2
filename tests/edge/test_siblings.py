"""Counts of several processes, added up; the files of the others are made here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from lantern_site.siblings import Share, Siblings
from sessions_app.telemetry import Counts, counts

PLACE = ("demo", "demo-1")


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def write(path: Path, pid: int, *, turns: int) -> None:
    """What a process leaves that ran some turns for 10 cents each, with 2 readers."""
    done = Counts(cost_usd={PLACE: turns * Decimal("0.1")})
    done.turns["completed"] = turns
    done.tokens[(*PLACE, "in")] = 0
    share = Share(pid, done, {"sse": 2}, is_draining=True)
    path.write_bytes(msgspec.msgpack.encode(share))


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Path]:
    """The file of the process that is asked, which itself counted nothing."""
    before = counts.turns.copy()
    counts.turns.clear()
    yield tmp_path / "1.counts"
    counts.turns.update(before)


def test_the_dead_count_and_hold_no_streams(one: Path) -> None:
    write(one.with_name("2.counts"), os.getppid(), turns=3)
    write(one.with_name("3.counts"), dead_pid(), turns=4)
    siblings = Siblings()
    with siblings.joined(one):
        found = siblings.together()
    assert found.counts.turns == {"completed": 7}
    assert found.counts.cost_usd[PLACE] == Decimal("0.7")
    assert found.counts.tokens[(*PLACE, "in")] == 0
    assert (found.streams["sse"], found.draining) == (2, 1)
    assert found.pids == {"1": os.getpid(), "2": os.getppid()}


def test_successor_goes_on_from_what_was_left(one: Path) -> None:
    write(one, dead_pid(), turns=3)
    for expected in (4, 6):  # each is the next one's predecessor
        siblings = Siblings()
        with siblings.joined(one):
            counts.turns["completed"] += 1
            assert siblings.together().counts.turns["completed"] == expected
    assert siblings.together().streams["sse"] == 0


# Else the next scrape, on another process, would show less than this one.
def test_what_is_told_is_written_first(one: Path) -> None:
    siblings, other = Siblings(), Siblings()
    with siblings.joined(one):
        counts.turns["completed"] += 5
        told = siblings.together().counts.turns["completed"]
        counts.turns.clear()
        with other.joined(one.with_name("2.counts")):
            assert other.together().counts.turns["completed"] == told == 5


def test_file_of_another_version_is_left_out(
    one: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one.with_name("2.counts").write_bytes(b"\x81\xa3pid\xc0")
    siblings = Siblings()
    with siblings.joined(one):
        assert list(siblings.together().pids) == ["1"]
    assert "cannot be read" in caplog.text


def test_lost_folder_costs_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    siblings = Siblings()
    with siblings.joined(tmp_path / "gone" / "1.counts"):
        assert list(siblings.together().pids) == ["1"]
        siblings.together()
    assert caplog.text.count("Counts cannot be shared") == 1


def test_alone_is_told_without_a_place() -> None:
    assert Siblings().together().pids == {}
