"""Look-ups that wait for a thread of the store, and go there together.

A crowd that comes back at once would spend most of its time on the way between the
event loop and the threads, and each of it would ask for the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from django.db import Error as DatabaseFault

from sessions_app.conf import conf
from sessions_app.store.db import in_thread

A = TypeVar("A")
R = TypeVar("R")

AT_ONCE = 100

_found: ContextVar[dict[Hashable, Any] | None] = ContextVar("_found", default=None)


def once(key: Hashable, look: Callable[[], R]) -> R:
    """What ``look`` finds; look-ups that went to the thread together share it.

    All of them were asked for before it looked, so that none is told of an older state
    than alone.
    """
    found = _found.get()
    if found is None:
        return look()
    if key not in found:
        found[key] = look()
    shared: R = found[key]
    return shared


def or_error(look: Callable[[], R]) -> R | Exception:
    """What one of several finds, or its error; raises what the database raises.

    Each of the others would wait for the database as long.
    """
    try:
        return look()
    except DatabaseFault:
        raise
    except Exception as error:
        return error


class Together(Generic[A, R]):
    """Calls ``function`` on a thread of the store for all that wait, a hundred at most.

    It gives for each argument an answer or an error; what it raises itself all get.
    """

    def __init__(self, function: Callable[[Sequence[A]], list[R | Exception]]) -> None:
        self._function = function
        self._waiting: list[tuple[A, asyncio.Future[R]]] = []
        self._going: set[asyncio.Task[Any] | None] = set()

    async def call(self, argument: A) -> R:
        """The answer to one; raises its error."""
        loop = asyncio.get_running_loop()
        asking: asyncio.Future[R] = loop.create_future()
        self._waiting.append((argument, asking))
        if len(self._going) < conf().database_threads:
            self._going.add(loop.create_task(self._go()))
        return await asking

    async def _go(self) -> None:
        try:
            while self._waiting:
                some, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
                # Of those who are still there.
                await self._answer([each for each in some if not each[1].done()])
        finally:
            # Not once the task is done, a step later: who asks meanwhile would count
            # it, and wait for whoever asks next.
            self._going.discard(asyncio.current_task())

    async def _answer(self, some: Sequence[tuple[A, asyncio.Future[R]]]) -> None:
        answers: list[R | Exception]
        try:
            answers = await in_thread(self._call, [each for each, _ in some])
        except Exception as error:
            answers = [error] * len(some)
        for (_, asking), answer in zip(some, answers, strict=True):
            if asking.done():
                continue
            if isinstance(answer, Exception):
                asking.set_exception(answer)
            else:
                asking.set_result(answer)

    def _call(self, arguments: Sequence[A]) -> list[R | Exception]:
        token = _found.set({})
        try:
            return self._function(arguments)
        finally:
            _found.reset(token)
