"""Keeps the relations that the daemon wrote pointing at their notes when those get other names.

Obsidian rewrites links itself when it renames a note, a moment later; anything else that renames a
file rewrites nothing. So a relation of ours is written anew only when, some time after its note was
seen under another name, it still means nothing or another note. What a user wrote is never touched:
no text, and no property that the history or the note's source does not show to be ours.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from second_brain.errors import EditRefused, SecondBrainError
from second_brain.index.rows import EdgeRow, NoteRow
from second_brain.index.state import State
from second_brain.memory.digestible import ROLLED_UP_KEY
from second_brain.memory.model import Caller
from second_brain.memory.scribe import Scribe
from second_brain.sync.engine import Engine
from second_brain.vault.edit import replace_items
from second_brain.vault.links import RELATED_KEY, RELATION_TYPES, single_link
from second_brain.vault.model import Note, PropertyValue
from second_brain.vault.note import note_source, parse_note

log = logging.getLogger(__name__)

CALLER = Caller("second-brain", "links-follow")
DELAY_SECONDS = 15.0
_TRY_AGAIN_SECONDS = 60.0
_MOST_WRITES = 500

Item = tuple[str, str]
"""A property's name, folded, and one of its values as it is written."""


@dataclass(frozen=True, slots=True)
class _Stray:
    edge: EdgeRow
    source: NoteRow
    target: NoteRow

    @property
    def key(self) -> tuple[str, ...]:
        edge = self.edge
        return (edge.source_id, edge.property or "", edge.target, self.target.path)


class LinksFollow:
    """`clock` is monotonic seconds; `delay` is how long Obsidian is given to do it itself.

    What is to be done is derived from the catalogue at each step, so a restart only begins the
    delay anew.
    """

    def __init__(
        self,
        engine: Engine,
        scribe: Scribe,
        state: State,
        *,
        clock: Callable[[], float],
        delay: float = DELAY_SECONDS,
    ) -> None:
        self._engine = engine
        self._scribe = scribe
        self._state = state
        self._clock = clock
        self._delay = delay
        self._since: dict[tuple[str, ...], float] = {}
        self._later: dict[str, float] = {}
        self._refused: dict[str, str] = {}  # Source id to the hash of what could not be edited.

    async def step(self) -> int:
        """Write the relations anew whose time has come; how many notes were edited."""
        strays = await asyncio.to_thread(self._strays)
        now = self._clock()
        self._since = {stray.key: self._since.get(stray.key, now) for stray in strays}
        due: dict[str, list[_Stray]] = {}
        for stray in strays:
            id = stray.source.id
            waits = now < self._later.get(id, now) or self._refused.get(id) == stray.source.hash
            if now - self._since[stray.key] >= self._delay and not waits:
                due.setdefault(id, []).append(stray)
        edited = 0
        for id, group in due.items():
            try:
                edited += await self._follow(id, group)
            except EditRefused as error:
                self._refused[id] = group[0].source.hash
                log.warning("A relation does not follow its renamed note: %s", error)
            except SecondBrainError as error:
                self._later[id] = now + _TRY_AGAIN_SECONDS
                log.info("A relation follows its renamed note later: %s", error)
        return edited

    def _strays(self) -> list[_Stray]:
        """The relations that ceased to mean a note which is there, under whatever name."""
        catalog = self._engine.catalog
        edges = [edge for edge in catalog.edges.astray() if _is_relation(edge.property or "")]
        rows = catalog.by_ids({id for e in edges for id in (e.source_id, e.meant_id or "")})
        found: list[_Stray] = []
        for edge in edges:
            source, target = rows.get(edge.source_id), rows.get(edge.meant_id or "")
            if source is not None and source.is_memory and target is not None and source != target:
                found.append(_Stray(edge, source, target))
        return found

    async def _follow(self, id: str, strays: Iterable[_Stray]) -> bool:
        texts: dict[str, dict[str, str]] = {}
        done: list[_Stray] = []
        for stray in strays:
            text = await self._engine.link_text(stray.target.path)
            if text is not None:
                texts.setdefault(stray.edge.property or "", {})[stray.edge.target] = text
                done.append(stray)
        if not done:
            return False
        written = await asyncio.to_thread(self._written, id)

        def change(data: bytes) -> bytes:
            note = parse_note("", data)
            all_ours = note_source(note) is not None
            for name, places in texts.items():
                new: dict[str, str] = {}
                for item in _items(note, name):
                    link = single_link(item)
                    ours = all_ours or (name.casefold(), item) in written
                    if link is not None and link.target in places and ours:
                        new[item] = item.replace(link.target, places[link.target], 1)
                if set(new.values()) != set(new):  # Else they have swapped names: all are meant.
                    data = replace_items(data, name, new)
            return data

        titles = ", ".join(f"“{stray.target.title}”" for stray in done)
        edited = await self._scribe.edit(
            id, change, caller=CALLER, summary=f"relations follow {titles}"
        )
        # What is not ours is not asked about again, and names that swapped mean what they should.
        await asyncio.to_thread(
            self._engine.catalog.edges.forget_meant, [stray.edge for stray in done]
        )
        return edited

    def _written(self, id: str) -> set[Item]:
        """The values that writes of ours have put into the properties of a note."""
        found: set[Item] = set()
        for write in self._state.history(id, _MOST_WRITES):
            contents = self._state.contents(write.n)
            if write.state == "done" and contents is not None and contents.after is not None:
                found |= _all_items(contents.after) - _all_items(contents.before or b"")
        return found


def _is_relation(property: str) -> bool:
    name = property.strip().casefold()
    ours = (RELATED_KEY, ROLLED_UP_KEY)
    return name in ours or name.replace("-", "_").replace(" ", "_") in RELATION_TYPES


def _all_items(data: bytes) -> set[Item]:
    note = parse_note("", data)
    names = [name for name in note.properties if _is_relation(name)]
    return {(name.casefold(), item) for name in names for item in _items(note, name)}


def _items(note: Note, name: str) -> list[str]:
    value: PropertyValue = note.properties.get(name)
    return [
        item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)
    ]
