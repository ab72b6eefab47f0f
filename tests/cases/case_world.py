"""A vault with the daemon's real graph in this process, and what a case can do to them."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brains import Brain
from case_model import Case, content

from second_brain.config.settings import SyncSettings
from second_brain.errors import (
    EditRefused,
    InvalidInput,
    NoteChanged,
    NoteNotFound,
    SecondBrainError,
    VaultOffline,
)
from second_brain.index.rows import NoteRow
from second_brain.index.state import WriteRow
from second_brain.memory.model import Caller
from second_brain.memory.scribe import Settling
from second_brain.vault.edit import set_properties
from second_brain.vault.note import parse_note, property_value

ANNOTATING = Caller("a case", "annotate")


@dataclass(frozen=True, slots=True)
class Said:
    """What was remembered, and where it lies."""

    title: str
    content: str
    path: str


@dataclass(frozen=True, slots=True)
class Searched:
    query: str
    failed: str = ""


@dataclass(frozen=True, slots=True)
class McpAnswer:
    asked: str
    is_error: bool
    text: str


class World:
    """What cases do and look at. `first_ids` are the ids that paths had when first settled."""

    def __init__(self, case: Case, folder: Path, log: list[logging.LogRecord]) -> None:
        self.case = case
        self.folder = folder
        self.vault = folder / "vault"
        self.outside = folder / "outside"
        self._log = log
        self.originals: dict[str, bytes] = {}
        self.first_ids: dict[str, str] = {}
        self.refused: set[str] = set()
        self.remembered: list[Said] = []
        self.searches: list[Searched] = []
        self.told: set[tuple[str, str | None]] = set()
        self.left: dict[str, tuple[int, int, int]] = {}
        self.mcp: list[McpAnswer] = []
        self.statuses: list[int] = []
        self.json_read = 0
        self.root_seen_while_away: bool | None = None
        self._away: Path | None = None
        self._lost_during: set[str] = set()
        self.vault.mkdir()
        self.outside.mkdir()
        (self.outside / "hostname").write_text("not of the vault")
        for path, value in case.setup.items():
            self.write(path, content(value))
            self.originals[path] = content(value)
        for file in self.vault.rglob("*"):
            os.utime(file, (time.time() - 3600, time.time() - 3600))
        self.outside_before = self.files_outside()
        self._brain = Brain(
            self.vault,
            folder / "data",
            watch=True,
            sync=SyncSettings(exclude=tuple(case.config.get("ignore", ()))),
            # As patient as the daemon is by default, with a shorter wait.
            settling=Settling(user=0.5, own=0.1, patience=10.0),
        )

    async def do(self, action: dict[str, Any]) -> None:
        """One action of the case; fails for one that is unknown."""
        step = getattr(self, f"op_{action['op']}", None)
        assert step is not None, f"unknown op {action['op']}"
        rest = {key: value for key, value in action.items() if key != "op"}
        await step(**{"from_" if key == "from" else key: value for key, value in rest.items()})

    async def close(self) -> None:
        await self._brain.stop()

    # The daemon

    async def op_start(self) -> None:
        await self._brain.start()

    async def op_stop(self) -> None:
        await self._brain.stop()

    async def op_restart(self) -> None:
        """A vault that is not there keeps the daemon from starting, and it says so."""
        await self._brain.stop()
        try:
            await self._brain.start()
        except VaultOffline:
            self.told.add(("vault-offline", None))

    async def op_settle(self) -> None:
        await self.settle()
        for path, id in self.ids().items():
            self.first_ids.setdefault(path, id)
        self.told |= await self.problems()

    async def op_wait(self, ms: int) -> None:
        await asyncio.sleep(ms / 1000)
        if self._brain.is_running:
            self.told |= await self.problems()
        if self._away is not None:
            self.root_seen_while_away = bool(self.root_seen_while_away) or (
                self.vault.exists() if self.case.variant == "missing" else False
            )

    async def op_unmount(self, variants: list[str]) -> None:
        assert self.case.variant in variants
        self._away = self.folder / "unmounted"
        self.vault.rename(self._away)
        if self.case.variant == "empty":
            self.vault.mkdir()

    async def op_remount(self) -> None:
        assert self._away is not None
        if self.vault.exists():
            self.vault.rmdir()
        self._away.rename(self.vault)
        self._away = None
        if not self._brain.is_running:
            await self._brain.start()

    # Files

    async def op_write(self, path: str, content: object) -> None:
        self.write(path, content if isinstance(content, bytes) else str(content).encode())

    async def op_append(self, path: str, content: str) -> None:
        with (self.vault / path).open("ab") as file:
            file.write(content.encode())
        self.left[path] = self.stamp(path)

    op_user_append_inplace = op_append

    async def op_delete(self, path: str) -> None:
        (self.vault / path).unlink()

    async def op_rename(self, from_: str, to: str) -> None:
        target = self.vault / to
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.vault / from_).rename(target)

    async def op_copy(self, from_: str, to: str) -> None:
        shutil.copyfile(self.vault / from_, self.vault / to)

    async def op_mkdir(self, path: str) -> None:
        (self.vault / path).mkdir(parents=True, exist_ok=True)

    async def op_symlink(self, path: str, target: str) -> None:
        assert target == "(outside)"
        (self.vault / path).symlink_to(self.outside)

    async def op_slow_write(self, path: str, parts: list[str], delay_ms: int) -> None:
        """Truncate, then write part after part, and look all the while whether the note is lost."""
        with (self.vault / path).open("wb", buffering=0) as file:
            for part in parts:
                await self._watch_while(delay_ms / 1000)
                file.write(part.encode())
        await self._watch_while(delay_ms / 1000)

    async def _watch_while(self, seconds: float) -> None:
        there = await self.memories()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._lost_during |= there - await self.memories()
            await asyncio.sleep(0.02)

    async def op_check_during(self, never: dict[str, str]) -> None:
        assert never.keys() == {"deleted"}
        assert never["deleted"] not in self._lost_during
        deleted = {change.path for change in self._brain.changes if change.type == "deleted"}
        assert never["deleted"] not in deleted

    async def op_repeat(self, n: int, do: list[dict[str, Any]]) -> None:
        for i in range(1, n + 1):
            for action in do:
                given = action.get("content")
                filled = {"content": given.replace("{i}", str(i))} if given else {}
                await self.do({**action, **filled})

    async def op_parallel(self, a: list[dict[str, Any]], b: list[dict[str, Any]]) -> None:
        async def one_by_one(actions: list[dict[str, Any]]) -> None:
            for action in actions:
                await self.do(action)

        await asyncio.gather(one_by_one(a), one_by_one(b))

    # Agents

    async def op_annotate(self, path: str, set: dict[str, str]) -> None:
        """Write own keys into a user's note the way every use case does."""
        row = self._brain.daemon.catalog.by_path(path)
        assert row is not None, f"{path} is not known"
        try:
            await self._brain.daemon.memories._scribe.edit(
                row.id,
                lambda data: set_properties(data, set),
                caller=ANNOTATING,
                summary="annotate",
            )
        except (EditRefused, NoteNotFound, NoteChanged):
            self.refused.add(f"annotate {path}")

    async def op_remember(
        self, title: object, content: str, tags: str | list[str], folder: str = ""
    ) -> None:
        """Tags in one text, as an agent may send them, come to the use case as one."""
        assert not folder
        name = _text(title)
        stored = await self._brain.daemon.memories.remember(
            content, title=name, tags=[tags] if isinstance(tags, str) else tags
        )
        assert stored.path is not None, stored
        assert stored.outcome in ("stored", "similar"), stored
        self.remembered.append(Said(name, content, stored.path))

    async def op_append_memory(self, path: str, content: str) -> None:
        await self._brain.daemon.memories.append(self.row(path).id, content)

    async def op_search(self, q: str) -> None:
        """An empty query may be refused in plain words; nothing else may fail."""
        try:
            await self.search(q)
        except InvalidInput:
            self.searches.append(Searched(q, "" if not q.strip() else "refused"))
        except SecondBrainError as error:
            self.searches.append(Searched(q, str(error)))
        else:
            self.searches.append(Searched(q))

    async def op_get(self, path: str) -> None:
        memory = await self._brain.daemon.memories.get(self.row(path).id)
        assert memory.path == path

    # What is there

    def write(self, path: str, data: bytes) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        self.left[path] = self.stamp(path)

    def bytes(self, path: str) -> bytes:
        return (self.vault / path).read_bytes()

    def text(self, path: str) -> str:
        return self.bytes(path).decode()

    def stamp(self, path: str) -> tuple[int, int, int]:
        found = (self.vault / path).stat()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def files_outside(self) -> set[str]:
        """Files beside the vault and the daemon's own data."""
        ours = {"vault", "data", "data.log", "data.toml"}
        beside = [each for each in self.folder.iterdir() if each.name not in ours]
        below = [file for each in beside if each.is_dir() for file in each.rglob("*")]
        return {str(file) for file in [*beside, *below]}

    def property(self, path: str, key: str) -> str:
        return str(property_value(parse_note(path, self.bytes(path)), key))

    def tags(self, path: str) -> list[str]:
        """A note's tags; the catalogue says the same, without the sync tag."""
        row, note = self.row(path), parse_note(path, self.bytes(path))
        assert row.tags == self._brain.daemon.rule.own_tags(note)
        return list(note.tags)

    def remembered_path(self, which: str) -> str:
        if which == "last":
            return self.remembered[-1].path
        kind, _, title = which.partition(":")
        assert kind == "title"
        return next(each.path for each in self.remembered if each.title == title)

    def row(self, path: str) -> NoteRow:
        row = self._brain.daemon.catalog.by_path(path)
        assert row is not None, f"{path} is not in the catalogue"
        assert row.missing_since is None, f"{path} is gone"
        return row

    def ids(self) -> dict[str, str]:
        return self._brain.ids()

    def links(self) -> set[tuple[str, str]]:
        return {(source, path) for source, _, _, path in self._brain.edges() if path is not None}

    def unresolved(self) -> set[tuple[str, str]]:
        return {(source, name) for source, _, name, path in self._brain.edges() if path is None}

    def writes_of(self, path: str) -> list[WriteRow]:
        return [write for write in self._brain.daemon.state.history(n=1000) if write.path == path]

    def errors_logged(self) -> list[str]:
        ours = [r for r in self._log if r.name.startswith("second_brain")]
        return [record.getMessage() for record in ours if record.levelno >= logging.WARNING]

    async def settle(self) -> None:
        await self._brain.settle()

    async def memories(self) -> set[str]:
        return self._brain.memories()

    async def passages(self) -> dict[str, list[dict[str, Any]]]:
        return await self._brain.passages()

    async def problems(self) -> set[tuple[str, str | None]]:
        health = await self._brain.daemon.memories.health()
        return {(problem.kind, problem.path) for problem in health.problems}

    async def search(self, query: str) -> list[str]:
        return await self._brain.recall(query)

    async def with_tag(self, tag: str) -> list[str]:
        found = await self._brain.daemon.memories.list_recent(50, tag=tag)
        return [memory.path for memory in found]


def _text(value: object) -> str:
    return content(value).decode()
