"""One log line a request: method, path, status, time. Never a query string, a header or a body.

At debug level for what only reads and succeeds, at info level for the rest. The same is counted for
the metrics.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Observe = Callable[[str, str, int, float], None]
"""Told of each answer: method, path, status, seconds until it began."""

_log = logging.getLogger("second_brain.access")


class AccessLog:
    """ASGI middleware around everything else, so that refusals are logged too."""

    def __init__(self, app: ASGIApp, *, observe: Observe) -> None:
        self._app = app
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, begun = 0, 0.0
        started = time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                status, begun = message["status"], time.perf_counter() - started
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            # ascii() keeps a path with line breaks from forging log lines.
            if status:
                self._observe(scope["method"], scope["path"], status, begun)
            level = _level(scope["method"], status)
            if _log.isEnabledFor(level):
                path = ascii(scope["path"])[1:-1]
                elapsed = (time.perf_counter() - started) * 1000
                _log.log(level, "%s %s %s %.1f ms", scope["method"], path, status or "-", elapsed)


def _level(method: str, status: int) -> int:
    """What was read without a failure is no news; a dashboard or a plugin does it all day."""
    read = method in ("GET", "HEAD", "OPTIONS") and 200 <= status < 400
    return logging.DEBUG if read else logging.INFO
