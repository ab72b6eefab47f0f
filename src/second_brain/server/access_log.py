"""One log line a request: method, path, status, time. Never a query string, a header or a body."""

from __future__ import annotations

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = logging.getLogger("second_brain.access")


class AccessLog:
    """ASGI middleware around everything else, so that refusals are logged too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 0
        started = time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            # ascii() keeps a path with line breaks from forging log lines.
            path = ascii(scope["path"])[1:-1]
            elapsed = (time.perf_counter() - started) * 1000
            _log.info("%s %s %s %.1f ms", scope["method"], path, status or "-", elapsed)
