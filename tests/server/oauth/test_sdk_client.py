"""The SDK's own client logs in over real HTTP, at both eras of the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Literal

import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from oauth_world import World
from sdk_login import Memory, Person, Tunnel, provider
from server_fakes import TOKEN
from server_running import Running, running

Mode = Literal["legacy", "2026-07-28"]


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    return make_world(served=True)


@pytest.fixture
def live(world: World) -> Iterator[Running]:
    with running(world.app) as server:
        yield server


async def tools(
    url: str,
    auth: OAuthClientProvider,
    mode: Mode,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> tuple[str, int]:
    async with (
        httpx2.AsyncClient(auth=auth, transport=transport, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        found = await client.list_tools()
        return client.protocol_version, len(found.tools)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize(("mode", "revision"), [("legacy", "2025-"), ("2026-07-28", "2026-07-28")])
def test_it_logs_in_once_and_renews_by_itself(
    world: World, live: Running, mode: Mode, revision: str, host: str
) -> None:
    url = f"http://{host}:{live.port}/mcp"
    memory, person = Memory(), Person(TOKEN)

    async def play() -> None:
        auth = provider(url, memory, person)
        version, count = await tools(url, auth, mode)
        assert version.startswith(revision)
        assert count >= 12
        assert len(person.opened) == 1
        first = memory.tokens
        assert first is not None

        world.clock.move(days=1.1)
        auth.context.token_expiry_time = 1.0
        await tools(url, auth, mode)
        assert len(person.opened) == 1
        assert memory.tokens is not None
        assert memory.tokens.refresh_token != first.refresh_token

        # The owner ends it: the client asks again, by the same id.
        (use,) = world.state.logins.clients(world.clock.now)
        world.state.logins.end_all(use.client.id)
        await tools(url, auth, mode)
        assert len(person.opened) == 2
        assert len(world.state.logins.clients(world.clock.now)) == 1

    asyncio.run(play())


def test_by_the_public_address(make_world: Callable[..., World]) -> None:
    world = make_world(public_url="https://brain.example", hosts=("brain.example",), served=True)
    url = "https://brain.example/mcp"

    async def play(port: int) -> None:
        person = Person(TOKEN, Tunnel(port))
        auth = provider(url, Memory(), person)
        _, count = await tools(url, auth, "2026-07-28", Tunnel(port))
        assert count >= 12
        assert person.opened[0].startswith("https://brain.example/authorize?")

    with running(world.app) as server:
        asyncio.run(play(server.port))
