"""Whatever happens to files, index and catalogue end up as a fresh index of the vault would."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from brains import Brain, assert_like_fresh, running

from second_brain.config.settings import SyncSettings
from second_brain.vault.settle import Due

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


def test_an_edit_a_rename_a_delete_and_a_copy(brain: Brain) -> None:
    brain.note("A.md", "first")
    brain.note("B.md", "links to [[A]]")
    brain.note("sub/C.md", "deep")
    play(
        brain,
        lambda b: b.note("A.md", "second"),
        lambda b: (b.vault / "A.md").rename(b.vault / "sub/D.md"),
        lambda b: (b.vault / "sub").rename(b.vault / "area"),
        lambda b: (b.vault / "area/C.md").unlink(),
        lambda b: b.write("Copy.md", (b.vault / "B.md").read_bytes()),
        lambda b: (b.vault / "B.md").rename(b.vault / "b.md"),
    )


def test_ids_stay_with_notes_that_were_moved_while_nobody_looked(brain: Brain) -> None:
    brain.note("A.md", "alpha")
    brain.note("sub/B.md", "beta")
    brain.note("sub/B too.md", "same text", tags="brain, x")
    brain.note("sub/C.md", "same text", tags="brain, x")

    async def run() -> None:
        async with running(brain):
            before = brain.ids()
            await brain.stop()
            (brain.vault / "A.md").rename(brain.vault / "z.md")
            (brain.vault / "sub").rename(brain.vault / "area")
            await brain.start()
            await brain.settle()
            assert brain.ids() == {
                "z.md": before["A.md"],
                "area/B.md": before["sub/B.md"],
                "area/B too.md": before["sub/B too.md"],
                "area/C.md": before["sub/C.md"],
            }
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_deleted_renamed_and_edited_while_stopped(brain: Brain) -> None:
    brain.note("Gone.md", "g")
    brain.note("Moved.md", "m unique words")
    brain.note("Kept.md", "k")

    async def run() -> None:
        async with running(brain):
            before = brain.ids()
            await brain.stop()
            (brain.vault / "Gone.md").unlink()
            (brain.vault / "z").mkdir()
            (brain.vault / "Moved.md").rename(brain.vault / "z/Moved2.md")
            brain.note("Kept.md", "walnut")
            await brain.start()
            await brain.settle()
            assert brain.ids() == {"z/Moved2.md": before["Moved.md"], "Kept.md": before["Kept.md"]}
            assert (await brain.recall("walnut"))[0] == "Kept.md"
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_the_tag_is_removed_and_put_back(brain: Brain) -> None:
    brain.note("A.md", "walnut")

    async def run() -> None:
        async with running(brain):
            id = brain.ids()["A.md"]
            assert await brain.recall("walnut") == ["A.md"]
            for text in ("walnut", "---\nsecond-brain: false\ntags: brain\n---\nwalnut"):
                brain.write("A.md", text)
                await brain.settle()
                assert await brain.recall("walnut") == []
                brain.note("A.md", "walnut")
                await brain.settle()
                assert await brain.recall("walnut") == ["A.md"]
            assert brain.ids() == {"A.md": id}
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_links_mean_what_the_vault_makes_of_them_now(brain: Brain) -> None:
    brain.note("Hub.md", "[[Leaf]] [[a/Leaf]] [md](Leaf.md)", supersedes='"[[Old]]"')

    def leaf(b: Brain) -> set[str | None]:
        return {path for _, _, target, path in b.edges() if target == "Leaf"}

    def check(path: str | None) -> Callable[[Brain], None]:
        def compare(b: Brain) -> None:
            assert leaf(b) == {path}

        return compare

    play(
        brain,
        check(None),
        lambda b: b.note("b/Leaf.md"),
        check("b/Leaf.md"),
        lambda b: b.note("a/Leaf.md"),
        check("a/Leaf.md"),
        lambda b: b.write("Leaf.md", "no memory, but a note"),
        check("Leaf.md"),
        lambda b: (b.vault / "Leaf.md").unlink(),
        check("a/Leaf.md"),
        lambda b: (b.vault / "a").rename(b.vault / "c"),
        check("b/Leaf.md"),
        lambda b: b.note("Old.md"),
        lambda b: (b.vault / "Old.md").rename(b.vault / "Older.md"),
    )


def test_a_copy_with_a_stored_id_gets_its_own(brain: Brain) -> None:
    stored = {"second-brain-id": "11111111-1111-4111-8111-111111111111"}
    brain.note("Z.md", "original", **stored)

    async def run() -> None:
        async with running(brain):
            brain.note("A copy.md", "original, edited", **stored)
            await brain.settle()
            ids = brain.ids()
            assert ids["Z.md"] == stored["second-brain-id"] != ids["A copy.md"]
            await brain.restart()
            assert brain.ids() == ids
            (brain.vault / "Z.md").unlink()
            await brain.settle()
            brain.note("A copy.md", "edited again", **stored)
            await brain.settle()
            assert brain.ids() == {"A copy.md": stored["second-brain-id"]}
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_notes_in_hidden_folders_and_the_trash_are_none(brain: Brain) -> None:
    for folder in (".obsidian/plugins/p", ".trash", ".git", ".hidden"):
        brain.note(f"{folder}/x.md", "rudder")
    brain.note("Live.md", "rudder")

    async def run() -> None:
        async with running(brain):
            assert await brain.recall("rudder") == ["Live.md"]
            (brain.vault / "Live.md").rename(brain.vault / ".trash/Live.md")
            await brain.settle()
            assert brain.rows() == {}
            assert await brain.recall("rudder") == []

    asyncio.run(run())


@pytest.mark.parametrize("place", ["Private", "Nested"])
def test_what_the_settings_or_another_vault_claim_is_left_out(brain: Brain, place: str) -> None:
    for number in range(12):
        brain.note(f"{place}/{number}.md", f"walnut {number}")
    brain.note("Kept.md", "walnut")

    async def run() -> None:
        async with running(brain):
            assert len(await brain.recall("walnut")) == 13
            await brain.stop()
            if place == "Private":
                brain.sync = SyncSettings(exclude=("Private/",))
            else:
                (brain.vault / place / ".obsidian").mkdir()
            await brain.start()
            await brain.settle()
            assert brain.daemon.sync.hold_reason is None
            assert await brain.recall("walnut") == ["Kept.md"]
            brain.daemon.sync.report(Due(changed={f"{place}/1.md", "Kept.md"}))
            await brain.settle()
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_a_link_that_took_the_place_of_a_note_is_left_out(brain: Brain) -> None:
    brain.note("A.md", "alpha")
    brain.note("B.md", "beta")

    def replaced(b: Brain) -> None:
        (b.vault / "B.md").unlink()
        (b.vault / "B.md").symlink_to(b.vault / "A.md")
        b.daemon.sync.report(Due(changed={"B.md"}))

    play(brain, replaced, lambda b: b.daemon.sync.rescan_soon())


def test_a_conflict_copy_by_its_neighbour_is_judged_anew(brain: Brain) -> None:
    brain.note("Plan-LAPTOP-1A2B3C4.md", "walnut")
    play(
        brain,
        lambda b: b.note("Plan.md", "other"),
        lambda b: (b.vault / "Plan.md").unlink(),
    )
    assert brain.changes


def test_a_name_with_half_a_character_in_its_properties_blocks_nobody(brain: Brain) -> None:
    brain.write("Odd.md", '---\ntags: [brain, "\\ud83d"]\naliases: ["\\udc00"]\n---\n[[\\ud800]]\n')
    brain.note("Fine.md", "walnut")
    play(brain, lambda b: b.note("Fine too.md"))


def test_one_vault_on_two_machines_gives_the_same_ids(make_brain: Callable[..., Brain]) -> None:
    one, two = make_brain("one"), make_brain("two")
    one.note("A.md")
    one.note("é/B.md", "text", **{"second-brain-id": "22222222-2222-4222-8222-222222222222"})

    async def run() -> None:
        async with running(one), running(two):
            assert one.ids() == two.ids()

    asyncio.run(run())


def test_a_deleted_note_replaces_nothing_any_more(brain: Brain) -> None:
    brain.note("Old.md", "old")
    brain.note("New.md", "new", supersedes='"[[Old]]"')

    async def run() -> None:
        async with running(brain):
            edges, old = brain.daemon.catalog.edges, brain.ids()["Old.md"]
            assert edges.superseded([old]) == {old}
            (brain.vault / "New.md").unlink()
            await brain.settle()
            assert edges.superseded([old]) == set()

    asyncio.run(run())
