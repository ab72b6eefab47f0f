"""Ends what somebody has open when the token ends: a login's, an access token, or a rotated one.

A stream of changes may stay open for days. The token was looked at when it began; so that shutting
an application out shuts it out at once, it is looked at again now and then.
"""

from __future__ import annotations

import asyncio

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from second_brain.server.auth import TokenVerifier, bearer_token

_PAUSE_SECONDS = 2.0


class CutOff:
    """ASGI middleware. To the application behind it, the client seems to have gone."""

    def __init__(self, app: ASGIApp, *, verifier: TokenVerifier) -> None:
        self._app = app
        self._verifier = verifier

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = bearer_token(scope) if scope["type"] == "http" else None
        if token is None:
            await self._app(scope, receive, send)
            return
        open_request = _Open(self._verifier, token, scope, receive, send)
        await self._app(scope, open_request.receive, open_request.send)
        await open_request.finish()


class _Open:
    """One request; it was let in, or is refused by what is behind."""

    def __init__(
        self, verifier: TokenVerifier, token: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._verifier = verifier
        self._token = token
        self._connection = HTTPConnection(scope)
        self._receive = receive
        self._send = send
        self._unfinished = False

    async def receive(self) -> Message:
        message = asyncio.ensure_future(self._receive())
        try:
            while True:
                done, _ = await asyncio.wait({message}, timeout=_PAUSE_SECONDS)
                if done:
                    return message.result()
                if await self._verifier.verify(self._token, self._connection) is None:
                    return {"type": "http.disconnect"}
        finally:
            message.cancel()

    async def send(self, message: Message) -> None:
        await self._send(message)
        self._unfinished = message["type"] == "http.response.start" or message.get(
            "more_body", False
        )

    async def finish(self) -> None:
        """Close a response in whose middle the application was told that nobody listens."""
        if self._unfinished:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
