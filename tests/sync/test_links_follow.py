"""Relations that the daemon wrote follow their notes; what a user wrote never changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from brains import Brain, eventually, running

from second_brain.errors import NoteChanged
from second_brain.memory.links_follow import DELAY_SECONDS, LinksFollow

PLAN = "---\ntags: [brain]\n# a comment\nup: '[[Home]]'\n---\nSee [[Old plan]].\n"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Following:
    """A brain whose relations follow by a clock of the test's."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.clock = Clock()
        self.begin()

    def begin(self) -> None:
        daemon = self.brain.daemon
        scribe = daemon.memories._scribe
        self.follow = LinksFollow(daemon.engine, scribe, daemon.state, clock=self.clock)

    async def later(self, seconds: float = DELAY_SECONDS + 0.1) -> int:
        """How many notes are edited when so much time has passed without anybody doing it."""
        first = await self.follow.step()
        self.clock.now += seconds
        return first + await self.follow.step()

    async def link(self, source: str, target: str, type: str = "supersedes") -> None:
        ids = self.brain.ids()
        await self.brain.daemon.memories.link(ids[source], ids[target], type)

    def rename(self, old: str, new: str) -> None:
        target = self.brain.vault / new
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.brain.vault / old).rename(target)

    def text(self, path: str) -> str:
        return (self.brain.vault / path).read_text()

    def means(self, source: str) -> set[str | None]:
        return {
            path
            for name, kind, _, path in self.brain.edges()
            if (name, kind) == (source, "supersedes")
        }


def following(work: Callable[[Following], Awaitable[None]]) -> Callable[[Brain], None]:
    def run(brain: Brain) -> None:
        async def go() -> None:
            brain.write("New plan.md", PLAN)
            brain.note("Old plan.md", "What was planned first.")
            brain.note("Home.md")
            async with running(brain):
                await work(Following(brain))

        asyncio.run(go())

    run.__doc__ = work.__doc__
    return run


@following
async def test_a_relation_follows_a_rename_by_anything_but_obsidian(f: Following) -> None:
    await f.link("New plan.md", "Old plan.md")
    before = f.text("New plan.md")
    assert '  - "[[Old plan]]"\n' in before
    f.rename("Old plan.md", "Archive/Plan of 2019.md")
    await f.brain.settle()
    assert f.means("New plan.md") == {None}
    assert await f.later(DELAY_SECONDS - 0.1) == 0
    assert f.text("New plan.md") == before
    assert await f.later(0.2) == 1
    # In the property, and nowhere else: the text is the user's.
    assert f.text("New plan.md") == before.replace('- "[[Old plan]]"', '- "[[Plan of 2019]]"')
    assert f.means("New plan.md") == {"Archive/Plan of 2019.md"}
    (write,) = f.brain.daemon.state.history(n=1)
    assert (write.client, write.tool) == ("second-brain", "links-follow")
    assert write.path == "New plan.md"
    # No echo: nothing is written again, whatever is looked at how often.
    stamps = f.brain.bytes_of_vault()
    await f.brain.settle()
    assert await f.later() == 0
    assert f.brain.bytes_of_vault() == stamps
    assert f.brain.daemon.catalog.edges.astray() == []


@following
async def test_a_move_after_which_the_name_still_means_it_changes_nothing(f: Following) -> None:
    await f.link("New plan.md", "Old plan.md")
    stamps = f.brain.bytes_of_vault()
    f.rename("Old plan.md", "Archive/Old plan.md")
    await f.brain.settle()
    assert await f.later() == 0
    assert f.brain.bytes_of_vault()["New plan.md"] == stamps["New plan.md"]


@following
async def test_obsidian_has_time_to_rewrite_the_link_itself(f: Following) -> None:
    await f.link("New plan.md", "Old plan.md")
    f.rename("Old plan.md", "Renamed.md")
    await f.brain.settle()
    await f.follow.step()
    rewritten = f.text("New plan.md").replace("[[Old plan]]", "[[Renamed]]")
    f.brain.write("New plan.md", rewritten)
    await f.brain.settle()
    assert await f.later() == 0
    assert f.text("New plan.md") == rewritten


@following
async def test_obsidian_may_rewrite_it_in_the_very_moment(f: Following) -> None:
    await f.link("New plan.md", "Old plan.md")
    f.rename("Old plan.md", "Renamed.md")
    await f.brain.settle()
    rewritten = f.text("New plan.md").replace("[[Old plan]]", "[[Renamed]]")
    f.brain.write("New plan.md", rewritten)  # not read yet
    assert await f.later() == 0
    assert f.text("New plan.md") == rewritten


@following
async def test_what_a_user_wrote_by_hand_is_never_rewritten(f: Following) -> None:
    f.brain.note("Mine.md", "[[Old plan]]", supersedes='"[[Old plan]]"', up='"[[Old plan]]"')
    await f.brain.settle()
    before = f.text("Mine.md")
    f.rename("Old plan.md", "Renamed.md")
    await f.brain.settle()
    assert await f.later() == 0
    assert f.text("Mine.md") == before
    # It is not asked about for ever.
    assert {edge.property for edge in f.brain.daemon.catalog.edges.astray()} == {"up"}


@following
async def test_beside_ours_a_users_relation_in_the_same_list_stays(f: Following) -> None:
    f.brain.note("Mine.md", "", supersedes='["[[Home]]"]')
    await f.brain.settle()
    await f.link("Mine.md", "Old plan.md")
    f.rename("Old plan.md", "Renamed.md")
    f.rename("Home.md", "House.md")
    await f.brain.settle()
    assert await f.later() == 1
    assert 'supersedes: ["[[Home]]", "[[Renamed]]"]' in f.text("Mine.md")


@following
async def test_a_note_of_ours_follows_with_its_inferred_links_but_not_its_text(
    f: Following,
) -> None:
    head = (
        "---\ntags: [brain]\nsecond-brain-id: 1\nsecond-brain-source: claude\n"
        'second-brain-related:\n  - "[[Old plan#Costs|the plan]]"\nup: "[[Old plan]]"\n---\n'
    )
    f.brain.write("Second Brain/Fact.md", f"{head}It replaces [[Old plan]].\n")
    await f.brain.settle()
    f.rename("Old plan.md", "Renamed.md")
    await f.brain.settle()
    assert await f.later() == 1
    new = head.replace('- "[[Old plan#', '- "[[Renamed#')
    assert f.text("Second Brain/Fact.md") == f"{new}It replaces [[Old plan]].\n"


@following
async def test_a_new_note_of_the_name_does_not_take_the_link_over(f: Following) -> None:
    f.rename("Old plan.md", "Deep/er/Old plan.md")
    f.brain.note("z/Source.md")
    await f.brain.settle()
    await f.link("z/Source.md", "Deep/er/Old plan.md")
    assert f.means("z/Source.md") == {"Deep/er/Old plan.md"}
    f.brain.note("z/Old plan.md", "Quite another plan of that name.")
    await f.brain.settle()
    assert f.means("z/Source.md") == {"z/Old plan.md"}
    assert await f.later() == 1
    assert '"[[Deep/er/Old plan]]"' in f.text("z/Source.md")
    assert f.means("z/Source.md") == {"Deep/er/Old plan.md"}
    assert await f.later() == 0


@following
async def test_an_ambiguous_name_is_written_with_its_path(f: Following) -> None:
    f.brain.note("Other/Renamed.md", "A note that has the new name already.")
    await f.brain.settle()
    await f.link("New plan.md", "Old plan.md")
    f.rename("Old plan.md", "Archive/Renamed.md")
    await f.brain.settle()
    assert await f.later() == 1
    assert '"[[Archive/Renamed]]"' in f.text("New plan.md")
    assert f.means("New plan.md") == {"Archive/Renamed.md"}


@following
async def test_a_note_that_is_gone_is_waited_for(f: Following) -> None:
    await f.link("New plan.md", "Old plan.md")
    kept = (f.brain.vault / "Old plan.md").read_bytes()
    before = f.text("New plan.md")
    (f.brain.vault / "Old plan.md").unlink()
    await f.brain.settle()
    assert await f.later() == 0
    assert f.text("New plan.md") == before
    f.brain.write("Restored/Plan.md", kept)
    await f.brain.settle()
    assert await f.later() == 1
    assert f.means("New plan.md") == {"Restored/Plan.md"}


@following
async def test_what_was_renamed_while_the_daemon_was_stopped_is_followed(f: Following) -> None:
    await f.link("New plan.md", "Old plan.md")
    await f.brain.stop()
    f.rename("Old plan.md", "Renamed.md")
    await f.brain.start()
    await f.brain.settle()
    f.begin()
    assert await f.later(DELAY_SECONDS - 0.1) == 0
    await f.brain.restart()
    f.begin()
    assert await f.later() == 1
    assert f.means("New plan.md") == {"Renamed.md"}


@following
async def test_several_renames_in_a_row_are_one_edit(f: Following) -> None:
    await f.link("New plan.md", "Old plan.md")
    for n, (old, new) in enumerate([("Old plan", "A"), ("A", "B"), ("B", "c/C")]):
        f.rename(f"{old}.md", f"{new}.md")
        await f.brain.settle()
        assert await f.later(DELAY_SECONDS - 1) == 0, n
    assert await f.later() == 1
    assert f.means("New plan.md") == {"c/C.md"}
    assert len(f.brain.daemon.state.history(f.brain.ids()["New plan.md"])) == 2


@following
async def test_two_that_swapped_names_are_both_followed(f: Following) -> None:
    await f.link("New plan.md", "Old plan.md")
    await f.link("New plan.md", "Home.md")
    f.rename("Old plan.md", "x.tmp")
    f.rename("Home.md", "Old plan.md")
    f.rename("x.tmp", "Home.md")
    await f.brain.settle()
    before = f.text("New plan.md")
    assert await f.later() == 0  # Both names are there, and both notes are meant.
    assert f.text("New plan.md") == before
    assert f.means("New plan.md") == {"Old plan.md", "Home.md"}


@following
async def test_it_can_be_undone_and_is_not_done_again(f: Following) -> None:
    await f.link("New plan.md", "Old plan.md")
    before = f.text("New plan.md")
    f.rename("Old plan.md", "Renamed.md")
    await f.brain.settle()
    assert await f.later() == 1
    (write,) = f.brain.daemon.state.history(n=1)
    await f.brain.daemon.memories.undo(write.n)
    assert f.text("New plan.md") == before
    await f.brain.settle()
    assert await f.later() == 0
    assert f.text("New plan.md") == before


@following
async def test_a_note_that_cannot_be_edited_is_left_alone_until_it_changes(f: Following) -> None:
    await f.link("New plan.md", "Old plan.md")
    broken = f.text("New plan.md").replace("up: '[[Home]]'", "t: &a x\nu: *a\nup: &b '[[Home]]'")
    broken = broken.replace('- "[[Old plan]]"', '- "[[Old plan]]"\n  - *b')
    f.brain.write("New plan.md", broken)
    await f.brain.settle()
    f.rename("Old plan.md", "Renamed.md")
    await f.brain.settle()
    assert await f.later() == 0
    assert await f.later(1000) == 0
    assert f.text("New plan.md") == broken
    f.brain.write("New plan.md", broken.replace("\n  - *b", ""))
    await f.brain.settle()
    assert await f.later() == 1
    assert f.means("New plan.md") == {"Renamed.md"}


@following
async def test_a_note_that_is_being_written_to_is_edited_later(f: Following) -> None:
    await f.link("New plan.md", "Old plan.md")
    f.rename("Old plan.md", "Renamed.md")
    await f.brain.settle()
    real = f.follow._scribe.edit

    async def busy(*args: object, **options: object) -> bool:
        raise NoteChanged("New plan.md")

    f.follow._scribe.edit = busy  # type: ignore[method-assign, assignment]
    assert await f.later() == 0
    f.follow._scribe.edit = real  # type: ignore[method-assign]
    assert await f.later(1) == 0
    assert await f.later(60) == 1


def test_the_daemon_itself_looks_after_it(make_brain: Callable[..., Brain]) -> None:
    """With its own clock and a shorter delay, in the background."""

    async def run() -> None:
        name = "New plan.md"
        brain = make_brain(watch=True)
        brain.write(name, PLAN)
        brain.note("Old plan.md")
        async with running(brain):
            brain.daemon.memories.tending._follow._delay = 0.5
            f = Following(brain)
            await f.link(name, "Old plan.md")
            f.rename("Old plan.md", "Renamed.md")
            await eventually(lambda: f.means(name) == {"Renamed.md"})
            assert '- "[[Renamed]]"' in f.text(name)
            assert "See [[Old plan]]." in f.text(name)

    asyncio.run(run())
