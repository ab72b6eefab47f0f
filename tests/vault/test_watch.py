"""The watcher with real files: every way of saving ends as the right hint."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from second_brain.errors import VaultOffline
from second_brain.vault.settle import Due, Settler
from second_brain.vault.watch import Watcher


class Desk:
    """A vault with a watcher, and everything that it handed out so far."""

    def __init__(self, root: Path, *, polling: bool = False) -> None:
        self.root = root
        self.woken = threading.Event()
        self.watcher = Watcher(
            root,
            self.woken.set,
            polling=polling,
            interval=0.1,
            settler=Settler(settle=0.15, longest=2.0, delete=0.5),
        )
        self.seen: list[Due] = []

    def write(self, name: str, text: str = "x") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def settle(self, until: Callable[[Desk], bool] | None = None, seconds: float = 8.0) -> Desk:
        """Works off what comes, until nothing is pending and `until` is true (or 0.7 s pass)."""
        started = time.monotonic()
        while (passed := time.monotonic() - started) < seconds:
            if due := self.watcher.poll():
                self.seen.append(due)
            wait = self.watcher.next_due()
            if wait is None and (until(self) if until else passed > 0.7):
                break
            self.woken.wait(0.05 if wait is None else min(wait, 0.05))
            self.woken.clear()
        return self

    @property
    def changed(self) -> set[str]:
        return set().union(*(due.changed for due in self.seen))

    @property
    def deleted(self) -> set[str]:
        return set().union(*(due.deleted for due in self.seen))

    @property
    def moved(self) -> list[tuple[str, str]]:
        return [pair for due in self.seen for pair in due.moved]

    @property
    def subtrees(self) -> set[str]:
        return set().union(*(due.subtrees for due in self.seen))

    @property
    def rescan(self) -> bool:
        return any(due.rescan for due in self.seen)


@pytest.fixture(params=[False], ids=["native"])
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    root = tmp_path / "vault"
    (root / "sub").mkdir(parents=True)
    for hidden in (".obsidian", ".trash"):
        (root / hidden).mkdir()
    for name in ("a.md", "b.md", "sub/c.md", "sub/d.md"):
        (root / name).write_text("old")
    desk = Desk(root, polling=request.param)
    desk.watcher.start()
    yield desk
    desk.watcher.stop()


both = pytest.mark.parametrize("desk", [False, True], ids=["native", "polling"], indirect=True)


@both
def test_new_changed_and_deleted_notes(desk: Desk) -> None:
    desk.write("new folder/é 🚀.md")
    desk.write("a.md", "changed text")
    (desk.root / "b.md").unlink()
    desk.settle(lambda d: "b.md" in d.deleted and len(d.changed) == 2)
    assert desk.changed == {"new folder/é 🚀.md", "a.md"}
    assert desk.deleted == {"b.md"}
    assert not desk.rescan


@both
def test_a_rename_keeps_both_names(desk: Desk) -> None:
    (desk.root / "a.md").rename(desk.root / "sub" / "renamed.md")
    desk.settle(lambda d: bool(d.moved))
    assert desk.moved == [("a.md", "sub/renamed.md")]
    assert not desk.deleted


def test_what_is_no_note_does_not_even_wake(desk: Desk) -> None:
    desk.write(".obsidian/workspace.md")
    desk.write(".a.md.0123456789ab.second-brain.tmp")
    desk.write("picture.png")
    desk.write("4913", "")
    time.sleep(0.3)
    assert not desk.woken.is_set()
    assert not desk.settle().seen


def test_a_save_in_place_is_one_change(desk: Desk) -> None:
    for text in ("one", "two", "three"):
        desk.write("a.md", text)
    desk.settle(lambda d: bool(d.changed))
    assert [due.changed for due in desk.seen] == [{"a.md"}]


def test_a_slow_save_in_place_is_due_after_its_end(desk: Desk) -> None:
    ended: list[float] = []

    def save() -> None:
        with (desk.root / "a.md").open("w") as note:
            for _ in range(8):
                note.write("x" * 1000)
                note.flush()
                time.sleep(0.05)
        ended.append(time.monotonic())

    saving = threading.Thread(target=save)
    saving.start()
    desk.settle(lambda d: bool(d.changed))
    due_at = time.monotonic()
    saving.join()
    assert desk.changed == {"a.md"}
    assert due_at > ended[0]
    assert (desk.root / "a.md").stat().st_size == 8000


def test_a_save_through_a_temporary_file_is_one_change(desk: Desk, tmp_path: Path) -> None:
    desk.write("a.tmp", "v2").rename(desk.root / "a.md")
    outside = tmp_path / "outside"
    outside.write_text("v2")
    outside.rename(desk.root / "b.md")
    desk.settle(lambda d: d.changed == {"a.md", "b.md"})
    assert desk.changed == {"a.md", "b.md"}
    assert not desk.moved
    assert not desk.deleted


def test_a_save_through_a_temporary_note_is_one_change(desk: Desk) -> None:
    desk.write("a new.md", "v2").rename(desk.root / "a.md")
    desk.settle(lambda d: bool(d.deleted))
    assert desk.changed == {"a.md"}
    assert not desk.moved


def test_vim_saves_by_moving_the_note_away(desk: Desk) -> None:
    desk.write(".a.md.swp")
    desk.write("4913", "").unlink()
    (desk.root / "a.md").rename(desk.root / "a.md~")
    desk.write("a.md", "v2")
    (desk.root / "a.md~").unlink()
    desk.settle()
    assert desk.changed == {"a.md"}
    assert not desk.deleted
    assert not desk.moved


def test_a_note_that_is_deleted_and_written_again_was_changed(desk: Desk) -> None:
    (desk.root / "a.md").unlink()
    time.sleep(0.2)
    desk.write("a.md", "again")
    desk.settle()
    assert desk.changed == {"a.md"}
    assert not desk.deleted


def test_a_renamed_folder_moves_its_notes_and_is_watched_on(desk: Desk) -> None:
    (desk.root / "sub").rename(desk.root / "area")
    desk.settle(lambda d: len(d.moved) == 2)
    assert sorted(desk.moved) == [("sub/c.md", "area/c.md"), ("sub/d.md", "area/d.md")]
    assert {"sub", "area"} <= desk.subtrees
    desk.seen.clear()
    desk.write("area/c.md", "later")
    desk.settle(lambda d: bool(d.changed))
    assert desk.changed == {"area/c.md"}


def test_a_folder_that_goes_away_names_its_subtree(desk: Desk, tmp_path: Path) -> None:
    (desk.root / "sub").rename(tmp_path / "outside")
    desk.settle(lambda d: bool(d.subtrees))
    assert desk.subtrees == {"sub"}


def test_a_folder_that_goes_to_the_trash_deletes_its_notes(desk: Desk) -> None:
    (desk.root / "sub").rename(desk.root / ".trash" / "sub")
    desk.settle(lambda d: len(d.deleted) == 2)
    assert desk.deleted == {"sub/c.md", "sub/d.md"}
    assert desk.subtrees == {"sub"}


def test_a_removed_folder_deletes_its_notes(desk: Desk) -> None:
    shutil.rmtree(desk.root / "sub")
    desk.settle(lambda d: len(d.deleted) == 2)
    assert desk.deleted == {"sub/c.md", "sub/d.md"}


def test_a_folder_that_comes_in_brings_its_notes(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "in/deep").mkdir(parents=True)
    (tmp_path / "in/deep/n.md").write_text("x")
    (tmp_path / "in").rename(desk.root / "in")
    desk.settle(lambda d: bool(d.changed) and bool(d.subtrees))
    assert desk.changed == {"in/deep/n.md"}
    assert "in" in desk.subtrees


def test_a_burst_is_seen_whole_and_wakes_rarely(desk: Desk) -> None:
    wakes = 0
    original = desk.woken.set

    def count() -> None:
        nonlocal wakes
        wakes += 1
        original()

    desk.watcher._wake = count
    names = {f"burst/{n // 100}/note {n}.md" for n in range(2000)}
    for name in sorted(names):
        desk.write(name)
    desk.settle(lambda d: d.rescan or len(d.changed) >= 2000, seconds=30)
    assert desk.rescan or desk.changed == names
    assert wakes < 2000
    assert len(desk.seen) < len(names) / 4, "files come in batches, however busy the machine"


def test_lost_events_ask_for_a_rescan(desk: Desk) -> None:
    logging.getLogger("watchdog.observers.inotify_c").warning(
        "Inotify queue overflowed; filesystem events were lost"
    )
    desk.settle(lambda d: d.rescan)
    assert desk.rescan


def test_a_root_that_is_replaced_is_noticed_and_watched_again(desk: Desk) -> None:
    assert not desk.watcher.root_replaced()
    away = desk.root.rename(desk.root.with_name("away"))
    assert desk.watcher.root_replaced()
    with pytest.raises(VaultOffline):
        desk.watcher.restart()
    assert not desk.watcher.alive
    away.rename(desk.root)
    desk.watcher.restart()
    assert desk.watcher.alive
    assert not desk.watcher.root_replaced()
    desk.settle(lambda d: d.rescan)
    desk.write("a.md", "after")
    desk.settle(lambda d: bool(d.changed))
    assert desk.rescan
    assert "a.md" in desk.changed


def test_a_dead_observer_is_noticed_and_can_be_restarted(desk: Desk) -> None:
    watcher = desk.watcher
    assert watcher.alive
    assert watcher._observer is not None
    for emitter in watcher._observer.emitters:
        emitter.stop()
        emitter.join(5)
    assert not watcher.alive
    watcher.restart()
    assert watcher.alive
    desk.write("b.md", "after")
    desk.settle(lambda d: "b.md" in d.changed)
    assert desk.rescan
    assert "b.md" in desk.changed


def test_a_missing_vault_is_offline(tmp_path: Path) -> None:
    with pytest.raises(VaultOffline):
        Watcher(tmp_path / "gone", lambda: None).start()


def test_polling_takes_over_where_the_system_allows_no_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_watches(*arguments: object, **options: object) -> None:
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr("second_brain.vault.watch.Observer", no_watches)
    desk = Desk(tmp_path)
    desk.watcher.start()
    try:
        assert desk.watcher.polling
        desk.write("n.md")
        desk.settle(lambda d: bool(d.changed))
        assert desk.changed == {"n.md"}
    finally:
        desk.watcher.stop()


def test_start_and_stop_leave_no_thread_behind(tmp_path: Path) -> None:
    before = threading.active_count()
    for _ in range(5):
        watcher = Watcher(tmp_path, lambda: None)
        watcher.start()
        watcher.stop()
        watcher.stop()
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() <= before
