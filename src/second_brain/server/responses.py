"""JSON answers, and the one place where an error of ours becomes a status code."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response

from second_brain.errors import (
    EditRefused,
    IndexUnavailable,
    InvalidInput,
    ModelUnavailable,
    NoteChanged,
    NoteNotFound,
    ReadFailed,
    ReviewNotFound,
    SecondBrainError,
    Stopping,
    VaultOffline,
    WriteFailed,
    WriteNotFound,
)

_STATUS: tuple[tuple[type[SecondBrainError], int], ...] = (
    (InvalidInput, 400),
    (NoteNotFound, 404),
    (WriteNotFound, 404),
    (ReviewNotFound, 404),
    (EditRefused, 409),
    (NoteChanged, 409),
    (VaultOffline, 503),
    (Stopping, 503),
    (IndexUnavailable, 503),
    (ReadFailed, 503),
    (ModelUnavailable, 503),
    (WriteFailed, 507),
)


class RequestRefused(SecondBrainError):
    """The request is at fault before any field is read: body too large, too slow, not JSON.

    Also one too many; `again` is the number of seconds after which it may be tried again.
    """

    def __init__(self, status: int, message: str, *, again: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.again = again


def json_response(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with `value` as JSON.

    A file name that is not UTF-8 reaches us with lone surrogates; it is shown with `?` there
    rather than failing the whole answer.
    """
    try:
        body = to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        body = text.encode("utf-8", errors="replace")
    return Response(
        body,
        status_code=status,
        headers={
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            **(headers or {}),
        },
        media_type="application/json",
    )


def failure(
    status: int,
    error: str,
    headers: Mapping[str, str] | None = None,
    **details: object,
) -> Response:
    """Answer `{"ok": false, "error": error, …}`."""
    return json_response({"ok": False, "error": error, **details}, status, headers)


def error_response(error: SecondBrainError) -> Response:
    """Answer with the status and the fields that this kind of error has."""
    if isinstance(error, RequestRefused):
        headers = {"Retry-After": str(error.again)} if error.again is not None else None
        return failure(error.status, str(error), headers)
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    if isinstance(error, InvalidInput):
        return failure(status, describe(error), field=error.field)
    if isinstance(error, EditRefused | NoteChanged | WriteFailed):
        return failure(status, str(error), path=error.path)
    if status == 503:
        return failure(status, str(error), {"Retry-After": "5"})
    return failure(status, str(error))


def describe(error: InvalidInput) -> str:
    """Return the error's sentence, with the field named in it."""
    message = str(error)
    return message if error.field in message else f"{error.field}: {message}"
