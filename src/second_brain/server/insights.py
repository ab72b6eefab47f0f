"""The insight of the tool `recall`: by the model of the settings, else by the client's own.

In the revision of 2026-07-28 a server asks for a sample of the client's model in its answer to the
call, and the client calls again with it: nothing is kept here meanwhile, so that it works without
sessions. Earlier revisions ask in the middle of a call, which a server without sessions cannot.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcp.server import ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)

from second_brain.intelligence.service import Intelligence
from second_brain.server.validation import Fields

_TOOL = "recall"
_KEY = "insight"
_FIRST_REVISION = "2026-07-28"
_MOST_IDS = 20
_ANSWER_CHARS = 20_000


class Insights:
    """Adds to the result of a call what the memories in it tell together, where that is wanted."""

    def __init__(self, intelligence: Intelligence) -> None:
        self._intelligence = intelligence

    async def added(
        self,
        result: CallToolResult,
        context: ServerRequestContext[object],
        params: CallToolRequestParams,
    ) -> CallToolResult | InputRequiredResult:
        """The result with an insight, or as it is, or a request for a sample."""
        arguments = Fields(params.arguments or {}, lenient=True)
        found = result.structured_content
        if params.name != _TOOL or result.is_error or not found or not arguments.flag(_KEY):
            return result
        memories: Sequence[Mapping[str, Any]] = found["results"]
        query = arguments.text("query", "q")
        if not memories:
            return result
        said = _sampled(params)
        sampling = not self._intelligence.has_model and _offers(context)
        if sampling and said is None and _KEY not in (params.input_responses or {}):
            return self._request(query, memories)
        given = _ordered(memories, params.request_state) if said is not None else memories
        insight = await self._intelligence.insight_of(query, given, said)
        if insight.text is None:
            return result
        text = TextContent(type="text", text=f"Together: {insight.text}")
        return CallToolResult(
            content=[*result.content, text], structured_content={**found, _KEY: insight.text}
        )

    def _request(self, query: str, memories: Sequence[Mapping[str, Any]]) -> InputRequiredResult:
        question = self._intelligence.insight_question(query, memories)
        message = SamplingMessage(role="user", content=TextContent(type="text", text=question.data))
        sample = CreateMessageRequest(
            params=CreateMessageRequestParams(
                messages=[message],
                system_prompt=question.instructions,
                max_tokens=question.max_tokens,
            )
        )
        # The labels in the sample mean memories in this order, whatever a second search finds.
        ids = [memory["id"] for memory in memories]
        return InputRequiredResult(input_requests={_KEY: sample}, request_state=json.dumps(ids))


def _offers(context: ServerRequestContext[object]) -> bool:
    capabilities = context.session.client_capabilities
    modern = (context.protocol_version or "") >= _FIRST_REVISION
    return modern and capabilities is not None and capabilities.sampling is not None


def _sampled(params: CallToolRequestParams) -> str | None:
    """What the client's model said, if this is the second call."""
    response = (params.input_responses or {}).get(_KEY)
    if not isinstance(response, CreateMessageResult | CreateMessageResultWithTools):
        return None
    blocks = response.content if isinstance(response.content, list) else [response.content]
    texts = [block.text for block in blocks if isinstance(block, TextContent)]
    return "\n".join(texts)[:_ANSWER_CHARS]


def _ordered(
    memories: Sequence[Mapping[str, Any]], state: str | None
) -> Sequence[Mapping[str, Any]]:
    """The memories in the order of the first call; an empty one stands for what is gone.

    The state comes from the client: of it only ids that this call found itself are used.
    """
    try:
        ids = json.loads(state or "")
    except ValueError:
        return memories
    if not isinstance(ids, list):
        return memories
    found = {memory["id"]: memory for memory in memories}
    return [found.get(id) or {} for id in ids[:_MOST_IDS] if isinstance(id, str)]
