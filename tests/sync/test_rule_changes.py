"""What is a memory changes with our settings and Obsidian's, and the vault is looked at anew."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from brains import Brain, assert_like_fresh, running

from second_brain.config.settings import SyncSettings
from second_brain.errors import SettingsError


def settings_file(brain: Brain, name: str, **values: object) -> None:
    brain.write(f".obsidian/{name}", json.dumps(values))


def test_the_templates_folder_is_read_again_at_each_scan(brain: Brain, tmp_path: Path) -> None:
    async def run() -> None:
        brain.note("Forms/Letter.md")
        brain.note("Models/Report.md")
        async with running(brain):
            assert brain.memories() == {"Forms/Letter.md", "Models/Report.md"}
            ids = brain.ids()
            settings_file(brain, "templates.json", folder="Forms")
            await brain.settle()
            assert brain.memories() == {"Models/Report.md"}
            settings_file(brain, "templates.json", folder="Models/")
            await brain.settle()
            assert brain.memories() == {"Forms/Letter.md"}
            assert brain.ids()["Forms/Letter.md"] == ids["Forms/Letter.md"]
            (brain.vault / ".obsidian/templates.json").unlink()
            await brain.settle()
            assert brain.ids() == ids
            await assert_like_fresh(brain, tmp_path / "fresh")

    asyncio.run(run())


@pytest.mark.parametrize("respect", [False, True])
def test_obsidians_excluded_files_are_left_out_only_when_that_is_asked_for(
    make_brain: Callable[..., Brain], respect: bool
) -> None:
    async def run() -> None:
        brain = make_brain(sync=SyncSettings(respect_excluded=respect))
        brain.note("Diary/Secret.md")
        brain.note("Plan.md")
        async with running(brain):
            settings_file(brain, "app.json", userIgnoreFilters=["Diary/", "/^x.*/"])
            await brain.settle()
            assert ("Diary/Secret.md" in brain.memories()) is not respect
            assert "Plan.md" in brain.memories()
            assert (brain.vault / "Diary/Secret.md").exists()
            settings_file(brain, "app.json", userIgnoreFilters=[])
            await brain.settle()
            assert "Diary/Secret.md" in brain.memories()

    asyncio.run(run())


def test_settings_that_would_keep_out_every_new_note(make_brain: Callable[..., Brain]) -> None:
    """Refused at the start; later they are not followed, and the memories stay."""

    async def run() -> None:
        brain = make_brain()
        brain.note("Second Brain/Fact.md")
        async with running(brain):
            settings_file(brain, "templates.json", folder="Second Brain")
            await brain.settle()
            assert brain.memories() == {"Second Brain/Fact.md"}
        with pytest.raises(SettingsError, match="Set another"):
            await brain.start()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("then", "memories"),
    [
        (SyncSettings(tags=("boat",)), {"Sail.md"}),
        (SyncSettings(tags=("boat", "brain")), {"Sail.md", "Note.md"}),
        (SyncSettings(mode="all"), {"Sail.md", "Note.md", "Plain.md"}),
        (SyncSettings(exclude=("Note.md",)), set()),
    ],
    ids=["other-tag", "one-more-tag", "all", "excluded"],
)
def test_a_start_with_other_settings_reads_the_notes_that_did_not_change(
    brain: Brain, tmp_path: Path, then: SyncSettings, memories: set[str]
) -> None:
    async def run() -> None:
        brain.note("Note.md", tags="brain")
        brain.note("Sail.md", tags="boat")
        brain.note("Plain.md", tags="other")
        async with running(brain):
            assert brain.memories() == {"Note.md"}
            ids = brain.ids()
        before = brain.sync
        brain.sync = then
        async with running(brain):
            assert brain.memories() == memories
            assert brain.ids().items() <= ids.items()
            await assert_like_fresh(brain, tmp_path / "fresh")
        brain.sync = replace(before)
        async with running(brain):
            assert brain.memories() == {"Note.md"}
            assert brain.ids() == ids
            brain.changes.clear()
            await brain.daemon.sync.scan()
            assert brain.changes == []

    asyncio.run(run())
