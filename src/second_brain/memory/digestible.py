"""Which old memories a digest may stand in for, by tag, and which one stands in already.

The mark that a memory is rolled up lies in the digest's note, as links to its sources: no note of
the user's is written to, and taking the digest back takes the marks back with it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from second_brain.index.catalog import Catalog
from second_brain.index.rows import NoteRow
from second_brain.index.state import Counters, State
from second_brain.memory.model import Memory
from second_brain.memory.shelf import Shelf
from second_brain.vault.tags import fold

ROLLED_UP_KEY = "second-brain-rolled-up"
DIGEST_TAG = "digest"
DIGEST_LEAST = 10

_DAY_MS = 86_400_000
_AGE_MS = 60 * _DAY_MS
_RECALLS = 2
_IMPORTANCE = 4


class Digestible:
    """Reads only. `clock_ms` is Unix milliseconds."""

    def __init__(
        self, catalog: Catalog, state: State, shelf: Shelf, *, clock_ms: Callable[[], int]
    ) -> None:
        self._catalog = catalog
        self._state = state
        self._shelf = shelf
        self._clock_ms = clock_ms

    def candidates(self) -> tuple[tuple[str, int], ...]:
        """The tags with enough old memories for a digest, and how many; blocking."""
        tags: Counter[str] = Counter()
        for row in self._rows():
            tags.update(row.tags)
        return tuple((tag, n) for tag, n in tags.most_common() if n >= DIGEST_LEAST)

    async def of(self, tag: str) -> list[Memory]:
        """The old memories of a tag, the oldest first."""

        def read() -> list[Memory]:
            wanted = fold(tag)
            rows = [row for row in self._rows() if wanted in {fold(own) for own in row.tags}]
            return self._shelf.memories(sorted(rows, key=lambda row: (row.created, row.path)))

        return await asyncio.to_thread(read)

    async def newest_digest(self, tag: str) -> Memory | None:
        """The digest of a tag that was made last."""

        def read() -> Memory | None:
            wanted = fold(tag)
            rows = self._catalog.memories(tag=DIGEST_TAG)
            own = (row for row in rows if wanted in {fold(t) for t in row.tags})
            newest = max(own, key=lambda row: row.created, default=None)
            return self._shelf.filled(newest, "") if newest is not None else None

        return await asyncio.to_thread(read)

    def _rows(self) -> list[NoteRow]:
        rows = self._catalog.memories(before=self._clock_ms() - _AGE_MS)
        if not rows:
            return []
        counters = self._state.counters()
        rolled_up = self._catalog.edges.linked_by(ROLLED_UP_KEY)
        return [
            row
            for row in rows
            if (row.importance or 0) < _IMPORTANCE
            and row.id not in rolled_up
            and DIGEST_TAG not in {fold(tag) for tag in row.tags}
            and row.memory_status not in ("canonical", "deprecated")
            and _is_idle(counters.get(row.id, Counters()))
        ]


def _is_idle(counters: Counters) -> bool:
    return counters.recall_count < _RECALLS and counters.contradiction_wins == 0
