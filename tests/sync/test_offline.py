"""Absence is not deletion: a vault that vanished, or lost most of its notes at once, is offline."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from brains import Brain, assert_like_fresh, eventually, running

from second_brain.config.settings import SyncSettings
from second_brain.errors import VaultOffline
from second_brain.sync import holding
from unprivileged import run_unprivileged, shared_folder


def fill(brain: Brain, count: int = 20) -> None:
    for number in range(count):
        brain.note(f"n{number:02}.md", f"walnut number {number}")


def away(brain: Brain) -> Path:
    return brain.vault.with_name("away")


async def held(brain: Brain) -> None:
    brain.daemon.sync.rescan_soon()
    await eventually(lambda: brain.daemon.sync.hold_reason)


@pytest.mark.parametrize("watch", [False, True])
@pytest.mark.parametrize("remains", ["nothing", "an empty folder", "another folder"])
def test_a_vault_that_is_not_there_loses_nothing(
    make_brain: Callable[..., Brain], watch: bool, remains: str
) -> None:
    brain = make_brain(watch=watch)
    fill(brain)

    async def run() -> None:
        async with running(brain):
            ids = brain.ids()
            brain.vault.rename(away(brain))
            if remains != "nothing":
                brain.vault.mkdir()
            if remains == "another folder":
                brain.write("Stranger.md", "#brain not of this vault")
            await held(brain)
            assert not brain.daemon.sync.online
            assert brain.ids() == ids
            assert len(await brain.daemon.index.chunk_counts()) == 20
            if remains == "nothing":
                assert not brain.vault.exists()
                with pytest.raises(VaultOffline):
                    await brain.daemon.memories.remember("Something new to be kept.")
                with pytest.raises(VaultOffline):
                    await brain.daemon.sync.accept_deletions()
                assert not brain.vault.exists()
            if remains != "nothing":
                shutil.rmtree(brain.vault)
            away(brain).rename(brain.vault)
            brain.changes.clear()
            await brain.settle()
            await eventually(lambda: brain.daemon.sync.online)
            assert brain.ids() == ids
            assert "deleted" not in {change.type for change in brain.changes}
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_a_vault_that_was_emptied_while_the_daemon_was_stopped(brain: Brain) -> None:
    fill(brain)

    async def run() -> None:
        async with running(brain):
            ids = brain.ids()
            await brain.stop()
            brain.vault.rename(away(brain))
            brain.vault.mkdir()
            await brain.start()
            await eventually(lambda: brain.daemon.sync.hold_reason)
            assert brain.ids() == ids
            brain.vault.rmdir()
            away(brain).rename(brain.vault)
            await brain.settle()
            assert brain.daemon.sync.online
            assert brain.ids() == ids

    asyncio.run(run())


def test_a_vault_mounted_again_with_changes_is_taken_in(brain: Brain) -> None:
    fill(brain)

    async def run() -> None:
        async with running(brain):
            ids = brain.ids()
            shutil.copytree(brain.vault, away(brain))
            shutil.rmtree(brain.vault)
            await held(brain)
            (away(brain) / "n00.md").rename(away(brain) / "renamed.md")
            (away(brain) / "n01.md").unlink()
            away(brain).rename(brain.vault)
            await brain.settle()
            assert brain.daemon.sync.online
            assert brain.ids() == {
                **{path: id for path, id in ids.items() if path not in ("n00.md", "n01.md")},
                "renamed.md": ids["n00.md"],
            }
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


@pytest.mark.parametrize("watch", [False, True])
def test_most_notes_lost_at_once_are_held_until_the_user_says_so(
    make_brain: Callable[..., Brain], watch: bool
) -> None:
    brain = make_brain(watch=watch)
    fill(brain)
    brain.write("readme.txt", "not empty")

    async def run() -> None:
        async with running(brain):
            for number in range(12):
                (brain.vault / f"n{number:02}.md").unlink()
            await held(brain)
            await eventually(lambda: len(brain.daemon.sync.held) == 12)
            assert brain.daemon.sync.hold_reason == "12 of 20 notes vanished at once"
            assert len(brain.ids()) == 20
            brain.note("New.md", "taken in all the same")
            brain.daemon.sync.rescan_soon()
            await eventually(lambda: "New.md" in brain.ids())
            dropped = await brain.daemon.sync.accept_deletions()
            assert sorted(row.path for row in dropped) == [f"n{n:02}.md" for n in range(12)]
            await brain.settle()
            assert brain.daemon.sync.online
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_notes_that_come_back_little_by_little_are_waited_for(
    brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holding, "_LOSS_WINDOW", 3.0)
    fill(brain)
    brain.write("readme.txt", "not empty")
    gone = [f"n{number:02}.md" for number in range(15)]

    async def run() -> None:
        async with running(brain):
            sync, ids = brain.daemon.sync, brain.ids()
            away(brain).mkdir()
            for path in gone:
                (brain.vault / path).rename(away(brain) / path)
            await held(brain)
            for count, path in enumerate(gone[:10], 1):
                (away(brain) / path).rename(brain.vault / path)
                await sync.scan()
                assert (len(sync.held), brain.ids()) == (15 - count, ids)
            await brain.settle()  # no more come: these five were deleted indeed
            assert sync.hold_reason is None
            assert brain.ids().keys() == ids.keys() - set(gone[10:])

    asyncio.run(run())


def test_a_few_deleted_notes_are_deleted(brain: Brain) -> None:
    fill(brain)

    async def run() -> None:
        async with running(brain):
            for number in range(6):
                (brain.vault / f"n{number:02}.md").unlink()
            await brain.settle()
            assert len(brain.ids()) == 14
            assert len(await brain.daemon.index.chunk_counts()) == 14
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_a_folder_that_the_settings_exclude_is_no_loss(brain: Brain) -> None:
    for number in range(15):
        brain.note(f"Private/{number}.md", "hidden")
    brain.note("Kept.md", "kept")

    async def run() -> None:
        async with running(brain):
            brain.sync = SyncSettings(exclude=("Private/",))
            await brain.restart()
            assert brain.daemon.sync.hold_reason is None
            assert brain.ids().keys() == {"Kept.md"}
            ids = brain.ids()
            brain.sync = SyncSettings()
            await brain.restart()
            assert len(brain.ids()) == 16
            assert brain.ids()["Kept.md"] == ids["Kept.md"]

    asyncio.run(run())


def test_a_folder_that_cannot_be_read_keeps_its_notes() -> None:
    with shared_folder() as folder:

        def check() -> bool:
            brain = Brain(folder / "vault", folder / "data")
            for number in range(3):
                brain.note(f"Locked/{number}.md", "walnut")
            brain.note("Secret.md", "walnut, too")
            brain.note("Open.md")

            async def run() -> None:
                async with running(brain):
                    ids = brain.ids()
                    (brain.vault / "Locked").chmod(0)
                    (brain.vault / "Secret.md").chmod(0)
                    brain.note("Open.md", "changed")
                    os.utime(brain.vault / "Secret.md", (1, 1))
                    await brain.daemon.sync.scan()
                    assert brain.ids() == ids
                    assert "Locked" in brain.daemon.sync.unreadable
                    assert set(await brain.recall("walnut")) > set(ids) - {"Open.md"}
                    assert "could not be read" in brain.rows()["Secret.md"].problems[0]
                    assert (await brain.recall("changed"))[0] == "Open.md"
                    brain.changes.clear()
                    await brain.daemon.sync.scan()
                    assert brain.changes == [], "told again and again"
                    (brain.vault / "Locked").chmod(0o700)
                    (brain.vault / "Secret.md").chmod(0o600)
                    await brain.settle()
                    assert brain.ids() == ids
                    assert brain.rows()["Secret.md"].problems == ()
                    await assert_like_fresh(brain, folder / "fresh")

            asyncio.run(run())
            return True

        assert run_unprivileged(check)
