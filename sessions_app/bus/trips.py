"""Questions to Redis that go there together, over one connection.

Each on a connection of its own, a crowd of readers would open as many connections as
it has heads, and be told by the client that there are too many.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice
from typing import Any

AT_ONCE = 100
"""Questions of one trip: parsing all their answers holds the event loop up."""

PATIENCE_S = 5.0
"""More than two tries take, each with its own limits: all readers wait for a trip."""

Command = tuple[str | int, ...]
Question = tuple[Command, ...]
Asking = asyncio.Future[list[Any]]


class Trips:
    """Asks one trip after the other; use it on one event loop."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._waiting: dict[Question, list[Asking]] = {}
        self._going: asyncio.Task[None] | None = None

    async def ask(self, *commands: Command) -> list[Any]:
        """The answers to some commands; raises what Redis or the way to it raises.

        Who asks what somebody waits to ask shares the answers.
        """
        loop = asyncio.get_running_loop()
        asking: Asking = loop.create_future()
        self._waiting.setdefault(commands, []).append(asking)
        if self._going is None or self._going.done():
            self._going = loop.create_task(self._go())
        return await asking

    async def _go(self) -> None:
        while self._waiting:
            questions = list(islice(self._waiting, AT_ONCE))
            asked = [(each, self._waiting.pop(each)) for each in questions]
            try:
                async with asyncio.timeout(PATIENCE_S):
                    commands = [command for each in questions for command in each]
                    answers = await self._answers(commands)
            except BaseException as error:
                # Those who wait would each wait as long, one trip after the other.
                waiting, self._waiting = self._waiting, {}
                for askings in (*(a for _, a in asked), *waiting.values()):
                    _tell(askings, _told(error))
                if not isinstance(error, Exception):
                    raise
                continue
            for question, askings in asked:
                _tell(askings, list(islice(answers, len(question))))

    async def _answers(self, commands: list[Command]) -> Iterator[Any]:
        # No transaction, which a full Redis refuses.
        async with self._client.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            answers: list[Any] = await pipe.execute(raise_on_error=False)
        return iter(answers)

    async def close(self) -> None:
        """Ask no more."""
        if self._going is not None:
            self._going.cancel()
            await asyncio.gather(self._going, return_exceptions=True)


def _told(error: BaseException) -> Exception:
    """What those who asked are told: a broken trip leaves nobody waiting."""
    return error if isinstance(error, Exception) else broken_off()


def broken_off() -> Exception:
    """Why there is no answer, where the trip was ended from here."""
    return ConnectionError("Broken off.")


def _tell(askings: list[Asking], answers: list[Any] | Exception) -> None:
    if isinstance(answers, list):
        error = next((a for a in answers if isinstance(a, Exception)), None)
        answers = answers if error is None else error
    for asking in askings:
        settle(asking, answers)


def settle(asking: asyncio.Future[Any], answer: Any) -> None:
    """Tell whoever asked, and is not gone, what came of it; an Exception is raised."""
    if asking.done():
        return
    if isinstance(answer, Exception):
        asking.set_exception(answer)
    else:
        asking.set_result(answer)
