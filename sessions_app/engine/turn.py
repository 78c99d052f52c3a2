"""One claimed turn, from its first event to its one end."""

from __future__ import annotations

import asyncio
import logging
import time
from enum import StrEnum

from django.db import Error as DatabaseFault

from sessions_app.bus import Bus, StaleFence
from sessions_app.conf import conf
from sessions_app.domain.announce import Announcement, requests_of
from sessions_app.domain.errors import (
    BudgetExceeded,
    LanternError,
    ProviderError,
    ProviderTimeout,
    StorageFailed,
    WorkerShutdown,
)
from sessions_app.domain.events import StatusRunning, TurnStarted
from sessions_app.domain.outcome import TurnEnd
from sessions_app.domain.parts import StopReason
from sessions_app.domain.route import TurnWork
from sessions_app.domain.states import TurnState
from sessions_app.domain.text import digest_of
from sessions_app.engine.failover import FindAdapter
from sessions_app.engine.memory import with_memory
from sessions_app.engine.meter import Book
from sessions_app.engine.publisher import Publisher
from sessions_app.engine.rounds import (
    ClaimLost,
    Reply,
    Rounds,
    TurnCancelled,
    TurnWaits,
)
from sessions_app.engine.spending import Spending
from sessions_app.engine.toolbox import Toolbox
from sessions_app.store import turns as turn_store
from sessions_app.store.db import in_thread
from sessions_app.telemetry import counts
from sessions_app.tools.registry import configs_of, load_tools

logger = logging.getLogger(__name__)

COMMIT_PAUSES_S = (0.1, 0.5, 2.0)
HAND_BACK_PAUSE_S = 0.2


class StopCause(StrEnum):
    """Why a running turn is stopped from outside."""

    CANCEL = "cancel"
    CLAIM_LOST = "claim_lost"
    SHUTDOWN = "shutdown"


class TurnRun:
    """Runs one turn in a task of its own.

    ``following`` is the session's next turn, known once this one has ended.
    """

    def __init__(self, work: TurnWork, bus: Bus, find_adapter: FindAdapter) -> None:
        self.work = work
        self._publisher = Publisher(bus, work)
        self._find_adapter = find_adapter
        spending = Spending(work.turn_id, work.allowances) if work.allowances else None
        self._book = Book(work.progress.attempts, spending)
        self._shown = list(work.progress.shown)
        self._marked = 0  # the attempt whose text is known to the database
        self._rounds: Rounds | None = None
        self._stop_cause: StopCause | None = None
        self._is_begun = False
        self._is_ending = False
        self.following: str | None = None
        # Begins with the next turn of the loop, and never raises.
        self.task = asyncio.create_task(self._run(), name=work.turn_id)

    def stop(self, cause: StopCause) -> None:
        """End the turn early; once its end is being written, that end stands."""
        if self._is_ending or self._stop_cause is not None:
            return
        self._stop_cause = cause
        # A task that is cancelled before its first step never takes it.
        if self._is_begun:
            self.task.cancel()

    async def _run(self) -> None:
        self._is_begun = True
        try:
            end = await self._end()
            self._is_ending = True
            if end is not None:
                await self._commit_and_announce(end)
        except StaleFence:
            logger.warning("Turn %s is run by another process.", self.work.turn_id)
        except Exception:
            logger.exception("Turn %s could not be ended.", self.work.turn_id)
        finally:
            self._publisher.leave()
            self._rounds = None  # it calls back, which would be a cycle

    async def _end(self) -> TurnEnd | None:
        """Run the rounds; every way out of them is one end, or None if not ours."""
        if self._stop_cause in (StopCause.CLAIM_LOST, StopCause.SHUTDOWN):
            return await self._stopped()
        try:
            async with asyncio.timeout(conf().turn_timeout_s):
                return self._completed(await self._reply())
        except asyncio.CancelledError:
            return await self._stopped()
        except (ClaimLost, StaleFence, TurnWaits):
            return None
        except TurnCancelled:
            return self._cancelled()
        except TimeoutError:
            return self._failed(ProviderTimeout("The answer took too long."), True)
        except ProviderError as error:
            return self._failed(error, error.retryable)
        except BudgetExceeded as error:
            return self._failed(error, False)
        except DatabaseFault:
            logger.exception("Turn %s: the database failed.", self.work.turn_id)
            return self._failed(StorageFailed(), True)
        except Exception:
            logger.exception("Turn %s failed.", self.work.turn_id)
            return self._failed(LanternError(), True)

    async def _reply(self) -> Reply:
        work = self.work
        if work.progress.next_n == 1:
            await self._publisher.publish(
                StatusRunning(work.session_id),
                TurnStarted(work.session_id, work.turn_id, work.agent, work.operator),
            )
        if asked := work.progress.asked:
            # The claim before this one may have stopped before it said so. What the
            # log has already it drops.
            wait_s = conf().tool_wait_s
            requests = requests_of(work.session_id, work.turn_id, asked, wait_s)
            await self._publisher.publish(*requests)
        if work.is_unreadable:
            raise LanternError()
        if work.operator:
            return self._by_operator()
        if work.is_cancelled or self._stop_cause is StopCause.CANCEL:
            return Reply("".join(self._shown), StopReason.CANCELLED)
        work = await with_memory(work, self._find_adapter, self._book)
        names = configs_of(work.tools, work.stored_tools)
        self._rounds = Rounds(
            work=work,
            publisher=self._publisher,
            book=self._book,
            find_adapter=self._find_adapter,
            toolbox=Toolbox(work, await load_tools(names)),
            show=self._show,
            shown=self._shown,
        )
        return await self._rounds.run()

    def _by_operator(self) -> Reply:
        """A person's words, or nothing: the message waits for one."""
        spoken = self.work.spoken
        return Reply(spoken, StopReason.STOP if spoken else StopReason.HANDED_OVER)

    async def _show(self, texts: list[str], raws: list[bytes]) -> None:
        """Publish text as it comes; whose it is is committed first."""
        if self._marked != self._book.next_number:
            await self._mark_first_delta()
        self._shown += texts
        await self._publisher.publish_deltas(texts, raws)

    async def _mark_first_delta(self) -> None:
        attempts, candidate = self._book.unstored, self._book.asking
        is_held = await in_thread(
            turn_store.mark_first_delta,
            self.work,
            candidate.entry if candidate else "",
            self._publisher.next_n,
            attempts,
        )
        if not is_held:
            raise ClaimLost
        self._book.stored(attempts)
        self._marked = self._book.next_number

    def _completed(self, reply: Reply) -> TurnEnd:
        is_cancelled = reply.stop_reason is StopReason.CANCELLED
        return TurnEnd(
            state=TurnState.CANCELLED if is_cancelled else TurnState.COMPLETED,
            terminal_n=self._publisher.next_n,
            usage=self._book.total(),
            text=reply.text,
            stop_reason=reply.stop_reason,
            digest=digest_of(reply.text),
            has_deltas=bool(self._shown),
            operator=self.work.operator,
            raw=reply.raw,
            attempts=self._book.unstored,
        )

    def _cancelled(self) -> TurnEnd:
        if self.work.operator:  # what a person said is whole
            return self._completed(self._by_operator())
        return self._completed(Reply("".join(self._shown), StopReason.CANCELLED))

    def _failed(self, error: LanternError, retryable: bool) -> TurnEnd:
        return TurnEnd(
            state=TurnState.FAILED,
            terminal_n=self._publisher.next_n,
            usage=self._book.total(),
            error_code=error.code,
            error=error.message,
            error_retryable=retryable,
            has_deltas=bool(self._shown),
            attempts=self._book.unstored,
        )

    async def _stopped(self) -> TurnEnd | None:
        self.task.uncancel()
        if self._stop_cause is StopCause.CANCEL:
            return self._cancelled()
        if self._stop_cause is StopCause.CLAIM_LOST:
            return None
        if not self._shown and not self._has_started_tool():
            # Nothing happened yet that a second run would repeat.
            await self._hand_back()
            return None
        return self._failed(WorkerShutdown(), True)

    async def _hand_back(self) -> None:
        """Put the turn back in the queue, or it waits until its lease is over.

        Tried for as long as the process waits for its turns.
        """
        work, attempts = self.work, self._book.unstored
        give_up_at = time.monotonic() + conf().give_up_s
        while True:
            try:
                await in_thread(turn_store.release, work.turn_id, work.fence, attempts)
                return
            except DatabaseFault as error:
                if time.monotonic() >= give_up_at:
                    raise
                logger.warning("Turn %s is not put back: %s", work.turn_id, error)
            await asyncio.sleep(HAND_BACK_PAUSE_S)

    def _has_started_tool(self) -> bool:
        return self._rounds is not None and self._rounds.has_started_tool

    async def _commit_and_announce(self, end: TurnEnd) -> None:
        """Commit first: what clients are told is already in the database."""
        committed = await self._commit(end)
        if committed is None:
            return
        work = self.work
        announcement = Announcement(
            work.session_id, work.turn_id, committed, work.canned_reply
        )
        await self._publisher.publish(*announcement.events(), raws=[committed.raw])

    async def _commit(self, end: TurnEnd) -> TurnEnd | None:
        """Store the end, or that it could not be stored; None if the claim is lost.

        If not even that is possible, the lease runs out and the sweeper ends the turn.
        """
        work = self.work
        for pause_s in COMMIT_PAUSES_S:
            try:
                return await self._store(end)
            except DatabaseFault:
                logger.exception("Turn %s: its end was not stored.", work.turn_id)
                await asyncio.sleep(pause_s)
        return await self._store(self._failed(StorageFailed(), True))

    async def _store(self, end: TurnEnd) -> TurnEnd | None:
        finish = await in_thread(turn_store.finish, self.work, end)
        self.following = finish.following
        if not finish.is_held:
            return None
        counts.turn_ended(end)
        return end
