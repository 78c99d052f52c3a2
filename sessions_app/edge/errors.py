"""The one mapping from errors to HTTP."""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.db import OperationalError
from django.http import Http404, UnreadablePostError
from rest_framework import exceptions
from rest_framework.response import Response

from sessions_app.domain import ids
from sessions_app.domain.errors import (
    BadRequest,
    LanternError,
    NotAllowed,
    NotFound,
    RequestError,
    StorageFailed,
    TooLarge,
    Unauthorized,
)

logger = logging.getLogger(__name__)

RETRY_AFTER_S = 5


class WrongMethod(BadRequest):
    """The path exists, but not for this method."""

    http_status = 405
    default_message = "This path does not take this method."

    def __init__(self, allowed: str = "") -> None:
        super().__init__()
        self.allowed = allowed


def as_lantern_error(error: BaseException) -> LanternError:
    """Any exception as one of ours; what is not foreseen becomes ``internal``."""
    match error:
        case LanternError():
            return error
        case exceptions.APIException():
            return _api_error(error)
        case RequestDataTooBig():
            return TooLarge()
        case SuspiciousOperation() | UnreadablePostError():
            return BadRequest()
        case Http404():
            return NotFound()
        case PermissionDenied():
            return NotAllowed()
        case OperationalError():
            logger.error("The database failed.", exc_info=error)
            return StorageFailed("The server cannot store anything now.")
        case RecursionError():
            return BadRequest("The request is nested too deeply.")
    request_id = ids.new_id("req")
    logger.error("Request %s failed.", request_id, exc_info=error)
    return LanternError(requestId=request_id)


def _api_error(error: exceptions.APIException) -> LanternError:
    match error:
        case exceptions.NotFound():
            return NotFound()
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return Unauthorized()
        case exceptions.PermissionDenied():
            return NotAllowed()
        case exceptions.ValidationError():
            return _validation_error(error)
        case exceptions.MethodNotAllowed():
            return WrongMethod()
    plain = RequestError(str(error.detail))
    plain.code = "bad_request"  # type: ignore[misc]
    plain.http_status = error.status_code  # type: ignore[misc]
    return plain


def _validation_error(error: exceptions.ValidationError) -> LanternError:
    detail: Any = error.detail
    path: list[str] = []
    while isinstance(detail, dict | list) and detail:
        if isinstance(detail, dict):
            key = next(iter(detail))
            path.append(str(key))
            detail = detail[key]
        else:
            detail = next((item for item in detail if item), "")
    param = ".".join(part for part in path if part != "non_field_errors")
    return BadRequest(str(detail) or None, param=param or None)


def error_body(error: LanternError) -> dict[str, Any]:
    """The JSON of an error; a log line of an unforeseen one has its ``requestId``."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if param := getattr(error, "param", None):
        body["param"] = param
    body["requestId"] = ids.new_id("req")
    details = {k: v for k, v in error.details.items() if k != "retry_after_s"}
    return {"error": {**body, **details}}


def error_headers(error: LanternError) -> dict[str, str]:
    """``Retry-After`` where the caller should come back, and how to authenticate."""
    if error.http_status in (429, 503):
        seconds = error.details.get("retry_after_s", RETRY_AFTER_S)
        return {"Retry-After": str(seconds)}
    if error.http_status == 401:
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, WrongMethod) and error.allowed:
        return {"Allow": error.allowed}
    return {}


def rest_exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception handler."""
    known = as_lantern_error(error)
    return Response(
        error_body(known), status=known.http_status, headers=error_headers(known)
    )
