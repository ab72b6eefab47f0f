"""`brain doctor` on whole vaults: beside a daemon and without, and what `--fix` mends."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from worlds import World, serving

from second_brain.cli import doctor as command
from second_brain.cli.checkup.examination import SUBJECTS
from second_brain.instance import vault_folder

NOTE = "---\ntags: [brain]\nsecond-brain-id: {id}\n{more}---\n{text}\n"
TEMPORARY = ".Note.md.0123456789ab.second-brain.tmp"


@pytest.fixture
def world(tmp_path: Path, model_dir: Path) -> World:
    """A vault of a few notes that a daemon has read, and that no daemon serves now."""
    (tmp_path / "My Vault").mkdir()
    world = World(tmp_path / "My Vault", tmp_path / "data", model_dir)
    for number in range(3):
        text = NOTE.format(id=f"n{number}", more="", text=f"Buoy number {number}.")
        world.write(f"n{number}.md", text.encode())
    assert world.run("reindex").exit_code == 0
    return world


def findings(world: World, *arguments: str) -> list[dict[str, Any]]:
    result = world.run("doctor", "--json", *arguments)
    said = json.loads(result.stdout)
    assert result.exit_code == (0 if said["ok"] else 1), result.output
    assert said["ok"] == all(f["severity"] == "note" for f in said["findings"])
    assert set(said["checked"]) <= set(SUBJECTS)
    return list(said["findings"])


def subjects(world: World, *arguments: str) -> set[str]:
    return {f["check"] for f in findings(world, *arguments) if f["severity"] != "note"}


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_nothing_is_wrong(world: World) -> None:
    result = world.run("doctor")
    assert (result.exit_code, result.output) == (0, "")
    before = contents(world.vault)
    assert findings(world) == []
    assert contents(world.vault) == before


def test_looking_leaves_nothing_behind(world: World) -> None:
    before = set(contents(world.data))
    assert findings(world) == []
    assert set(contents(world.data)) == before


def test_a_daemon_that_runs_is_asked_and_left_alone(world: World) -> None:
    with serving(world):
        result = world.run("doctor", "--json")
        said = json.loads(result.stdout)
        assert (result.exit_code, said["findings"]) == (0, [])
        assert "daemon" in said["checked"]
        assert "port" not in said["checked"]
        (world.vault / "n2.md").write_text(NOTE.format(id="n0", more="", text="A copy."))
        assert subjects(world) == {"ids"}
        assert world.ask("GET", "/health")["ok"] is True


def test_every_kind_of_trouble_with_notes_is_named_with_its_file(world: World) -> None:
    (world.vault / "twice.md").write_text(NOTE.format(id="n0", more="", text="x"))
    (world.vault / "broken.md").write_text(NOTE.format(id="b", more="a: [1\n", text="x"))
    (world.vault / "latin.md").write_bytes(b"#brain caf\xe9")
    (world.vault / "n0 (conflicted copy 2026-01-02).md").write_text("x")
    before = contents(world.vault)
    found = {f["check"]: f for f in findings(world, "--fix")}
    wrong = {check for check, f in found.items() if f["severity"] != "note"}
    assert wrong == {"ids", "properties", "readable", "conflicts"}
    assert found["properties"]["path"] == "broken.md"
    assert found["readable"]["path"] == "latin.md"
    assert all(f["hint"] for f in found.values())
    assert contents(world.vault) == before, "not even --fix touches a note"


def test_a_broken_relation_is_found_in_the_catalogue(world: World) -> None:
    more = 'supersedes:\n  - "[[Lost plan]]"\n'
    world.write("n9.md", NOTE.format(id="n9", more=more, text="See [[To write]].").encode())
    assert world.run("reindex").exit_code == 0
    found = findings(world)
    assert [(f["severity"], f["path"]) for f in found] == [("warning", "n9.md"), ("note", None)]


def test_fix_mends_permissions_leftovers_and_the_index(world: World) -> None:
    folder = vault_folder(world.settings)
    folder.state.chmod(0o644)
    (world.data / "token").write_text("a-token\n")
    (world.data / "token").chmod(0o640)
    temporary = world.vault / TEMPORARY
    temporary.write_text("half a no")
    os.utime(temporary, (time.time() - 3600,) * 2)
    shutil.rmtree(folder.index)
    before = {f: data for f, data in contents(world.vault).items() if f != temporary}
    assert subjects(world) == {"permissions", "leftovers", "index"}
    assert temporary.exists()
    result = world.run("doctor", "--fix", "--json")
    said = json.loads(result.stdout)
    assert (result.exit_code, said["findings"]) == (0, [])
    assert len(said["mended"]) == 4
    assert "The index was built anew: 3 memories." in result.stderr
    assert folder.state.stat().st_mode & 0o777 == 0o600
    assert contents(world.vault) == before
    assert world.ask("GET", "/recall", query="buoy number 1")["results"]


def test_an_index_that_differs_from_the_catalogue(world: World) -> None:
    import sqlite3

    folder = vault_folder(world.settings)
    with sqlite3.connect(folder.catalog) as catalog:
        catalog.execute("UPDATE notes SET chunks = chunks + 1 WHERE path = 'n1.md'")
    catalog.close()
    (finding,) = findings(world)
    assert finding["message"] == "The index differs from the catalogue in 1 memories."
    assert findings(world, "--fix") == []


@pytest.mark.parametrize("name", ["catalog", "state"])
def test_a_damaged_database_is_named_and_not_touched(world: World, name: str) -> None:
    file: Path = getattr(vault_folder(world.settings), name)
    data = bytearray(file.read_bytes())
    data[4096:12288] = b"\xa5" * 8192
    file.write_bytes(data)
    assert {"catalog": "catalogue", "state": "state"}[name] in subjects(world)
    assert file.read_bytes() == data


def test_a_vault_that_is_not_there_is_one_finding(world: World) -> None:
    world.vault.rename(world.vault.with_name("away"))
    (finding,) = findings(world, "--fix")
    assert (finding["check"], finding["severity"]) == ("vault", "error")
    assert "is not there" in finding["message"]


def test_a_vault_that_lost_most_of_its_notes(world: World) -> None:
    for number in range(40):
        world.write(f"many/{number}.md", b"#brain Buoy.\n")
    assert world.run("reindex").exit_code == 0
    shutil.rmtree(world.vault / "many")
    (finding,) = findings(world, "--fix")
    assert "40 of 43 notes vanished at once" in finding["message"]
    assert "--accept-deletions" in finding["hint"]
    assert world.run("reindex", "--accept-deletions").exit_code == 0
    assert findings(world) == []


def test_settings_that_cannot_be_used_are_a_finding(brain, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[server]\nport = 'x'\n")
    result = brain("doctor", "--config", str(config))
    assert result.exit_code == 1
    assert result.stdout.startswith("error\tconfig\t\t")
    assert "server.port must be a whole number" in result.stdout
    assert brain("doctor", "--port", "x").exit_code == 1
    assert brain("doctor", "--what").exit_code == 2


def test_a_vault_that_was_never_served(brain, vault: Path, tmp_path: Path) -> None:
    data = tmp_path / "none" / "data"
    (vault / "a.md").write_text("#brain x")
    result = brain("doctor", "--vault", str(vault), "--data-dir", str(data), "--json")
    assert {f["check"] for f in json.loads(result.stdout)["findings"]} == {"model"}
    assert not data.exists(), "looking creates nothing"


def test_no_vault_at_all(brain) -> None:
    result = brain("doctor")
    assert result.exit_code == 1
    assert "error\tvault\t\tNo vault is set." in result.stdout


def test_the_screen_on_a_terminal(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "on_terminal", lambda: True)
    (world.vault / "latin.md").write_bytes(b"caf\xe9")
    result = world.run("doctor")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert "✓ vault: the vault is there, and can be read and written" in lines
    place = lines.index("! readable: latin.md: It is not UTF-8 text (line 1).")
    assert lines[place + 1].strip() == "Check its permissions, and save it as UTF-8 Markdown."
    assert lines[-1] == "1 findings."
