"""Limits on a provider's silence."""

from __future__ import annotations

import asyncio
from types import TracebackType

from sessions_app.domain.errors import ProviderTimeout


class Deadline:
    """Ends an attempt that brings no content for too long.

    One timer an attempt, armed again at the first content and when it fires early:
    a token costs a clock reading and no timer. ``first_s`` is the limit until the
    first content, ``idle_s`` the limit between content.
    """

    def __init__(self, first_s: float, idle_s: float) -> None:
        self._first_s = first_s
        self._idle_s = idle_s
        self._loop = asyncio.get_running_loop()
        self._started_at = self._touched_at = self._loop.time()
        self._has_content = False
        self._is_over = False

    def __enter__(self) -> Deadline:
        self._task = asyncio.current_task()
        assert self._task is not None
        self._cancels_before = self._task.cancelling()
        self._timer = self._loop.call_at(self._limit(), self._check)
        return self

    def touch(self) -> None:
        """Content arrived."""
        self._touched_at = self._loop.time()
        if not self._has_content:
            # The limit between content may be over long before the first one's.
            self._has_content = True
            self._timer.cancel()
            self._timer = self._loop.call_at(self._limit(), self._check)

    def elapsed_ms(self) -> int:
        """Milliseconds since the attempt began."""
        return round((self._loop.time() - self._started_at) * 1000)

    def _limit(self) -> float:
        return self._touched_at + (self._idle_s if self._has_content else self._first_s)

    def _check(self) -> None:
        limit = self._limit()
        if self._loop.time() < limit:
            self._timer = self._loop.call_at(limit, self._check)
            return
        self._is_over = True
        assert self._task is not None
        self._task.cancel()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        if not self._is_over or self._task is None:
            return
        # A cancel from elsewhere at the same moment wins.
        is_only_ours = self._task.uncancel() <= self._cancels_before
        if is_only_ours and isinstance(error, asyncio.CancelledError):
            raise ProviderTimeout from error
