"""Real clients log in by OAuth: they find out how, register, open the page, and stay connected."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import owner_browser
import pytest
from harness import TOKEN, DaemonProcess
from isolated import Home
from npm_clients import program

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in which opening a browser means that the owner connects what asks."""
    opens = tmp_path / "opens"
    home = Home(tmp_path / "home", **owner_browser.install(opens, TOKEN))
    home.env["PATH"] = f"{opens}{os.pathsep}{home.env['PATH']}"
    return home


def on_terminal(home: Home, *command: str, within: float = 120) -> str:
    """Run a client that wants a terminal; what it shows there. Fails if it does not succeed."""
    main, side = pty.openpty()
    process = subprocess.Popen(
        [program(command[0]), *command[1:]],
        cwd=home.project,
        env={**home.env, "TERM": "xterm-256color"},
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
    )
    os.close(side)
    shown = b""
    deadline = time.monotonic() + within
    try:
        while time.monotonic() < deadline:
            if select.select([main], [], [], 0.2)[0]:
                try:
                    shown += os.read(main, 65536)
                except OSError:  # the other side is closed
                    break
            elif process.poll() is not None:
                break
        said = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown).decode("utf-8", "replace")
        assert process.wait(timeout=10) == 0, said
        return said
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        os.close(main)


def connected(daemon: DaemonProcess, name: str) -> list[dict[str, Any]]:
    """The applications of that name that the owner has let in."""
    found = daemon.get("/clients")["clients"]
    return [client for client in found if re.search(name, client["name"], re.IGNORECASE)]


class TestClaudeCode:
    def test_logs_in_stays_connected_and_is_shut_out(
        self, own_daemon: Callable[[], DaemonProcess], home: Home
    ) -> None:
        daemon = own_daemon()
        url = f"{daemon.url}/mcp"
        home.said("claude", "mcp", "add", "--transport", "http", "second-brain", url)
        on_terminal(home, "claude", "mcp", "login", "second-brain")
        assert "✔ Connected" in home.said("claude", "mcp", "list")
        (client,) = connected(daemon, "claude")

        daemon.stop()
        daemon.start()
        assert "✔ Connected" in home.said("claude", "mcp", "list")

        daemon.post("/clients/revoke", id=client["id"])
        assert "Needs authentication" in home.said("claude", "mcp", "list")


class TestCodex:
    def test_logs_in_when_it_is_added(self, daemon: DaemonProcess, home: Home) -> None:
        on_terminal(home, "codex", "mcp", "add", "second-brain", "--url", f"{daemon.url}/mcp")
        with home.talking("codex", "app-server") as client:
            client.ask("initialize", {"clientInfo": {"name": "a program", "version": "1"}})
            client.tell("initialized")
            (server,) = client.ask("mcpServerStatus/list", {})["data"]
        assert "recall" in server["tools"]
        assert len(connected(daemon, "codex")) == 1


class TestMcpRemote:
    def test_logs_in_and_uses_a_tool(self, daemon: DaemonProcess, home: Home) -> None:
        with home.talking("mcp-remote", f"{daemon.url}/mcp", "--transport", "http-only") as client:
            client.ask(
                "initialize",
                {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": "a program", "version": "1"},
                },
            )
            client.tell("notifications/initialized")
            call = {"name": "remember", "arguments": {"content": "The otter sleeps by the mill."}}
            stored = client.ask("tools/call", call)
            assert stored["structuredContent"]["id"]
        (write,) = daemon.get("/history", n=1)["writes"]
        (client_known,) = connected(daemon, "mcp-remote|MCP CLI Proxy|a program")
        assert write["client"] == client_known["name"]


class TestInspector:
    def test_logs_in(self, daemon: DaemonProcess, home: Home) -> None:
        how = ("--cli", f"{daemon.url}/mcp", "--transport", "http", "--method", "tools/list")
        said = home.said("mcp-inspector", *how, MCP_AUTO_OPEN_ENABLED="true")
        assert '"recall"' in said
        assert len(connected(daemon, "inspector")) == 1
