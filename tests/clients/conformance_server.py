"""Our server with the conformance suite's fixture: `python conformance_server.py PORT`.

The application is the product's own, with its guard, its token and both of its transports. The
suite cannot send a token, so one is put into each request before the application sees it; and
what it asks of the fixture by name is answered by the fixture.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from conformance_fixture import fixture
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.types import (
    CallToolRequestParams,
    CompleteRequestParams,
    EmptyResult,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    SetLevelRequestParams,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)
from server_fakes import TOKEN, FakeMemories
from starlette.types import ASGIApp, Receive, Scope, Send

from second_brain.intelligence.service import Intelligence
from second_brain.memory.api import Memories
from second_brain.server import app as product
from second_brain.server.mcp import MemoryServer
from second_brain.server.serve import HttpServer, bind

Handler = Callable[[Any, Any], Awaitable[Any]]

LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resource_templates",
}
CALLS = {
    "completion/complete": CompleteRequestParams,
    "tools/call": CallToolRequestParams,
    "prompts/get": GetPromptRequestParams,
    "resources/read": ReadResourceRequestParams,
}


class WithFixture(MemoryServer):
    """Lists what both offer; answers by the fixture what is the fixture's."""

    def __init__(self, memories: Memories, intelligence: Intelligence | None = None) -> None:
        super().__init__(memories, intelligence)
        other = fixture(self.bus)
        lowlevel = other._lowlevel_server
        own, added = self.server.get_request_handler, lowlevel.get_request_handler
        for method, field in LISTS.items():
            both = _both(_handler(own(method)), _handler(added(method)), field)
            self.server.add_request_handler(method, PaginatedRequestParams, both)
        for method, params in CALLS.items():
            either = _either(_handler(own(method)), _handler(added(method)))
            self.server.add_request_handler(method, params, either)
        # Of use with sessions only; ours has none and does not offer them.
        for method, params in (
            ("logging/setLevel", SetLevelRequestParams),
            ("resources/subscribe", SubscribeRequestParams),
            ("resources/unsubscribe", UnsubscribeRequestParams),
        ):
            self.server.add_request_handler(method, params, _nothing)
        schema = self.server.get_tool_input_schema
        self.server.get_tool_input_schema = lambda name: (
            (schema and schema(name)) or other._tool_input_schema(name)
        )
        boundary = RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="x")
        self.server.middleware.append(boundary)


def _handler(entry: Any) -> Handler:
    assert entry is not None
    handler: Handler = entry.handler
    return handler


def _both(first: Handler, second: Handler, field: str) -> Handler:
    async def both(context: Any, params: Any) -> Any:
        ours, theirs = await first(context, params), await second(context, params)
        return ours.model_copy(update={field: [*getattr(ours, field), *getattr(theirs, field)]})

    return both


def _either(ours: Handler, theirs: Handler) -> Handler:
    async def either(context: Any, params: Any) -> Any:
        named = getattr(params, "ref", params)
        name = getattr(named, "name", None) or named.uri
        fixed = name.startswith(("test_", "test://", "json_schema_"))
        return await (theirs if fixed else ours)(context, params)

    return either


async def _nothing(context: Any, params: Any) -> EmptyResult:
    return EmptyResult()


class WithToken:
    """Adds the token to each request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            header = (b"authorization", f"Bearer {TOKEN}".encode())
            scope = {**scope, "headers": [*scope["headers"], header]}
        await self._app(scope, receive, send)


def main(port: int) -> None:
    memories = FakeMemories()
    memories.add("The boat is on pontoon C", tags=["boat"])
    product.MemoryServer = WithFixture  # type: ignore[misc]
    app = product.create_app(memories, token=TOKEN)
    app.add_middleware(WithToken)
    asyncio.run(HttpServer(app).serve(sockets=[bind("127.0.0.1", port)]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
