"""Reads request bodies within limits of size and time."""

from __future__ import annotations

import asyncio
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
    """Read until the limit. uvicorn throws the rest away, so that the client reads the answer."""
    too_large = RequestRefused(413, f"The body is over the limit of {limit} bytes")
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:19]) > limit:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise too_large
    return bytes(body)
