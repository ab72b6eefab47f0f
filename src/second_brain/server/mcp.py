"""The MCP server: the tools of `tool_list`, run by `tool_calls`, for any transport.

The SDK's low-level server is used on purpose: it leaves schemas, leniency and error texts to us,
and its session managers are public.
"""

from __future__ import annotations

from mcp.server import Server, ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from starlette.requests import Request

from second_brain import __version__
from second_brain.memory.api import Memories
from second_brain.server.auth import Principal
from second_brain.server.callers import client_name
from second_brain.server.tool_calls import ToolCalls
from second_brain.server.tool_list import INSTRUCTIONS, TOOLS

_Context = ServerRequestContext[object]


class MemoryServer:
    """The protocol server and the subscription streams that it keeps open."""

    def __init__(self, memories: Memories) -> None:
        self._calls = ToolCalls(memories)
        self._listening = ListenHandler(InMemorySubscriptionBus())
        self.server: Server[object] = Server(
            "second-brain",
            title="Second Brain",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=self._listening,
            get_tool_input_schema=_input_schema,
        )

    def stop_streaming(self) -> None:
        """End the open subscription streams, so that a shutdown need not wait for their clients."""
        self._listening.close()

    async def _list_tools(
        self, context: _Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=list(TOOLS))

    async def _call_tool(self, context: _Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in self._calls:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
        return await self._calls.call(params.name, params.arguments or {}, _client(context))


def _input_schema(name: str) -> dict[str, object] | None:
    return next((tool.input_schema for tool in TOOLS if tool.name == name), None)


def _client(context: _Context) -> str:
    """Name the client: the owner of its token, its own words, or its User-Agent.

    A handshake client over stateless HTTP names itself only in `initialize`, which no later
    request is tied to: there the User-Agent is all there is.
    """
    request = context.request
    if isinstance(request, Request):
        principal = request.scope.get("principal")
        if isinstance(principal, Principal) and principal.client:
            return principal.client
    params = context.session.client_params
    if params is not None:
        return params.client_info.name[:80]
    if isinstance(request, Request):
        return client_name(request.headers.get("user-agent", ""))
    return "unknown"
