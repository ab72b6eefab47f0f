"""What `brain serve` shows."""

from __future__ import annotations

import io
import logging
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from second_brain.cli.console import Console, start_screen, stdio_command
from second_brain.config import load_settings


def screen(**changes: object) -> str:
    shown = {
        "vault": Path("/home/me/Notes"),
        "notes": 1234,
        "memories": 310,
        "url": "http://127.0.0.1:8787",
        "token_file": Path("/home/me/.local/share/second brain/token"),
        "stdio_command": "/clone/.venv/bin/brain mcp --vault /home/me/Notes",
    }
    return start_screen(**(shown | changes))  # type: ignore[arg-type]


def test_the_screen_shows_what_a_user_needs() -> None:
    text = screen()
    assert "/home/me/Notes" in text
    assert "1,234 notes, 310" in text
    assert (
        "claude mcp add --scope user --transport http second-brain http://127.0.0.1:8787/mcp"
        in (text)
    )
    assert "codex mcp add second-brain --url http://127.0.0.1:8787/mcp" in text
    assert "gemini mcp add -t http -s user" in text
    assert "\n                     /clone/.venv/bin/brain mcp --vault /home/me/Notes\n" in text
    assert "base URL http://127.0.0.1:8787" in text
    assert "/home/me/.local/share/second brain/token\n" in text
    assert len(text.splitlines()) <= 24


def test_the_stdio_command_finds_this_daemon_again(brain, vault: Path, tmp_path: Path) -> None:
    default = shlex.split(stdio_command(load_settings({"vault": str(vault)})))
    assert default[1:] == ["mcp", "--vault", str(vault)]
    elsewhere = load_settings({"vault": str(vault), "data_dir": str(tmp_path / "d")})
    words = shlex.split(stdio_command(elsewhere))
    assert words[1:] == ["mcp", "--vault", str(vault), "--data-dir", str(tmp_path / "d")]
    assert brain(*words[1:], "--help").exit_code == 0


def test_the_shell_makes_the_token_out_of_the_lines(tmp_path: Path) -> None:
    """Each pasted line gives the client the header, whatever the path of the file."""
    file = tmp_path / "it's a $(token) file"
    file.write_text("s3cret\n")
    text = screen(token_file=file)
    for client, expected in (("claude", "--header"), ("gemini", "-H")):
        start = text.index(f"{client} mcp add")
        command = text[start : text.index("/mcp", start) + 200].split("\n\n")[0]
        lines = command.splitlines()
        kept = lines[:1]
        while kept[-1].rstrip().endswith("\\"):
            kept.append(lines[len(kept)])
        shell = f'{client}() {{ printf "%s\\n" "$@"; }}\n' + "\n".join(kept)
        ran = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
        arguments = ran.stdout.splitlines()
        assert arguments[arguments.index(expected) + 1] == "Authorization: Bearer s3cret"
        assert "http://127.0.0.1:8787/mcp" in arguments


def test_a_token_of_the_settings_is_named_not_shown() -> None:
    text = screen(token_file=None)
    assert "Bearer $SECOND_BRAIN_AUTH_TOKEN" in text
    assert "cat " not in text


def test_started_and_stopped_go_to_the_output() -> None:
    out = io.StringIO()
    console = Console("brain mcp", out, terminal=False)
    console.started(vault=Path("/v"), notes=1, memories=1, url="http://h:1", token_file=None)
    console.stopped()
    assert "1 note, 1 " in out.getvalue()
    assert out.getvalue().endswith("Stopped; everything is written.\n")


def test_progress_is_a_line_now_and_then_without_a_terminal(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "second_brain")
    times = iter(range(100))
    console = Console("brain mcp", terminal=False, clock=lambda: float(next(times)))
    for done in range(13):
        console.progress(done, 12)
    assert caplog.messages == [
        "indexed 0 of 12 changed notes",
        "indexed 5 of 12 changed notes",
        "indexed 10 of 12 changed notes",
        "indexed 12 of 12 changed notes",
    ]


def test_a_terminal_gets_a_bar_and_log_lines_stay_whole() -> None:
    code = """
import logging
from second_brain import logs
from second_brain.cli.console import Console
logs.configure("info")
console = Console("brain mcp")
console.progress(1, 3)
logging.getLogger("second_brain.x").warning("a line in between")
console.progress(3, 3)
logging.getLogger("second_brain.x").warning("a line after")
"""
    leader, follower = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "NO_COLOR": "1"}
    child = subprocess.Popen([sys.executable, "-c", code], stderr=follower, env=env)
    os.close(follower)
    seen = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:  # the terminal is gone with the child
            break
        if not part:
            break
        seen += part
    os.close(leader)
    assert child.wait() == 0
    text = seen.decode()
    assert "Indexing" in text
    assert "0/3" in text
    assert "second_brain.x: a line in between\r\n" in text
    assert text.rstrip().endswith("second_brain.x: a line after")


def test_a_notice_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    Console("brain mcp", terminal=False).notice("100% of recall works by keywords.")
    assert caplog.messages == ["100% of recall works by keywords."]


def test_a_reader_that_went_away_does_not_stop_the_daemon() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as out:
        Console("brain mcp", out, terminal=False).stopped()
        with pytest.raises(BrokenPipeError):
            out.close()
