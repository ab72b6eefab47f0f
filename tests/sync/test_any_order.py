"""Whatever is done to the vault, in whatever order events tell of it, and wherever the daemon is
stopped: once it has settled, index and catalogue are those of a fresh index of the vault.

`make nightly` makes the search longer.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from brains import Brain, assert_like_fresh
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from profiles import examples, is_nightly
from second_brain.errors import EditRefused, InvalidInput, NoteNotFound
from second_brain.memory.model import Remembered
from second_brain.vault.links import Resolver
from second_brain.vault.model import Link
from second_brain.vault.settle import Due

FOLDERS = ["", "a", "b", "a/deep"]
NAMES = ["One", "Two", "one", "One 2", "Three-LAPTOP-1A2B3C4", "Three"]
BODIES = [
    "",
    "alpha",
    "see [[One]] and [[a/Two]]",
    "[t](Two.md) #boat",
    "# H\nbeta\n# I\n[[Three]]",
]
HEADS = [
    "---\ntags: brain\n---\n",
    "---\ntags: [brain, x/y]\nsecond-brain-status: deprecated\n---\n",
    "---\ntags: [brain\n---\n#brain ",
    "---\nsecond-brain: false\ntags: brain\n---\n",
    "---\ntags: brain\nsecond-brain-id: 33333333-3333-4333-8333-333333333333\n---\n",
    '---\ntags: brain\nsupersedes: "[[Two]]"\n---\n',
    "",
]
PATHS = st.builds(
    lambda f, n: f"{f}/{n}.md" if f else f"{n}.md", *map(st.sampled_from, (FOLDERS, NAMES))
)
TEXTS = st.builds(lambda head, body: f"{head}{body}\n", *map(st.sampled_from, (HEADS, BODIES)))
PICK = st.integers(0, 999)
HUB = "hub/Hub.md"
HUB_TEXT = """---
tags: brain
supersedes: ["[[Three]]", "[[a/One]]"]
second-brain-related: ["[[Two]]"]
---
[[One]] [[Two]] [[Three]] [[a/Two]] [[b/One]] [[a/deep/Three]] [[One 2|other]] [t](Two.md)
[u](../a/One.md) ![[Three-LAPTOP-1A2B3C4]] [[c/One]]
"""
"""Links to everything by every kind of link, and is never touched: what its links mean changes only
with what is done to others."""


class AnyOrder(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="any-order-"))
        self.brain = Brain(self.folder / "vault", self.folder / "data")
        self.runner = asyncio.Runner()
        self.time = 1_600_000_000
        self.events = Due()
        self.trash: list[Path] = []
        self.deleted = 0
        self.checks = 0
        self.remembered: list[str] = []

    @initialize()
    def begin(self) -> None:
        (self.brain.vault / "keep.txt").write_text("the vault is never empty")
        self.put(self.brain.vault / HUB, HUB_TEXT)
        self.runner.run(self.brain.start())
        self.runner.run(self.brain.settle())

    def teardown(self) -> None:
        try:
            if self.brain._running is not None:
                self.compare()
                self.runner.run(self.brain.stop())
        finally:
            self.runner.close()
            shutil.rmtree(self.folder)

    # Files

    def files(self) -> list[Path]:
        found = self.brain.vault.rglob("*.md")
        kept = self.brain.vault / HUB
        return sorted(path for path in found if ".trash" not in path.parts and path != kept)

    def pick(self, number: int) -> Path | None:
        files = self.files()
        return files[number % len(files)] if files else None

    def name(self, file: Path) -> str:
        return str(file.relative_to(self.brain.vault))

    def put(self, file: Path, text: str) -> None:
        """Write a file that was left alone for long: nothing is in the middle of a save here."""
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.parent.is_dir() and not file.is_dir():
            file.write_text(text)
            self.aged(file)

    def aged(self, file: Path) -> None:
        self.time += 1
        os.utime(file, (self.time, self.time))

    def moved(self, old: Path, new: Path) -> None:
        new.parent.mkdir(parents=True, exist_ok=True)
        old.rename(new)
        self.events.moved.append((self.name(old), self.name(new)))

    @rule(path=PATHS, text=TEXTS)
    def write(self, path: str, text: str) -> None:
        self.put(self.brain.vault / path, text)
        self.events.changed.add(path)

    @rule(number=PICK, text=TEXTS)
    def save_over_a_temporary_file(self, number: int, text: str) -> None:
        if file := self.pick(number):
            self.put(self.brain.vault / "x.tmp", text)
            (self.brain.vault / "x.tmp").rename(file)
            self.events.changed.add(self.name(file))

    @rule(number=PICK, text=TEXTS)
    def save_like_vim(self, number: int, text: str) -> None:
        if file := self.pick(number):
            file.rename(file.with_name(file.name + "~"))
            self.put(file, text)
            file.with_name(file.name + "~").unlink()
            self.events.deleted.add(self.name(file))
            self.events.changed.add(self.name(file))

    @rule(number=PICK, path=PATHS)
    def move(self, number: int, path: str) -> None:
        if file := self.pick(number):
            self.moved(file, self.brain.vault / path)

    @rule(number=PICK, path=PATHS, text=TEXTS)
    def move_and_edit(self, number: int, path: str, text: str) -> None:
        if file := self.pick(number):
            self.moved(file, self.brain.vault / path)
            self.put(self.brain.vault / path, text)
            self.events.changed.add(path)

    @rule(number=PICK, other=PICK)
    def swap(self, number: int, other: int) -> None:
        one, two = self.pick(number), self.pick(other)
        if one and two and one != two:
            between = one.with_name("between.tmp")
            one.rename(between)
            two.rename(one)
            between.rename(two)
            self.events.moved += [
                (self.name(one), self.name(two)),
                (self.name(two), self.name(one)),
            ]

    @rule(number=PICK)
    def rename_by_case(self, number: int) -> None:
        if (file := self.pick(number)) and not file.with_name(file.name.swapcase()).exists():
            self.moved(file, file.with_name(file.stem.swapcase() + ".md"))

    @rule(source=st.sampled_from(["a", "b", "a/deep"]), to=st.sampled_from(["c", "b/c", "a"]))
    def move_folder(self, source: str, to: str) -> None:
        old, new = self.brain.vault / source, self.brain.vault / to
        if old.is_dir() and not new.exists() and old not in new.parents:
            new.parent.mkdir(exist_ok=True)
            old.rename(new)
            self.events.subtrees |= {source, to}

    @rule(number=PICK)
    def delete(self, number: int) -> None:
        if file := self.pick(number):
            self.deleted += 1
            kept = self.folder / f"deleted{self.deleted}"
            file.rename(kept)
            self.trash.append(kept)
            self.events.deleted.add(self.name(file))

    @rule(number=PICK, path=PATHS)
    def restore(self, number: int, path: str) -> None:
        target = self.brain.vault / path
        if self.trash and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            self.trash.pop(number % len(self.trash)).rename(target)
            self.events.changed.add(path)

    @rule(number=PICK, path=PATHS)
    def duplicate(self, number: int, path: str) -> None:
        file, target = self.pick(number), self.brain.vault / path
        if file and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
            self.events.changed.add(path)

    @rule(number=PICK)
    def touch(self, number: int) -> None:
        if file := self.pick(number):
            self.aged(file)

    # The daemon

    @rule(number=PICK)
    def some_events_are_told(self, number: int) -> None:
        """Of each kind every other one, or all, or none, moves also the last one first; the rest
        never."""
        events, self.events = self.events, Due()
        share = number % 3
        order = -share if number % 2 else share
        if share:
            self.brain.daemon.sync.report(
                Due(
                    events.moved[::order],
                    set(sorted(events.changed)[::share]),
                    set(sorted(events.deleted)[::share]),
                    set(sorted(events.subtrees)[::share]),
                )
            )
        self.runner.run(asyncio.sleep(0.02 * (number % 5)))

    @rule()
    def restart(self) -> None:
        self.runner.run(self.brain.stop())
        self.runner.run(self.brain.start())

    @rule()
    def settle(self) -> None:
        self.runner.run(self.brain.settle())
        self.check_ids()
        self.check_links()

    def compare(self) -> None:
        self.settle()
        self.checks += 1
        fresh = self.folder / f"fresh{self.checks}"
        self.runner.run(assert_like_fresh(self.brain, fresh))

    def check_ids(self) -> None:
        """Whoever stores an id has it, if nobody else does; nobody's id is the id of another."""
        ids = self.brain.ids()
        assert len(set(ids.values())) == len(ids)
        # What has settled stays: nothing is taken in twice.
        self.brain.changes.clear()
        self.runner.run(self.brain.daemon.sync.scan())
        assert self.brain.changes == []

    def check_links(self) -> None:
        """Every link means what it would if the vault were read for the first time."""
        catalog = self.brain.daemon.catalog
        rows = self.brain.rows()
        resolver = Resolver(rows)
        assert HUB in rows
        for row in rows.values():
            for edge in catalog.edges.stated_by(row.id):
                path = resolver.resolve(Link(edge.target, markdown=edge.markdown), row.path)
                id = rows[path].id if path is not None else None
                assert (edge.target_path, edge.target_id) == (path, id), (row.path, edge.target)

    # Agents

    @rule(number=st.integers(0, 5))
    def remember(self, number: int) -> None:
        async def act() -> Remembered:
            return await self.brain.daemon.memories.remember(f"A fact numbered {number}{number}.")

        stored = self.runner.run(act())
        if stored.id is not None and stored.outcome != "duplicate":
            self.remembered.append(stored.id)

    @rule(number=PICK, forget=st.booleans())
    def append_or_forget(self, number: int, forget: bool) -> None:
        if not self.remembered:
            return
        id = self.remembered[number % len(self.remembered)]
        memories = self.brain.daemon.memories

        async def act() -> None:
            try:
                if forget:
                    await memories.forget(id)
                else:
                    await memories.append(id, f"More about it {number}.")
            except (NoteNotFound, EditRefused, InvalidInput):
                return  # moved, edited or gone: an agent is told so

        self.runner.run(act())


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(
    # One example is a vault and its index from nothing, which takes a second or two.
    examples(25),
    stateful_step_count=30 if is_nightly() else 12,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
