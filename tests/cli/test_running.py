"""Looking after daemons that run: several vaults by profile, status, the log, another token."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click.testing
import httpx2
import pytest
from harness import eventually, free_port

from second_brain.cli.main import main

SECRET_TEXT = "The vermilion lighthouse keeper hums at dusk."


# Where the tests run in the background SIGINT is ignored, and so it would be by the command.
_INTERRUPTIBLE = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from second_brain.cli.main import main; sys.exit(main(sys.argv[1:]))"
)


@dataclass(frozen=True)
class Place:
    """A home with three profiles: `work` is served, `idle` is not, `broken` cannot be read."""

    home: Path
    models: Path
    port: int

    @property
    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
            "SECOND_BRAIN_MODEL_DIR": str(self.models),
        }

    @property
    def profiles(self) -> Path:
        return self.home / "config/second-brain/profiles"

    @property
    def log(self) -> Path:
        return self.home / "logs/work.log"

    @property
    def token(self) -> str:
        return (self.home / "data/second-brain/token").read_text().strip()

    def run(self, *arguments: str, **variables: str) -> click.testing.Result:
        environment = {**self.environment, **variables}
        return click.testing.CliRunner().invoke(main, arguments, prog_name="brain", env=environment)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        kept = {n: v for n, v in os.environ.items() if not n.startswith("SECOND_BRAIN_")}
        return subprocess.Popen(
            [sys.executable, "-c", _INTERRUPTIBLE, *arguments],
            env={**kept, **self.environment, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def health(self, token: str) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {token}"}
        url = f"http://127.0.0.1:{self.port}/health"
        return httpx2.get(url, headers=headers, trust_env=False, timeout=30)


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("home"), model_dir, free_port())
    place.profiles.mkdir(parents=True)
    for name, port in (("work", place.port), ("idle", 9999)):
        (place.home / name).mkdir()
        (place.profiles / f"{name}.toml").write_text(
            f'vault = "{place.home / name}"\n[server]\nport = {port}\n'
            f'[log]\nfile = "{place.home}/logs/{name}.log"\n'
        )
    (place.profiles / "broken.toml").write_text("vault = 3")
    with ended(place.start("--profile", "work", "serve")) as daemon:

        def is_up() -> bool:
            assert daemon.poll() is None
            health = place.health(place.token).json()
            return bool(health["embedding"]["ok"] and not health["index"]["scanning"])

        eventually(is_up, within=120)
        yield place


def test_status_shows_every_vault_and_one_that_is_named(place: Place) -> None:
    result = place.run("status")
    assert result.exit_code == 0, result.output
    idle, work = place.home / "idle", place.home / "work"
    assert f"Vault     {work}\nProfile   work\nDaemon    http://127.0.0.1:{place.port} (" in (
        result.stdout
    )
    assert (
        f"Vault     {idle}\nProfile   idle\nDaemon    none runs; start it with: brain serve "
        in (result.stdout)
    )
    assert "Profile   broken\n" in result.stdout
    assert "vault must be a path" in result.stdout

    found = json.loads(place.run("status", "--json").stdout)
    assert [one["profile"] for one in found["daemons"]] == ["work"]
    assert found["daemons"][0]["data_bytes"] > 0
    assert {one["profile"] for one in found["stopped"]} == {"idle", "broken"}

    only = json.loads(place.run("status", "--json", "--profile", "idle").stdout)
    assert only["daemons"] == []
    assert [one["vault"] for one in only["stopped"]] == [str(idle)]
    assert place.run("status", "--profile", "idle").exit_code == 1


@pytest.mark.parametrize("way", ["after", "before", "variable"])
def test_a_profile_is_meant_by_any_command(place: Place, way: str) -> None:
    words = {
        "after": ["stats", "--json", "--profile", "work"],
        "before": ["--profile", "work", "stats", "--json"],
        "variable": ["stats", "--json"],
    }[way]
    variables = {"SECOND_BRAIN_PROFILE": "work"} if way == "variable" else {}
    result = place.run(*words, **variables)
    assert result.exit_code == 0, result.output
    assert "count" in json.loads(result.stdout)


def test_what_cannot_be_meant_is_refused(place: Place) -> None:
    unknown = place.run("list", "--profile", "wokr")
    assert unknown.exit_code == 2
    assert "there is no profile wokr (known: broken, idle, work)" in unknown.stderr
    config = str(place.profiles / "work.toml")
    both = place.run("list", "--profile", "work", "--config", config)
    assert both.exit_code == 2
    assert "--config and --profile both name a configuration" in both.stderr
    variables = place.run("list", SECOND_BRAIN_PROFILE="work", SECOND_BRAIN_CONFIG=config)
    assert variables.exit_code == 2
    # A flag goes before the variables.
    assert place.run("stats", "--profile", "work", SECOND_BRAIN_CONFIG="/nowhere").exit_code == 0


def test_a_tool_is_connected_to_the_profile(place: Place) -> None:
    steps = json.loads(
        place.run("connect", "codex", "--profile", "work", "--dry-run", "--json").stdout
    )["steps"]
    assert any('"mcp", "--profile", "work"' in (step["diff"] or "") for step in steps)
    assert any("second-brain-work" in (step["diff"] or "") for step in steps)


def test_the_notes_are_packed_of_whichever_vault_is_served(place: Place) -> None:
    # No vault is set here: the daemon that runs says which it is.
    (place.home / "work/Mine.md").write_text("A #brain note.")
    packed = place.home / "notes.zip"

    def has_it() -> bool:
        packed.unlink(missing_ok=True)
        assert place.run("export", "-o", str(packed)).exit_code == 0
        return "Mine.md" in zipfile.ZipFile(packed).namelist()

    assert eventually(has_it, within=30)


def test_the_log_is_shown_and_holds_neither_text_nor_token(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    assert place.run("remember", "--profile", "work", SECRET_TEXT).exit_code == 0
    found = place.run("recall", "--profile", "work", "lighthouse keeper", "--json")
    assert SECRET_TEXT in found.stdout
    capfd.readouterr()
    shown = place.run("logs", "--profile", "work", "-n", "1000")
    assert shown.exit_code == 0, shown.output
    log = capfd.readouterr().out
    assert log == place.log.read_text()
    assert "POST /capture 200" in log
    assert "vermilion" not in log.casefold()
    assert "keeper" not in log.casefold()
    assert place.token not in log
    assert place.log.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is asked")
def test_the_log_of_a_service_that_runs_is_the_journals(
    place: Place, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("systemctl", "journalctl"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    shown = place.run("logs", "--profile", "work", "-n", "7", "-f", PATH=path)
    assert shown.exit_code == 0, shown.output
    assert capfd.readouterr().out == (
        "journalctl --user --unit second-brain@work.service --lines=7 --follow\n"
    )


def test_where_no_log_is_kept_it_says_what_to_do(place: Place) -> None:
    for profile in ([], ["--profile", "idle"]):
        result = place.run("logs", *profile)
        assert result.exit_code == 1
        assert "set log.file" in result.stderr


def test_watching_shows_what_changes(place: Place) -> None:
    words = ("status", "--profile", "work", "--watch", "--json", "--every", "0.2")
    with ended(place.start(*words)) as watching:
        assert watching.stdout is not None
        first = _memories(watching.stdout.readline())
        assert place.run("remember", "--profile", "work", "A second one.").exit_code == 0
        while _memories(watching.stdout.readline()) <= first:
            assert watching.poll() is None
        watching.send_signal(signal.SIGINT)
        assert watching.wait(30) == 0


def _memories(line: str) -> Any:
    (daemon,) = json.loads(line)["daemons"]
    return daemon["health"]["vault"]["memories"]


def test_another_token_counts_at_once_and_ends_what_is_open(place: Place) -> None:
    old = place.token
    headers = {"Authorization": f"Bearer {old}"}
    url = f"http://127.0.0.1:{place.port}/events"
    with (
        httpx2.Client(trust_env=False, timeout=60) as client,
        client.stream("GET", url, headers=headers) as stream,
    ):
        assert stream.status_code == 200
        result = place.run("token", "rotate", "--json", "--profile", "work")
        assert result.exit_code == 0, result.output
        (took,) = json.loads(result.stdout)["daemons"]
        assert took["took"] is True
        for _ in stream.iter_bytes():
            continue  # until the daemon ends it
    assert place.token != old
    assert place.token not in result.output
    assert place.health(old).status_code == 401
    assert place.health(place.token).json()["ok"]
    assert place.run("stats", "--profile", "work").exit_code == 0
    assert "paste\nthe new one" in place.run("token", "rotate").stdout


def test_a_tool_that_runs_the_daemon_itself_goes_on_with_another_token(place: Place) -> None:
    with ended(place.start("mcp", "--profile", "idle")) as tool:
        assert _answer(tool, 1)["serverInfo"]
        old = place.token
        found = json.loads(place.run("token", "rotate", "--json", "--profile", "idle").stdout)
        assert str(place.home / "idle") in {one["vault"] for one in found["daemons"]}
        assert all(one["took"] for one in found["daemons"]), found
        assert place.token != old
        assert _answer(tool, 2)["serverInfo"]


def _answer(tool: subprocess.Popen[str], id: int) -> Any:
    about = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    request = {"jsonrpc": "2.0", "id": id, "method": "initialize", "params": about}
    assert tool.stdin is not None
    assert tool.stdout is not None
    tool.stdin.write(json.dumps(request) + "\n")
    tool.stdin.flush()
    answer = json.loads(tool.stdout.readline())
    assert answer["id"] == id
    return answer["result"]
