"""The MCP tools of a real daemon: over HTTP in both eras, and over stdio through `brain mcp`."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from harness import (
    TOKEN,
    DaemonProcess,
    MakeDaemon,
    clean_environment,
    copy_examples,
    eventually,
)
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp.types import Implementation

ERAS = ["auto", "legacy"]
INFO = Implementation(name="an agent", version="1")

Connect = Callable[[], AbstractAsyncContextManager[Client]]


def over_http(daemon: DaemonProcess, mode: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        # Without a session, a client of the older era is known by its User-Agent alone.
        headers = {"Authorization": f"Bearer {TOKEN}", "User-Agent": "an agent/1"}
        http = httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60)
        transport = streamable_http_client(f"{daemon.url}/mcp", http_client=http)
        async with http, Client(transport, mode=mode, client_info=INFO) as client:
            yield client

    return connect


def over_stdio(daemon: DaemonProcess, mode: str) -> Connect:
    """`brain mcp` as a client's configuration starts it."""
    flags = ["--vault", str(daemon.vault), "--data-dir", str(daemon.data)]
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "second_brain", "mcp", *flags], env=daemon.env
    )

    @asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        async with Client(command, mode=mode, client_info=INFO) as client:
            yield client

    return connect


async def call(client: Client, name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """The text for the model and the structured answer."""
    result = await client.call_tool(name, arguments)
    text = "\n".join(block.text for block in result.content)  # type: ignore[union-attr]
    assert not result.is_error, text
    assert result.structured_content is not None
    return text, result.structured_content


async def work_with_a_memory(client: Client, vault: Path, subject: str) -> None:
    """What an agent does in a session, each step checked in the vault."""
    text = f"The {subject} is kept in the blue locker.\n\n- colour `#1a1a2e`\n"
    said, stored = await call(client, "remember", content=text, tags=["stowage"])
    id, file = stored["id"], vault / stored["path"]
    assert id in said
    note = file.read_text()
    assert note.endswith(f"\n---\n{text}")
    assert "second-brain-source: claude" in note
    assert "- brain\n" in note
    assert "- stowage\n" in note

    said, found = await call(client, "recall", query=f"where is the {subject}?", topK=3)
    assert found["results"][0]["id"] == id
    assert id in said
    assert "blue locker" in said

    await call(client, "append", id=id, addition="It was moved to the bilge.")
    assert file.read_text().startswith(note)
    assert "moved to the bilge" in file.read_text()

    _, whole = await call(client, "get", id=id)
    assert "blue locker" in whole["content"]
    assert "bilge" in whole["content"]

    await call(client, "update", id=id, content=f"The {subject} was sold.")
    assert file.read_text().endswith(f"\n---\nThe {subject} was sold.")

    _, listed = await call(client, "list_recent", n=1)
    assert [memory["id"] for memory in listed["memories"]] == [id]

    _, other = await call(client, "remember", content=f"Who bought the {subject}: Yann of Roscoff.")
    await call(client, "link", source_id=other["id"], target_id=id, type="follows")
    assert "follows:" in (vault / other["path"]).read_text()
    _, around = await call(client, "connections", id=id, type="follows")
    assert [edge["id"] for edge in around["connections"]] == [other["id"]]
    _, gone = await call(client, "unlink", source_id=other["id"], target_id=id, type="follows")
    assert gone["deleted"] == 1
    assert "follows:" not in (vault / other["path"]).read_text()

    await call(client, "set_status", id=id, status="canonical")
    assert "second-brain-status: canonical" in file.read_text()

    _, history = await call(client, "history", id=id)
    tools = [write["tool"] for write in history["writes"]]
    assert tools == ["set_status", "update", "append", "remember"]
    assert {write["client"] for write in history["writes"]} == {"an agent"}

    await call(client, "forget", id=id)
    assert not file.exists()
    assert (vault / ".trash" / stored["path"]).exists()
    missing = await client.call_tool("get", {"id": id})
    assert missing.is_error


@pytest.mark.parametrize("mode", ERAS)
def test_an_agents_session_over_http(daemon: DaemonProcess, mode: str) -> None:
    async def session() -> None:
        async with over_http(daemon, mode)() as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert len(tools) == 12
            await work_with_a_memory(client, daemon.vault, f"sextant {mode}")

    asyncio.run(session())


@pytest.mark.parametrize("mode", ERAS)
def test_an_agents_session_over_stdio_through_the_running_daemon(
    daemon: DaemonProcess, mode: str
) -> None:
    async def session() -> None:
        async with over_stdio(daemon, mode)() as client:
            await work_with_a_memory(client, daemon.vault, f"barometer {mode}")

    asyncio.run(session())


@pytest.mark.parametrize("way", [over_http, over_stdio])
def test_a_client_that_listens_hears_of_changes(
    daemon: DaemonProcess, way: Callable[[DaemonProcess, str], Connect]
) -> None:
    name = way.__name__

    async def session() -> None:
        async with way(daemon, "auto")() as client:
            _, stored = await call(client, "remember", content=f"Heard of over {name}: zq{name}.")
            uri = f"memory://{stored['id']}"
            async with client.listen(
                resources_list_changed=True, resource_subscriptions=[uri, "memory://recent"]
            ) as events:
                file = daemon.vault / stored["path"]
                file.write_text(file.read_text() + "A person adds a line.\n")
                awaited = {ResourcesListChanged(), ResourceUpdated(uri)}
                awaited.add(ResourceUpdated("memory://recent"))
                async with asyncio.timeout(60):
                    async for event in events:
                        awaited.discard(event)
                        if not awaited:
                            break
            contents = (await client.read_resource(uri)).contents[0]
            assert "A person adds a line." in contents.text  # type: ignore[union-attr]

    asyncio.run(session())


def test_what_one_way_remembers_the_other_recalls(daemon: DaemonProcess) -> None:
    async def session() -> str:
        async with over_http(daemon, "auto")() as client:
            text = "The tinsmith in Plougasnou repairs navigation lamps."
            _, stored = await call(client, "remember", content=text)
            return str(stored["id"])

    id = asyncio.run(session())
    assert daemon.recall("who repairs navigation lamps?")[0]["id"] == id
    assert daemon.get("/entry", id=id)["entry"]["source"] == "claude"


def test_a_mistake_is_explained_to_the_model(daemon: DaemonProcess) -> None:
    async def session() -> None:
        async with over_http(daemon, "auto")() as client:
            for name, arguments, word in (
                ("recall", {}, "query"),
                ("get", {"id": "nobody"}, "No entry found with ID: nobody"),
                ("set_status", {"id": "x", "status": "odd"}, "canonical"),
                ("remember", {"content": "  "}, "content"),
                ("link", {"source_id": "a", "target_id": "b", "type": "odd"}, "supersedes"),
            ):
                result = await client.call_tool(name, arguments)
                assert result.is_error, name
                assert word in result.content[0].text  # type: ignore[union-attr]

    asyncio.run(session())


def test_without_the_token_nothing_is_said(daemon: DaemonProcess) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        response = httpx2.post(f"{daemon.url}/mcp", json={}, headers=headers, trust_env=False)
        assert response.status_code == 401
        assert "www-authenticate" in response.headers


def test_alone_when_no_daemon_runs(make_daemon: MakeDaemon, tmp_path: Path) -> None:
    idle = make_daemon(copy_examples(tmp_path / "alone"))

    async def session() -> None:
        async with over_stdio(idle, "auto")() as client:
            text = "The winch handle floats."
            _, stored = await call(client, "remember", content=text)
            assert (idle.vault / stored["path"]).read_text().endswith(text)
            _, found = await call(client, "recall", query="winch handle")
            assert found["results"][0]["id"] == stored["id"]

            async def petrel() -> bool:
                _, found = await call(client, "recall", query="How long is the boat on deck?")
                paths = [hit["path"] for hit in found["results"]]
                return "Boat/Pétrel.md" in paths

            async with asyncio.timeout(60):
                while not await petrel():
                    await asyncio.sleep(0.2)

    asyncio.run(session())
    assert list(idle.data.rglob("daemon.json")) == []


def test_a_signal_ends_it_cleanly_while_it_is_the_daemon(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    """Its client has not closed its input: nobody waits for that."""
    vault = tmp_path / "stopped"
    vault.mkdir()
    idle = make_daemon(vault)
    command = [sys.executable, "-m", "second_brain", "mcp", "--vault", str(vault)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*command, "--data-dir", str(idle.data)], env=idle.env, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # In two pieces, the second with the end of another line.
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "meth')
        process.stdin.flush()
        process.stdin.write(b'od": "ping"}\n\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        process.terminate()
        assert process.wait(timeout=60) == 0
        assert process.stdout.read() == b""
    assert list(idle.data.rglob("daemon.json")) == []


def test_clients_without_a_daemon_share_the_one_that_the_first_becomes(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    """As desktop programs start their servers: several at once, and nobody runs a daemon."""
    vault = tmp_path / "shared"
    vault.mkdir()
    idle = make_daemon(vault)

    told: asyncio.Queue[str] = asyncio.Queue()
    seen = asyncio.Event()

    async def one() -> None:
        async with over_stdio(idle, "auto")() as client:
            _, stored = await call(client, "remember", content="The oars are in the loft: zqoars.")
            await told.put(stored["id"])
            await seen.wait()

    async def other() -> None:
        async with over_stdio(idle, "legacy")() as client:
            id = await told.get()
            _, found = await call(client, "recall", query="zqoars")
            assert found["results"][0]["id"] == id
            count = await asyncio.to_thread(idle.get, "/count")
            assert count["count"] == 1, "over HTTP too, at the port of the settings"
            seen.set()

    async def session() -> None:
        async with asyncio.timeout(100), asyncio.TaskGroup() as tasks:
            tasks.create_task(one())
            tasks.create_task(other())

    idle.env["SECOND_BRAIN_PORT"] = str(idle.port)
    asyncio.run(session())
    assert list(idle.data.rglob("daemon.json")) == []
    idle.start()
    assert idle.get("/count")["count"] == 1


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_stdio_client_finds_a_daemon_that_came_back_otherwise(
    make_daemon: MakeDaemon, tmp_path: Path, elsewhere: bool
) -> None:
    """With another token, at the same port or at another."""
    vault = tmp_path / "moving"
    vault.mkdir()
    daemon = make_daemon(vault)
    del daemon.env["SECOND_BRAIN_AUTH_TOKEN"]
    token = daemon.data / "token"
    token.write_text("the-first-token")
    daemon.http.headers["Authorization"] = "Bearer the-first-token"
    daemon.start()

    async def session() -> None:
        async with over_stdio(daemon, "auto")() as client:
            await call(client, "remember", content="Before: cork.")
            daemon.stop()
            token.write_text("the-second-token")
            daemon.http.headers["Authorization"] = "Bearer the-second-token"
            if elsewhere:
                daemon.move()
            daemon.start()
            await call(client, "remember", content="After: teak.")

    asyncio.run(session())
    assert daemon.get("/count")["count"] == 2


WAYS = [(way, era) for way in (over_http, over_stdio) for era in ERAS]


def test_a_restart_of_the_daemon_goes_unnoticed_by_clients(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    """Each kind of client, connected before the restart, carries on after it."""
    vault = tmp_path / "small"
    vault.mkdir()
    daemon = make_daemon(vault).start()
    assert "SECOND_BRAIN_AUTH_TOKEN" not in clean_environment()

    async def session() -> None:
        async with AsyncExitStack() as opened:
            clients = [await opened.enter_async_context(way(daemon, era)()) for way, era in WAYS]
            for number, client in enumerate(clients):
                await call(
                    client, "remember", content=f"Before the restart, client {number}: cork."
                )
            await asyncio.to_thread(daemon.stop)
            await asyncio.to_thread(daemon.start)
            for number, client in enumerate(clients):
                await call(client, "remember", content=f"Client {number} lives on: teak.")

    asyncio.run(session())
    assert eventually(lambda: daemon.get("/count")["count"] == 2 * len(WAYS))
