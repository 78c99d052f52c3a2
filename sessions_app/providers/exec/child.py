"""A command in a session of its own: fed once, read to its end, and ended whole."""

from __future__ import annotations

import asyncio
import math
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from typing import cast

from sessions_app.domain.errors import ProviderUnreachable

MAX_UNREAD_BYTES = 256 * 1024
MAX_STDERR_BYTES = 4 * 1024
GRACE_S = 1.0
"""From SIGTERM to SIGKILL."""
REST_S = 0.2
"""The same for what is left once the command itself has ended. Short, as what is left
may be a zombie that nobody reaps, which cannot be told from a process."""
DRAIN_S = GRACE_S
"""How long output may stay silent once the command has ended: a process that left its
group may hold it open for ever."""
END_S = 2.0
"""How long a command may live on after it closed its output."""
STDERR_S = 0.2
POLL_S = 0.02


class Child(asyncio.SubprocessProtocol):
    """Read ``reads()``, ask ``status()``, and always ``aclose()``."""

    _transport: asyncio.SubprocessTransport

    def __init__(self) -> None:
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._is_paused = False
        self._is_eof = False
        self._changed = asyncio.Event()
        self._exited = asyncio.Event()
        self._exited_at = math.inf
        self._stderr = bytearray()
        self._is_stderr_cut = False
        self._has_all_stderr = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls, command: Sequence[str], env: Mapping[str, str], text: str
    ) -> Child:
        """Run it with ``text`` as its input; ProviderUnreachable if it cannot be."""
        loop = asyncio.get_running_loop()
        starting = asyncio.create_task(
            loop.subprocess_exec(cls, *command, env=dict(env), start_new_session=True)
        )
        try:
            _, child = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The loop would end the command alone, and not what it has started.
            starting.add_done_callback(_end_late)
            raise
        except (OSError, ValueError) as error:
            raise ProviderUnreachable(
                diagnosis=f"the command {command[0]!r:.80} cannot be started:"
                f" {type(error).__name__}: {error}"
            ) from error
        child._feed(text.encode("utf-8", "replace"))
        return child

    @property
    def pid(self) -> int:
        """Of the command, and of its group."""
        return self._transport.get_pid()

    @property
    def stderr(self) -> str:
        """The last of what it said there, without a line that was cut."""
        said = bytes(self._stderr)
        if self._is_stderr_cut:
            _, _, said = said.partition(b"\n")
        return said.decode("utf-8", "replace").replace("\0", "").strip()

    async def reads(self) -> AsyncGenerator[bytes, None]:
        """Its output as it comes, to the end."""
        while True:
            while self._unread:
                raw = self._unread.popleft()
                self._unread_bytes -= len(raw)
                yield raw
            if self._is_eof:
                return
            self._resume()
            self._changed.clear()
            limit_s = DRAIN_S if self._exited.is_set() else None
            try:
                async with asyncio.timeout(limit_s):
                    await self._changed.wait()
            except TimeoutError:
                return

    async def status(self) -> int | None:
        """Its exit status, negative for a signal; None if it does not end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                await self._exited.wait()
            async with asyncio.timeout(STDERR_S):
                await self._has_all_stderr.wait()
        return self._transport.get_returncode()

    async def aclose(self) -> None:
        """End what is left of its group. A cancel does not stop that."""
        ending = self._end()
        # Not before: unread output would be lost with the pipes.
        ending.add_done_callback(lambda _: self._transport.close())
        await asyncio.shield(ending)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._stderr += data
            self._is_stderr_cut |= len(self._stderr) > MAX_STDERR_BYTES
            del self._stderr[:-MAX_STDERR_BYTES]
            return
        self._unread.append(data)
        self._unread_bytes += len(data)
        if self._unread_bytes > MAX_UNREAD_BYTES and not self._is_paused:
            self._is_paused = True
            self._stdout.pause_reading()
        self._changed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self._is_eof = True
            self._changed.set()
        elif fd == 2:
            self._has_all_stderr.set()

    def process_exited(self) -> None:
        self._exited_at = asyncio.get_running_loop().time()
        self._exited.set()
        self._changed.set()
        self._end()

    @property
    def _stdout(self) -> asyncio.ReadTransport:
        return cast(asyncio.ReadTransport, self._transport.get_pipe_transport(1))

    def _resume(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._stdout.resume_reading()

    def _feed(self, raw: bytes) -> None:
        """The loop writes it as it is taken; a command need not read it at all."""
        stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        stdin.write(raw)
        stdin.close()

    def _end(self) -> asyncio.Task[None]:
        if self._ending is None:
            self._ending = asyncio.create_task(self._end_group())
        return self._ending

    async def _end_group(self) -> None:
        """SIGTERM, and SIGKILL to what is still there after the grace."""
        loop = asyncio.get_running_loop()
        last = loop.time() + GRACE_S
        is_there = self._signal(signal.SIGTERM)
        try:
            while is_there and loop.time() < min(last, self._exited_at + REST_S):
                await asyncio.sleep(POLL_S)
                is_there = self._signal(0)
        finally:
            if is_there:
                self._signal(signal.SIGKILL)
        await self._exited.wait()

    def _signal(self, number: int) -> bool:
        """Whether there is anybody left to hear it."""
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def _end_late(
    starting: asyncio.Task[tuple[asyncio.SubprocessTransport, Child]],
) -> None:
    """End a command that nobody waits for any more."""
    if not starting.cancelled() and starting.exception() is None:
        _, child = starting.result()
        child._end().add_done_callback(lambda _: child._transport.close())
