"""Real clients with the static token, each in a home of its own, against one real daemon.

No client calls a model: each connects, and where its command line allows it, uses the tools.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from harness import TOKEN, DaemonProcess
from isolated import Home, Lines
from npm_clients import version

pytestmark = pytest.mark.timeout(300)

HEADER = f"Authorization: Bearer {TOKEN}"
TOOLS = {
    "remember", "recall", "get", "list_recent", "append", "update", "forget", "link", "unlink",
    "connections", "set_status", "history",
}  # fmt: skip
INIT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "a program", "version": "1"},
}


def mcp_url(daemon: DaemonProcess) -> str:
    return f"{daemon.url}/mcp"


def brain_mcp(daemon: DaemonProcess) -> list[str]:
    """`brain mcp` for this daemon, as a client's configuration names it."""
    where = ["--vault", str(daemon.vault), "--data-dir", str(daemon.data)]
    return [sys.executable, "-m", "second_brain", "mcp", *where]


class TestClaudeCode:
    def test_over_http_and_over_stdio(self, daemon: DaemonProcess, home: Home) -> None:
        url = mcp_url(daemon)
        home.said(
            "claude", "mcp", "add", "--scope", "user", "--transport", "http", "second-brain", url,
            "--header", HEADER,
        )  # fmt: skip
        home.said("claude", "mcp", "add", "brain-stdio", "--", *brain_mcp(daemon))
        home.said(
            "claude", "mcp", "add", "--transport", "http", "wrong", url,
            "--header", "Authorization: Bearer wrong",
        )  # fmt: skip
        lines = home.said("claude", "mcp", "list").splitlines()
        state = {line.partition(":")[0]: line for line in lines}
        assert "✔ Connected" in state["second-brain"]
        assert "✔ Connected" in state["brain-stdio"]
        assert "Connected" not in state["wrong"]


class TestCodex:
    @staticmethod
    def statuses(client: Lines) -> dict[str, Any]:
        client.ask("initialize", {"clientInfo": {"name": "a program", "version": "1"}})
        client.tell("initialized")
        listed = client.ask("mcpServerStatus/list", {})["data"]
        return {status["name"]: status for status in listed}

    def test_lists_and_calls_the_tools(self, daemon: DaemonProcess, home: Home) -> None:
        variable = ("--bearer-token-env-var", "SECOND_BRAIN_AUTH_TOKEN")
        home.said("codex", "mcp", "add", "second-brain", "--url", mcp_url(daemon), *variable)
        home.said("codex", "mcp", "add", "brain-stdio", "--", *brain_mcp(daemon))
        with home.talking("codex", "app-server", SECOND_BRAIN_AUTH_TOKEN=TOKEN) as client:
            servers = self.statuses(client)
            for name in ("second-brain", "brain-stdio"):
                assert servers[name]["tools"].keys() == TOOLS, name
                templates = servers[name]["resourceTemplates"]
                assert templates[0]["uriTemplate"] == "memory://{id}"
            thread = client.ask("thread/start", {"cwd": str(home.project)})["thread"]["id"]
            call = {"threadId": thread, "server": "second-brain", "tool": "recall"}
            said = client.ask("mcpServer/tool/call", {**call, "arguments": {"query": "Pétrel"}})
            assert said["structuredContent"]["results"]
            stored = client.ask(
                "mcpServer/tool/call",
                {**call, "tool": "remember", "arguments": {"content": "Codex was here: zqcodex."}},
            )
            assert stored["structuredContent"]["outcome"] in ("stored", "similar")
        (write, *_) = daemon.get("/history", n=1)["writes"]
        assert write["tool"] == "remember"
        assert "codex" in write["client"].lower()


class TestGemini:
    def test_is_connected(self, daemon: DaemonProcess, home: Home) -> None:
        home.said(
            "gemini", "mcp", "add", "-s", "user", "-t", "http", "-H", HEADER,
            "second-brain", mcp_url(daemon),
        )  # fmt: skip
        command, *arguments = brain_mcp(daemon)
        file = home.folder / ".gemini" / "settings.json"
        chosen = json.loads(file.read_text())
        chosen["mcpServers"]["brain-stdio"] = {"command": command, "args": arguments}
        file.write_text(json.dumps(chosen))
        said = home.said("gemini", "mcp", "list")
        assert re.search(r"✓ second-brain: .* - Connected", said), said
        assert re.search(r"✓ brain-stdio: .* - Connected", said), said


class TestMcpRemote:
    """For programs that can only start a command: stdio in, HTTP with a header out."""

    def test_speaks_for_a_program_and_survives_a_restart(
        self, own_daemon: Callable[[], DaemonProcess], home: Home
    ) -> None:
        daemon = own_daemon()
        flags = (mcp_url(daemon), "--header", HEADER, "--transport", "http-only")
        with home.talking("mcp-remote", *flags) as client:
            client.ask("initialize", INIT)
            client.tell("notifications/initialized")
            assert {tool["name"] for tool in client.ask("tools/list", {})["tools"]} == TOOLS
            keep = {"name": "remember", "arguments": {"content": "The heron nests at the weir."}}
            id = client.ask("tools/call", keep)["structuredContent"]["id"]
            daemon.stop()
            daemon.start()
            read = client.ask("resources/read", {"uri": f"memory://{id}"})
            assert "heron" in read["contents"][0]["text"]


class TestInspector:
    @pytest.fixture
    def inspect(self, daemon: DaemonProcess, home: Home) -> Callable[..., Any]:
        def inspect(method: str, *flags: str) -> Any:
            how = ("--cli", mcp_url(daemon), "--transport", "http", "--header", HEADER)
            done = home.run("mcp-inspector", *how, "--method", method, "--format", "json", *flags)
            assert done.returncode == 0, done.stdout + done.stderr
            return json.loads(done.stdout)["result"]

        return inspect

    @pytest.mark.parametrize("era", ["legacy", "modern"])
    def test_the_tools_are_clean_for_strict_clients(
        self, inspect: Callable[..., Any], era: str
    ) -> None:
        tools = inspect("tools/list", "--strict", "--protocol-era", era)["tools"]
        assert {tool["name"] for tool in tools} == TOOLS

    def test_tools_resources_and_prompts(self, inspect: Callable[..., Any]) -> None:
        found = inspect("tools/call", "--tool-name", "recall", "--tool-arg", "query=Pétrel")
        id = found["structuredContent"]["results"][0]["id"]
        assert f"memory://{id}" in {r["uri"] for r in inspect("resources/list")["resources"]}
        text = inspect("resources/read", "--uri", f"memory://{id}")["contents"][0]["text"]
        assert id in text
        flags = ("--prompt-name", "start_conversation", "--prompt-args", "topic=Pétrel")
        assert "Pétrel" in inspect("prompts/get", *flags)["messages"][0]["content"]["text"]

    def test_over_stdio(self, daemon: DaemonProcess, home: Home) -> None:
        how = ("--cli", *brain_mcp(daemon), "--method", "tools/list", "--format", "json")
        done = home.run("mcp-inspector", *how)
        assert done.returncode == 0, done.stdout + done.stderr
        assert {tool["name"] for tool in json.loads(done.stdout)["result"]["tools"]} == TOOLS


def test_the_readme_names_the_versions_that_run_here() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    for package in (
        "@anthropic-ai/claude-code",
        "@openai/codex",
        "@google/gemini-cli",
        "mcp-remote",
        "@modelcontextprotocol/inspector",
    ):
        assert f"| {version(package)} |" in readme, package
    assert f"| {metadata.version('mcp')} |" in readme
