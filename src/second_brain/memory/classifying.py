"""The use case classify: kind, importance and standing written into notes that the daemon made.

What is there already stays, whoever wrote it, and a note of the user's own is never written to:
its kind is read off its name and tags, its importance is the user's to give.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from second_brain.memory.describe import USER_SOURCE
from second_brain.memory.kinds import kind_of
from second_brain.memory.marks import ORDINARY, Marks, marks_of
from second_brain.memory.model import Caller, Kind, Memory
from second_brain.memory.scribe import Scribe
from second_brain.memory.shelf import Shelf
from second_brain.sync.engine import Engine
from second_brain.vault.edit import set_properties
from second_brain.vault.model import PropertyValue
from second_brain.vault.note import (
    IMPORTANCE_KEY,
    KIND_KEY,
    STATUS_KEY,
    find_property,
    note_source,
    parse_note,
)


@dataclass(frozen=True, slots=True)
class Classification:
    """What is to be written of a memory, where it has no such property yet."""

    kind: Kind
    importance: int
    canonical: bool = False


def marked(
    text: str, *, tags: Iterable[str] = (), title: str = "", path: str = ""
) -> dict[str, PropertyValue]:
    """The properties of which a new note's words leave no doubt; what they do not tell is absent.

    An event by its name, folder or tags stays one, whatever its words are.
    """
    marks = marks_of(text, title)
    properties: dict[str, PropertyValue] = {}
    kind = "episodic" if kind_of({}, tags, title, path) == "episodic" else marks.kind
    if kind is not None:
        properties[KIND_KEY] = kind
    if marks.canonical:
        properties[STATUS_KEY] = "canonical"
    if marks.importance is not None:
        properties[IMPORTANCE_KEY] = marks.importance
    return properties


def by_rules(memory: Memory) -> Classification:
    """What rules say of a memory when it must be classified: without a mark it is ordinary."""
    marks: Marks = marks_of(memory.content, memory.title)
    named = kind_of({}, memory.tags, memory.title, memory.path)
    kind: Kind = "episodic" if named == "episodic" else marks.kind or "semantic"
    return Classification(kind, marks.importance or ORDINARY, marks.canonical)


class Classifying:
    def __init__(self, engine: Engine, scribe: Scribe, shelf: Shelf) -> None:
        self._engine = engine
        self._scribe = scribe
        self._shelf = shelf

    async def unclassified(self, n: int) -> list[Memory]:
        """Up to `n` memories of the daemon's making without an importance, the newest first."""

        def read() -> list[Memory]:
            return self._shelf.memories(self._engine.catalog.unclassified(n))

        return await asyncio.to_thread(read)

    async def classify(self, id: str, given: Classification, caller: Caller) -> bool:
        """Write what the note lacks; whether anything was. Raises as every edit does."""
        row = self._scribe.row(id)

        def change(data: bytes) -> bytes:
            note = parse_note(row.path, data)
            if note_source(note) in (None, USER_SOURCE):
                return data
            return set_properties(data, _lacking(note.properties, given))

        return await self._scribe.edit(id, change, caller=caller, summary=f"classify “{row.title}”")


def _lacking(
    properties: Mapping[str, PropertyValue], given: Classification
) -> dict[str, PropertyValue]:
    wanted: dict[str, PropertyValue] = {
        KIND_KEY: given.kind,
        STATUS_KEY: "canonical" if given.canonical else None,
        IMPORTANCE_KEY: given.importance,
    }
    return {
        key: value
        for key, value in wanted.items()
        if value is not None and find_property(properties, key) is None
    }
