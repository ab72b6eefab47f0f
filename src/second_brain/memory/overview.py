"""What there is, as lists and numbers: recent memories, notes with their status, statistics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from second_brain.errors import InvalidInput
from second_brain.index.catalog import Catalog
from second_brain.index.rows import EdgeRow, NoteRow
from second_brain.index.state import Counters, State
from second_brain.memory.digestible import Digestible
from second_brain.memory.model import (
    Edge,
    ExportedEntry,
    LooseLink,
    Memory,
    NoteName,
    NoteStatus,
    Stats,
)
from second_brain.memory.shelf import Shelf

_TOP_TAGS = 5


class Overview:
    """Reads only."""

    def __init__(
        self, catalog: Catalog, state: State, shelf: Shelf, digestible: Digestible
    ) -> None:
        self._catalog = catalog
        self._state = state
        self._shelf = shelf
        self._digestible = digestible

    async def recent(
        self,
        n: int,
        *,
        tag: str | None,
        after: int | None,
        before: int | None,
        offset: int,
        kind: str | None = None,
        status: str | None = None,
    ) -> list[Memory]:
        """The newest memories with their whole texts, after the first `offset`.

        Raises InvalidInput.
        """
        if n < 1:
            raise InvalidInput("n", "n must be at least 1")

        wanted = tag.strip().strip("#/") if tag else ""

        def read() -> list[Memory]:
            rows = self._catalog.memories(
                tag=wanted or None,
                after=after,
                before=before,
                kind=kind,
                status=status,
                limit=n,
                offset=offset,
            )
            return self._shelf.memories(rows)

        return await asyncio.to_thread(read)

    async def named(self, text: str, n: int) -> list[NoteName]:
        """Memories with `text` in their path, the best first; all of them for an empty text."""

        def read() -> list[NoteName]:
            rows = self._catalog.memories_named(text, n)
            return [NoteName(row.id, row.title, row.path) for row in rows]

        return await asyncio.to_thread(read)

    async def loose_links(self, n: int) -> tuple[int, list[LooseLink]]:
        """How many links of memories lead nowhere, and the first of them, memory by memory."""

        def read() -> tuple[int, list[LooseLink]]:
            total, edges = self._catalog.edges.unresolved(n)
            rows = self._catalog.by_ids({edge.source_id for edge in edges})
            return total, [
                LooseLink(
                    row.id,
                    row.title,
                    row.path,
                    self._shelf.url(row.path),
                    edge.target,
                    edge.type,
                    edge.property,
                )
                for edge in edges
                if (row := rows.get(edge.source_id)) is not None
            ]

        return await asyncio.to_thread(read)

    async def stats(self) -> Stats:
        return await asyncio.to_thread(self._stats)

    async def export(self) -> tuple[list[ExportedEntry], list[Edge]]:
        """Every memory with its counters, and the edges between them."""
        return await asyncio.to_thread(self._export)

    async def notes(
        self, path: str | None, status: str | None, n: int, cursor: str | None
    ) -> tuple[int, str | None, list[NoteStatus]]:
        """How many notes match, where the next page begins, and one page of them by path."""

        def read() -> tuple[int, str | None, list[NoteStatus]]:
            total, following, rows = self._catalog.page(
                path=path, status=status, n=n, cursor=cursor
            )
            return total, following, [self._note_status(row) for row in rows]

        return await asyncio.to_thread(read)

    def _note_status(self, row: NoteRow) -> NoteStatus:
        edges = self._catalog.edges.stated_by(row.id)
        waits = row.is_memory and not row.embedded
        return NoteStatus(
            path=row.path,
            id=row.id,
            status="pending" if waits else row.status,
            reason="It waits for its embedding; it is found by its words." if waits else row.reason,
            title=row.title,
            tags=row.tags,
            aliases=row.aliases,
            links=tuple(_link(edge) for edge in edges),
            size=row.size,
            modified=row.modified,
            indexed_at=row.indexed_at,
            hash=row.hash,
        )

    def _stats(self) -> Stats:
        counts = self._catalog.counts()
        average = counts.average_importance
        return Stats(
            count=counts.memories,
            avg_importance=round(average, 1) if average is not None else None,
            top_tags=tuple(self._catalog.tag_counts()[:_TOP_TAGS]),
            digest_candidates=self._digestible.candidates(),
            unvectorized=counts.unembedded,
            unclassified=counts.unclassified,
        )

    def _export(self) -> tuple[list[ExportedEntry], list[Edge]]:
        rows = self._catalog.memories()
        counters = self._state.counters()
        entries: list[ExportedEntry] = []
        for memory in self._shelf.memories(rows):
            own = counters.get(memory.id, Counters())
            entries.append(
                ExportedEntry(
                    memory, own.recall_count, own.contradiction_wins, own.contradiction_losses
                )
            )
        return entries, _edges(self._catalog.edges.among())


def _link(edge: EdgeRow) -> dict[str, str | None]:
    return {
        "target": edge.target,
        "path": edge.target_path,
        "type": edge.type,
        "property": edge.property,
        "provenance": edge.provenance,
    }


def _edges(rows: Sequence[EdgeRow]) -> list[Edge]:
    return [
        Edge(r.source_id, r.target_id, r.type, r.weight, r.provenance, r.created)
        for r in rows
        if r.target_id is not None and r.target_id != r.source_id
    ]
