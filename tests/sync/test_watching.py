"""With the watcher on: real events of real saves, and none of the daemon's own."""

from __future__ import annotations

import asyncio
import resource
import shutil
import subprocess
import time
from collections.abc import Callable

import pytest
from brains import Brain, assert_like_fresh, eventually, running

from second_brain.vault.watch import Watcher

QUIET = 3.0
"""Longer than any delay of the watcher and of what waits for a save to end."""


@pytest.fixture
def brain(make_brain: Callable[..., Brain]) -> Brain:
    return make_brain(watch=True)


async def contents(brain: Brain, path: str) -> str:
    return "\n".join(p["text"] for p in (await brain.passages()).get(path, []))


def commits(brain: Brain) -> int:
    return brain.daemon.index._opened().writer.stats().commits


def test_every_way_of_saving_is_one_change_of_the_same_note(brain: Brain) -> None:
    brain.note("Test.md", "v0")

    def in_place(text: str) -> None:
        brain.note("Test.md", text)

    def over_a_temporary_file(text: str) -> None:
        brain.note("Test.tmp", text).rename(brain.vault / "Test.md")

    def from_outside(text: str) -> None:
        brain.note("../outside.md", text).rename(brain.vault / "Test.md")

    def like_vim(text: str) -> None:
        brain.write(".Test.md.swp", "x")
        brain.write("4913", "").unlink()
        (brain.vault / "Test.md").rename(brain.vault / "Test.md~")
        brain.note("Test.md", text)
        (brain.vault / "Test.md~").unlink()

    def like_git(text: str) -> None:
        (brain.vault / "Test.md").unlink()
        brain.note("Test.md", text)

    async def run() -> None:
        async with running(brain):
            ids = brain.ids()
            for number, save in enumerate(
                (in_place, over_a_temporary_file, from_outside, like_vim, like_git), 1
            ):
                brain.changes.clear()
                save(f"version{number}")
                await brain.settle()
                assert f"version{number}" in await contents(brain, "Test.md")
                assert brain.ids() == ids
                assert [change.type for change in brain.changes] == ["updated"], save
            await asyncio.sleep(QUIET)
            assert [change.type for change in brain.changes] == ["updated"]
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_a_slow_save_in_place_never_drops_the_note(brain: Brain) -> None:
    brain.note("Big.md", "original text")

    async def run() -> None:
        async with running(brain):
            ids = brain.ids()
            with (brain.vault / "Big.md").open("w") as file:
                for part in ("", "---\nta", "gs:\n  - brain\n---\n", "final text\n"):
                    file.write(part)
                    file.flush()
                    for _ in range(8):
                        await asyncio.sleep(0.1)
                        assert brain.memories() == {"Big.md"}
                        assert (await brain.passages()).keys() == {"Big.md"}
            await brain.settle()
            assert "final text" in await contents(brain, "Big.md")
            assert brain.ids() == ids
            assert "deleted" not in {change.type for change in brain.changes}

    asyncio.run(run())


def test_a_note_that_is_saved_without_end_is_followed_all_the_same(
    brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("second_brain.sync.intake._LONGEST_SAVE", 3.0)
    brain.note("Log.md", "line")

    async def run() -> None:
        async with running(brain):
            deadline = time.monotonic() + 30
            while "Log.md" in brain.memories():
                brain.write("Log.md", f"no tag any more {time.monotonic()}")
                assert time.monotonic() < deadline
                await asyncio.sleep(0.2)

    asyncio.run(run())


def test_moves_keep_the_note(brain: Brain) -> None:
    brain.note("root.md", "[[sub/leaf]] [[leaf2]]")
    brain.note("sub/leaf.md", "a")
    brain.note("sub/deep/leaf2.md", "b")
    brain.note("Untitled.md", "first")

    async def run() -> None:
        async with running(brain):
            ids = brain.ids()
            (brain.vault / "sub").rename(brain.vault / "area")
            moved = (brain.vault / "Untitled.md").rename(brain.vault / "area/Boat plan.md")
            moved.write_text("---\ntags: brain\n---\nedited on the way")
            await brain.settle()
            assert brain.ids() == {
                "root.md": ids["root.md"],
                "area/leaf.md": ids["sub/leaf.md"],
                "area/deep/leaf2.md": ids["sub/deep/leaf2.md"],
                "area/Boat plan.md": ids["Untitled.md"],
            }
            assert {change.type for change in brain.changes} <= {"created", "renamed", "updated"}
            links = {target: path for _, _, target, path in brain.edges()}
            assert links == {"sub/leaf": None, "leaf2": "area/deep/leaf2.md"}
            await assert_like_fresh(brain, brain.data.with_name("fresh"))
            (brain.vault / "area/leaf.md").rename(brain.vault / "area/LEAF.md")
            await brain.settle()
            assert brain.ids()["area/LEAF.md"] == ids["sub/leaf.md"]
            shutil.move(brain.vault / "area", brain.vault.with_name("elsewhere"))
            await brain.settle()
            assert brain.ids().keys() == {"root.md"}
            shutil.move(brain.vault.with_name("elsewhere"), brain.vault / "back")
            await brain.settle()
            assert brain.ids()["back/LEAF.md"] == ids["sub/leaf.md"]
            await assert_like_fresh(brain, brain.data.with_name("fresh2"))

    asyncio.run(run())


def test_two_notes_swap_their_names(brain: Brain) -> None:
    brain.note("A.md", "alpha")
    brain.note("B.md", "beta")

    async def run() -> None:
        async with running(brain):
            ids = brain.ids()
            (brain.vault / "A.md").rename(brain.vault / "x.md")
            (brain.vault / "B.md").rename(brain.vault / "A.md")
            (brain.vault / "x.md").rename(brain.vault / "B.md")
            await brain.settle()
            assert brain.ids() == {"A.md": ids["B.md"], "B.md": ids["A.md"]}
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_own_writes_cause_one_change_and_no_echo(brain: Brain) -> None:
    brain.note("Mine.md", "a note of the user's")

    async def run() -> None:
        async with running(brain):
            memories = brain.daemon.memories
            stored = await memories.remember("The mast is made of spruce.", title="Mast")
            assert stored.id is not None
            await memories.append(stored.id, "It was varnished in May.")
            await memories.append(brain.ids()["Mine.md"], "An addition.")
            await memories.set_status(stored.id, "canonical")
            other = await memories.remember("Ropes are kept in the locker.", title="Ropes")
            assert other.id is not None
            await memories.link(stored.id, other.id, "follows")
            await memories.forget(other.id)
            await memories.forget(brain.ids()["Mine.md"])
            before = brain.bytes_of_vault()
            seen, written = list(brain.changes), commits(brain)
            await asyncio.sleep(QUIET)
            brain.daemon.sync.rescan_soon()
            await brain.settle()
            assert brain.changes == seen
            assert commits(brain) == written
            assert brain.bytes_of_vault() == before
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_a_users_saves_never_make_the_daemon_write(brain: Brain) -> None:
    brain.note("Live.md", "v0")
    brain.note("Other.md", "[[Live]]")

    async def run() -> None:
        async with running(brain):
            for number in range(5):
                with (brain.vault / "Live.md").open("a") as file:
                    file.write("more\n")
                await asyncio.sleep(0.4 + 0.1 * number)
            expected = brain.bytes_of_vault()
            await brain.settle()
            await asyncio.sleep(QUIET)
            assert brain.bytes_of_vault() == expected
            assert (await contents(brain, "Live.md")).count("more") == 5
            assert {change.path for change in brain.changes if change.type != "created"} == {
                "Live.md"
            }

    asyncio.run(run())


def test_a_touch_is_no_new_passage(brain: Brain) -> None:
    brain.note("A.md", "text", created="2020-01-01")

    async def run() -> None:
        async with running(brain):
            written = commits(brain)
            (brain.vault / "A.md").touch()
            (brain.vault / "A.md").chmod(0o600)
            await brain.settle()
            assert commits(brain) == written

    asyncio.run(run())


def test_a_burst_of_thousands_of_files_misses_none(brain: Brain) -> None:
    brain.note("Old.md", "seen before")
    count = 3000

    def resident() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB on Linux

    async def run() -> None:
        async with running(brain):
            before = resident()
            for round_ in range(2):  # the second one like git: every file deleted and made again
                for number in range(count):
                    path = brain.vault / f"d{number % 50}/n{number}.md"
                    path.parent.mkdir(exist_ok=True)
                    path.unlink(missing_ok=True)
                    path.write_text(f"---\ntags: brain\n---\nround {round_} number{number}\n")
                await brain.settle()
                assert len(brain.memories()) == count + 1
                assert brain.daemon.sync.hold_reason is None
            held = await brain.passages()
            assert len(held) == count + 1
            assert all("round 1" in p[0]["text"] for path, p in held.items() if path != "Old.md")
            assert "deleted" not in {change.type for change in brain.changes}
            assert resident() - before < 600 * 1024

    asyncio.run(run())


def test_git_changes_branches(brain: Brain) -> None:
    def git(*words: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *identity, *words], cwd=brain.vault, check=True, capture_output=True)

    for number in range(40):
        brain.note(f"n{number}.md", f"on main {number}")
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "main")
    git("checkout", "-qb", "other")
    for number in range(40):
        brain.note(f"n{number}.md", f"on the other {number}")
    (brain.vault / "n1.md").rename(brain.vault / "moved.md")
    git("add", "-A")
    git("commit", "-qm", "other")

    async def run() -> None:
        async with running(brain):
            ids = brain.ids()
            git("checkout", "-q", "main")
            await brain.settle()
            git("checkout", "-q", "other")
            await brain.settle()
            assert brain.ids() == ids
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_events_that_were_lost_are_made_up_for(
    brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain.note("A.md", "alpha")

    async def run() -> None:
        async with running(brain):
            with monkeypatch.context() as patch:
                patch.setattr(Watcher, "_take", lambda self, event: None)
                brain.note("A.md", "changed")
                brain.note("B.md", "new")
                await asyncio.sleep(1.0)
            brain.daemon.sync.rescan_soon()
            await brain.settle()
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_a_folder_that_takes_the_roots_place_is_watched(brain: Brain) -> None:
    brain.note("A.md", "alpha")
    brain.note("B.md", "beta")

    async def run() -> None:
        async with running(brain):
            shutil.copytree(brain.vault, brain.vault.with_name("copy"))
            brain.vault.rename(brain.vault.with_name("before"))
            brain.vault.with_name("copy").rename(brain.vault)
            await eventually(lambda: not brain.daemon.sync._watcher.root_replaced())
            brain.note("A.md", "written to the new folder")
            await brain.settle()
            assert "new folder" in await contents(brain, "A.md")
            assert brain.daemon.sync.online

    asyncio.run(run())


def test_a_save_during_a_long_scan_does_not_wait_for_its_end(brain: Brain) -> None:
    brain.note("First.md", "first")

    async def run() -> None:
        async with running(brain):
            brain.embedder.pause = 0.02  # type: ignore[attr-defined]
            for number in range(400):
                brain.note(f"many/{number}.md", f"one of many {number}")
            brain.daemon.sync.rescan_soon()
            await eventually(lambda: brain.daemon.sync.progress[0] > 0)
            brain.note("First.md", "saved during the scan")
            await eventually(lambda: any(c.path == "First.md" for c in brain.changes[1:]))
            done, total = brain.daemon.sync.progress
            assert done < total
            await brain.settle()
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())
