"""The README says what the program does: settings, commands, tools."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from second_brain.cli.main import main
from second_brain.config import markdown_table

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_configuration_table_is_the_programs_own() -> None:
    assert markdown_table() in README, "run: make reference"


def test_the_reference_is_written_into_its_place(tmp_path: Path) -> None:
    old = re.sub(r"^\| `server.port` .*\n", "", README, flags=re.MULTILINE)
    assert old != README
    file = tmp_path / "README.md"
    file.write_text(old, encoding="utf-8")
    command = [sys.executable, "-m", "second_brain.config", str(file)]
    subprocess.run(command, check=True)
    assert file.read_text(encoding="utf-8") == README
    file.write_text("no table", encoding="utf-8")
    assert subprocess.run(command, check=False, capture_output=True).returncode == 1


def test_every_command_is_in_the_table_of_commands() -> None:
    import click

    listed = re.findall(r"^\| `brain ([a-z ]+?)(?: [A-Z]+)?` \|", README, re.MULTILINE)
    context = click.Context(main)
    for command in listed:
        group: click.Command | None = main
        for name in command.split():
            assert isinstance(group, click.Group)
            group = group.get_command(context, name)
            assert group is not None, command
    assert {command.split()[0] for command in listed} == set(main.list_commands(context)) - {
        "version"
    }


def test_the_make_targets_that_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_variables_that_it_names_are_settings() -> None:
    known = set(re.findall(r"SECOND_BRAIN_\w+", markdown_table())) | {
        "SECOND_BRAIN_CONFIG",
        "SECOND_BRAIN_PROFILE",
    }
    assert set(re.findall(r"SECOND_BRAIN_\w+", README)) <= known


def test_the_tests_that_it_names_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::([\w:]+)`", README)
    assert named
    for file, name in named:
        scope: list[ast.stmt] = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
        for part in name.split("::"):
            found = [each for each in scope if getattr(each, "name", None) == part]
            assert len(found) == 1, f"{file} has no {name}"
            scope = getattr(found[0], "body", [])


def test_the_tools_that_it_lists_are_the_servers() -> None:
    from second_brain.server.tool_list import TOOLS

    listed = README.split("An agent's tools:")[1].split(".")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == {tool.name for tool in TOOLS}
