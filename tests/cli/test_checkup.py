"""Each check of `brain doctor` by itself: what it finds, and what it lets pass."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from second_brain.cli.checkup import machine, notes, places, running, stores, tools
from second_brain.index.inspection import CatalogView, Unresolved
from second_brain.instance import DaemonInfo
from second_brain.integrations.connect.places import Places
from second_brain.vault.rules import SyncRule
from unprivileged import run_unprivileged, shared_folder

RULE = SyncRule()


def no_file(path: Path) -> bool:
    return False


@pytest.mark.parametrize(
    ("place", "client"),
    [
        ("/home/ana/Dropbox/second-brain", "Dropbox"),
        ("/home/ana/Dropbox (Personal)/data", "Dropbox"),
        ("/Users/ana/Library/Mobile Documents/com~apple~CloudDocs/x", "iCloud"),
        ("/Users/ana/Library/CloudStorage/GoogleDrive-ana@x.org/My Drive/x", "Google Drive"),
        ("/Users/ana/Library/CloudStorage/OneDrive-Work/x", "OneDrive"),
        ("/home/ana/OneDrive - Some Company/x", "OneDrive"),
        ("/home/ana/Nextcloud", "Nextcloud"),
        ("/home/ana/.local/share/second-brain", None),
        ("/home/ana/notes from dropbox", None),
        ("/srv/megaphone/x", None),
    ],
)
def test_folders_of_sync_clients_are_known_by_name(place: str, client: str | None) -> None:
    assert places.synced_by(Path(place), no_file) == client


def test_folders_of_sync_clients_are_known_by_their_marks(tmp_path: Path) -> None:
    (tmp_path / "synced" / "deep").mkdir(parents=True)
    assert places.synced_by(tmp_path / "synced" / "deep") is None
    (tmp_path / "synced" / ".stfolder").mkdir()
    assert places.synced_by(tmp_path / "synced" / "deep") == "Syncthing"


def test_data_inside_the_vault_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    (tmp_path / "vault").mkdir()
    inside = tmp_path / "link" / "data"
    (finding,) = places.data_folder(inside, tmp_path / "vault", [])
    assert (finding.severity, finding.check) == ("error", "data")
    assert list(places.data_folder(tmp_path / "data", tmp_path / "vault", [])) == []


@pytest.mark.parametrize("state", ["none", "missing", "a file", "empty", "with notes"])
def test_the_vaults_folder(tmp_path: Path, state: str) -> None:
    root = tmp_path / "vault"
    if state == "a file":
        root.write_text("x")
    elif state in ("empty", "with notes"):
        root.mkdir()
    if state == "with notes":
        (root / "a.md").write_text("x")
    found = list(places.vault(None if state == "none" else root, "Second Brain"))
    severities = {"empty": ["warning"], "with notes": []}
    assert [finding.severity for finding in found] == severities.get(state, ["error"])


def test_a_vault_that_cannot_be_written_to() -> None:
    with shared_folder() as root:
        (root / "Second Brain").mkdir()
        (root / "Second Brain").chmod(0o555)
        (message,) = run_unprivileged(
            lambda: [finding.message for finding in places.vault(root, "Second Brain")]
        )
    assert "Second Brain cannot be written to" in message


def test_secrets_that_others_can_read(tmp_path: Path) -> None:
    for name, mode in (("token", 0o644), ("state.db", 0o600), ("catalog.db", 0o640)):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(mode)
    files = [tmp_path / name for name in ("token", "state.db", "catalog.db", "none")]
    found = list(places.permissions(files))
    assert [finding.path for finding in found] == [str(files[0]), str(files[2])]
    assert {finding.mend for finding in found} == {"chmod"}
    assert "mode 0644" in found[0].message


@pytest.mark.parametrize(
    ("text", "wrong"), [(b"abc\n", 0), (b"", 1), (b"two words", 1), (b"\xff", 1), (None, 0)]
)
def test_a_token_that_is_none(tmp_path: Path, text: bytes | None, wrong: int) -> None:
    if text is not None:
        (tmp_path / "token").write_bytes(text)
    assert len(list(places.token(tmp_path / "token"))) == wrong


@pytest.mark.parametrize(("free", "severity"), [(5, "error"), (500, "warning"), (5000, None)])
def test_room_on_the_disk(tmp_path: Path, free: int, severity: str | None) -> None:
    both = [("the data", tmp_path / "not" / "yet"), ("the vault", tmp_path)]
    found = list(places.room(both, lambda place: free * places.MB))
    assert [finding.severity for finding in found] == ([severity] if severity else [])


def test_leftovers_are_old_files_of_ours_only(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".obsidian").mkdir()
    name = ".Note.md.0123456789ab.second-brain.tmp"
    for folder in (tmp_path, tmp_path / "deep", tmp_path / ".obsidian"):
        (folder / name).write_text("x")
    (tmp_path / ".Note.md.swp").write_text("x")
    now = (tmp_path / name).stat().st_mtime
    assert list(places.leftovers(tmp_path, now + 10)) == []
    found = list(places.leftovers(tmp_path, now + 100))
    assert [finding.path for finding in found] == [name, f"deep/{name}"]


@pytest.mark.parametrize(
    ("allowed", "severities"), [("3", ["error"]), ("6", ["warning"]), ("100", []), ("x", [])]
)
def test_how_many_folders_can_be_watched(
    tmp_path: Path, allowed: str, severities: list[str]
) -> None:
    for name in ("a/b", "c/d"):
        (tmp_path / "vault" / name).mkdir(parents=True)
    limits = tmp_path / "limits"
    limits.mkdir()
    (limits / "max_user_watches").write_text(allowed)
    found = list(machine.watches(tmp_path / "vault", limits))
    assert [finding.severity for finding in found] == severities
    assert list(machine.watches(tmp_path / "vault", tmp_path / "none")) == []


def test_a_port_that_is_taken() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        number = other.getsockname()[1]
        (finding,) = machine.port("127.0.0.1", number)
        assert f"Port {number} is taken" in finding.message
    assert list(machine.port("127.0.0.1", number)) == []
    (finding,) = machine.port("host.invalid", number)
    assert finding.severity == "error"


# Notes


@pytest.mark.parametrize(
    ("data", "checks"),
    [
        (b"---\nsecond-brain-id: a\n---\nText", []),
        (b"plain text", []),
        (b"a\0b", ["readable"]),
        (b"caf\xe9", ["readable"]),
        (b"---\na: [1\nb: 2\n---\n", ["properties"]),
        (b"---\na: 1\na: 2\n---\n", ["properties"]),
        (b"---\na: 1\nno end", ["properties"]),
        (b"---\n", []),
    ],
)
def test_what_is_wrong_with_a_note(data: bytes, checks: list[str]) -> None:
    _, found = notes.examine("n.md", data)
    assert [finding.check for finding in found] == checks


@pytest.mark.parametrize(
    ("line", "id"), [("second-brain-id: x-1", "x-1"), ("Second-Brain-ID: 12", "12"),
                     ("second-brain-id:", None), ("second-brain-id: true", None), ("a: 1", None)]
)  # fmt: skip
def test_the_id_that_a_note_states(line: str, id: str | None) -> None:
    assert notes.examine("n.md", f"---\n{line}\n---\n".encode())[0] == id


def test_notes_that_share_an_id_and_conflict_copies(vault: Path) -> None:
    text = "---\ntags: [brain]\nsecond-brain-id: one\n---\nText\n"
    copies = ["a (conflicted copy 2026-01-02).md", "a.sync-conflict-20260102-030405-ABCDEFG.md"]
    for name in ("a.md", "b.md", *copies):
        (vault / name).write_text(text)
    before = {file: file.read_bytes() for file in vault.iterdir()}
    found = list(notes.all_notes(vault, RULE))
    assert sorted(finding.check for finding in found) == ["conflicts", "conflicts", "ids"]
    (shared,) = (finding for finding in found if finding.check == "ids")
    assert "2 notes have the second-brain-id one: a.md, b.md" in shared.message
    assert {file: file.read_bytes() for file in vault.iterdir()} == before


def test_a_note_that_may_not_be_read() -> None:
    with shared_folder() as root:
        (root / "a.md").write_text("x")
        (root / "a.md").chmod(0o000)
        found = run_unprivileged(
            lambda: [(f.check, f.path, f.message) for f in notes.all_notes(root, RULE)]
        )
    assert [finding[:2] for finding in found] == [("readable", "a.md")]
    assert "no permission" in found[0][2]


# Stores


def view(paths: int = 0, unresolved: tuple[Unresolved, ...] = ()) -> CatalogView:
    return CatalogView(frozenset(f"{n}.md" for n in range(paths)), {}, unresolved, None)


def test_most_of_the_notes_missing_is_an_error_a_few_are_not() -> None:
    few = list(stores.absence(view(50), frozenset(f"{n}.md" for n in range(45))))
    assert [finding.severity for finding in few] == ["note"]
    (finding,) = stores.absence(view(50), frozenset(f"{n}.md" for n in range(20)))
    assert finding.severity == "error"
    assert "30 of 50 notes vanished" in finding.message
    assert list(stores.absence(view(50), view(50).paths)) == []


def test_a_relation_that_leads_nowhere_is_wrong_a_link_in_the_text_is_not() -> None:
    lost = (Unresolved("a.md", "Old plan", "supersedes"), Unresolved("a.md", "To write", None))
    relation, text = stores.links(view(unresolved=lost))
    assert (relation.severity, relation.path) == ("warning", "a.md")
    assert "[[Old plan]]" in relation.message
    assert not text.is_wrong
    assert "To write" in text.message


def test_counts_of_passages_are_compared_by_memory() -> None:
    assert stores.differing({"a": 1, "b": 2}, {"a": 1, "b": 2}) == 0
    assert stores.differing({"a": 1, "b": 2, "c": 0}, {"a": 2, "d": 1}) == 3


# A running daemon


def report(**index: object) -> dict[str, object]:
    known = {"state": "ready", "rows": 5, "pending": 0, "scanning": False, "rebuilding": False}
    return {
        "problems": [],
        "vault": {"ok": True, "watching": True},
        "index": {**known, **index},
    }


INFO = DaemonInfo(7, "http://127.0.0.1:1", "/vault", "0.1.0", 0)


def test_a_daemon_that_is_well_and_of_this_version() -> None:
    assert list(running.health(report(), INFO, "0.1.0")) == []
    (finding,) = running.health(report(), INFO, "0.2.0")
    assert "Restart" in finding.hint


def test_problems_of_the_daemon_are_findings_those_of_files_are_not() -> None:
    kinds = ["vault-offline", "model-missing", "index-unavailable", "index-rebuilding",
             "conflict-copy", "note-problem", "unreadable-note", "unreadable", "more"]  # fmt: skip
    problems = [{"kind": kind, "path": None, "message": kind, "hint": "h"} for kind in kinds]
    found = list(running.health({**report(), "problems": problems}, INFO, "0.1.0"))
    assert [(finding.check, finding.severity, finding.mend) for finding in found] == [
        ("vault", "error", None),
        ("model", "error", "prepare-model"),
        ("index", "error", None),
        ("index", "note", None),
    ]


@pytest.mark.parametrize(
    ("index", "wrong"),
    [
        ({}, True),
        ({"rows": 7}, False),
        ({"pending": 2}, False),
        ({"scanning": True}, False),
        ({"rebuilding": True}, False),
        ({"state": "building"}, False),
    ],
)
def test_an_index_at_rest_holds_what_the_catalogue_knows(
    index: dict[str, object], wrong: bool
) -> None:
    assert (running.index_differs(report(**index), 7) is not None) == wrong


def test_tools_that_would_not_find_the_brain_are_named(tmp_path: Path) -> None:
    here = Places("linux", tmp_path, {})
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".gemini").mkdir()
    gone = {"mcpServers": {"second-brain": {"command": "/gone/brain", "args": ["mcp"]}}}
    (tmp_path / ".cursor/mcp.json").write_text(json.dumps(gone))
    other = {"mcpServers": {"second-brain": {"type": "http", "url": "http://localhost:9/mcp"}}}
    (tmp_path / ".claude.json").write_text(json.dumps(other))
    (tmp_path / ".gemini/settings.json").write_text("{")
    found = {Path(f.path or "").name: f for f in tools.connected(here, "http://127.0.0.1:8787")}
    assert found["mcp.json"].message == "Cursor starts /gone/brain, which is not there."
    assert found["mcp.json"].hint == "Run: brain connect cursor"
    assert "calls http://localhost:9/mcp" in found[".claude.json"].message
    assert found["settings.json"].severity == "note"
    other["mcpServers"]["second-brain"]["url"] = "http://localhost:8787/mcp"
    (tmp_path / ".claude.json").write_text(json.dumps(other))
    paths = {f.path for f in tools.connected(here, "http://127.0.0.1:8787")}
    assert str(tmp_path / ".claude.json") not in paths
