"""What the processes on one port have counted together.

A scrape reaches any one of them. So each has a file of its own in a folder of their
parent's, where it writes what it counted, and whoever is asked adds the files up. One
that takes the place of a dead process goes on from what that one wrote.

A process writes before it answers, so no sum is less than one that was told before,
whichever process told it.
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import msgspec

from sessions_app.edge.live.open_streams import open_streams
from sessions_app.lifecycle import lifecycle
from sessions_app.telemetry import Counts, counts

logger = logging.getLogger(__name__)

PACE_S = 1.0
REWRITE_S = 3600.0
"""How old an unchanged file gets: folders for temporary files are swept of old ones."""
SUFFIX = ".counts"


class Share(msgspec.Struct, frozen=True):
    """One process: its counts, with those of the dead in its place, and its gauges."""

    pid: int
    counts: Counts
    streams: dict[str, int]
    is_draining: bool


@dataclass(slots=True)
class Together:
    """Counts of the living and the dead; gauges and ids of the living."""

    counts: Counts = field(default_factory=Counts)
    streams: Counter[str] = field(default_factory=Counter)
    draining: int = 0
    pids: dict[str, int] = field(default_factory=dict)
    """By place, from ``"1"``; empty if this process is alone on its port."""

    def add(self, share: Share, *, is_alive: bool) -> None:
        """Count one process in."""
        self.counts = self.counts.plus(share.counts)
        if is_alive:
            self.streams.update(share.streams)
            self.draining += share.is_draining


class Siblings:
    """The processes on one port; this one alone, unless it has joined others."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._before = Counts()
        self._lock = Lock()
        self._written = b""
        self._written_at = 0.0
        self._is_failing = False

    @contextmanager
    def joined(self, path: Path | None) -> Iterator[None]:
        """Share this process' counts in a file until the block ends.

        The file is named after the process' place, and the others' stand beside it.
        Without one the process stays alone.
        """
        if path is None:
            yield
            return
        dead = _read(path)
        self._before = dead.counts if dead else Counts()
        self._path = path
        is_over = Event()
        # A thread: a slow disk would hold up the loop, and a busy loop the counts.
        writing = Thread(target=self._write_on, args=[is_over], daemon=True)
        writing.start()
        try:
            yield
        finally:
            is_over.set()
            writing.join()
            self._write(path)

    def together(self) -> Together:
        """All of them as of the last second, this one as of now; reads files."""
        found = Together()
        if self._path is None:
            found.add(self._share(), is_alive=True)
            return found
        found.add(self._write(self._path), is_alive=True)
        found.pids[self._path.stem] = os.getpid()
        for path in sorted(self._path.parent.glob(f"*{SUFFIX}")):
            share = _read(path) if path != self._path else None
            if share is not None:
                is_alive = _is_alive(share.pid)
                found.add(share, is_alive=is_alive)
                if is_alive:
                    found.pids[path.stem] = share.pid
        return found

    def _share(self) -> Share:
        return Share(
            pid=os.getpid(),
            counts=self._before.plus(counts),
            streams=dict(open_streams.counts()),
            is_draining=lifecycle.is_draining,
        )

    def _write_on(self, is_over: Event) -> None:
        path = self._path
        while path is not None:
            self._write(path)
            if is_over.wait(PACE_S):
                return

    def _write(self, path: Path) -> Share:
        """Write what is new. A disk that refuses costs the others' view, no answer."""
        with self._lock:  # or an older share could replace a newer one
            share = self._share()
            encoded = msgspec.msgpack.encode(share)
            now = time.monotonic()
            if encoded == self._written and now - self._written_at < REWRITE_S:
                return share
            try:
                new = path.with_suffix(".new")
                new.write_bytes(encoded)
                new.replace(path)
            except OSError as error:
                if not self._is_failing:
                    logger.warning("Counts cannot be shared: %s", error)
                self._is_failing = True
            else:
                self._written, self._written_at = encoded, now
                self._is_failing = False
            return share


def _read(path: Path) -> Share | None:
    try:
        return _decoder.decode(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        logger.warning("The counts in %s cannot be read: %s", path, error)
        return None


def _counter(kind: type[Any], found: Any) -> Any:
    return Counter(found)  # the one type here that msgspec does not know


_decoder = msgspec.msgpack.Decoder(Share, dec_hook=_counter)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


siblings = Siblings()
