"""The turns of one process: claiming, leases, sweeping."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Coroutine
from typing import Any

from django.db import Error as DatabaseFault

from sessions_app.bus import Bus
from sessions_app.conf import conf
from sessions_app.domain import ids
from sessions_app.domain.route import TurnWork
from sessions_app.engine.failover import FindAdapter
from sessions_app.engine.purger import purge
from sessions_app.engine.sweeper import sweep, tell_waiting
from sessions_app.engine.turn import StopCause, TurnRun
from sessions_app.store import claim as claims
from sessions_app.store import turns as turn_store
from sessions_app.store.db import in_thread

logger = logging.getLogger(__name__)

TELL_EVERY = 3
"""Sweeps between two looks at whether the log has what waiting turns asked for."""


class TurnHost:
    """Owns every task that runs a turn here, under one worker name.

    With ``is_alone`` this process is the only one of its installation: turns that
    run when it begins belong to nobody and are dealt with at once.
    """

    def __init__(self, bus: Bus, find_adapter: FindAdapter, *, is_alone: bool) -> None:
        self._bus = bus
        self._find_adapter = find_adapter
        self._is_alone = is_alone
        self.worker = ids.random_text(ids.LENGTH)
        self._runs: dict[str, TurnRun] = {}
        self._claims = 0  # on their way to the database
        self._cancelled: set[str] = set()  # while claims were on their way
        self._again: set[str] = set()  # wake-ups for turns that run here
        self._tasks: set[asyncio.Task[Any]] = set()
        self._turns: set[asyncio.Task[Any]] = set()  # those that claim and run one
        self._is_stopping = False
        self._is_cut = False  # what is claimed now is handed back
        self.opened = asyncio.Event()

    @property
    def running(self) -> frozenset[str]:
        """The turns that run here."""
        return frozenset(self._runs)

    async def open(self) -> None:
        """Deal with what an earlier process left, then begin the periodic work."""
        try:
            if self._is_alone:
                await self._sweep(self.worker)
                await self._tell_waiting()
        finally:
            self.opened.set()
        self._spawn(self._renew_leases())
        self._spawn(self._sweep_for_ever())
        self._spawn(self._purge_for_ever())

    def begin(self, turn_id: str) -> None:
        """Claim and run a turn, if it is to be had; returns at once."""
        if self._is_stopping:
            return
        if turn_id in self._runs:
            # It may be letting go of a turn whose results are here already.
            self._again.add(turn_id)
        else:
            task = self._spawn(self._run(turn_id))
            self._turns.add(task)
            task.add_done_callback(self._turns.discard)

    def cancel(self, turn_id: str) -> None:
        """Stop a turn if it runs here; the database holds the wish for the others."""
        if run := self._runs.get(turn_id):
            run.stop(StopCause.CANCEL)
        elif self._claims:
            self._cancelled.add(turn_id)

    async def close(self, patience_s: float) -> None:
        """Take no more turns; let the running ones end, then end the rest."""
        self._is_stopping = True
        await self._runs_ended(patience_s)
        self.stop_runs()
        await self._runs_ended(conf().give_up_s)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def stop_runs(self) -> None:
        """Hand over the turns that showed nothing yet, and end the others."""
        self._is_cut = True
        for run in list(self._runs.values()):
            run.stop(StopCause.SHUTDOWN)

    async def _runs_ended(self, patience_s: float) -> None:
        if self._turns:
            await asyncio.wait(self._turns, timeout=patience_s)

    async def _run(self, turn_id: str) -> None:
        run = await self._claim(turn_id)
        if run is None:
            return
        try:
            await run.task
        finally:
            del self._runs[turn_id]
        if turn_id in self._again:
            self._again.discard(turn_id)
            self.begin(turn_id)
        if run.following is not None:
            self.begin(run.following)

    async def _claim(self, turn_id: str) -> TurnRun | None:
        """The turn's run, if it is to be had; a cancel may come while it is asked."""
        self._claims += 1
        try:
            work = await self._work_of(turn_id)
            if work is None:
                return None
            run = self._runs[turn_id] = TurnRun(work, self._bus, self._find_adapter)
            if turn_id in self._cancelled:
                run.stop(StopCause.CANCEL)
            if self._is_cut:
                run.stop(StopCause.SHUTDOWN)
            return run
        finally:
            self._claims -= 1
            if not self._claims:
                self._cancelled.clear()

    async def _work_of(self, turn_id: str) -> TurnWork | None:
        """What a claim gives; a turn that no claim could ever read is taken to end."""
        try:
            return await in_thread(claims.claim, turn_id, self.worker)
        except (DatabaseFault, OSError, MemoryError):
            raise  # it may go better at the next sweep
        except Exception:
            logger.exception("Turn %s cannot be read, and is ended.", turn_id)
            return await in_thread(claims.claim_unreadable, turn_id, self.worker)

    async def _renew_leases(self) -> None:
        """One UPDATE for all turns of the process; also finds wishes and losses."""
        renewed_at = time.monotonic()
        while True:
            await asyncio.sleep(conf().renew_s)
            mine = list(self._runs)
            if not mine:
                renewed_at = time.monotonic()
                continue
            try:
                held = await in_thread(turn_store.renew, self.worker, mine)
            except Exception:
                logger.exception("The leases could not be renewed.")
                if time.monotonic() - renewed_at > conf().give_up_s:
                    self._stop_all(mine)
                continue
            renewed_at = time.monotonic()
            for turn_id in mine:
                self._heed(turn_id, held)

    def _heed(self, turn_id: str, held: dict[str, bool]) -> None:
        run = self._runs.get(turn_id)
        if run is None:
            return
        if turn_id not in held:
            run.stop(StopCause.CLAIM_LOST)
        elif held[turn_id]:
            run.stop(StopCause.CANCEL)

    def _stop_all(self, turn_ids: list[str]) -> None:
        for turn_id in turn_ids:
            if run := self._runs.get(turn_id):
                run.stop(StopCause.CLAIM_LOST)

    async def _sweep_for_ever(self) -> None:
        for number in itertools.count(1):
            await asyncio.sleep(conf().sweep_s)
            await self._sweep(None)
            if not self._is_alone and number % TELL_EVERY == 0:
                await self._tell_waiting()

    async def _tell_waiting(self) -> None:
        """A log that others share may have lost what a turn without a writer asked."""
        try:
            await tell_waiting(self._bus)
        except Exception:
            logger.exception("What turns wait for could not be said again.")

    async def _sweep(self, worker: str | None) -> None:
        try:
            for turn_id in await sweep(self._bus, worker):
                self.begin(turn_id)
        except Exception:
            logger.exception("Abandoned turns could not be looked for.")

    async def _purge_for_ever(self) -> None:
        while True:
            await asyncio.sleep(conf().purge_s)
            try:
                await purge(self._bus)
            except Exception:
                logger.exception("Old conversations could not be removed.")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("A task of the turn host failed.", exc_info=error)
