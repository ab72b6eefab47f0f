"""CORS: clients live at foreign origins (Obsidian, browser extensions, the bookmarklet's pages).

`*` is safe here because nothing is ever authorised by a cookie: without the bearer token a page
gets a 401, and credentials are never allowed. Reading the answer is all that `*` grants.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from second_brain.server.guard import Sites

_METHODS = "GET, POST, OPTIONS"
_HEADERS = "Content-Type, Authorization, Accept"
_NO_PAGE = "default-src 'none'; frame-ancestors 'none'"
_EXPOSED = "WWW-Authenticate, Mcp-Session-Id"


class Cors:
    """ASGI middleware: answers OPTIONS on any path and marks every other answer as readable."""

    def __init__(self, app: ASGIApp, *, sites: Sites) -> None:
        self._app = app
        self._sites = sites

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "OPTIONS":
            await self._preflight(Headers(scope=scope))(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Access-Control-Allow-Origin"] = "*"
                headers["Access-Control-Expose-Headers"] = _EXPOSED
                # What a memory holds is never a page, however a browser is led to it.
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Content-Security-Policy", _NO_PAGE)
                headers.setdefault("Referrer-Policy", "no-referrer")
            await send(message)

        await self._app(scope, receive, marked)

    def _preflight(self, headers: Headers) -> Response:
        answer = {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": _HEADERS,
            "Access-Control-Max-Age": "600",
        }
        asked = headers.get("access-control-request-headers")
        if asked and self._sites.knows_origin(headers.get("origin", ""), headers.get("host", "")):
            # An MCP client in a browser sends protocol headers whose list grows with the protocol.
            answer["Access-Control-Allow-Headers"] = f"{_HEADERS}, {asked}"
        if headers.get("access-control-request-private-network") == "true":
            # A page of the public web asks before it calls a server on the loopback interface.
            answer["Access-Control-Allow-Private-Network"] = "true"
        return Response(status_code=204, headers=answer)
