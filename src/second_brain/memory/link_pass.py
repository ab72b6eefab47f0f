"""The links between related memories, gone over: what leads nowhere goes, what is missing comes.

Only notes that the daemon created are written to, and only their inferred links. A link that goes
is one that we wrote, to a note gone for so long that the catalogue forgot it. A link comes only
where the note never had any: one that the user took out does not come back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from second_brain.errors import EditRefused, NoteNotFound
from second_brain.index.rows import NoteRow
from second_brain.index.state import State
from second_brain.memory.capture import CaptureRules
from second_brain.memory.describe import USER_SOURCE
from second_brain.memory.model import SYMMETRIC_TYPES, Caller
from second_brain.memory.scribe import Scribe
from second_brain.memory.shelf import Shelf
from second_brain.memory.similar import Similarities
from second_brain.sync.engine import Engine
from second_brain.vault.edit import add_to_list, remove_from_list
from second_brain.vault.links import RELATED_KEY, single_link
from second_brain.vault.note import parse_note

_MOST_COMPARED = 50
_MOST_HISTORY = 1_000


@dataclass(frozen=True, slots=True)
class Linked:
    """How many links went and came."""

    pruned: int = 0
    added: int = 0


class LinkPass:
    """One pass looks at every inferred link, and at the newest notes that have none."""

    def __init__(
        self,
        engine: Engine,
        scribe: Scribe,
        shelf: Shelf,
        similarities: Similarities,
        *,
        state: State,
        rules: CaptureRules,
    ) -> None:
        self._engine = engine
        self._scribe = scribe
        self._shelf = shelf
        self._similarities = similarities
        self._state = state
        self._rules = rules

    async def run(self, caller: Caller) -> Linked:
        """Raises what writing a note raises; what was done until then stays done."""
        return Linked(await self._prune(caller), await self._backfill(caller))

    async def untyped(self) -> list[tuple[str, str]]:
        """Inferred links of our notes, as source and target, where nothing else relates the two."""
        return await asyncio.to_thread(self._untyped)

    def _untyped(self) -> list[tuple[str, str]]:
        edges = self._engine.catalog.edges
        found: list[tuple[str, str]] = []
        for row in self._ours():
            around = edges.around(row.id)
            typed = {
                id
                for edge in around
                if edge.type not in SYMMETRIC_TYPES
                for id in (edge.source_id, edge.target_id)
            }
            found += [
                (row.id, edge.target_id)
                for edge in around
                if edge.provenance == "inferred"
                and edge.source_id == row.id
                and edge.target_id is not None
                and edge.target_id not in typed
            ]
        return found

    async def _prune(self, caller: Caller) -> int:
        pruned = 0
        for row, lost in await asyncio.to_thread(self._dangling):
            try:
                if await self._scribe.edit(
                    row.id,
                    lambda data, row=row, lost=lost: self._without(row, data, lost),  # type: ignore[misc]
                    caller=caller,
                    summary=f"drop links of “{row.title}” that lead nowhere",
                ):
                    pruned += len(lost)
            except (EditRefused, NoteNotFound):
                continue
        return pruned

    async def _backfill(self, caller: Caller) -> int:
        if self._rules.max_related == 0:
            return 0
        added = 0
        for row, known in await asyncio.to_thread(self._unlinked):
            added += await self._link(row, known, caller)
        return added

    def _dangling(self) -> list[tuple[NoteRow, set[str]]]:
        """Our notes with inferred links of our writing to what the catalogue has forgotten."""
        found: list[tuple[NoteRow, set[str]]] = []
        for row in self._ours():
            # What is still remembered may come back.
            lost = {
                edge.target
                for edge in self._engine.catalog.edges.stated_by(row.id)
                if edge.provenance == "inferred"
                and edge.target_path is None
                and edge.meant_id is None
            }
            if lost and (written := self._written(row.id, lost)):
                found.append((row, written))
        return found

    def _unlinked(self) -> list[tuple[NoteRow, set[str | None]]]:
        """The newest of our notes that never had inferred links, and what else they link to."""
        found: list[tuple[NoteRow, set[str | None]]] = []
        for row in self._ours():
            stated = self._engine.catalog.edges.stated_by(row.id)
            if any(edge.provenance == "inferred" for edge in stated) or self._had_links(row.id):
                continue
            found.append((row, {edge.target_id for edge in stated}))
            if len(found) == _MOST_COMPARED:
                break
        return found

    async def _link(self, row: NoteRow, known: set[str | None], caller: Caller) -> int:
        text = await asyncio.to_thread(self._shelf.text, row)
        if not text.strip():
            return 0
        related = await self._similarities.related(row.title, text)
        others = [id for id in related if id != row.id and id not in known]
        links = []
        for id in others[: self._rules.max_related]:
            other = self._engine.catalog.by_id(id)
            target = await self._engine.link_text(other.path) if other is not None else None
            if target is not None:
                links.append(f"[[{target}]]")
        if not links:
            return 0
        try:
            changed = await self._scribe.edit(
                row.id,
                lambda data: add_to_list(data, RELATED_KEY, links),
                caller=caller,
                summary=f"link “{row.title}” to related memories",
            )
        except (EditRefused, NoteNotFound):
            return 0
        return len(links) if changed else 0

    def _ours(self) -> list[NoteRow]:
        rows = self._engine.catalog.memories()
        return [row for row in rows if row.source not in ("", USER_SOURCE) and self._is_ours(row)]

    def _is_ours(self, row: NoteRow) -> bool:
        return row.memory_status != "deprecated" and self._shelf.is_ours(row)

    def _had_links(self, id: str) -> bool:
        return any(RELATED_KEY.encode() in data for data in self._versions(id))

    def _written(self, id: str, targets: set[str]) -> set[str]:
        """Those links to nowhere that we wrote: the others are the user's."""
        versions = [*self._versions(id)]
        return {t for t in targets if any(f"[[{t}]]".encode() in data for data in versions)}

    def _versions(self, id: str) -> Iterator[bytes]:
        """What our writes of a note left of it."""
        for write in self._state.history(id, _MOST_HISTORY):
            contents = self._state.contents(write.n)
            if contents is not None and contents.after is not None:
                yield contents.after

    def _without(self, row: NoteRow, data: bytes, lost: set[str]) -> bytes:
        note = parse_note(row.path, data)
        items: list[str] = []
        for key, value in note.properties.items():
            if key.strip().casefold() != RELATED_KEY:
                continue
            for item in value if isinstance(value, list) else [value]:
                link = single_link(str(item))
                if link is not None and link.target in lost:
                    items.append(str(item))
        return remove_from_list(data, RELATED_KEY, items) if items else data
