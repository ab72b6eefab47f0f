"""MCP over streamable HTTP: one path, POST only, stateless.

Stateless, so that a client whose session a restarted daemon no longer knows just carries on. The
token comes before everything, because clients probe with GET and HEAD whether they need one. The
SDK refuses clients that do not offer both JSON and events; here each gets what it can read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from second_brain.server.auth import Authenticator
from second_brain.server.body import Limits, read_body
from second_brain.server.endpoint import method_not_allowed, unauthorized
from second_brain.server.responses import RequestRefused, error_response

PATHS = ("/mcp", "/mcp/")

_JSON = "application/json"
_EVENTS = "text/event-stream"


class McpEndpoint:
    """ASGI application for the MCP path; `run()` must be entered while it serves."""

    def __init__(
        self, server: Server[object], authenticator: Authenticator, limits: Limits
    ) -> None:
        # Host and Origin are checked for every path by the guard in front.
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._events = StreamableHTTPSessionManager(
            server,
            stateless=True,
            security_settings=unchecked,
            max_request_body_size=limits.body_bytes,
        )
        self._json = StreamableHTTPSessionManager(
            server,
            stateless=True,
            json_response=True,
            security_settings=unchecked,
            max_request_body_size=limits.body_bytes,
        )
        self._authenticator = authenticator
        self._limits = limits

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Keep the SDK's session managers running."""
        async with self._events.run(), self._json.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            principal = await self._authenticator.identify(request)
        except RequestRefused as error:
            await error_response(error)(scope, receive, send)
            return
        if principal is None:
            refusal = unauthorized(self._authenticator.challenge(request))
            await refusal(scope, receive, send)
            return
        if request.method != "POST":
            await method_not_allowed({"POST": None})(scope, receive, send)
            return
        try:
            body = await read_body(request, self._limits)
        except RequestRefused as error:
            await error_response(error)(scope, receive, send)
            return
        except ClientDisconnect:
            return
        reads_events = _EVENTS in request.headers.get("accept", "").lower()
        manager = self._events if reads_events else self._json
        headers = [(name, value) for name, value in scope["headers"] if name != b"accept"]
        inner = {**scope, "headers": headers, "principal": principal}
        MutableHeaders(scope=inner)["accept"] = f"{_JSON}, {_EVENTS}" if reads_events else _JSON
        await manager.handle_request(inner, _replay(body, receive), send)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body that was read, then whatever the client does next."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay
