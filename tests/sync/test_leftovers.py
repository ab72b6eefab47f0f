"""Identity where no single event or slice of a scan tells all; versions; files in the cloud."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from brains import Brain, assert_like_fresh, eventually, running

from second_brain.sync.engine import SLICE


@asynccontextmanager
async def running_unsettled(brain: Brain) -> AsyncIterator[None]:
    """Started, and compared with the vault once."""
    await brain.start()
    try:
        await eventually(brain.has_come_up)
        yield
    finally:
        await brain.stop()


def rotate(vault: Path, *names: str) -> None:
    """Each file takes the name of the next, the last that of the first."""
    for name in names:
        (vault / name).rename(vault / f"{name}.tmp")
    for name, target in zip(names, [*names[1:], names[0]], strict=True):
        (vault / f"{name}.tmp").rename(vault / target)


async def stopped(brain: Brain, change: Callable[[], None]) -> None:
    await brain.stop()
    change()
    await brain.start()
    await brain.settle()


@pytest.mark.parametrize("stored", [False, True], ids=["derived-ids", "stored-ids"])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_notes_that_swapped_names_keep_their_ids_over_slices_of_the_scan(
    brain: Brain, tmp_path: Path, count: int, stored: bool
) -> None:
    """Between each two of them so many files changed that they are read in different slices."""

    async def run() -> None:
        names = [f"Note {'abcde'[n]}.md" for n in range(count)]
        for n, name in enumerate(names):
            own = {"second-brain-id": f"id-{n}"} if stored else {}
            brain.note(name, f"The text of {name} {n}.", **own)
        brain.note("Hub.md", "\n".join(f"[[{name[:-3]}]]" for name in names))
        filler = [f"Filler {n}.md" for n in range(SLICE * count)]
        for name in filler:
            brain.note(name)
        async with running(brain):
            before = brain.ids()

            def change() -> None:
                rotate(brain.vault, *names)
                for name in filler:
                    brain.note(name, f"{name} was edited.")
                # What was edited last is read first: one of the notes, then a slice of others.
                order = [names[0]]
                for n, name in enumerate(names[1:]):
                    order += [*filler[n * SLICE : (n + 1) * SLICE], name]

                for place, name in enumerate(reversed(order)):
                    when = 1_700_000_000 + place
                    os.utime(brain.vault / name, (when, when))

            await stopped(brain, change)
            after = brain.ids()
            for name, target in zip(names, [*names[1:], names[0]], strict=True):
                assert after[target] == before[name]
            assert after["Hub.md"] == before["Hub.md"]
            await assert_like_fresh(brain, tmp_path / "fresh")

    asyncio.run(run())


def test_a_note_that_was_overwritten_comes_back_as_the_same(brain: Brain) -> None:
    """Its file was replaced by another note's; restored elsewhere it is still the old one."""

    async def run() -> None:
        brain.note("A.md", "The anchor is fouled.")
        text = brain.note("B.md", "The boom is bent.").read_bytes()
        async with running(brain):
            ids = brain.ids()
            (brain.vault / "A.md").replace(brain.vault / "B.md")
            await brain.settle()
            assert brain.ids() == {"B.md": ids["A.md"]}
            brain.write("Restored/B.md", text)
            await brain.settle()
            assert brain.ids() == {"B.md": ids["A.md"], "Restored/B.md": ids["B.md"]}

    asyncio.run(run())


def test_a_copy_made_before_an_edit_of_the_original_is_the_copy(brain: Brain) -> None:
    """Seen while the original is edited already: a swap would look alike but for its text."""

    async def run() -> None:
        path = brain.note("Plan.md", "The first plan.")
        async with running(brain):
            id = brain.ids()["Plan.md"]
            brain.write("Plan copy.md", path.read_bytes())
            brain.note("Plan.md", "The second plan.")
            await brain.daemon.engine.take_in(["Plan copy.md"])
            await brain.settle()
            assert brain.ids()["Plan.md"] == id

    asyncio.run(run())


def test_a_copy_with_a_stored_id_has_it_once_the_original_is_gone(brain: Brain) -> None:
    async def run() -> None:
        text = brain.note("A.md", "About the mast.", **{"second-brain-id": "mine"}).read_bytes()
        brain.note("Source.md", "", supersedes='"[[A]]"')
        async with running(brain):
            await brain.recall("mast")
            brain.write("Copies/B.md", text)
            brain.write("Copies/C.md", text)
            await brain.settle()
            assert brain.ids()["A.md"] == "mine"
            assert "mine" not in (brain.ids()["Copies/B.md"], brain.ids()["Copies/C.md"])
            counted = brain.daemon.state.counters(["mine"])
            (brain.vault / "A.md").unlink()
            await brain.settle()
            assert brain.ids()["Copies/B.md"] == "mine"
            assert brain.ids()["Copies/C.md"] != "mine"
            assert brain.daemon.state.counters(["mine"]) == counted
            row = brain.daemon.catalog.by_id("mine")
            assert row is not None
            assert row.claimed_id is None
            assert await brain.recall("mast")
            await brain.restart()
            assert brain.ids()["Copies/B.md"] == "mine"

    asyncio.run(run())


def test_an_id_written_into_a_note_takes_its_edges_and_counters_along(brain: Brain) -> None:
    async def run() -> None:
        brain.note("A.md", "About the mast.", supersedes='"[[B]]"')
        brain.note("B.md", "About the boom.", supersedes='"[[A]]"')
        async with running(brain):
            await brain.recall("mast")
            await brain.daemon.memories.finished()
            before = brain.daemon.state.counters([brain.ids()["A.md"]])
            brain.note(
                "A.md", "About the mast.", **{"supersedes": '"[[B]]"', "second-brain-id": "new"}
            )
            await brain.settle()
            assert brain.ids()["A.md"] == "new"
            assert list(brain.daemon.state.counters(["new"]).values()) == list(before.values())
            (edge,) = brain.daemon.catalog.edges.stated_by(brain.ids()["B.md"])
            assert (edge.target_id, edge.meant_id) == ("new", None)

    asyncio.run(run())


# iCloud's numbered copies


@pytest.mark.parametrize("watch", [False, True], ids=["scanned", "watched"])
def test_a_numbered_version_is_a_conflict_copy_and_a_second_note_is_none(
    make_brain: Callable[..., Brain], tmp_path: Path, watch: bool
) -> None:
    async def run() -> None:
        brain = make_brain(watch=watch)
        text = brain.note("Plan.md", "One.\nTwo.\nThree.\n").read_bytes()
        brain.note("Boat.md", "The first boat.")
        async with running(brain):
            brain.write("Plan 2.md", text)
            brain.note("Boat 2.md", "A second boat, a quite different one.")
            await brain.settle()
            assert brain.memories() == {"Plan.md", "Boat.md", "Boat 2.md"}
            assert brain.rows()["Plan 2.md"].status == "conflict-copy"
            problems = (await brain.daemon.memories.health()).problems
            (problem,) = [each for each in problems if each.kind == "conflict-copy"]
            assert problem.path == "Plan 2.md"
            assert "Merge it into" in problem.hint
            brain.note("Plan 2.md", "Something else altogether by now.")
            await brain.settle()
            assert "Plan 2.md" in brain.memories()
            await assert_like_fresh(brain, tmp_path / "fresh")

    asyncio.run(run())


@pytest.mark.parametrize("change", ["edited", "deleted"])
def test_a_numbered_version_becomes_a_note_when_the_other_goes_its_own_way(
    brain: Brain, tmp_path: Path, change: str
) -> None:
    async def run() -> None:
        text = brain.note("Plan.md", "One.\nTwo.\nThree.\n").read_bytes()
        brain.write("Plan 2.md", text)
        async with running(brain):
            assert brain.memories() == {"Plan.md"}
            if change == "edited":
                brain.note("Plan.md", "Not a line of it is left.")
            else:
                (brain.vault / "Plan.md").unlink()
            await brain.settle()
            await brain.settle()
            assert "Plan 2.md" in brain.memories()
            await assert_like_fresh(brain, tmp_path / "fresh")

    asyncio.run(run())


# Files that a cloud client has taken away


@pytest.mark.parametrize("watch", [False, True], ids=["scanned", "watched"])
def test_an_evicted_note_stays_known_and_is_named(
    make_brain: Callable[..., Brain], watch: bool
) -> None:
    async def run() -> None:
        brain = make_brain(watch=watch)
        note = brain.note("Deep/Plan.md", "The winch is serviced in May.")
        brain.note("Other.md", "[[Plan]]")
        placeholder = note.with_name(".Plan.md.icloud")
        async with running(brain):
            ids = brain.ids()
            note.rename(placeholder)
            if not watch:
                await brain.daemon.sync.scan()
            await eventually(lambda: brain.rows()["Deep/Plan.md"].problems)
            problems = (await brain.daemon.memories.health()).problems
            (problem,) = [each for each in problems if each.path == "Deep/Plan.md"]
            assert problem.kind == "in-the-cloud"
            assert "download" in problem.hint.casefold()
            for _ in range(2):
                await brain.daemon.sync.scan()
                assert brain.ids() == ids
                assert brain.memories() == {"Deep/Plan.md", "Other.md"}
                assert (await brain.recall("winch"))[0] == "Deep/Plan.md"
                assert ("Other.md", "relates_to", "Plan", "Deep/Plan.md") in brain.edges()
            placeholder.rename(note)
            await brain.settle()
            assert brain.rows()["Deep/Plan.md"].problems == ()
            assert brain.ids() == ids

    asyncio.run(run())


def test_a_note_that_was_never_here_but_in_the_cloud_is_waited_for(brain: Brain) -> None:
    async def run() -> None:
        brain.note("Here.md")
        brain.write(".There.md.icloud", b"bplist00")
        async with running_unsettled(brain):
            await eventually(lambda: "There.md" in brain.rows())
            assert brain.rows()["There.md"].status == "failed"
            (brain.vault / ".There.md.icloud").unlink()
            brain.note("There.md", "It has come down.")
            await brain.settle()
            assert "There.md" in brain.memories()

    asyncio.run(run())
