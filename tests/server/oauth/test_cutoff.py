"""Streams end with the login of whoever opened them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from oauth_world import World
from server_fakes import TOKEN
from server_running import Running, running


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    return make_world(served=True)


@pytest.fixture
def live(world: World) -> Iterator[Running]:
    with running(world.app) as server:
        world.serve_at(server.url)
        yield server


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def end_soon(world: World, client_id: str) -> threading.Timer:
    timer = threading.Timer(0.3, lambda: world.state.logins.end_all(client_id))
    timer.start()
    return timer


def test_a_stream_of_changes_ends_with_its_login(
    world: World, live: Running, caplog: pytest.LogCaptureFixture
) -> None:
    tokens, others = world.login(), world.login()
    with (
        httpx2.Client(base_url=live.url, timeout=30, trust_env=False) as http,
        http.stream("GET", "/events", headers=bearer(tokens["access_token"])) as mine,
        http.stream("GET", "/events", headers=bearer(others["access_token"])) as another,
        http.stream("GET", "/events", headers=bearer(TOKEN)) as owners,
    ):
        assert {mine.status_code, another.status_code, owners.status_code} == {200}
        end_soon(world, tokens["client_id"])
        assert ": connected" in "".join(mine.iter_text())  # to its end, and properly ended
        # The others go on until the server stops.
        live.stop()
        for stream in (another, owners):
            assert ": connected" in "".join(stream.iter_text())
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


def test_an_mcp_client_that_listens_is_cut_off(
    world: World, live: Running, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = world.login()

    async def play() -> None:
        async with (
            httpx2.AsyncClient(headers=bearer(tokens["access_token"]), trust_env=False) as http,
            Client(streamable_http_client(f"{live.url}/mcp", http_client=http)) as client,
            client.listen(tools_list_changed=True) as subscription,
        ):
            end_soon(world, tokens["client_id"])
            async with asyncio.timeout(30):
                with pytest.raises((SubscriptionLost, StopAsyncIteration)):
                    await anext(aiter(subscription))

    asyncio.run(play())
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


def test_ordinary_requests_are_not_disturbed(world: World, live: Running) -> None:
    headers = bearer(world.login()["access_token"])
    big = {"content": "x" * 500_000}
    assert world.http.post("/capture", json=big, headers=headers).status_code == 200
    assert world.http.get("/list", headers=headers).status_code == 200
    assert world.http.get("/list", headers=bearer("sba_no")).status_code == 401
