"""A new index when the user asks for one, and never one that would lose what is held back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from brains import Brain, assert_like_fresh, eventually, running

from second_brain.errors import VaultOffline


def test_the_index_is_dropped_and_filled_from_the_vault(brain: Brain) -> None:
    for number in range(20):
        brain.note(f"n{number:02}.md", f"walnut number {number}")

    async def run() -> None:
        async with running(brain):
            sync, index = brain.daemon.sync, brain.daemon.index
            ids = brain.ids()
            await index.commit({}, list(ids.values())[:5], flush=True)
            assert len(await index.chunk_counts()) == 15
            sync.rebuild()
            assert sync.rebuilding
            await eventually(lambda: not sync.rebuilding)
            assert len(await index.chunk_counts()) == 20
            assert brain.ids() == ids
            await brain.settle()
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_nothing_is_dropped_while_notes_are_held_back(make_brain: Callable[..., Brain]) -> None:
    brain = make_brain(watch=False)
    for number in range(20):
        brain.note(f"n{number:02}.md", f"walnut number {number}")

    async def run() -> None:
        async with running(brain):
            sync, index = brain.daemon.sync, brain.daemon.index
            for number in range(15):
                (brain.vault / f"n{number:02}.md").unlink()
            sync.rescan_soon()
            await eventually(lambda: sync.hold_reason)
            with pytest.raises(VaultOffline, match="15 notes are held back"):
                sync.rebuild()
            assert not sync.rebuilding
            assert len(await index.chunk_counts()) == 20
            assert len(await brain.daemon.memories.accept_deletions()) == 15
            assert len(await index.chunk_counts()) == 5
            sync.rebuild()
            await eventually(lambda: not sync.rebuilding)
            assert len(await index.chunk_counts()) == 5

    asyncio.run(run())
