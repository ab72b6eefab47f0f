"""Whatever happens to files, index and catalogue end up as a fresh index of the vault would."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from brains import Brain, assert_like_fresh, running

Step = Callable[[Brain], Coroutine[Any, Any, None]]


def play(brain: Brain, *steps: Callable[[Brain], object]) -> None:
    """Run the brain, do one step after the other, and compare with a fresh index after each."""

    async def run() -> None:
        async with running(brain):
            for number, step in enumerate(steps):
                outcome = step(brain)
                if asyncio.iscoroutine(outcome):
                    await outcome
                await brain.settle()
                await assert_like_fresh(brain, brain.data.with_name(f"fresh{number}"))

    asyncio.run(run())


def test_notes_of_every_kind_are_taken_in(brain: Brain) -> None:
    brain.note("A.md", "See [[B]] and [[Nowhere]].")
    brain.note("B.md", "# One\ntext\n# Two\nmore")
    brain.write("No tag.md", "plain")
    brain.write("Broken.md", "---\ntags: [brain\n---\nbroken #brain")
    brain.write("Binary.md", b"\x00\x01")
    brain.note("Plan (conflicted copy 2026-01-01).md")
    brain.note("Out.md", **{"second-brain": "false"})
    brain.note(".trash/Old.md")
    play(brain, lambda b: None)
