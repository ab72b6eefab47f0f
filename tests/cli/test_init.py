"""`brain init`: by flags, by questions, twice, and beside other vaults."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import socket
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from second_brain.cli.setup import port_for
from second_brain.integrations.connect.places import Places, System
from second_brain.integrations.obsidian import known_vaults


def obsidian_knows(home: Path, *vaults: Path, place: str = "config/obsidian") -> None:
    listed = {
        f"id{n}": {"path": str(vault), "ts": 1_700_000_000_000 - n}
        for n, vault in enumerate(vaults)
    }
    (home / place).mkdir(parents=True)
    (home / place / "obsidian.json").write_text(json.dumps({"vaults": listed}))


def config(home: Path, name: str = "config.toml") -> dict[str, Any]:
    return tomllib.loads((home / "config/second-brain" / name).read_text())


@pytest.fixture
def vault(home: Path) -> Path:
    vault = home / "My Vault"
    (vault / ".obsidian").mkdir(parents=True)
    return vault


@pytest.fixture(autouse=True)
def nothing_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_dir: Path, home: Path
) -> None:
    # Every home has the prepared model.
    monkeypatch.setenv("SECOND_BRAIN_MODEL_DIR", str(model_dir))
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def test_the_one_vault_that_obsidian_knows_is_taken_and_the_second_time_changes_nothing(
    brain, home: Path, vault: Path
) -> None:
    obsidian_knows(home, vault, home / "gone")
    first = brain("init", "--yes", "--no-service")
    assert first.exit_code == 0, first.output
    assert config(home)["vault"] == str(vault)
    token = home / "data/second-brain/token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "config/second-brain/config.toml").stat().st_mode) == 0o600
    assert token.read_text().strip() not in first.output
    assert "brain serve" in first.output.split("Next:")[1]
    before = {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}
    again = json.loads(brain("init", "--json", "--no-service").stdout)
    assert {step["state"] for step in again["steps"]} == {"unchanged"}
    assert again["vault"] == str(vault)
    assert {file: file.read_bytes() for file in home.rglob("*") if file.is_file()} == before
    assert list(vault.iterdir()) == [vault / ".obsidian"]


@pytest.mark.parametrize(
    ("system", "variables", "place"),
    [
        ("linux", {}, ".config/obsidian"),
        ("linux", {"XDG_CONFIG_HOME": "{home}/else"}, "else/obsidian"),
        ("linux", {"XDG_CONFIG_HOME": "{home}/else"}, ".config/obsidian"),
        ("linux", {}, ".var/app/md.obsidian.Obsidian/config/obsidian"),
        ("linux", {}, "snap/obsidian/42/.config/obsidian"),
        ("darwin", {}, "Library/Application Support/obsidian"),
        ("windows", {"APPDATA": "{home}/Roaming"}, "Roaming/obsidian"),
        ("windows", {}, "AppData/Roaming/obsidian"),
    ],
)
def test_obsidians_list_is_found(
    home: Path, vault: Path, system: System, variables: dict[str, str], place: str
) -> None:
    obsidian_knows(home, home / "gone", vault, place=place)
    environ = {name: value.format(home=home) for name, value in variables.items()}
    assert [one.path for one in known_vaults(Places(system, home, environ))] == [vault]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"vaults": []}', '{"vaults": {"a": 3}}'])
def test_a_list_that_is_none_is_no_error(home: Path, text: str) -> None:
    obsidian_knows(home)
    (home / "config/obsidian/obsidian.json").write_text(text)
    places = Places("linux", home, {"XDG_CONFIG_HOME": str(home / "config")})
    assert known_vaults(places) == []


def test_the_open_vault_comes_first(home: Path, vault: Path) -> None:
    (home / "newer").mkdir()
    obsidian_knows(home)
    listed = {
        "a": {"path": str(home / "newer"), "ts": 9},
        "b": {"path": str(vault), "ts": 1, "open": True},
    }
    (home / "config/obsidian/obsidian.json").write_text(json.dumps({"vaults": listed}))
    places = Places("linux", home, {"XDG_CONFIG_HOME": str(home / "config")})
    assert [one.path for one in known_vaults(places)] == [vault, home / "newer"]


def test_without_a_terminal_a_doubt_is_an_error_that_names_the_vaults(
    brain, home: Path, vault: Path
) -> None:
    (home / "Other").mkdir()
    obsidian_knows(home, vault, home / "Other")
    result = brain("init")
    assert result.exit_code == 2
    assert f"Say which vault with --vault DIR; Obsidian knows these:\n  {vault}\n" in result.stderr
    assert not (home / "config/second-brain").exists()
    missing = brain("init", "--vault", str(home / "no"))
    assert missing.exit_code == 2
    assert "does not exist" in missing.stderr


def test_the_rest_of_the_configuration_stays_and_a_vault_is_not_replaced_by_accident(
    brain, home: Path, vault: Path
) -> None:
    file = home / "config/second-brain/config.toml"
    file.parent.mkdir(parents=True)
    text = f"# mine\nvault = '{vault}' # this one\n\n[server]\nport = 9100\n"
    file.write_text(text)
    assert brain("init", "--no-service").exit_code == 0
    assert file.read_text() == text
    other = home / "Other"
    other.mkdir()
    refused = brain("init", "--vault", str(other))
    assert refused.exit_code == 2
    assert "A second vault is a profile of its own: add --profile NAME" in refused.stderr
    assert file.read_text() == text
    assert brain("init", "--vault", str(other), "--yes", "--no-service").exit_code == 0
    assert file.read_text() == text.replace(f"'{vault}'", f'"{other}"')


def test_a_second_vault_is_a_profile_with_a_port_that_is_remembered(
    brain, home: Path, vault: Path
) -> None:
    assert brain("init", "--vault", str(vault), "--port", "9200", "--no-service").exit_code == 0
    other = home / "Other"
    other.mkdir()
    made = brain("init", "--profile", "work", "--vault", str(other), "--no-service", "--json")
    assert made.exit_code == 0, made.output
    found = json.loads(made.stdout)
    port = config(home, "profiles/work.toml").get("server", {}).get("port", 8787)
    assert found["url"] == f"http://127.0.0.1:{port}"
    assert port != 9200
    assert any("brain --profile work serve" in line for line in found["next"])
    twice = brain("init", "--profile", "more", "--vault", str(other))
    assert twice.exit_code == 2
    assert "has the vault" in twice.stderr
    stopped = json.loads(brain("status", "--json").stdout)["stopped"]
    assert [one["profile"] for one in stopped] == [None, "work"]


def test_a_tool_finds_both_vaults_and_loses_one(brain, home: Path, vault: Path) -> None:
    (home / "Other").mkdir()
    (home / ".codex").mkdir()
    assert brain("init", "--vault", str(vault), "--yes", "--no-service").exit_code == 0
    flags = ("--profile", "work")
    made = brain("init", *flags, "--vault", str(home / "Other"), "--yes", "--no-service")
    assert made.exit_code == 0, made.output
    file = home / ".codex/config.toml"
    servers = tomllib.loads(file.read_text())["mcp_servers"]
    assert servers["second-brain"]["args"][:3] == ["mcp", "--vault", str(vault)]
    assert servers["second-brain-work"]["args"][:3] == ["mcp", *flags]
    guide = (home / ".codex/AGENTS.md").read_text()
    assert brain("connect", "codex", "--remove", *flags).exit_code == 0
    assert set(tomllib.loads(file.read_text())["mcp_servers"]) == {"second-brain"}
    assert (home / ".codex/AGENTS.md").read_text() == guide
    # As the README takes leave of everything.
    assert brain("connect", "codex", "--remove").exit_code == 0
    assert [each.name for each in (home / ".codex").iterdir()] == []


def test_the_model_is_offered_where_it_is_not_ready(
    brain, home: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = json.loads(brain("init", "--vault", str(vault), "--model", "--json").stdout)
    assert ready["steps"][-1]["about"] == "Model"
    assert ready["steps"][-1]["state"] == "unchanged"
    assert not any("model prepare" in line for line in ready["next"])
    monkeypatch.setenv("SECOND_BRAIN_MODEL_DIR", str(home / "none"))
    declined = json.loads(brain("init", "--no-model", "--json").stdout)
    assert any("brain model prepare" in line for line in declined["next"])
    monkeypatch.setenv("SECOND_BRAIN_MODEL", str(home / "no-model"))
    insisted = brain("init", "--model")
    assert insisted.exit_code == 1
    assert "not done" in insisted.output


def test_a_port_is_one_that_nobody_has(home: Path, vault: Path) -> None:
    profiles = home / "config/second-brain/profiles"
    profiles.mkdir(parents=True)
    for name, port in (("a", 8787), ("b", 8789)):
        (profiles / f"{name}.toml").write_text(f"vault = '{home / name}'\nserver.port = {port}\n")
    (profiles / "broken.toml").write_text("[")
    new = profiles / "c.toml"
    assert port_for(vault, new, lambda port: port != 8788) == 8790
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        from second_brain.cli.setup import _is_free

        assert not _is_free(taken.getsockname()[1])


def test_tools_that_are_installed_are_connected(brain, home: Path, vault: Path) -> None:
    (home / ".cursor").mkdir()
    (home / ".codex").mkdir()
    made = brain("init", "--vault", str(vault), "--yes", "--no-service", "--json")
    steps = {step["about"]: step["state"] for step in json.loads(made.stdout)["steps"]}
    assert {"codex", "cursor"} <= set(steps)
    assert steps["cursor"] == "done"
    entry = json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"]["second-brain"]
    assert entry["args"][:3] == ["mcp", "--vault", str(vault)]
    # Without --yes and without a terminal nothing is done that was not asked for.
    (home / ".gemini").mkdir()
    brain("init")
    assert list((home / ".gemini").iterdir()) == []
    named = brain("init", "--client", "gemini")
    assert named.exit_code == 0, named.output
    assert "mcpServers" in (home / ".gemini/settings.json").read_text()


@pytest.mark.parametrize("works", [True, False])
def test_the_service_is_installed_where_it_can_be(
    brain, home: Path, vault: Path, tmp_path: Path, works: bool
) -> None:
    fake = tmp_path / "bin/systemctl"
    fake.write_text(f"#!/bin/sh\n{'exit 0' if works else 'echo no bus >&2; exit 1'}\n")
    fake.chmod(0o755)
    offered = brain("init", "--vault", str(vault), "--yes")
    assert offered.exit_code == 0, offered.output
    unit = home / "config/systemd/user/second-brain.service"
    assert unit.exists() == works
    if not works:
        insisted = brain("init", "--service")
        assert insisted.exit_code == 1
        assert "no bus" in insisted.output
        return
    again = json.loads(brain("init", "--service", "--json").stdout)["steps"]
    assert [step["state"] for step in again if step["about"] == "Service"] == ["unchanged"]


@pytest.mark.skipif(sys.platform != "linux", reason="the service is systemd's")
def test_a_service_may_write_its_log(brain, home: Path, vault: Path, tmp_path: Path) -> None:
    fake = tmp_path / "bin/systemctl"
    fake.write_text("#!/bin/sh\nexit 0\n")
    fake.chmod(0o755)
    words = ("--vault", str(vault), "--log-file", str(home / "logs/brain.log"))
    shown = brain("service", "install", "--dry-run", *words)
    assert f"ReadWritePaths=-{home}/logs\n" in shown.output
    assert not (home / "logs").exists()
    assert brain("service", "install", *words).exit_code == 0
    assert (home / "logs").is_dir()


@pytest.mark.skipif(sys.platform != "linux", reason="the service is systemd's")
def test_what_the_readme_says_leaves_no_trace(
    brain, home: Path, vault: Path, tmp_path: Path
) -> None:
    fake = tmp_path / "bin/systemctl"
    fake.write_text("#!/bin/sh\nexit 0\n")
    fake.chmod(0o755)
    (home / ".codex").mkdir()
    (home / ".cursor").mkdir()
    before = {path for path in home.rglob("*") if path.is_file()}
    for flags in ([], ["--profile", "work"]):
        (home / f"Notes{len(flags)}").mkdir()
        where = str(home / f"Notes{len(flags)}")
        made = brain("init", *flags, "--vault", where, "--yes")
        assert made.exit_code == 0, made.output
    assert (home / "config/systemd/user/second-brain@.service").exists()
    for flags in ([], ["--profile", "work"]):
        for tool in ("codex", "cursor"):
            assert brain("connect", tool, "--remove", *flags).exit_code == 0
        assert brain("service", "uninstall", *flags).exit_code == 0
    shutil.rmtree(home / "data/second-brain")
    shutil.rmtree(home / "config/second-brain")
    assert {path for path in home.rglob("*") if path.is_file()} == before


def test_questions_on_a_terminal(home: Path, vault: Path, tmp_path: Path) -> None:
    """The second of two vaults, after an answer that is none; no to everything else."""
    (home / "Other").mkdir()
    (home / ".cursor").mkdir()
    obsidian_knows(home, home / "Other", vault)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "second_brain", "init"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "HOME": str(home)},
    )
    os.close(theirs)
    seen = ""
    answers = [("its folder", "/nowhere/at/all"), ("its folder", "2"), ("Connect Cursor?", "n")]
    deadline = time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 0.2)[0]:
                if process.poll() is not None:
                    break
                continue
            try:
                seen += os.read(ours, 4096).decode()
            except OSError:  # the other end is closed
                break
            if answers and answers[0][0] in seen.rpartition("\x00")[2]:
                os.write(ours, f"{answers.pop(0)[1]}\n".encode())
                seen += "\x00"
        assert process.wait(30) == 0, seen
    finally:
        process.kill()
        os.close(ours)
    assert "The vault /nowhere/at/all does not exist." in seen
    assert config(home)["vault"] == str(vault)
    assert list((home / ".cursor").iterdir()) == []
