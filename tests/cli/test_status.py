"""`brain status` and `brain mcp` beside a daemon: a real lock, and a real server that answers."""

from __future__ import annotations

import http.server
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from second_brain.cli.plain import local_time
from second_brain.config import load_settings
from second_brain.instance import DaemonInfo, DaemonLock, vault_folder

TOKEN = "the-token"
HEALTH = {
    "ok": True,
    "version": "0.1.0",
    "vault": {"notes": 1234, "last_scan": 1_700_000_000_000},
    "index": {"memories": 310, "pending": 2},
    "embedding": {"model": "multilingual-e5-small", "state": "loading"},
    "problems": [
        {
            "kind": "frontmatter",
            "path": "a.md",
            "message": "Two keys `x`.",
            "hint": "Remove one.",
        },
        {"kind": "model", "path": None, "message": "No model.", "hint": ""},
    ],
}

CLIENTS = {"ok": True, "clients": [{"name": "Codex"}, {"name": "Cl\x1bever"}]}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = self.headers["Authorization"] == f"Bearer {TOKEN}"
        self.send_response(200 if known else 401)
        self.end_headers()
        found = CLIENTS if self.path == "/clients" else HEALTH
        self.wfile.write(json.dumps(found if known else {"ok": False}).encode())

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = self.headers["Authorization"] == f"Bearer {TOKEN}" and self.path == "/mcp"
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"asked": request["method"]}}
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def daemon(vault: Path, *, answers: bool = True) -> Iterator[DaemonInfo]:
    """A daemon as other commands see one: the lock, its file, and /health."""
    folder = vault_folder(load_settings({"vault": str(vault)}))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1] if answers else free_port()
        info = DaemonInfo(7, f"http://127.0.0.1:{port}", str(vault), "0.1.0", 1_700_000_000_000)
        with DaemonLock(folder) as lock:
            lock.publish(info)
            yield info
        server.shutdown()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECOND_BRAIN_AUTH_TOKEN", TOKEN)


def test_no_daemon(brain, vault: Path) -> None:
    result = brain("status")
    assert result.exit_code == 1
    assert result.stdout.startswith("No daemon runs. Start one with: brain serve")
    assert brain("status", "--vault", str(vault)).stdout.splitlines() == [
        f"Vault     {vault}",
        f"Daemon    none runs; start it with: brain serve --vault '{vault}'",
    ]
    as_json = brain("status", "--json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout) == {"daemons": [], "stopped": []}


@pytest.mark.usefixtures("token")
def test_what_the_daemon_says(brain, vault: Path) -> None:
    with daemon(vault) as info:
        result = brain("status")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"Vault     {vault}",
        f"Daemon    {info.url} (process 7, version 0.1.0)",
        "Notes     1,234",
        "Memories  310",
        "Pending   2",
        f"Synced    {local_time(1_700_000_000_000)}",
        "Model     multilingual-e5-small (loading)",
        "Size      0.0 MB of index, history and logins",
        "Clients   Codex, Cl ever (by login)",
        "Problems  2",
        "  a.md: Two keys `x`. Remove one.",
        "  No model.",
    ]


@pytest.mark.usefixtures("token")
def test_json_holds_the_daemon_and_its_health(brain, vault: Path) -> None:
    with daemon(vault) as info:
        result = brain("status", "--vault", str(vault), "--json")
    (found,) = json.loads(result.stdout)["daemons"]
    assert found["url"] == info.url
    assert found["health"] == HEALTH


@pytest.mark.usefixtures("token")
def test_a_proxy_of_the_web_is_not_asked(
    brain, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with daemon(vault):
        assert brain("status").exit_code == 0


def test_another_token_is_explained(brain, vault: Path) -> None:
    with daemon(vault) as info:
        result = brain("status")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"brain: The daemon at {info.url} runs with another token;")


def test_a_daemon_that_does_not_answer(brain, vault: Path) -> None:
    with daemon(vault, answers=False) as info:
        result = brain("status")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"brain: The daemon at {info.url} does not answer: ")


@pytest.mark.usefixtures("token")
def test_several_daemons(brain, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with daemon(tmp_path / "one"), daemon(tmp_path / "two"):
        found = json.loads(brain("status", "--json").stdout)["daemons"]
        assert {d["vault"] for d in found} == {str(tmp_path / "one"), str(tmp_path / "two")}
        result = brain("mcp")
    assert result.exit_code == 2
    assert "Several daemons run" in result.stderr
    assert "--vault" in result.stderr


def test_mcp_beside_a_daemon_whose_token_is_unknown(brain, vault: Path) -> None:
    with daemon(vault) as info:
        result = brain("mcp")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"A daemon runs at {info.url}, but there is no token in " in result.stderr


@pytest.mark.usefixtures("token")
def test_mcp_passes_on_to_the_daemon_and_ends_with_its_input(vault: Path) -> None:
    with daemon(vault):
        ran = subprocess.run(
            [sys.executable, "-m", "second_brain", "mcp", "--vault", str(vault)],
            input='{"jsonrpc": "2.0", "id": 3, "method": "tools/list"}\n',
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
    (line,) = ran.stdout.splitlines()
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 3, "result": {"asked": "tools/list"}}


def test_mcp_with_neither_daemon_nor_vault(brain) -> None:
    result = brain("mcp")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("brain: No vault is set")
