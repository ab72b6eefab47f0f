"""The use cases link, unlink, connections and graph: typed relations between memories."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from second_brain.errors import EditRefused, InvalidInput
from second_brain.index.rows import EdgeRow, NoteRow
from second_brain.memory.model import (
    RELATION_TYPES,
    SYMMETRIC_TYPES,
    Caller,
    Connection,
    Edge,
    Graph,
)
from second_brain.memory.scribe import Scribe
from second_brain.memory.shelf import Shelf
from second_brain.sync.engine import Engine
from second_brain.vault.edit import add_to_list, remove_from_list
from second_brain.vault.links import Resolver, property_links
from second_brain.vault.model import Note
from second_brain.vault.note import parse_note

_LABELS = {
    "relates_to": ("relates to", "relates to"),
    "supersedes": ("supersedes", "superseded by"),
    "caused_by": ("caused by", "caused"),
    "decided": ("decided", "decided by"),
    "about_person": ("about", "mentioned in"),
    "part_of_project": ("part of", "includes"),
    "follows": ("follows", "followed by"),
}
_NEAR_HOPS = 2


class Relations:
    """Relations are properties of the source note: `supersedes: ["[[Old plan]]"]`."""

    def __init__(self, engine: Engine, scribe: Scribe, shelf: Shelf) -> None:
        self._engine = engine
        self._scribe = scribe
        self._shelf = shelf

    async def link(
        self, source_id: str, target_id: str, type: str, caller: Caller, *, into: str | None = None
    ) -> None:
        """Write a relation into the source note, in the property `into`, else its type's own.

        Raises InvalidInput, NoteNotFound, EditRefused.
        """
        check_type(type)
        name = into or type
        if source_id == target_id:
            raise InvalidInput("target_id", "A memory cannot be linked to itself")
        source, target = self._scribe.row(source_id), self._scribe.row(target_id)
        if self._has(source_id, target_id, type, name):
            return
        text = await self._engine.link_text(target.path)
        if text is None:
            raise EditRefused(source.path, f"no wiki-link can be written to {target.path}")
        await self._scribe.edit(
            source_id,
            lambda data: add_to_list(data, name, [f"[[{text}]]"]),
            caller=caller,
            summary=f"link “{source.title}” {type} “{target.title}”",
        )

    async def unlink(self, source_id: str, target_id: str, type: str | None, caller: Caller) -> int:
        """Take relations between two memories out of their properties; how many went.

        With a type, those of that type that the source states (or, for `relates_to`, either
        of them); without one, every one in either direction. Links in a note's text are the
        user's words and stay; if nothing but such links is there, EditRefused says so.
        """
        if type is not None:
            check_type(type)
        source, target = self._scribe.row(source_id), self._scribe.row(target_id)
        both = type is None or type in SYMMETRIC_TYPES
        deleted = await self._take_out(source, target, type, caller)
        if both:
            deleted += await self._take_out(target, source, type, caller)
        if deleted == 0 and self._only_in_text(source_id, target_id, type):
            raise EditRefused(
                source.path, "the two are linked in the note's text, which only its author edits"
            )
        return deleted

    async def connections(self, id: str, type: str | None) -> list[Connection]:
        """The memories at the other end of a memory's edges, each type once a memory."""
        if type is not None:
            check_type(type)
        return await asyncio.to_thread(self._connections, id, type)

    async def graph(self, seed: str | None, limit: int | None) -> Graph:
        """The newest `limit` memories, or the two-hop neighbourhood of one, and their edges."""
        return await asyncio.to_thread(self._graph, seed, limit)

    # Inside

    def _connections(self, id: str, type: str | None) -> list[Connection]:
        catalog = self._engine.catalog
        self._shelf.row(id)
        found: dict[tuple[str, str, bool], EdgeRow] = {}
        for edge in catalog.edges.around(id, type):
            outward = edge.source_id == id
            other = edge.target_id if outward else edge.source_id
            direction = outward or edge.type in SYMMETRIC_TYPES
            if other is not None and other != id:
                found.setdefault((other, edge.type, direction), edge)
        rows = catalog.by_ids(other for other, _, _ in found)
        return [
            Connection(
                memory=self._shelf.filled(rows[other], self._shelf.text(rows[other])),
                type=edge.type,
                label=_LABELS[edge.type][0 if direction else 1],
                weight=edge.weight,
                direction="out" if edge.source_id == id else "in",
                provenance=edge.provenance,
            )
            for (other, _, direction), edge in found.items()
            if other in rows and rows[other].is_memory
        ]

    def _graph(self, seed: str | None, limit: int | None) -> Graph:
        catalog = self._engine.catalog
        if seed is None:
            rows = catalog.memories(limit=limit)
        else:
            row = self._shelf.row(seed)
            near = catalog.edges.walk({seed: 1.0}, hops=_NEAR_HOPS, decay=1.0, limit=limit or 200)
            ids = catalog.by_ids(reached.id for reached in near)
            rows = [row, *ids.values()]
            rows = rows[:limit] if limit is not None else rows
        edges = catalog.edges.among(row.id for row in rows)
        # Thousands of files need not be read for their names and tags.
        return Graph(
            nodes=tuple(self._shelf.filled(row, "") for row in rows),
            edges=tuple(_unique_edges(edges)),
        )

    def _has(self, source_id: str, target_id: str, type: str, property: str) -> bool:
        return any(
            edge.target_id == target_id and edge.type == type and edge.property == property
            for edge in self._engine.catalog.edges.stated_by(source_id)
        )

    def _only_in_text(self, one: str, other: str, type: str | None) -> bool:
        edges = self._engine.catalog.edges.around(one, type)
        return any(other in (edge.source_id, edge.target_id) for edge in edges)

    async def _take_out(
        self, source: NoteRow, target: NoteRow, type: str | None, caller: Caller
    ) -> int:
        stated = [
            edge
            for edge in self._engine.catalog.edges.stated_by(source.id)
            if edge.target_id == target.id and edge.property and type in (None, edge.type)
        ]
        if not stated:
            return 0
        resolver = self._engine.links.resolver

        def change(data: bytes) -> bytes:
            for name in sorted({edge.property for edge in stated if edge.property}):
                note = parse_note(source.path, data)
                data = remove_from_list(data, name, _values(note, name, target.path, resolver))
            return data

        await self._scribe.edit(
            source.id,
            change,
            caller=caller,
            summary=f"unlink “{source.title}” and “{target.title}”",
        )
        return len({(edge.type, edge.property) for edge in stated})


def check_type(type: str) -> str:
    """The type; InvalidInput for one that does not exist."""
    if type not in RELATION_TYPES:
        raise InvalidInput("type", f"Unknown relation type; valid are: {', '.join(RELATION_TYPES)}")
    return type


def _values(note: Note, name: str, path: str, resolver: Resolver) -> list[str]:
    """The items of a property that are links to `path`, as they are written."""
    found: list[str] = []
    for key, value in note.properties.items():
        if key.strip().casefold() != name.casefold():
            continue
        for item in value if isinstance(value, list) else [value]:
            links = property_links({key: item}, frozenset())
            if any(resolver.resolve(link, note.path) == path for link in links):
                found.append(str(item))
    return found


def _unique_edges(edges: Iterable[EdgeRow]) -> list[Edge]:
    found: dict[tuple[str, str, str], Edge] = {}
    for edge in edges:
        if edge.target_id is None or edge.target_id == edge.source_id:
            continue
        ends = (edge.source_id, edge.target_id)
        if edge.type in SYMMETRIC_TYPES:
            ends = (min(ends), max(ends))
        key = (*ends, edge.type)
        if key not in found or found[key].weight < edge.weight:
            found[key] = Edge(
                edge.source_id,
                edge.target_id,
                edge.type,
                edge.weight,
                edge.provenance,
                edge.created,
            )
    return list(found.values())
