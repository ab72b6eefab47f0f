"""The commands that write and read memories: alike beside a daemon and without one."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
import pytest
from worlds import World, serving

from second_brain.cli import plain, texts
from second_brain.cli.main import main
from second_brain.cli.overview import as_dot
from second_brain.instance import running_daemon, vault_folder


@pytest.fixture(scope="module", params=["daemon", "alone"])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model_dir: Path
) -> Iterator[World]:
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "My Vault").mkdir()
    world = World(folder / "My Vault", folder / "data", model_dir)
    with serving(world) if request.param == "daemon" else nullcontext():
        yield world


def remembered(world: World, *arguments: str, text: str | None = None) -> str:
    result = world.run("remember", *arguments, input=text)
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def test_a_text_is_remembered_recalled_changed_and_forgotten(world: World) -> None:
    id = remembered(world, "-t", "boat", "--title", "Keel", "The keel", "is lead.")
    file = world.vault / "Second Brain/Keel.md"
    assert "The keel is lead." in file.read_text()

    found = world.run("recall", "what is the keel made of?", "-k", "3")
    assert found.exit_code == 0, found.output
    first = found.stdout.splitlines()[0].split("\t")
    assert first[1] == id
    assert first[3:] == ["Keel", "Second Brain/Keel.md", "The keel is lead."]
    assert float(first[0]) > 0

    assert world.run("append", id[:8], "Cast in 1978.").exit_code == 0
    assert "Cast in 1978." in world.run("get", id[:8]).stdout
    assert world.run("update", id[:8], input="The keel is iron.\n").exit_code == 0
    assert world.run("get", id).stdout.strip() == "The keel is iron."
    assert json.loads(world.run("get", id, "--json").stdout)["tags"] == ["boat"]

    listed = world.run("list", "-n", "1", "--tag", "boat").stdout.split("\t")
    assert listed[0] == id
    assert world.run("tags").stdout.split() == ["boat"]
    assert json.loads(world.run("stats", "--json").stdout)["count"] == 1
    assert world.run("open", id[:8], "--print").stdout.startswith(
        "obsidian://open?vault=My%20Vault"
    )

    assert world.run("forget", id[:8]).exit_code == 0
    assert not file.exists()
    assert world.run("get", id).exit_code == 1
    assert world.run("list").stdout == ""
    nothing = world.run("recall", "keel")
    assert nothing.exit_code == 1
    assert "There are no memories yet." in nothing.stderr


def test_a_duplicate_is_not_stored_and_says_so(world: World) -> None:
    id = remembered(world, text="The anchor weighs 20 kg.\n")
    again = world.run("remember", "The anchor weighs 20 kg.")
    assert again.exit_code == 1
    assert id in again.stderr
    assert again.stdout == ""


def beside_daemon(world: World) -> bool:
    return running_daemon(vault_folder(world.settings)) is not None


def test_memories_are_linked_shown_and_unlinked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = remembered(world, "--title", "Old plan", "We sail to Brest in May.")
    new = remembered(world, "--title", "New plan", "In June it will be Roscoff instead.")
    assert world.run("link", new[:10], old[:10], "--type", "supersedes").exit_code == 0
    assert "[[Old plan]]" in (world.vault / "Second Brain/New plan.md").read_text()
    row = world.run("connections", new, "--type", "supersedes").stdout.rstrip("\n").split("\t")
    assert row[2:] == ["explicit", old, "Old plan", "Second Brain/Old plan.md"]

    graph = json.loads(world.run("graph", old).stdout)
    assert {old, new} <= {node["id"] for node in graph["nodes"]}
    opened: list[str] = []
    monkeypatch.setattr(click, "launch", lambda url: opened.append(url) or 0)
    shown = world.run("graph", "--open", old[:10])
    if beside_daemon(world):
        assert shown.exit_code == 0
        assert opened[0].startswith("http://127.0.0.1:")
        assert opened[0].endswith(f"/#/graph?node={old}&near=1")
    else:
        assert shown.exit_code == 1
        assert "Start one: brain serve" in shown.stderr
    drawn = world.run("graph", "--dot").stdout
    assert f'"{new}" -> "{old}" [label="supersedes"];' in drawn

    assert world.run("unlink", new, old, "--type", "supersedes").stdout == "Removed 1 relation.\n"
    assert world.run("connections", new, "--type", "supersedes").stdout == ""
    assert world.run("link", new, old, "--type", "likes").exit_code == 2


def test_everything_is_exported_as_json_and_as_notes(world: World, tmp_path: Path) -> None:
    id = remembered(world, "--title", "Mooring", "Buoy 14 is ours.")
    exported = json.loads(world.run("export").stdout)
    assert exported["version"] == 2
    assert id in {entry["id"] for entry in exported["entries"]}
    assert world.run("export", "-o", str(tmp_path / "all.json")).exit_code == 0
    written = json.loads((tmp_path / "all.json").read_text())
    assert written["entries"] == exported["entries"]

    packed = tmp_path / "notes.zip"
    assert world.run("export", "-o", str(packed)).exit_code == 0
    with zipfile.ZipFile(packed) as notes:
        path = "Second Brain/Mooring.md"
        assert notes.read(path) == (world.vault / path).read_bytes()
        assert len(notes.namelist()) == len(exported["entries"])
    again = world.run("export", "-o", str(packed))
    assert again.exit_code == 1
    assert "is there already" in again.stderr
    nowhere = world.run("export", "-o", str(tmp_path / "no" / "all.json"))
    assert nowhere.exit_code == 1


def test_days_limit_what_is_found(world: World) -> None:
    id = remembered(world, "--title", "Rigging", "The shrouds were replaced.")
    assert id in world.run("list", "--after", "2020-01-01").stdout
    assert id not in world.run("list", "--before", "2020-01-01").stdout
    assert id not in world.run("recall", "shrouds", "--before", "2020-01-01 12:30").stdout
    assert world.run("list", "--after", "yesterday-ish").exit_code == 2


def test_what_is_wrong_is_said_in_a_sentence(world: World) -> None:
    assert world.run("remember").exit_code == 2
    assert world.run("remember", input="  \n").exit_code == 2
    for command, *rest in (
        ["get"],
        ["forget"],
        ["append", "x"],
        ["connections"],
        ["open", "--print"],
    ):
        result = world.run(command, "no-such-id", *rest)
        assert result.exit_code == 1, result.output
        assert result.stderr == "brain: No entry found with ID: no-such-id\n"
    assert world.run("recall").exit_code == 2
    assert world.run("recall", "x", "-k", "21").exit_code == 2


def test_an_edit_in_the_editor_never_overwrites_what_came_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    id = remembered(world, "--title", "Sails", "The genoa is torn.")
    shown: list[str] = []

    class Person:
        """At a terminal, with an editor that first `meanwhile` happens in."""

        meanwhile: Any = None
        types = "The genoa is mended."

        def edit(self, template: str, **_: object) -> str:
            shown.append(template)
            if self.meanwhile is not None:
                self.meanwhile()
            return self.types

    person = Person()
    monkeypatch.setattr(texts.click, "edit", person.edit)
    monkeypatch.setattr("second_brain.cli.update._by_hand", lambda text: not text)
    monkeypatch.setattr(texts, "_piped", lambda: False)
    assert world.run("update", id).exit_code == 0
    assert shown == [world.ask("GET", "/get", id=id)["content"].replace("mended", "torn")]
    assert "The genoa is mended." in world.run("get", id).stdout

    person.types = "The genoa is sold."
    file = world.vault / "Second Brain/Sails.md"
    person.meanwhile = lambda: file.write_bytes(file.read_bytes() + b"It cost 90 euros.\n")
    result = world.run("update", id)
    assert result.exit_code == 1
    assert "was changed while you edited it" in result.stderr
    kept = Path(result.stderr.rsplit(" ", 1)[1].rstrip(".\n"))
    assert kept.read_text() == "The genoa is sold."
    assert "90 euros" in file.read_text()
    assert "The genoa is mended." in file.read_text()


def test_a_person_sees_blocks_instead_of_lines(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remembered(world, "--title", "Winch", "-t", "boat/deck", "Greased\x1b[31m in March.")
    monkeypatch.setattr("second_brain.cli.entries.on_terminal", lambda: True)
    monkeypatch.setattr(plain, "on_terminal", lambda: True)
    shown = world.run("recall", "--top", "1", "winch grease").stdout
    assert shown.splitlines()[0].split("  ")[1] == "Winch"
    assert "#boat/deck" in shown
    assert "Greased" in shown
    assert "\x1b" not in shown
    assert f"{id}  Second Brain/Winch.md" in shown


def test_a_label_cannot_break_out_of_a_drawing() -> None:
    node = {"id": "a", "label": 'x"];\nevil [label="\\'}
    drawn = as_dot({"nodes": [node], "edges": []})
    assert drawn.splitlines()[2] == '  "a" [label="x\\"]; evil [label=\\"\\\\"];'


def test_the_page_of_help_names_every_command(world: World) -> None:
    page = world.run("--help").stdout
    assert isinstance(main, click.Group)
    for name in main.list_commands(click.Context(main)):
        assert f"\n  {name} " in page
