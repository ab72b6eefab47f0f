"""The group of commands: help, exit codes, and that it starts at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from second_brain import __version__
from second_brain.cli.main import _COMMANDS

HEAVY = ("lancedb", "torch", "onnxruntime", "mcp", "numpy", "pyarrow", "starlette", "rich", "yaml")


def test_help_names_every_command_and_the_exit_codes(brain) -> None:
    result = brain("--help")
    assert result.exit_code == 0
    for command in ("serve", "status", "log", "show", "undo", "reindex", "mcp", "model", "token"):
        assert f"\n  {command} " in result.output
    assert "Exit codes: 0 done; 1 it did not work, or nothing was" in result.output


@pytest.mark.parametrize(
    "command",
    [*_COMMANDS, "model prepare", "model list", "model use", "token show", "clients revoke"],
)
def test_every_command_has_help(brain, command: str) -> None:
    result = brain(*command.split(), "--help")
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: brain {command} ")


def test_serve_help_shows_variables_and_defaults(brain) -> None:
    output = " ".join(brain("serve", "--help").output.split())
    assert "--port N Port to listen on. [SECOND_BRAIN_PORT; default: 8787]" in output
    assert "--mode tagged|all" in output


@pytest.mark.parametrize(
    "arguments", [["--help"], ["serve", "--help"], ["log", "--help"], ["version"]]
)
def test_light_commands_import_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import json, sys\n"
        "from second_brain.cli.main import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert set(json.loads(ran.stderr)) & set(HEAVY) == set()


def test_the_shell_completes_commands_and_options() -> None:
    def completed(words: str, place: int) -> str:
        shell = {"_BRAIN_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        code = "from second_brain.cli.main import main; main(prog_name='brain')"
        return subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **shell},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert completed("brain reca", 1) == "plain,recall\n"
    assert "plain,--profile\n" in completed("brain recall --pro", 2)
    assert "plain,episodic\n" in completed("brain recall --kind ", 3)


def test_what_asks_the_daemon_imports_only_what_it_takes() -> None:
    code = "import sys, second_brain.cli.main, second_brain.cli.recall; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    slow = {*HEAVY, "asyncio", "email", "http.client", "httpx2", "logging", "ssl"}
    assert set(ran.stdout.split()) & slow == set()


def test_version(brain) -> None:
    assert __version__ in brain("version").output.splitlines()[0]
    assert __version__ in brain("--version").output


def test_the_module_is_the_command() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "second_brain", "--help"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("Usage: brain ")


def test_an_unknown_command_exits_with_2(brain) -> None:
    result = brain("serv")
    assert result.exit_code == 2
    assert "serv" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--vault", "{tmp}/none"], "The vault {tmp}/none does not exist."),
        (["--vault", "{tmp}/file"], "The vault {tmp}/file is not a folder."),
        (["--vault", "{vault}", "--port", "x"], '--port must be a whole number, but is "x".'),
        (["--vault", "{vault}", "--port", "0"], "--port must be between 1 and 65535, but is 0."),
        (["--vault", "{vault}", "--mode", "x"], '--mode must be tagged or all, but is "x".'),
        (["--config", "{tmp}/none.toml"], "--config: there is no file {tmp}/none.toml."),
        (
            ["--config", "{tmp}/bad.toml"],
            '{tmp}/bad.toml, line 2: server.port must be a whole number, but is "x".',
        ),
        (
            ["--vault", "{vault}", "--data-dir", "{vault}/data"],
            "The data directory {vault}/data lies inside the vault {vault}; "
            "choose another with --data-dir.",
        ),
    ],
)
def test_a_wrong_setting_is_one_sentence_and_exit_code_2(
    brain, tmp_path: Path, vault: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "bad.toml").write_text("[server]\nport = 'x'\n")
    places = {"tmp": str(tmp_path), "vault": str(vault)}
    result = brain("serve", *(argument.format(**places) for argument in arguments))
    assert result.exit_code == 2
    assert result.stderr == f"brain: {said.format(**places)}\n"
    assert result.stdout == ""


def test_serve_without_a_vault_says_how_to_set_one(brain) -> None:
    result = brain("serve")
    assert result.exit_code == 2
    assert result.stderr.startswith("brain: No vault is set: pass --vault DIR")
    assert result.stderr.count("\n") == 1
