"""The use case import: memories of another program become notes, many at a time, with their ids."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from second_brain.index.state import Counters, State
from second_brain.memory.capture import CaptureRules, check_text, note_tags
from second_brain.memory.model import Caller
from second_brain.memory.relations import Relations, check_type
from second_brain.memory.scribe import NewNote, Scribe
from second_brain.sync.engine import Engine
from second_brain.vault.edit import new_note
from second_brain.vault.links import RELATED_KEY
from second_brain.vault.model import PropertyValue
from second_brain.vault.note import (
    CREATED_KEY,
    ID_KEY,
    IMPORTANCE_KEY,
    KIND_KEY,
    SOURCE_KEY,
    STATUS_KEY,
)

_PART = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """An entry that may be imported: the name its note shall have, and the key of its text."""

    id: str
    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Place:
    """`id` is that of the memory that is there already where `known`. `path`: where its note is,
    or will be."""

    id: str
    path: str
    known: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """An entry to write. `links`: the paths of notes by the property that shall link to them."""

    id: str
    path: str
    content: str
    tags: tuple[str, ...]
    source: str
    created: int | None
    kind: str | None
    status: str | None
    importance: int | None
    counters: Counters
    links: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class ImportedEdge:
    source: str
    target: str
    type: str
    created: int | None
    weight: float | None
    inferred: bool


class Importing:
    """Importing twice, or on after a crash, changes nothing that is there already."""

    def __init__(
        self,
        engine: Engine,
        scribe: Scribe,
        state: State,
        relations: Relations,
        rules: CaptureRules,
    ) -> None:
        self._engine = engine
        self._scribe = scribe
        self._state = state
        self._relations = relations
        self._rules = rules

    async def places(self, asked: Sequence[Asked]) -> list[Place]:
        """Where each entry is, or will be."""
        return await asyncio.to_thread(lambda: [self._place(entry) for entry in asked])

    async def write(self, entries: Sequence[Imported], caller: Caller) -> int:
        """Write those that are not there; how many were. Raises InvalidInput before any write."""
        new = [e for e in entries if self._engine.catalog.by_id(e.id) is None]
        # In a thread: the notes of a large batch take longer than others' requests should wait.
        notes = await asyncio.to_thread(lambda: [self._note(e) for e in new])
        # First the counters: an entry whose note is there is never looked at again.
        await asyncio.to_thread(self._state.set_counters, {e.id: e.counters for e in new})
        await self._write(notes, caller)
        return len(notes)

    async def _write(self, notes: Sequence[NewNote], caller: Caller) -> None:
        """Write them part by part, two parts at a time: one waits for the disk while the model
        computes the vectors of the other."""
        parts = [notes[first : first + _PART] for first in range(0, len(notes), _PART)]
        left = iter(parts)

        async def work() -> None:
            for part in left:
                await self._scribe.create_all(part, caller=caller)

        done = await asyncio.gather(work(), work(), return_exceptions=True)
        for failure in done:
            if isinstance(failure, BaseException):
                raise failure

    async def relate(self, edges: Sequence[ImportedEdge], caller: Caller) -> None:
        """Write the relations that no note states yet; give all of them their age and weight."""
        known = self._engine.catalog.edges
        for edge in edges:
            check_type(edge.type)
            stated = {(e.target_id, e.type) for e in known.stated_by(edge.source)}
            if (edge.target, edge.type) not in stated:
                await self._relations.link(
                    edge.source,
                    edge.target,
                    edge.type,
                    caller,
                    into=RELATED_KEY if edge.inferred else None,
                )
        details = [(e.created, e.weight, e.source, e.target, e.type) for e in edges]
        await asyncio.to_thread(known.set_details, details)

    def _place(self, entry: Asked) -> Place:
        catalog = self._engine.catalog
        row = catalog.by_id(entry.id) or (catalog.by_text_key(entry.key) if entry.key else None)
        if row is not None and row.is_memory:
            return Place(row.id, row.path, known=True)
        return Place(entry.id, self._scribe.free(self._rules.folder, entry.name, entry.id), False)

    def _note(self, entry: Imported) -> NewNote:
        name = entry.path.rpartition("/")[2].removesuffix(".md")
        return NewNote(entry.id, entry.path, self._data(entry), f"import “{name}”")

    def _data(self, entry: Imported) -> bytes:
        check_text("content", entry.content)
        properties: dict[str, PropertyValue] = {
            "tags": [*note_tags([self._rules.sync_tag, *entry.tags])],
            CREATED_KEY: _local(entry.created) if entry.created is not None else None,
            ID_KEY: entry.id,
            SOURCE_KEY: " ".join(entry.source.split())[:100] or "import",
            KIND_KEY: entry.kind,
            STATUS_KEY: entry.status,
            IMPORTANCE_KEY: entry.importance,
        }
        for name, paths in entry.links.items():
            properties[name] = [f"[[{path.removesuffix('.md')}]]" for path in paths]
        return new_note(properties, entry.content)


def _local(milliseconds: int) -> str:
    """Local time as Obsidian shows it; with its offset where it would mean another hour."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    moment = moment.replace(microsecond=milliseconds % 1000 * 1000)
    here = moment.astimezone()
    plain = here.replace(tzinfo=None)
    precision = "milliseconds" if milliseconds % 1000 else "seconds"
    certain = plain.replace(fold=0).astimezone() == moment
    return (plain if certain else here).isoformat(timespec=precision)
