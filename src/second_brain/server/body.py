"""Reads request bodies within limits of size and time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.requests import Request

from second_brain.server.responses import RequestRefused


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may cost: bytes of a body, and seconds that a client may take to send it."""

    body_bytes: int = 4 * 1024 * 1024
    body_seconds: float = 30.0


async def read_body(request: Request, limits: Limits) -> bytes:
    """Return the whole body.

    Raises:
        RequestRefused: 413 for a body over the limit, 408 for one that does not arrive in time.
    """
    try:
        async with asyncio.timeout(limits.body_seconds):
            return await _read(request, limits.body_bytes)
    except TimeoutError:
        raise RequestRefused(408, "The body did not arrive in time") from None


async def _read(request: Request, limit: int) -> bytes:
    too_large = RequestRefused(413, f"The body is over the limit of {limit} bytes")
    declared = request.headers.get("content-length", "")
    chunks = request.stream()
    if declared.isascii() and declared.isdigit() and int(declared[:19]) > limit:
        await _drain(chunks, limit)
        raise too_large
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > limit:
            await _drain(chunks, limit)
            raise too_large
    return bytes(body)


async def _drain(chunks: AsyncIterator[bytes], limit: int) -> None:
    """Read on and throw away, up to 16 times the limit.

    Most clients look for an answer only after they have sent everything: closing the connection
    on them would show as a broken pipe instead of the 413.
    """
    rest = 16 * limit
    async for chunk in chunks:
        rest -= len(chunk)
        if rest < 0:
            return
