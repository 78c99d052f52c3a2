"""Everything that can go wrong, as one tree.

LanternError                code, http_status, message (safe to show anybody)
├── RequestError            the caller's doing, or the server's refusal
│   ├── BadRequest          400 bad_request
│   │   ├── UnknownField    400 unknown_field
│   │   └── BadCursor       400 bad_cursor
│   ├── Unauthorized        401 unauthorized
│   ├── BudgetExceeded      402 budget_exceeded (budget, limit, spent, renewsAt)
│   ├── ForbiddenOrigin     403 forbidden_origin
│   ├── IdentityRequired    403 identity_required
│   ├── NotAllowed          403 not_allowed
│   ├── NotFound            404 not_found
│   ├── SessionBusy         409 session_busy (turnId)
│   ├── SessionClosed       409 session_closed
│   ├── IdempotencyMismatch 422 idempotency_mismatch
│   ├── TooLarge            413 payload_too_large
│   ├── ProofRequired       428 proof_required (challenge, difficulty)
│   ├── QueueFull           429 queue_full (retry_after_s)
│   └── RateLimited         429 rate_limited (retry_after_s)
├── ProviderError           one attempt failed; ``retryable`` decides on failover
│   ├── ProviderAuth        the provider refused Lantern's own key
│   ├── ProviderUnreachable no connection, or it broke
│   ├── ProviderTimeout     a deadline of the attempt passed
│   ├── ProviderRateLimited 429
│   ├── ProviderOverloaded  503, 529, overloaded_error
│   ├── ProviderRefused     the request itself is wrong (400): no failover
│   ├── ProviderFailed      any other error the provider reports
│   ├── BadResponse         an answer that cannot be read
│   └── StreamTruncated     the stream ended without its end
├── MailFailed              502 mail_failed: the mail server did not take it
└── TurnError               the turn failed for a reason of Lantern's own
    ├── WorkerLost          the process that ran the turn is gone
    ├── ToolDeadline        nobody sent the results that the turn waited for
    ├── WorkerShutdown      the process is being stopped
    └── StorageFailed       the end could not be stored
"""

from __future__ import annotations

from typing import Any, ClassVar


class LanternError(Exception):
    """Base of the tree: a stable code and a sentence that is safe to show."""

    code: ClassVar[str] = "internal"
    http_status: ClassVar[int] = 500
    default_message: ClassVar[str] = "Something went wrong on our side."

    def __init__(self, message: str | None = None, **details: Any) -> None:
        self.message = message or self.default_message
        self.details = details
        super().__init__(self.message)


class RequestError(LanternError):
    """A request that is refused; ``param`` names the field, where one is to blame."""

    def __init__(
        self, message: str | None = None, *, param: str | None = None, **details: Any
    ) -> None:
        super().__init__(message, **details)
        self.param = param


class BadRequest(RequestError):
    code = "bad_request"
    http_status = 400
    default_message = "The request is not valid."


class UnknownField(BadRequest):
    code = "unknown_field"
    default_message = "The request has a field that is not known."


class BadCursor(BadRequest):
    code = "bad_cursor"
    default_message = "This cursor never existed in this session."


class Unauthorized(RequestError):
    code = "unauthorized"
    http_status = 401
    default_message = "A valid credential is required."


class BudgetExceeded(RequestError):
    code = "budget_exceeded"
    http_status = 402
    default_message = "The budget for this is used up."


class ForbiddenOrigin(RequestError):
    code = "forbidden_origin"
    http_status = 403
    default_message = (
        "This origin is not on the list of the embed; add it in the dashboard."
    )


class IdentityRequired(RequestError):
    code = "identity_required"
    http_status = 403
    default_message = "This chat is for users who are signed in."


class NotAllowed(RequestError):
    code = "not_allowed"
    http_status = 403
    default_message = "This credential may not do that."


class NotFound(RequestError):
    code = "not_found"
    http_status = 404
    default_message = "Not found."


class SessionBusy(RequestError):
    code = "session_busy"
    http_status = 409
    default_message = "A turn is running in this session."


class SessionClosed(RequestError):
    code = "session_closed"
    http_status = 409
    default_message = "This session is closed."


class IdempotencyMismatch(RequestError):
    code = "idempotency_mismatch"
    http_status = 422
    default_message = "This Idempotency-Key was used with another body."


class TooLarge(RequestError):
    code = "payload_too_large"
    http_status = 413
    default_message = "The request is too large."


class ProofRequired(RequestError):
    code = "proof_required"
    http_status = 428
    default_message = "Solve the challenge and ask again with the solution."


class QueueFull(RequestError):
    code = "queue_full"
    http_status = 429
    default_message = "Too many messages wait in this session."


class RateLimited(RequestError):
    code = "rate_limited"
    http_status = 429
    default_message = "Too many requests; try again later."


class ProviderError(LanternError):
    """One attempt at one provider failed.

    ``retryable`` says whether the next candidate may be asked; ``status`` is the
    provider's HTTP status or numeric error code, kept for the attempt's record;
    ``diagnosis`` is for the log and the operator, never for clients.
    ``retry_after_s`` is how long the provider asks to be left alone, and
    ``needs_operator`` says that it stays broken until somebody mends the account.
    """

    code = "provider_error"
    http_status = 502
    default_message = "The model provider reported an error."
    retryable: ClassVar[bool] = True
    needs_operator: ClassVar[bool] = False

    def __init__(
        self,
        message: str | None = None,
        *,
        status: int | None = None,
        diagnosis: str = "",
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.diagnosis = diagnosis[:500]
        self.retry_after_s = retry_after_s


class ProviderAuth(ProviderError):
    code = "provider_auth"
    default_message = "The model provider did not accept the server's credentials."
    needs_operator = True


class ProviderUnreachable(ProviderError):
    code = "provider_unreachable"
    default_message = "The model provider could not be reached."


class ProviderTimeout(ProviderError):
    code = "provider_timeout"
    http_status = 504
    default_message = "The model provider took too long."


class ProviderRateLimited(ProviderError):
    code = "provider_rate_limited"
    http_status = 503
    default_message = "The model provider is limiting requests."


class ProviderOverloaded(ProviderError):
    code = "provider_overloaded"
    http_status = 503
    default_message = "The model provider is overloaded."


class ProviderRefused(ProviderError):
    code = "provider_refused"
    http_status = 400
    default_message = "The model provider refused the request."
    retryable = False


class ProviderFailed(ProviderError):
    """Any other error that the provider reports."""


class BadResponse(ProviderError):
    code = "provider_bad_response"
    default_message = "The model provider sent an answer that cannot be read."


class StreamTruncated(ProviderError):
    code = "stream_truncated"
    default_message = "The model provider's answer ended too early."


class MailFailed(LanternError):
    code = "mail_failed"
    http_status = 502
    default_message = "The e-mail could not be sent. Please try again later."


class TurnError(LanternError):
    """The turn failed for a reason of the server's own."""


class WorkerLost(TurnError):
    code = "worker_lost"
    http_status = 503
    default_message = "The server was interrupted while it answered."


class ToolDeadline(TurnError):
    code = "tool_deadline"
    http_status = 504
    default_message = "Nobody sent the results that this answer waited for."


class WorkerShutdown(TurnError):
    code = "worker_shutdown"
    http_status = 503
    default_message = "The server is being restarted."


class StorageFailed(TurnError):
    code = "storage"
    http_status = 503
    default_message = "The reply could not be stored."
