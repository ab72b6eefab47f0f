"""`brain connect` with the real clients, and the hooks by the very command lines that it writes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from typing import Any

import pytest
from harness import TOKEN, DaemonProcess, eventually
from isolated import Home, Lines
from npm_clients import program

pytestmark = pytest.mark.timeout(300)

BRAIN = (sys.executable, "-m", "second_brain")
PLACE = "/usr/local/bin:/usr/bin:/bin"


def connect(
    daemon: DaemonProcess, home: Home, *arguments: str, client: str
) -> subprocess.CompletedProcess[str]:
    """`brain connect` in a home where `client` alone is installed."""
    bin_ = home.folder / "bin"
    bin_.mkdir(exist_ok=True)
    if client and not (bin_ / client).exists():
        (bin_ / client).symlink_to(program(client))
    flags = ("--vault", str(daemon.vault), "--data-dir", str(daemon.data))
    done = subprocess.run(
        [*BRAIN, "connect", *arguments, *flags],
        cwd=home.project,
        env={**home.env, "PATH": f"{bin_}:{home.env['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert TOKEN not in done.stdout + done.stderr
    return done


def everything(home: Home) -> str:
    """All that lies in a home, in one text."""
    files = [file for file in home.folder.rglob("*") if file.is_file() and not file.is_symlink()]
    return "\n".join(file.read_bytes().decode("utf-8", "replace") for file in files)


def test_claude_code_is_connected_without_being_told_the_token(
    daemon: DaemonProcess, home: Home
) -> None:
    guide = home.folder / ".claude" / "CLAUDE.md"
    guide.parent.mkdir()
    guide.write_bytes(b"Speak French to me.")
    done = connect(daemon, home, "claude-code", "--json", client="claude")
    server, instructions = json.loads(done.stdout)["steps"]
    assert server["command"].startswith("claude mcp add-json --scope user second-brain")
    assert instructions["state"] == "changed"
    assert re.search(r"second-brain: http://.*✔ Connected", home.said("claude", "mcp", "list"))
    assert TOKEN not in everything(home)
    assert "`recall`" in guide.read_text()

    again = json.loads(connect(daemon, home, "claude-code", "--json", client="claude").stdout)
    assert [step["state"] for step in again["steps"]] == ["unchanged", "unchanged"]
    assert json.loads(connect(daemon, home, "--json", client="").stdout)["clients"][0] == {
        "client": "claude-code",
        "state": "connected",
        "file": str(home.folder / ".claude.json"),
    }

    connect(daemon, home, "claude-code", "--remove", client="claude")
    assert "second-brain" not in home.said("claude", "mcp", "list")
    assert guide.read_bytes() == b"Speak French to me."


def test_codex_is_connected_by_its_command_and_by_its_file_alike(
    daemon: DaemonProcess, home: Home
) -> None:
    config = home.folder / ".codex" / "config.toml"
    done = json.loads(connect(daemon, home, "codex", "--json", client="codex").stdout)
    assert done["steps"][0]["command"].startswith("codex mcp add second-brain -- ")
    assert "`codex`" in (config.parent / "AGENTS.md").read_text()
    again = json.loads(connect(daemon, home, "codex", "--json", client="codex").stdout)
    assert [step["state"] for step in again["steps"]] == ["unchanged", "unchanged"]
    with home.talking("codex", "app-server") as client:
        assert {"recall", "remember"} <= codex_tools(client)
    connect(daemon, home, "codex", "--remove", client="codex")
    assert list(config.parent.glob("AGENTS.md*")) == []

    # Its own command would drop the comments of a file that is there.
    before = b'# mine\n[mcp_servers.other]\ncommand = "c" # theirs\nenabled = false\n'
    config.write_bytes(before)
    done = json.loads(connect(daemon, home, "codex", "--json", client="codex").stdout)
    assert done["steps"][0]["command"] is None
    assert config.read_bytes().startswith(before)
    with home.talking("codex", "app-server") as client:
        assert {"recall", "remember"} <= codex_tools(client)
    connect(daemon, home, "codex", "--remove", client="codex")
    assert config.read_bytes() == before


def codex_tools(client: Lines) -> set[str]:
    client.ask("initialize", {"clientInfo": {"name": "a program", "version": "1"}})
    client.tell("initialized")
    (ours,) = (
        status
        for status in client.ask("mcpServerStatus/list", {})["data"]
        if status["name"] == "second-brain"
    )
    return set(ours["tools"])


def test_gemini_is_connected(daemon: DaemonProcess, home: Home) -> None:
    done = json.loads(connect(daemon, home, "gemini", "--json", client="gemini").stdout)
    assert done["notes"] == []
    assert "`gemini`" in (home.folder / ".gemini" / "GEMINI.md").read_text()
    assert re.search(r"✓ second-brain: .* - Connected", home.said("gemini", "mcp", "list"))


def hook_line(daemon: DaemonProcess, home: Home, event: str) -> str:
    connect(daemon, home, "claude-code", "--hooks", "--no-instructions", client="")
    settings = json.loads((home.folder / ".claude" / "settings.json").read_text())
    (group,) = settings["hooks"][event]
    return str(group["hooks"][0]["command"])


def run_hook(line: str, home: Home, told: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=home.project,
        env={**home.env, "PATH": PLACE},
        input=told,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_a_session_starts_with_what_the_memory_holds_on_its_project(
    daemon: DaemonProcess, home: Home
) -> None:
    title = "The zqpetrel project decisions"
    daemon.post("/capture", content=f"{title}\n\nThe hull of zqpetrel is painted in May.")
    line = hook_line(daemon, home, "SessionStart")
    told: dict[str, Any] = {"cwd": str(home.folder / "zqpetrel"), "source": "startup"}
    done = run_hook(line, home, json.dumps(told).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert "painted in May" in done.stdout.decode()
    assert len(done.stdout.decode()) < 3_000
    resumed = run_hook(line, home, json.dumps({**told, "source": "resume"}).encode())
    assert (resumed.returncode, resumed.stdout) == (0, b"")


def test_the_end_of_a_session_is_stored_in_the_background(
    daemon: DaemonProcess, home: Home
) -> None:
    line = hook_line(daemon, home, "SessionEnd")
    said = [
        ("user", "Which paint for the hull of zqgannet? My api_key=abc123verysecret"),
        ("assistant", "Epoxy primer first, then two coats of the blue antifouling, as agreed."),
    ]
    transcript = home.folder / "transcript.jsonl"
    transcript.write_text(
        "".join(
            json.dumps({"type": who, "message": {"role": who, "content": text}}) + "\n"
            for who, text in said
        )
    )
    told = {"cwd": str(home.project), "transcript_path": str(transcript), "reason": "exit"}
    done = run_hook(line, home, json.dumps(told).encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    def stored() -> dict[str, Any] | None:
        found = daemon.get("/list", n=20, tag="session")
        return next((entry for entry in found if "zqgannet" in entry["content"]), None)

    entry = eventually(stored, within=60)
    assert entry["source"] == "claude-code"
    assert "blue antifouling" in entry["content"]
    assert "verysecret" not in entry["content"]


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd"])
def test_a_hook_that_fails_is_quiet_and_succeeds(
    daemon: DaemonProcess, home: Home, event: str
) -> None:
    line = hook_line(daemon, home, event)
    broken = line.replace(str(daemon.data), f"{home.folder}/none")
    assert broken != line
    told = json.dumps({"cwd": "/", "transcript_path": "/none", "source": "startup"}).encode()
    for command, given in ((line, b"no JSON"), (broken, told)):
        done = run_hook(command, home, given)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), command
    later = run_hook(f"{line} --of-a-later-version", home, told)
    assert (later.returncode, later.stderr) == (0, b"")


def test_a_hook_does_not_wait_for_a_client_that_says_nothing(
    daemon: DaemonProcess, home: Home
) -> None:
    line = hook_line(daemon, home, "SessionStart")
    started = time.monotonic()
    with subprocess.Popen(
        ["/bin/sh", "-c", line], env={**home.env, "PATH": PLACE}, stdin=subprocess.PIPE
    ) as process:
        assert process.wait(60) == 0
    assert time.monotonic() - started < 30


def test_claude_code_itself_runs_the_hooks(daemon: DaemonProcess, home: Home) -> None:
    """Without a model: its address leads nowhere, and a session begins and ends all the same."""
    connect(daemon, home, "claude-code", "--hooks", client="")
    nowhere = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_API_KEY": "none"}
    request = "Keep in mind that zqplover, the tender of Petrel, lies on the pontoon, upside down."
    home.run("claude", "-p", request, CLAUDE_CODE_MAX_RETRIES="0", **nowhere)

    def stored() -> dict[str, Any] | None:
        found = daemon.get("/list", n=20, tag="session")
        return next((entry for entry in found if "zqplover" in entry["content"]), None)

    entry = eventually(stored, within=60)
    assert entry["content"].startswith(f"Claude Code session in {home.project.name}, ")
    (transcript,) = home.folder.glob(".claude/projects/*/*.jsonl")
    assert "From my second brain" in transcript.read_text()
