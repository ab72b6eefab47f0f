"""The MCP server: tools, resources, prompts and completions, for any transport.

The SDK's low-level server is used on purpose: it leaves schemas, leniency and error texts to us,
and its session managers are public.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)
from starlette.requests import Request

from second_brain import __version__
from second_brain.intelligence.service import Intelligence
from second_brain.memory.api import Memories
from second_brain.server.auth import Principal
from second_brain.server.callers import client_name
from second_brain.server.insights import Insights
from second_brain.server.mcp_completions import Completions
from second_brain.server.mcp_prompts import PROMPTS, Prompts
from second_brain.server.mcp_resources import Resources
from second_brain.server.tool_calls import ToolCalls
from second_brain.server.tool_list import INSTRUCTIONS, TOOLS

_Context = ServerRequestContext[object]

# These change with a new version of the program only, the rest with every note.
_FIXED = CacheHint(ttl_ms=600_000, scope="public")


def _local_now() -> datetime:
    return datetime.now().astimezone()


class MemoryServer:
    """The protocol server and the subscription streams that it keeps open."""

    def __init__(
        self,
        memories: Memories,
        intelligence: Intelligence | None = None,
        *,
        now: Callable[[], datetime] = _local_now,
    ) -> None:
        self._calls = ToolCalls(memories)
        self._insights = Insights(intelligence or Intelligence(memories))
        self._resources = Resources(memories)
        self._prompts = Prompts(memories, now)
        self._completions = Completions(memories)
        self.bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self.bus)
        self.server: Server[object] = Server(
            "second-brain",
            title="Second Brain",
            version=__version__,
            instructions=INSTRUCTIONS,
            cache_hints={
                "tools/list": _FIXED,
                "prompts/list": _FIXED,
                "resources/templates/list": _FIXED,
            },
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
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

    async def _call_tool(
        self, context: _Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        if params.name not in self._calls:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
        result = await self._calls.call(params.name, params.arguments or {}, _client(context))
        return await self._insights.added(result, context, params)

    async def _list_resources(
        self, context: _Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return await self._resources.page(params.cursor if params else None)

    async def _list_templates(
        self, context: _Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return self._resources.templates()

    async def _read_resource(
        self, context: _Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        return await self._resources.read(params.uri, context.protocol_version)

    async def _list_prompts(
        self, context: _Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        return ListPromptsResult(prompts=list(PROMPTS))

    async def _get_prompt(
        self, context: _Context, params: GetPromptRequestParams
    ) -> GetPromptResult:
        return await self._prompts.get(params.name, params.arguments or {})

    async def _complete(self, context: _Context, params: CompleteRequestParams) -> CompleteResult:
        return CompleteResult(completion=await self._completions.complete(params))


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
