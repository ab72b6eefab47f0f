"""The stdio bridge as a real process, between the SDK's client and a real server."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, types
from mcp.client.stdio import StdioServerParameters
from mcp.shared import inbound
from mcp.shared.exceptions import MCPError
from mcp.types import Implementation
from server_fakes import TOKEN, FakeMemories
from server_running import Running
from starlette.applications import Starlette

from second_brain.server import bridge
from second_brain.server.bridge import INVALID_REQUEST, PARSE_ERROR

HERE = Path(__file__).parent
ERAS = ["auto", "legacy"]
BRIDGE = (
    "import asyncio, sys; from second_brain.server.bridge import run_stdio; "
    "asyncio.run(run_stdio(sys.argv[1], sys.argv[2], patience=float(sys.argv[3])))"
)
INIT = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw client", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def tool_call(id_: int, name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}


def arguments(url: str, token: str = TOKEN, patience: float = 8.0) -> list[str]:
    return ["-c", BRIDGE, url, token, str(patience)]


def parameters(url: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=arguments(url), cwd=HERE)


class Raw:
    """A bridge process, spoken to line by line."""

    def __init__(self, args: list[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *args],
            cwd=HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send(self, *messages: dict[str, Any] | str) -> None:
        assert self._process.stdin is not None
        for message in messages:
            line = message if isinstance(message, str) else json.dumps(message)
            self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        message: dict[str, Any] = json.loads(self._process.stdout.readline())
        return message

    def close(self) -> list[dict[str, Any]]:
        """End stdin; return what still came. Every line must be protocol."""
        out, _ = self._process.communicate(timeout=20)
        assert self._process.returncode == 0
        return [json.loads(line) for line in out.splitlines()]

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def raw(args: list[str]) -> Iterator[Raw]:
    process = Raw(args)
    try:
        yield process
    finally:
        process.kill()


@pytest.mark.parametrize("mode", ERAS)
def test_tools_through_the_bridge(live: Running, memories: FakeMemories, mode: str) -> None:
    async def talk() -> None:
        info = Implementation(name="desk app", version="3")
        async with Client(parameters(live.url), mode=mode, client_info=info) as client:
            assert len((await client.list_tools()).tools) == 12
            await client.call_tool("remember", {"content": "Tea with Zoë"})
            result = await client.call_tool("recall", {"query": "zoë"})
            assert result.structured_content is not None
            assert result.structured_content["results"][0]["id"] == "m1"
            missing = await client.call_tool("get", {"id": "zz"})
            assert missing.is_error
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool("odd", {})

    asyncio.run(talk())
    assert memories.callers[0].client == "desk app", "the history names the client, not the bridge"


@pytest.mark.parametrize("mode", ERAS)
def test_a_restart_of_the_daemon_goes_unnoticed(
    app: Starlette, memories: FakeMemories, serve: Callable[..., Any], mode: str
) -> None:
    from second_brain.server.app import create_app

    async def talk() -> None:
        with serve(app) as first:
            async with Client(parameters(first.url), mode=mode) as client:
                await client.call_tool("remember", {"content": "before"})
                await asyncio.to_thread(first.stop)
                waiting = asyncio.create_task(client.call_tool("remember", {"content": "between"}))
                await asyncio.sleep(0.5)
                again = create_app(memories, token=TOKEN)
                with serve(again, first.port):
                    assert not (await waiting).is_error
                    assert not (await client.call_tool("recall", {"query": "be"})).is_error

    asyncio.run(talk())
    assert [memory.content for memory in memories.stored.values()] == ["before", "between"]


def test_an_absent_daemon_is_said_after_a_few_seconds() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with raw(arguments(url, patience=0.5)) as process:
        began = time.monotonic()
        process.send(INIT)
        answer = process.receive()
        assert answer["id"] == 1
        assert "brain serve" in answer["error"]["message"]
        assert time.monotonic() - began < 10
        assert process.close() == []


def test_a_wrong_token_is_said_without_showing_it(live: Running) -> None:
    with raw(arguments(live.url, token="wrong-secret")) as process:
        process.send(INIT)
        message = process.receive()["error"]["message"]
        assert "token" in message
        assert "wrong-secret" not in message


def test_requests_run_side_by_side_and_all_are_answered_before_the_end(live: Running) -> None:
    with raw(arguments(live.url)) as process:
        process.send(INIT)
        process.receive()
        process.send(READY, *(tool_call(id_, "recall", query="x") for id_ in range(2, 40)))
        answers = process.close()
    assert sorted(answer["id"] for answer in answers) == list(range(2, 40))
    assert all("result" in answer for answer in answers)


def test_lines_that_are_no_protocol(live: Running) -> None:
    with raw(arguments(live.url)) as process:
        process.send("this is not JSON", '{"jsonrpc": "2.0"}', "[1, 2]", INIT)
        answers = [process.receive() for _ in range(4)]
        process.close()
    codes = [answer.get("error", {}).get("code") for answer in answers[:3]]
    assert codes == [PARSE_ERROR, INVALID_REQUEST, PARSE_ERROR]
    assert answers[3]["result"]["serverInfo"]["name"] == "second-brain"


class Breaking:
    """A server that takes a request and closes the connection without a word."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.taken = 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                self.taken += 1


class TestLostConnections:
    def test_a_write_is_not_sent_twice(self) -> None:
        server = Breaking()
        with raw(arguments(server.url)) as process:
            process.send(tool_call(1, "append", id="m1", addition="x"))
            message = process.receive()["error"]["message"]
            assert "may or may not" in message
            assert server.taken == 1

    def test_a_stream_that_breaks_is_said(self) -> None:
        """Only its client knows what to fetch again after a gap."""
        server = Breaking()
        with raw(arguments(server.url)) as process:
            listen = {"method": "subscriptions/listen", "params": {"notifications": {}}}
            process.send({"jsonrpc": "2.0", "id": 1, **listen})
            assert "lost" in process.receive()["error"]["message"]
            assert server.taken == 1

    def test_reading_is_tried_again(self) -> None:
        server = Breaking()
        with raw(arguments(server.url, patience=5)) as process:
            process.send(tool_call(1, "recall", query="x"))
            message = process.receive()["error"]["message"]
            assert "may or may not" not in message
            assert server.taken == 4


def test_a_cancelled_request_has_no_answer() -> None:
    silent = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{silent.getsockname()[1]}"
    with raw(arguments(url)) as process:
        process.send(tool_call(7, "recall", query="x"))
        connection, _ = silent.accept()
        connection.settimeout(5)
        while b'"recall"' not in connection.recv(65536):
            pass
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 7}}
        process.send({"jsonrpc": "2.0", **cancel})
        assert connection.recv(10) == b"", "the daemon sees the connection close"
        assert process.close() == []


def test_the_bridge_is_light_and_agrees_with_the_sdk() -> None:
    """It repeats what it needs of the protocol instead of loading the SDK."""
    program = "import sys, second_brain.server.bridge; print('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"False"]
    assert bridge.VERSION_HEADER == inbound.MCP_PROTOCOL_VERSION_HEADER
    assert bridge.METHOD_HEADER == inbound.MCP_METHOD_HEADER
    assert bridge.NAME_HEADER == inbound.MCP_NAME_HEADER
    assert bridge.NAME_PARAMETERS == inbound.NAME_BEARING_METHODS
    assert bridge.VERSION_META == types.PROTOCOL_VERSION_META_KEY
    assert bridge.CLIENT_META == types.CLIENT_INFO_META_KEY
    assert bridge.CONNECTION_CLOSED == types.CONNECTION_CLOSED


@given(st.text())
def test_header_values_are_those_of_the_sdk(text: str) -> None:
    assert bridge.header_value(text) == inbound.encode_header_value(text)
