"""MCP over real HTTP with the SDK's own client, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import Implementation
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from server_fakes import NOW, TOKEN, FakeMemories
from server_running import Running
from starlette.testclient import TestClient

from second_brain.errors import EditRefused, VaultOffline
from second_brain.memory.model import Remembered
from second_brain.server.tool_names import READ_ONLY

ERAS = ["auto", "legacy"]
TEN = {
    "remember": {"content", "tags", "source"},
    "append": {"id", "addition"},
    "update": {"id", "content"},
    "recall": {"query", "topK", "tag", "after", "before", "kind", "hops"},
    "list_recent": {"n", "tag", "after", "before"},
    "forget": {"id"},
    "link": {"source_id", "target_id", "type"},
    "unlink": {"source_id", "target_id", "type"},
    "connections": {"id", "type"},
    "set_status": {"id", "status"},
}
KEYS = {"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
AUTH = {"Authorization": f"Bearer {TOKEN}"}

Use = Callable[[Client], Awaitable[Any]]


def use(url: str, mode: str, work: Use, **headers: str) -> Any:
    async def run() -> Any:
        http = httpx2.AsyncClient(headers={**AUTH, **headers}, trust_env=False)
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        info = Implementation(name="test client", version="1")
        async with http, Client(transport, mode=mode, client_info=info) as client:
            return await work(client)

    return asyncio.run(run())


def call(url: str, name: str, arguments: dict[str, Any], mode: str = "auto") -> Any:
    return use(url, mode, lambda client: client.call_tool(name, arguments))


def text(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
class TestHandshake:
    """Each revision that begins with `initialize`, as a client of that time speaks it."""

    @staticmethod
    def ask(client: TestClient, version: str, method: str, params: dict[str, Any]) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        # Clients before 2025-06-18 do not repeat the revision in a header.
        headers = {"MCP-Protocol-Version": version} if version >= "2025-06-18" else {}
        answer = client.post("/mcp", json=message, headers=headers)
        assert answer.status_code == 200
        return answer.json()["result"]

    def test_a_session(self, client: TestClient, memories: FakeMemories, version: str) -> None:
        hello = {"protocolVersion": version, "capabilities": {}}
        hello["clientInfo"] = {"name": "old client", "version": "1"}
        agreed = self.ask(client, version, "initialize", hello)
        assert agreed["protocolVersion"] == version
        assert agreed["capabilities"].keys() == {"tools", "resources", "prompts", "completions"}
        assert "Recall before you answer" in agreed["instructions"]
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert client.post("/mcp", json=ready).status_code == 202
        tools = self.ask(client, version, "tools/list", {})["tools"]
        assert len(tools) == 12
        assert all(tool.keys() <= KEYS for tool in tools)
        said = {"name": "remember", "arguments": {"content": "Tea at four"}}
        stored = self.ask(client, version, "tools/call", said)
        assert stored["isError"] is False
        assert "m1" in stored["content"][0]["text"]
        read = self.ask(client, version, "resources/read", {"uri": "memory://m1"})
        assert "Tea at four" in read["contents"][0]["text"]
        start = {"name": "start_conversation", "arguments": {"topic": "tea"}}
        begun = self.ask(client, version, "prompts/get", start)
        assert "Tea at four" in begun["messages"][0]["content"]["text"]


class TestToolList:
    @pytest.fixture
    def tools(self, client: TestClient) -> list[dict[str, Any]]:
        answer = client.post("/mcp", json=LIST, headers={"MCP-Protocol-Version": "2025-06-18"})
        assert len(answer.content) < 10_000, "a model reads this list in every conversation"
        tools: list[dict[str, Any]] = answer.json()["result"]["tools"]
        return tools

    def test_the_list_is_short_in_the_modern_era_too(self, live: Running) -> None:
        listed = use(live.url, "auto", lambda client: client.list_tools())
        sent = listed.model_dump_json(by_alias=True, exclude_none=True)
        assert len(sent.encode()) < 10_000

    def test_names_and_parameters_are_those_that_prompts_name(
        self, tools: list[dict[str, Any]]
    ) -> None:
        listed = {tool["name"]: set(tool["inputSchema"]["properties"]) for tool in tools}
        assert listed.keys() == TEN.keys() | {"get", "history"}
        for name, parameters in TEN.items():
            assert parameters <= listed[name]

    def test_only_keys_that_every_revision_knows(self, tools: list[dict[str, Any]]) -> None:
        for tool in tools:
            assert tool.keys() <= KEYS
            assert tool["title"]
            assert tool["description"]

    def test_schemas_are_flat_and_valid(self, tools: list[dict[str, Any]]) -> None:
        for tool in tools:
            for schema in (tool["inputSchema"], tool["outputSchema"]):
                Draft202012Validator.check_schema(schema)
                assert schema["type"] == "object"
                assert "$ref" not in json.dumps(schema)
                assert "$defs" not in json.dumps(schema)
            for parameter in tool["inputSchema"]["properties"].values():
                assert isinstance(parameter["type"], str)

    def test_annotations_tell_reading_from_writing(self, tools: list[dict[str, Any]]) -> None:
        hints = {tool["name"]: tool["annotations"] for tool in tools}
        reading = {name for name, hint in hints.items() if hint["readOnlyHint"]}
        assert reading == READ_ONLY == {"recall", "list_recent", "connections", "get", "history"}
        destructive = {name for name, hint in hints.items() if hint.get("destructiveHint")}
        assert destructive == {"update", "forget", "unlink"}
        assert all(hint["openWorldHint"] is False for hint in hints.values())

    @pytest.mark.parametrize("mode", ERAS)
    def test_the_client_of_each_era_lists_them(self, live: Running, mode: str) -> None:
        listed = use(live.url, mode, lambda client: client.list_tools())
        assert len(listed.tools) == 12


@pytest.mark.parametrize("mode", ERAS)
class TestTools:
    """Every tool once, as a conversation would; each result must match its own schema."""

    def test_a_conversation(self, live: Running, memories: FakeMemories, mode: str) -> None:
        async def talk(client: Client) -> None:
            assert "memory" in (client.instructions or "")
            schemas = {
                tool.name: Draft202012Validator(tool.output_schema or {})
                for tool in (await client.list_tools()).tools
            }

            async def say(name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, text(result)
                assert result.structured_content is not None
                schemas[name].validate(result.structured_content)
                return text(result), result.structured_content

            said, data = await say("remember", content="Zoë prefers tea", tags=["people"])
            assert data == {
                "outcome": "stored",
                "id": "m1",
                "message": "Stored.",
                "path": "Notes/m1.md",
            }
            assert "m1" in said
            await say("remember", content="Tea at four")
            said, data = await say("recall", query="tea")
            hit = data["results"][0]
            for part in (
                "m1",
                "Zoë prefers tea",
                "2026-01-01",
                "#people",
                "Plan > Next",
                "Notes/m1.md",
            ):
                assert part in said
            assert (hit["id"], hit["score"], hit["tags"]) == ("m1", 87.3, ["people"])
            assert hit["url"].startswith("obsidian://")
            _, data = await say("list_recent")
            assert [memory["id"] for memory in data["memories"]] == ["m2", "m1"]
            await say("append", id="m1", addition="and biscuits")
            await say("update", id="m2", content="Tea at five")
            await say("link", source_id="m1", target_id="m2", type="follows")
            said, data = await say("connections", id="m1")
            assert data["connections"][0]["id"] == "m2"
            said, data = await say("get", id="m1")
            assert "and biscuits" in data["content"]
            assert "and biscuits" in said
            assert data["links"] == [{"id": "m2", "title": "Tea at four", "type": "follows"}]
            _, data = await say("unlink", source_id="m1", target_id="m2")
            assert data == {"deleted": 1}
            await say("set_status", id="m1", status="canonical")
            _, data = await say("get", id="m1")
            assert data["status"] == "canonical"
            _, data = await say("history", id="m1")
            assert data["writes"][0]["date"] == "2026-01-01T00:00:00Z"
            await say("forget", id="m2")

        use(live.url, mode, talk)
        assert memories.stored["m1"].source == "claude"
        assert "m2" not in memories.stored
        tools = [caller.tool for caller in memories.callers]
        assert tools == [
            "remember",
            "remember",
            "append",
            "update",
            "link",
            "unlink",
            "set_status",
            "forget",
        ]

    def test_nothing_found_is_no_error(self, live: Running, mode: str) -> None:
        for name, arguments in (
            ("recall", {"query": "nothing"}),
            ("list_recent", {}),
            ("history", {}),
        ):
            result = call(live.url, name, arguments, mode)
            assert not result.is_error
            assert result.structured_content is not None
            assert text(result)

    def test_errors_tell_what_to_do_next(
        self, live: Running, memories: FakeMemories, mode: str
    ) -> None:
        def failed(name: str, arguments: dict[str, Any]) -> str:
            result = call(live.url, name, arguments, mode)
            assert result.is_error
            assert result.structured_content is None
            return text(result)

        assert "recall" in failed("get", {"id": "zz"})
        assert "'query'" in failed("recall", {})
        assert "'topK'" in failed("recall", {"query": "x", "topK": "many"})
        assert "canonical, draft, deprecated" in failed("set_status", {"id": "a", "status": "x"})
        assert "supersedes" in failed("link", {"source_id": "a", "target_id": "b", "type": "x"})
        memories.fails = VaultOffline("The vault is not there.")
        assert "try again later" in failed("remember", {"content": "x"})
        memories.fails = EditRefused("a.md", "broken frontmatter")
        assert "broken frontmatter" in failed("remember", {"content": "x"})

    def test_unknown_tool(self, live: Running, mode: str) -> None:
        async def ask(client: Client) -> None:
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool("erase_everything", {})

        use(live.url, mode, ask)

    def test_arguments_as_models_write_them(
        self, live: Running, memories: FakeMemories, mode: str
    ) -> None:
        call(live.url, "remember", {"content": "Tea", "tags": "work, people"}, mode)
        call(live.url, "remember", {"content": "Tea", "tags": '["a", "b"]', "source": None}, mode)
        assert [memory.tags for memory in memories.stored.values()] == [
            ("work", "people"),
            ("a", "b"),
        ]
        arguments = {"query": "tea", "topK": "3", "after": "2026-01-01", "kind": "", "hops": 7}
        call(live.url, "recall", arguments, mode)
        query = memories.queries[-1]
        assert (query.top_k, query.after, query.kind, query.hops) == (3, NOW, None, 3)

    def test_a_duplicate_names_the_memory_that_exists(
        self, live: Running, memories: FakeMemories, mode: str
    ) -> None:
        memories.answers = [
            Remembered("duplicate", None, "Already known.", match_id="m7", score=96.66)
        ]
        result = call(live.url, "remember", {"content": "x"}, mode)
        assert not result.is_error
        assert result.structured_content["id"] == "m7"
        assert result.structured_content["score"] == 96.7
        assert "m7" in text(result)
        assert "append" in text(result)


class TestReadableText:
    def test_a_long_note_is_shown_by_its_passage(
        self, live: Running, memories: FakeMemories
    ) -> None:
        memories.add("tea " + "word " * 5000)
        result = call(live.url, "recall", {"query": "tea"})
        assert len(text(result)) < 1000
        assert "get" in text(result)
        assert len(result.structured_content["results"][0]["content"]) < 1000

    def test_get_is_cut_with_a_way_on(self, live: Running, memories: FakeMemories) -> None:
        memories.add("x" * 100_000)
        result = call(live.url, "get", {"id": "m1"})
        assert "of 100000 characters" in text(result)
        assert "heading" in text(result)


class TestCaller:
    def test_the_modern_era_names_itself_in_each_request(
        self, live: Running, memories: FakeMemories
    ) -> None:
        call(live.url, "remember", {"content": "x"})
        assert memories.callers[0].client == "test client"

    def test_the_handshake_era_is_known_by_its_user_agent(
        self, live: Running, memories: FakeMemories
    ) -> None:
        agent = {"User-Agent": "claude-code/2.1 (cli)"}
        work = lambda client: client.call_tool("remember", {"content": "x"})  # noqa: E731
        use(live.url, "legacy", work, **agent)
        assert memories.callers[0].client == "claude-code"


class TestTransport:
    @pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
    @pytest.mark.parametrize(
        ("accept", "kind"),
        [
            (None, "application/json"),
            ("*/*", "application/json"),
            ("application/json", "application/json"),
            ("application/json, text/event-stream", "text/event-stream"),
            ("text/event-stream", "text/event-stream"),
            ("text/html", "application/json"),
        ],
    )
    def test_each_client_gets_what_it_can_read(
        self, client: TestClient, path: str, accept: str | None, kind: str
    ) -> None:
        headers = {} if accept is None else {"Accept": accept}
        if accept is None:
            del client.headers["Accept"]
        answer = client.post(path, json=LIST, headers=headers)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        assert '"recall"' in answer.text

    @pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD", "PUT"])
    def test_other_methods_after_the_token(
        self, client: TestClient, anonymous: TestClient, method: str
    ) -> None:
        answer = client.request(method, "/mcp")
        assert answer.status_code == 405
        assert "POST" in answer.headers["allow"]
        headers = {"Authorization": "Bearer wrong"}
        assert client.request(method, "/mcp", headers=headers).status_code == 401

    def test_a_session_of_an_earlier_life_is_ignored(self, client: TestClient) -> None:
        headers = {"Mcp-Session-Id": "gone", "MCP-Protocol-Version": "2025-06-18"}
        answer = client.post("/mcp", json=LIST, headers=headers)
        assert answer.status_code == 200
        assert "mcp-session-id" not in answer.headers

    @pytest.mark.parametrize(
        "body",
        [b"", b"{", b"[]", b"[" * 9000, b"\xff", b'{"jsonrpc": "2.0", "id": 1}', b"1" * 5000],
    )
    @pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28", "1900-01-01"])
    def test_broken_messages_are_the_clients_fault(
        self, client: TestClient, body: bytes, version: str
    ) -> None:
        headers = {"MCP-Protocol-Version": version, "Content-Type": "application/json"}
        answer = client.post("/mcp", content=body, headers=headers)
        assert 400 <= answer.status_code < 500

    def test_an_open_subscription_does_not_hold_the_shutdown(
        self, app: Any, serve: Callable[..., Any]
    ) -> None:
        stopped: list[float] = []

        async def listen(url: str, stop: Callable[[], float]) -> None:
            http = httpx2.AsyncClient(headers=AUTH, trust_env=False)
            transport = streamable_http_client(f"{url}/mcp", http_client=http)
            async with http, Client(transport) as client, client.listen(tools_list_changed=True):
                stopped.append(await asyncio.to_thread(stop))

        with serve(app) as server:
            asyncio.run(listen(server.url, server.stop))
        assert stopped[0] < 1.5
