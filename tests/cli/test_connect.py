"""`brain connect`: every client's files, on their way in and out, with no client installed."""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from second_brain.integrations.connect.clients import TRANSPORTS, Launch, client
from second_brain.integrations.connect.places import Places

FILES = {
    "claude-code": (".claude.json", ".claude/CLAUDE.md"),
    "claude-desktop": ("config/Claude/claude_desktop_config.json", None),
    "codex": (".codex/config.toml", ".codex/AGENTS.md"),
    "gemini": (".gemini/settings.json", ".gemini/GEMINI.md"),
    "cursor": (".cursor/mcp.json", None),
    "vscode": (
        "config/Code/User/mcp.json",
        "config/Code/User/prompts/second-brain.instructions.md",
    ),
}
LAUNCH = Launch(("/b", "mcp"), ("/b", "t"), ("/b", "token", "headers"), "http://h/mcp", None)


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch, vault: Path) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("SECOND_BRAIN_VAULT", str(vault))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)


def entry(file: Path) -> dict[str, Any]:
    text = file.read_text()
    found = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    (servers,) = (found[name] for name in ("mcpServers", "mcp_servers", "servers") if name in found)
    return dict(servers["second-brain"])


def tree(home: Path) -> dict[str, bytes]:
    files = [file for file in home.rglob("*") if file.is_file() and file.name != "token"]
    return {str(file.relative_to(home)): file.read_bytes() for file in files}


@pytest.mark.parametrize("name", TRANSPORTS)
def test_a_client_is_connected_in_a_bare_home_and_leaves_nothing_behind(
    brain, home: Path, vault: Path, name: str
) -> None:
    config, guide = FILES[name]
    before = tree(home)
    dry = brain("connect", name, "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert "+++ " in dry.output
    assert tree(home) == before
    done = brain("connect", name)
    assert done.exit_code == 0, done.output
    found = entry(home / config)
    if name != "claude-code":
        assert found["args"] == ["mcp", "--vault", str(vault)]
        assert Path(found["command"]).is_absolute()
    else:
        assert found["url"] == "http://127.0.0.1:8787/mcp"
        assert found["headersHelper"].endswith("brain token headers")
    assert stat.S_IMODE((home / config).stat().st_mode) == 0o600
    token = (home / "data/second-brain/token").read_text().strip()
    assert token not in b"".join(tree(home).values()).decode() + done.output
    if guide:
        assert "`recall`" in (home / guide).read_text()
    else:
        assert "`recall`" in done.output
    after = tree(home)
    again = json.loads(brain("connect", name, "--json").stdout)
    assert {step["state"] for step in again["steps"]} == {"unchanged"}
    assert tree(home) == after
    assert f"{name}\tconnected\t" in brain("connect").output
    assert brain("connect", name, "--remove").exit_code == 0
    assert tree(home) == before


@pytest.mark.parametrize("name", TRANSPORTS)
def test_what_the_user_has_there_comes_back_to_the_byte(brain, home: Path, name: str) -> None:
    config, guide = (home / part if part else None for part in FILES[name])
    assert config is not None
    config.parent.mkdir(parents=True, exist_ok=True)
    is_toml = config.suffix == ".toml"
    config.write_bytes(b"# c\r\n[a]\r\nb = 1" if is_toml else b'{\r\n\t"a": [1 ,2], // c\r\n}')
    config.chmod(0o640)
    if guide:
        guide.parent.mkdir(parents=True, exist_ok=True)
        guide.write_bytes("---\napplyTo: x\n---\n\xff mine".encode("latin-1"))
    before = tree(home)
    done = json.loads(brain("connect", name, "--json").stdout)
    for step in done["steps"]:
        kept = Path(step["backup"])
        assert kept.read_bytes() == before[str(Path(step["file"]).relative_to(home))]
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.stat().st_mode) == 0o640
    assert brain("connect", name, "--remove").exit_code == 0
    assert tree(home) == before


def test_a_change_of_the_vault_changes_our_part_of_the_entry_alone(
    brain, home: Path, tmp_path: Path
) -> None:
    brain("connect", "gemini")
    file = home / ".gemini/settings.json"
    text = file.read_text().replace('"command"', '"trust": true,\n      "command"')
    file.write_text(text)
    other = tmp_path / "Other"
    other.mkdir()
    assert brain("connect", "gemini", "--vault", str(other)).exit_code == 0
    found = entry(file)
    assert (found["args"][-1], found["trust"]) == (str(other), True)


def test_hooks_go_into_the_settings_and_out_again(brain, home: Path) -> None:
    file = home / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text('{"model": "opus", "hooks": {"SessionEnd": []}}')
    before = tree(home)
    assert brain("connect", "claude-code", "--hooks").exit_code == 0
    settings = json.loads(file.read_text())
    assert settings["model"] == "opus"
    for event, called in (("SessionStart", "session-start"), ("SessionEnd", "session-end")):
        (group,) = settings["hooks"][event]
        assert f"brain hook {called} --vault" in group["hooks"][0]["command"]
    assert brain("connect", "claude-code", "--remove").exit_code == 0
    assert tree(home) == before


def test_a_symbolic_link_stays_one(brain, home: Path) -> None:
    real = home / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").symlink_to(real)
    assert brain("connect", "cursor").exit_code == 0
    assert (home / ".cursor/mcp.json").is_symlink()
    assert entry(real)["args"][0] == "mcp"


def test_a_broken_file_is_named_and_nothing_is_written(brain, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text('{"hooks": {\n')
    before = tree(home)
    done = brain("connect", "claude-code", "--hooks")
    assert done.exit_code == 1
    assert f"{home}/.claude/settings.json was left as it is: it is not valid JSON (line 2" in (
        done.stderr
    )
    assert tree(home) == before


def test_no_secret_of_the_file_is_in_what_a_dry_run_shows(brain, home: Path) -> None:
    file = home / ".gemini/settings.json"
    file.parent.mkdir()
    ours = {"httpUrl": "http://x/mcp", "headers": {"Authorization": "Bearer zqsecret1"}}
    servers = {"second-brain": ours, "z": {"API_TOKEN": "zqsecret2"}}
    file.write_text(json.dumps({"mcpServers": servers}, indent=2))
    done = brain("connect", "gemini", "--dry-run")
    assert "Bearer …" in done.output
    assert "zqsecret" not in done.output


def test_a_token_that_only_this_shell_knows_is_refused(
    brain, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECOND_BRAIN_AUTH_TOKEN", "mine")
    done = brain("connect", "cursor")
    assert done.exit_code == 2
    assert "which the client does not see" in done.stderr
    assert not (home / ".cursor").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cursor", "--hooks"], "has no hooks"),
        (["claude-desktop", "--transport", "http"], "cannot be connected by http"),
        (["nobody"], "Invalid value"),
    ],
)
def test_what_makes_no_sense_is_refused(brain, arguments: list[str], said: str) -> None:
    done = brain("connect", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_for_chatgpt_it_says_what_to_do(brain, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "through a tunnel" in brain("connect", "chatgpt").output
    monkeypatch.setenv("SECOND_BRAIN_PUBLIC_URL", "https://brain.example.org")
    told = json.loads(brain("connect", "chatgpt", "--json").stdout)
    assert any("https://brain.example.org/mcp" in step for step in told["to_do"])
    assert "`chatgpt`" in told["paste"]["text"]


@pytest.mark.parametrize(
    ("system", "environ", "name", "place"),
    [
        ("darwin", {}, "claude-desktop", "Library/Application Support/Claude"),
        ("darwin", {}, "vscode", "Library/Application Support/Code/User"),
        ("windows", {}, "claude-desktop", "AppData/Roaming/Claude"),
        ("windows", {"APPDATA": "/h/Away"}, "vscode", "Away/Code/User"),
        ("linux", {}, "claude-desktop", ".config/Claude"),
        ("linux", {"XDG_CONFIG_HOME": "/h/conf"}, "vscode", "conf/Code/User"),
        ("linux", {"CLAUDE_CONFIG_DIR": "/h/cc"}, "claude-code", "cc"),
        ("darwin", {"CODEX_HOME": "/h/cx"}, "codex", "cx"),
        ("windows", {}, "cursor", ".cursor"),
    ],
)
def test_each_system_has_its_places(
    system: Any, environ: dict[str, str], name: str, place: str
) -> None:
    found = client(name, Places(system, Path("/h"), environ), LAUNCH, TRANSPORTS[name][0])
    assert found.config.parent == Path("/h") / place


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("claude-code", {"type": "stdio", "command": "/b", "args": ["mcp"]}),
        ("codex", {"url": "http://h/mcp", "bearer_token_env_var": "SECOND_BRAIN_AUTH_TOKEN"}),
        ("gemini", {"url": "http://h/mcp", "type": "http"}),
        ("cursor", {"url": "http://h/mcp"}),
        ("vscode", {"type": "http", "url": "http://h/mcp"}),
    ],
)
def test_the_other_way_of_each_client(name: str, entry: dict[str, Any]) -> None:
    way = TRANSPORTS[name][1]
    assert client(name, Places("linux", Path("/h"), {}), LAUNCH, way).entry == entry


def test_where_the_clients_own_command_fails_its_file_is_edited(
    brain, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'error: unknown command add-json' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    done = brain("connect", "claude-code")
    assert done.exit_code == 0
    assert "(error: unknown command add-json); its file was edited instead." in done.output
    assert entry(home / ".claude.json")["type"] == "http"
    assert brain("connect", "claude-code", "--remove").exit_code == 0
    assert not (home / ".claude.json").exists()
