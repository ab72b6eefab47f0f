"""What the vault holds, whatever lies in it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from second_brain.errors import VaultOffline
from second_brain.vault.rules import SyncRule
from second_brain.vault.scan import Scan, scan
from second_brain.vault.stamps import stamp_of
from unprivileged import run_unprivileged, shared_folder


def everything(path: str) -> str | None:
    return None


def paths(result: Scan) -> list[str]:
    return [each.path for each in result.found]


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def test_markdown_files_with_their_stamps_and_nothing_hidden(tmp_path: Path) -> None:
    write(
        tmp_path,
        "b.md",
        "a/c.MD",
        "a/x.txt",
        ".obsidian/h.md",
        ".trash/t.md",
        "a/.hid.md",
        "été 🚀.md",
    )
    result = scan(tmp_path, everything)
    assert paths(result) == ["a/c.MD", "b.md", "été 🚀.md"]
    assert result.found[0].stamp == stamp_of((tmp_path / "a/c.MD").stat())
    assert not result.skipped
    assert not result.unreadable


def test_the_rule_decides_and_a_folder_is_named_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        "Templates/Daily.md",
        "Templates/sub/x.md",
        "a/node_modules/p/README.md",
        "Private/p.md",
        "ok.md",
    )
    rule = SyncRule(templates=("Templates",), exclude=("Private/",))
    result = scan(tmp_path, rule.path_reason, folder_reason=rule.folder_reason)
    assert paths(result) == ["ok.md"]
    assert sorted(each.path for each in result.skipped) == [
        "Private/p.md",
        "Templates",
        "a/node_modules",
    ]
    assert all(each.reason for each in result.skipped)


def test_symbolic_links_and_loops_are_named_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    write(root, "real/n.md")
    write(outside, "secret.md")
    (root / "real" / "loop").symlink_to(root)
    (root / "out").symlink_to(outside)
    (root / "alias.md").symlink_to(root / "real" / "n.md")
    (root / "secret.md").symlink_to(outside / "secret.md")
    (root / "broken.md").symlink_to(root / "nowhere.md")
    result = scan(root, everything)
    assert paths(result) == ["real/n.md"]
    assert {each.path for each in result.skipped} == {
        "real/loop",
        "out",
        "alias.md",
        "secret.md",
        "broken.md",
    }


def test_a_vault_in_the_vault_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, ".obsidian/app.json", "own.md", "other/.obsidian/app.json", "other/foreign.md")
    result = scan(tmp_path, everything)
    assert paths(result) == ["own.md"]
    assert [each.path for each in result.skipped] == ["other"]
    assert paths(scan(tmp_path, everything, under="other")) == []


def test_a_part_of_the_vault_is_scanned_as_the_whole_would_be(tmp_path: Path) -> None:
    write(tmp_path, "a/b/one.md", "a/two.md", "three.md", ".git/x.md", "Templates/t.md")
    rule = SyncRule(templates=("Templates",))
    assert paths(scan(tmp_path, everything, under="a")) == ["a/b/one.md", "a/two.md"]
    assert paths(scan(tmp_path, everything, under="a/b")) == ["a/b/one.md"]
    assert paths(scan(tmp_path, everything, under=".git")) == []
    assert paths(scan(tmp_path, everything, under="gone")) == []
    assert (
        paths(scan(tmp_path, rule.path_reason, folder_reason=rule.folder_reason, under="Templates"))
        == []
    )


def test_names_that_cannot_be_used_are_reported(tmp_path: Path) -> None:
    write(tmp_path, "ok.md", "back\\slash.md")
    bad = os.fsencode(tmp_path) + b"/caf\xe9.md"
    os.close(os.open(bad, os.O_CREAT | os.O_WRONLY))
    os.mkfifo(tmp_path / "pipe.md")
    result = scan(tmp_path, everything)
    assert paths(result) == ["ok.md"]
    assert {each.path for each in result.unreadable} == {"caf\\xe9.md", "back\\slash.md"}
    assert [each.path for each in result.skipped] == ["pipe.md"]


def test_an_evicted_note_of_icloud_is_there(tmp_path: Path) -> None:
    write(tmp_path, ".Plan.md.icloud", ".other.icloud", "a.md")
    result = scan(tmp_path, everything)
    assert [(each.path, each.placeholder) for each in result.found] == [
        ("Plan.md", True),
        ("a.md", False),
    ]


def test_a_missing_root_is_offline_and_an_empty_one_is_empty(tmp_path: Path) -> None:
    with pytest.raises(VaultOffline):
        scan(tmp_path / "gone", everything)
    assert paths(scan(tmp_path, everything)) == []


def test_an_unreadable_folder_is_reported_and_the_rest_is_found() -> None:
    with shared_folder() as root:
        write(root, "ok.md", "closed/x.md")
        (root / "closed").chmod(0)
        found = run_unprivileged(
            lambda: (
                paths(result := scan(root, everything)),
                [(each.path, each.reason) for each in result.unreadable],
            )
        )
        (root / "closed").chmod(0o755)
        assert found == (["ok.md"], [("closed", "no permission")])


def test_a_root_without_permission_is_offline() -> None:
    def attempt() -> str:
        try:
            scan(root, everything)
        except VaultOffline as error:
            return str(error)
        return "no error"

    with shared_folder() as root:
        root.chmod(0)
        assert "no permission" in run_unprivileged(attempt)


def test_many_notes_are_found_quickly(tmp_path: Path) -> None:
    for folder in range(60):
        place = tmp_path / f"folder {folder}"
        place.mkdir()
        for number in range(50):
            (place / f"note {number}.md").touch()
    rule = SyncRule(exclude=("Private/", "**/draft-*.md"))
    best = min(_timed(tmp_path, rule) for _ in range(3))
    assert best < 1.0  # 3,000 notes take about 0.05 s on an idle machine.


def _timed(root: Path, rule: SyncRule) -> float:
    started = time.perf_counter()
    assert len(scan(root, rule.path_reason, folder_reason=rule.folder_reason).found) == 3000
    return time.perf_counter() - started
