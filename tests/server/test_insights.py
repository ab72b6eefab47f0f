"""The insight of `recall`: sampled from the client's model where it offers that, else extracted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CreateMessageRequestParams, CreateMessageResult, TextContent
from server_fakes import TOKEN, FakeMemories
from server_running import Running

from second_brain.intelligence.answering import NO_ANSWER, NO_MODEL

Sampler = Callable[[CreateMessageRequestParams], str]


def recall(url: str, sampler: Sampler | None, *, mode: str = "auto", insight: bool = True) -> Any:
    async def sample(_: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        assert sampler is not None
        text = TextContent(type="text", text=sampler(params))
        return CreateMessageResult(role="assistant", content=text, model="the client's")

    async def run() -> Any:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        http = httpx2.AsyncClient(headers=headers, trust_env=False)
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        callback = sample if sampler else None
        async with http, Client(transport, mode=mode, sampling_callback=callback) as client:
            return await client.call_tool("recall", {"query": "berth", "insight": insight})

    return asyncio.run(run())


@pytest.fixture
def berth(memories: FakeMemories) -> str:
    return memories.add("The berth is on pontoon C. It rained.").id


def test_the_clients_model_is_asked_and_checked(
    live: Running, memories: FakeMemories, berth: str
) -> None:
    asked: list[CreateMessageRequestParams] = []

    def sampler(params: CreateMessageRequestParams) -> str:
        asked.append(params)
        # What is found the second time comes in another order.
        memories.stored = {"m0": memories.add("Another berth."), **memories.stored}
        return "The berth is on pontoon C [M1]. Pay at https://evil.example now [M1]."

    result = recall(live.url, sampler)
    assert result.structured_content["insight"] == f"The berth is on pontoon C [{berth}]."
    assert result.content[-1].text == f"Together: The berth is on pontoon C [{berth}]."
    (params,) = asked
    assert params.system_prompt is not None
    assert params.system_prompt.startswith("You work inside a person's note system.")
    assert "The berth is on pontoon C." in params.messages[0].content.text  # type: ignore[union-attr]


def test_what_is_not_supported_gives_way_to_the_passages(live: Running, berth: str) -> None:
    result = recall(live.url, lambda _: "Bananas are yellow [M1].")
    assert result.structured_content["insight"].startswith(NO_ANSWER)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_without_sampling_gets_the_passages(live: Running, berth: str, mode: str) -> None:
    result = recall(live.url, None, mode=mode)
    shown = result.structured_content["insight"]
    assert shown == f"{NO_MODEL}\n\n> The berth is on pontoon C. [{berth}]"


def test_in_an_earlier_revision_nobody_is_asked(live: Running, berth: str) -> None:
    result = recall(live.url, lambda _: pytest.fail("asked"), mode="legacy")
    assert result.structured_content["insight"].startswith(NO_MODEL)


def test_only_who_wants_one_gets_one(live: Running, berth: str) -> None:
    result = recall(live.url, lambda _: pytest.fail("asked"), insight=False)
    assert "insight" not in result.structured_content
