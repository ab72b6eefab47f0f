"""`brain log`, `show`, `undo` and `reindex`: alike beside a daemon and without one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from worlds import World, serving

from second_brain.cli import plain
from second_brain.instance import DaemonLock, vault_folder

USERS = b"\xef\xbb\xbf---\r\ntags: [brain]\r\n---\r\n# Mast\r\n\r\nIt is spruce.\r\n"


@pytest.fixture(scope="module", params=["daemon", "alone"])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model_dir: Path
) -> Iterator[World]:
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "My Vault").mkdir()
    world = World(folder / "My Vault", folder / "data", model_dir)
    with serving(world) if request.param == "daemon" else nullcontext():
        yield world


def until(check: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def remembered(world: World, content: str, **fields: str) -> str:
    return str(world.ask("POST", "/capture", content=content, **fields)["id"])


def test_the_log_says_who_wrote_what_and_when(world: World) -> None:
    id = remembered(world, "The keel is lead.", title="Keel", source="ios")
    world.ask("POST", "/append", id=id, addition="Cast in 1978.")
    result = world.run("log", id)
    assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [row[2:4] for row in rows] == [["brain", "append"], ["ios", "capture"]]
    assert [row[5:] for row in rows] == [["Second Brain/Keel.md", id, ""]] * 2
    assert rows[0][4] == "append to “Keel”"
    assert int(rows[0][0]) > int(rows[1][0])
    assert rows[0][1][:3] == "202"

    assert world.run("log", id[:8], "-n", "1").stdout == "\t".join(rows[0]) + "\n"
    as_json = json.loads(world.run("log", id, "--json").stdout)
    assert [write["n"] for write in as_json["writes"]] == [int(row[0]) for row in rows]
    assert world.run("log", "no-such-id").stdout == ""
    assert world.run("log", "-n", "0").exit_code == 2


def test_an_unclear_id_is_refused_with_the_ids_it_could_be(world: World) -> None:
    for name in ("oar-1", "oar-2"):
        properties = f"tags: [brain]\nsecond-brain-id: {name}\n"
        world.write(f"{name}.md", f"---\n{properties}---\nIt is ash.\n".encode())
    until(lambda: not any(world.run("show", name).exit_code for name in ("oar-1", "oar-2")))
    result = world.run("show", "oar-")
    assert result.exit_code == 1
    assert result.stderr == "brain: Several ids begin with oar-: oar-1, oar-2\n"


def test_a_text_from_before_is_shown_to_the_byte(world: World) -> None:
    id = remembered(world, "The mast is spruce.", title="Mast")
    file = world.vault / "Second Brain/Mast.md"
    before = file.read_bytes()
    world.ask("POST", "/append", id=id, addition="It is varnished.\r\nTwice.")
    after = file.read_bytes()
    n = world.ask("GET", "/history", id=id, n=1)["writes"][0]["n"]
    assert world.run("show", id, "--at", str(n)).stdout_bytes == before
    assert world.run("show", id[:9], "--at", str(n), "--after").stdout_bytes == after
    assert world.run("show", id).stdout_bytes == after
    found = json.loads(world.run("show", id, "--at", str(n), "--json").stdout)
    wanted = {"n": n, "id": id, "path": "Second Brain/Mast.md", "side": "before"}
    assert found == {**wanted, "content": before.decode(), "encoding": "utf-8"}


def test_a_text_that_is_not_there(world: World) -> None:
    id = remembered(world, "The cat is called Salomé.", title="Cat")
    n = world.ask("GET", "/history", id=id)["writes"][0]["n"]
    result = world.run("show", id, "--at", str(n))
    assert result.exit_code == 1
    assert result.stderr == f"brain: There is no text before write {n}: it made the note.\n"
    for arguments in (
        ["show", "nobody"],
        ["show", id, "--at", "99999"],
        ["show", "x", "--at", str(n)],
    ):
        result = world.run(*arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith("brain: ")
    assert world.run("show", id, "--after").exit_code == 2


def test_a_write_is_undone_and_the_users_later_edit_stays(world: World) -> None:
    id = remembered(world, "# Deck\n\nIt is teak.\n", title="Deck")
    file = world.vault / "Second Brain/Deck.md"
    world.ask("POST", "/append", id=id, addition="Scrubbed in May.")
    n = world.ask("GET", "/history", id=id, n=1)["writes"][0]["n"]
    world.write("Second Brain/Deck.md", file.read_bytes().replace(b"# Deck", b"# The deck"))
    result = world.run("undo", str(n))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"Undone: write {n} of Second Brain/Deck.md.\n"
    assert b"# The deck\n\nIt is teak.\n" in file.read_bytes()
    assert b"Scrubbed" not in file.read_bytes()
    (undoing, undone, _) = world.ask("GET", "/history", id=id)["writes"]
    assert (undoing["client"], undoing["tool"], undone["undone"]) == ("brain", "undo", True)
    again = world.run("undo", str(n))
    assert again.exit_code == 1
    assert f"write {n} is already undone" in again.stderr
    as_json = json.loads(world.run("undo", str(undoing["n"]), "--json").stdout)
    assert as_json["path"] == "Second Brain/Deck.md"
    assert b"Scrubbed" in file.read_bytes()


def test_an_undo_that_would_take_the_users_words_is_refused(world: World) -> None:
    id = remembered(world, "The galley is small.", title="Galley")
    file = world.vault / "Second Brain/Galley.md"
    n = world.ask("GET", "/history", id=id)["writes"][0]["n"]
    changed = file.read_bytes() + b"\nMy own words."
    world.write("Second Brain/Galley.md", changed)
    result = world.run("undo", str(n))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("brain: Second Brain/Galley.md was changed since it was made")
    assert file.read_bytes() == changed
    assert world.run("undo", "99999").exit_code == 1


def test_the_index_is_built_anew(world: World) -> None:
    id = remembered(world, "The bilge pump is electric.", title="Pump")
    result = world.run("reindex")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("The index was built anew: ")
    assert "words only" not in result.stdout
    found = world.ask("GET", "/recall", query="electric pump")["results"]
    assert id in [hit["id"] for hit in found]
    done = json.loads(world.run("reindex", "--json").stdout)
    assert done["ok"] is True
    assert done["memories"] == world.ask("GET", "/count")["count"]


def test_deletions_are_accepted_only_when_the_user_says_so(world: World) -> None:
    world.vault.joinpath("Many").mkdir()
    for number in range(60):
        world.write(f"Many/{number:02}.md", b"#brain Buoy number %d.\n" % number)
    until(lambda: world.ask("GET", "/count")["count"] >= 60)
    result = world.run("reindex")
    assert result.exit_code == 0, result.output
    before = world.ask("GET", "/count")["count"]
    (world.vault / "Many").rename(world.data / "Many")
    until(lambda: world.ask("GET", "/health")["vault"]["offline"])
    refused = world.run("reindex")
    assert refused.exit_code == 1
    assert "brain reindex --accept-deletions" in refused.stderr
    assert world.ask("GET", "/count")["count"] == before, "nothing is forgotten by itself"
    result = world.run("reindex", "--accept-deletions")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[:2] == ["Forgotten, as deleted: 60 notes.", "Many/00.md"]
    assert world.ask("GET", "/count")["count"] == before - 60
    nothing = world.run("reindex", "--accept-deletions")
    assert nothing.stdout == "No note is held back as missing; nothing was forgotten.\n"


@pytest.mark.parametrize("command", ["log", "show x", "undo 1", "reindex"])
def test_neither_a_daemon_nor_a_vault(brain, command: str) -> None:
    result = brain(*command.split())
    assert result.exit_code == 2
    assert result.stderr.startswith("brain: No vault is set")


def test_a_vault_that_another_command_has_open(brain, vault: Path, home: Path) -> None:
    from second_brain.config import load_settings

    with DaemonLock(vault_folder(load_settings({"vault": str(vault)}))):
        result = brain("log", "--vault", str(vault))
    assert result.exit_code == 2
    assert "Another daemon already serves this vault" in result.stderr


@pytest.mark.parametrize("command", ["log", "show", "undo", "reindex"])
def test_help_tells_the_exit_codes(brain, command: str) -> None:
    output = brain(command, "--help").stdout
    assert output.startswith(f"Usage: brain {command} ")
    assert "Exit codes: 0 " in output


def test_a_terminal_gets_a_table_without_anything_harmful(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plain, "on_terminal", lambda: True)
    plain.print_rows(("n", "what"), [(1, "a[bold]b\x1b[31m"), (2, "two\nlines\u202e")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["n", "what"]
    assert [line.rstrip() for line in lines[1:]] == ["1  a[bold]b [31m", "2  two lines"]
