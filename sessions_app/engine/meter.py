"""What an attempt used, and the book of a turn's attempts."""

from __future__ import annotations

from collections.abc import Sequence

from sessions_app.domain.budget import BYTES_PER_TOKEN, TOKENS_PER_IMAGE
from sessions_app.domain.errors import ProviderError
from sessions_app.domain.outcome import AttemptRecord, total_usage
from sessions_app.domain.parts import UsagePart
from sessions_app.domain.prompt import CompletionRequest, PromptMessage
from sessions_app.domain.route import Candidate
from sessions_app.domain.usage import Usage, merge_usage, settle
from sessions_app.engine.deadline import Deadline
from sessions_app.engine.spending import Spending


class AttemptMeter:
    """Counts one request to one provider."""

    def __init__(
        self, candidate: Candidate, request: CompletionRequest, round_no: int
    ) -> None:
        self._candidate = candidate
        self._request = request
        self._round_no = round_no
        self._reported = UsagePart()
        self._reply_characters = 0
        self._ttft_ms: int | None = None

    def saw_usage(self, part: UsagePart) -> None:
        """The provider reported counts."""
        self._reported = merge_usage(self._reported, part)

    def saw_text(self, text: str, deadline: Deadline) -> None:
        """Text arrived, shown or hidden."""
        self._reply_characters += len(text)
        if self._ttft_ms is None:
            self._ttft_ms = deadline.elapsed_ms()

    def record(
        self,
        number: int,
        status: str,
        duration_ms: int,
        error: ProviderError | None = None,
        stop_reason: str = "",
    ) -> AttemptRecord:
        """The line for the book; ``status`` is completed, failed or cancelled."""
        usage = Usage(cost_usd=None)
        if status != "failed" or self._has_used_anything():
            usage = settle(
                self._reported,
                prompt_characters=sum(map(_characters, self._request.messages)),
                reply_characters=self._reply_characters,
                is_complete=status == "completed",
                price=self._candidate.price,
            )
        return AttemptRecord(
            number=number,
            round_no=self._round_no,
            provider=self._candidate.provider.name,
            model=self._candidate.model,
            status=status,
            usage=usage,
            duration_ms=duration_ms,
            ttft_ms=self._ttft_ms,
            error_code=error.code if error else "",
            error_status=error.status if error else None,
            diagnosis=error.diagnosis if error else "",
            stop_reason=stop_reason,
            price=self._candidate.price,
        )

    def _has_used_anything(self) -> bool:
        return self._reply_characters > 0 or self._reported != UsagePart()


class Book:
    """The attempts of a turn: all of them, and those not stored yet.

    ``cool_downs`` holds, by provider, until when those of this turn's attempts asked
    to be left alone, on the clock ``time.monotonic``. ``asking`` is who is asked now.
    """

    def __init__(
        self, stored: Sequence[AttemptRecord] = (), spending: Spending | None = None
    ) -> None:
        self.cool_downs: dict[str, float] = {}
        self.asking: Candidate | None = None
        self._spending = spending
        self._records = list(stored)
        self._stored = len(stored)

    @property
    def next_number(self) -> int:
        """The number of the attempt that is booked next."""
        return len(self._records) + 1

    async def open(self, request: CompletionRequest, candidate: Candidate) -> None:
        """Make sure that an attempt can be paid for; raises BudgetExceeded."""
        if self._spending is not None:
            await self._spending.require(request, candidate, self._records)
        self.asking = candidate

    def add(self, record: AttemptRecord) -> None:
        """Book an attempt."""
        self._records.append(record)
        self.asking = None

    @property
    def unstored(self) -> tuple[AttemptRecord, ...]:
        """The attempts that are not known to be stored."""
        return tuple(self._records[self._stored :])

    def stored(self, attempts: Sequence[AttemptRecord]) -> None:
        """These, the first of the unstored, have been committed."""
        self._stored += len(attempts)

    def total(self) -> Usage:
        """The sum over all attempts that used anything."""
        return total_usage(self._records)


def _characters(message: PromptMessage) -> int:
    calls = sum(
        len(call.name) + len(str(call.arguments)) for call in message.tool_calls
    )
    images = TOKENS_PER_IMAGE * BYTES_PER_TOKEN * len(message.images)
    return len(message.content) + calls + images
