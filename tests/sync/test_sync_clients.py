"""What sync clients leave in a vault: other versions are named, passing files are not seen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from brains import Brain, assert_like_fresh, running

COPIES = {
    "dropbox": "Plan (Ada's conflicted copy 2026-03-01).md",
    "dropbox-french": "Plan (Copie en conflit de Ada 2026-03-01).md",
    "nextcloud": "Plan (conflicted copy 2026-03-01 101112).md",
    "syncthing": "Plan.sync-conflict-20260301-101112-ABCDEFG.md",
    "onedrive": "Plan-DESKTOP-1A2B3C4.md",
    "obsidian-sync": "Plan (Conflicted copy phone 202603011011).md",
    "icloud": "Plan 2.md",
}
PASSING = [
    *(".Plan.md.swp", "Plan.md~", "Plan.md.tmp", "~Plan.md.tmp", ".syncthing.Plan.md.tmp", "4913"),
    *(".~lock.Plan.md#", "Plan.md.crdownload", ".#Plan.md", "#Plan.md#", "Plan.md.part"),
    *(".Plan.md.x.second-brain.tmp", ".stfolder/Plan.md", ".sync/Plan.md"),
    ".stversions/Plan~20260301-101112.md",
]


@pytest.mark.parametrize("watch", [False, True], ids=["scanned", "watched"])
@pytest.mark.parametrize("client", COPIES)
def test_a_conflict_copy_is_no_memory_and_is_named_with_what_to_do(
    make_brain: Callable[..., Brain], client: str, watch: bool
) -> None:
    async def run() -> None:
        brain = make_brain(watch=watch)
        note = brain.note("Work/Plan.md", "Cast off at six.\nLunch in Dover.\nHome by nine.\n")
        path = f"Work/{COPIES[client]}"
        async with running(brain):
            id = brain.ids()["Work/Plan.md"]
            brain.write(path, note.read_bytes())
            await brain.settle()
            assert brain.memories() == {"Work/Plan.md"}
            assert await brain.recall("Dover") == ["Work/Plan.md"]
            problems = (await brain.daemon.memories.health()).problems
            assert [(each.kind, each.path) for each in problems] == [("conflict-copy", path)]
            assert "Merge it" in problems[0].hint
            (brain.vault / path).unlink()
            await brain.settle()
            assert (await brain.daemon.memories.health()).problems == ()
            assert brain.ids() == {"Work/Plan.md": id}

    asyncio.run(run())


@pytest.mark.parametrize("watch", [False, True], ids=["scanned", "watched"])
def test_passing_files_are_not_seen(
    make_brain: Callable[..., Brain], tmp_path: Path, watch: bool
) -> None:
    async def run() -> None:
        brain = make_brain(watch=watch)
        brain.note("Plan.md", "Cast off at six.")
        async with running(brain):
            for name in PASSING:
                brain.note(name, "Half of it.")
            brain.note("Last.md")
            await brain.settle()
            assert brain.rows().keys() == {"Plan.md", "Last.md"}
            for name in PASSING:
                (brain.vault / name).unlink()
            await brain.settle()
            assert brain.memories() == {"Plan.md", "Last.md"}
            assert {change.path for change in brain.changes} <= {"Plan.md", "Last.md"}
            await assert_like_fresh(brain, tmp_path / "fresh")

    asyncio.run(run())
