"""A phone's plugin sent a note before the sync client brought its file into the vault."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from brains import Brain, eventually, running

from second_brain.memory.plugin import plugin_body, plugin_text
from second_brain.vault.edit import set_properties

RAW = "---\ntags: [brain]\n---\n\nThe windvane is called Archibald.\n\nIt was built in Falmouth.\n"
PATH = "Boat/Windvane.md"


class Phone:
    """Captures a note as the plugin does, then its file arrives, with the id or without."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.id = ""
        self.copy = ""

    async def capture(self) -> None:
        stored = await self.brain.daemon.memories.remember(
            plugin_text("Windvane", plugin_body(RAW)), tags=["brain", "obsidian"], source="obsidian"
        )
        assert stored.id is not None
        assert stored.path is not None
        self.id, self.copy = stored.id, stored.path

    async def arrive(self, raw: str = RAW, *, stamped: bool = True) -> None:
        data = raw.encode()
        self.brain.write(
            PATH, set_properties(data, {"second-brain-id": self.id}) if stamped else data
        )
        await self.brain.settle()

    async def tend(self) -> None:
        """Twice: the second time there is nothing left to do."""
        await self.brain.daemon.memories.tending.round()
        await self.brain.settle()
        before = self.brain.bytes_of_vault()
        await self.brain.daemon.memories.tending.round()
        assert self.brain.bytes_of_vault() == before

    def files(self) -> set[str]:
        return set(self.brain.bytes_of_vault())

    async def problems(self) -> list[str | None]:
        problems = (await self.brain.daemon.memories.health()).problems
        return [problem.path for problem in problems if problem.kind == "two-versions"]


def phone(work: Callable[[Phone], Awaitable[None]]) -> Callable[[Brain], None]:
    def run(brain: Brain) -> None:
        async def go() -> None:
            brain.note("Other.md", "An unrelated note.")
            async with running(brain):
                found = Phone(brain)
                await found.capture()
                await work(found)

        asyncio.run(go())

    return run


@pytest.mark.parametrize("stamped", [True, False], ids=["with-its-id", "before-its-id"])
def test_the_file_takes_the_place_of_the_copy(brain: Brain, stamped: bool) -> None:
    async def run() -> None:
        brain.note("Other.md", "An unrelated note.")
        async with running(brain):
            phone = Phone(brain)
            await phone.capture()
            memories = brain.daemon.memories
            other = brain.ids()["Other.md"]
            await memories.link(other, phone.id, "about_person")
            await brain.recall("windvane")
            await memories.finished()
            counted = brain.daemon.state.counters([phone.id])
            await phone.arrive(stamped=stamped)
            arrived = brain.write(PATH, (brain.vault / PATH).read_bytes()).read_bytes()
            await brain.settle()
            await phone.tend()
            assert phone.files() == {"Other.md", PATH, f".trash/{phone.copy}"}
            assert (brain.vault / PATH).read_bytes() == arrived
            assert brain.ids()[PATH] == phone.id
            assert brain.memories() == {"Other.md", PATH}
            assert brain.daemon.state.counters([phone.id]) == counted
            assert counted[phone.id].recall_count >= 1
            (edge,) = await memories.connections(other, "about_person")
            assert edge.memory.path == PATH
            assert await phone.problems() == []
            (write,) = brain.daemon.state.history(phone.id, 1)
            assert (write.client, write.tool) == ("second-brain", "note-arrived")
            # What the phone says later is about the note; the id that it writes changes nothing.
            await phone.arrive(RAW + "More.\n")
            assert brain.ids()[PATH] == phone.id
            text = plugin_text("Windvane", plugin_body(RAW + "More.\n"))
            await memories.append(phone.id, text)
            assert phone.files() == {"Other.md", PATH, f".trash/{phone.copy}"}
            await brain.restart()
            assert brain.ids()[PATH] == phone.id

    asyncio.run(run())


@phone
async def test_where_the_texts_differ_both_stay_and_the_user_is_told(p: Phone) -> None:
    await p.arrive(RAW.replace("Falmouth", "Brest"))
    await p.tend()
    assert p.files() == {"Other.md", PATH, p.copy}
    assert p.brain.ids()[p.copy] == p.id
    assert await p.problems() == [PATH]
    # The phone sends the newer text: now they agree.
    text = plugin_text("Windvane", plugin_body(RAW.replace("Falmouth", "Brest")))
    await p.brain.daemon.memories.append(p.id, text)
    await p.tend()
    assert p.brain.ids()[PATH] == p.id
    assert p.copy not in p.files()
    assert await p.problems() == []


@phone
async def test_a_note_of_another_name_that_says_the_same_is_another_note(p: Phone) -> None:
    p.brain.write("Boat/Else.md", RAW)
    await p.brain.settle()
    await p.tend()
    assert p.files() == {"Other.md", "Boat/Else.md", p.copy}


@phone
async def test_a_file_that_is_no_memory_does_not_take_one_away(p: Phone) -> None:
    await p.arrive(RAW.replace("tags: [brain]", "tags: [boat]"))
    await p.tend()
    assert p.copy in p.files()
    assert p.brain.memories() == {"Other.md", p.copy}


@phone
async def test_a_copy_that_the_user_has_moved_is_the_users(p: Phone) -> None:
    target = p.brain.vault / "Mine" / "Windvane.md"
    target.parent.mkdir()
    (p.brain.vault / p.copy).rename(target)
    await p.brain.settle()
    await p.arrive()
    await p.tend()
    assert p.files() == {"Other.md", PATH, "Mine/Windvane.md"}
    assert p.brain.ids()["Mine/Windvane.md"] == p.id


@phone
async def test_what_an_agent_remembered_is_never_retired(p: Phone) -> None:
    memories = p.brain.daemon.memories
    fact = await memories.remember("The echo sounder shows two metres.", title="Sounder")
    assert fact.path is not None
    p.brain.note("Sounder.md", "The echo sounder shows two metres.")
    await p.brain.settle()
    await p.tend()
    assert {fact.path, "Sounder.md"} <= p.files()


@phone
async def test_a_copy_that_the_user_takes_out_of_the_trash_stays(p: Phone) -> None:
    await p.arrive()
    await p.tend()
    (p.brain.vault / ".trash" / p.copy).rename(p.brain.vault / p.copy)
    await p.brain.settle()
    await p.tend()
    assert {PATH, p.copy} <= p.files()
    assert p.brain.ids()[PATH] == p.id
    assert p.brain.ids()[p.copy] != p.id


def test_the_daemon_itself_looks_after_it(make_brain: Callable[..., Brain]) -> None:
    async def run() -> None:
        brain = make_brain(watch=True)
        brain.note("Other.md", "An unrelated note.")
        async with running(brain):
            phone = Phone(brain)
            await phone.capture()
            await phone.arrive()
            await eventually(lambda: phone.copy not in phone.files())
            await eventually(lambda: brain.ids()[PATH] == phone.id)

    asyncio.run(run())
