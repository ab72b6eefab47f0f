"""Brings the index up to what it should hold: after a crash, a late model, or another model.

All of it goes through the engine, note by note, beside the changes of the day.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from second_brain.index.rows import NoteRow
from second_brain.sync.engine import SLICE, Engine, Held

log = logging.getLogger(__name__)

_LAST_WRITES_MS = 120_000
"""What the system had not yet written to disk when the power went is younger than this."""

_ENDED = "ended in order"


class Filling:
    """Works on one engine's index. `embed_missing` is for one caller at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._catalog = engine.catalog
        self._index = engine.index
        self._given_up: dict[str, str] = {}
        self._compared = False

    async def check_index(self) -> None:
        """Compare what the index holds with what the catalogue says it holds.

        LanceDB never syncs to disk: after a power cut a commit may be gone that is known here.
        What differs is marked to be indexed again, and after an end out of order also what was
        indexed last; notes that nobody knows are dropped.
        """
        await self._engine.compare_index(self._differences)
        await asyncio.to_thread(self._catalog.set_meta, _ENDED, None)
        self._compared = True

    async def drop_index(self) -> None:
        """Begin with an empty index, which the next scan fills. Raises IndexUnavailable."""
        await self._index.reset()
        await asyncio.to_thread(self._catalog.forget_index)

    def ended(self) -> None:
        """Everything was committed and closed: the next start need not doubt it.

        What an earlier process left is as doubtful as before if it was not compared meanwhile.
        """
        if self._compared:
            self._catalog.set_meta(_ENDED, "yes")

    async def embed_missing(self) -> bool:
        """Embed some memories that have no vectors yet; whether there may be more of them.

        One for which that is not possible is left alone until it changes, or `try_again`.
        """
        if self._index.encoder.model is None or not self._index.takes_vectors:
            return False
        waiting = await asyncio.to_thread(self._unembedded)
        if not waiting:
            return False
        await self._engine.again([row.path for row in waiting])
        failed = await asyncio.to_thread(self._still, waiting, lambda row: not row.embedded)
        self._given_up.update(failed)
        return True

    def try_again(self) -> None:
        """What could not be embedded may be possible now."""
        self._given_up.clear()

    async def build_next(self, progress: Callable[[int, int], None]) -> bool:
        """Fill the generation that is being built, and put it in force; False while it cannot be.

        Memories whose files cannot be read do not keep it from being completed.
        """
        version = self._index.version
        failed: dict[str, str] = {}

        def left() -> list[NoteRow]:
            return [row for row in self.outdated(version) if failed.get(row.path) != row.hash]

        while True:
            rows = await asyncio.to_thread(left)
            progress(0, len(rows))
            for first in range(0, len(rows), SLICE):
                part = rows[first : first + SLICE]
                await self._engine.again([row.path for row in part])
                failed |= await asyncio.to_thread(
                    self._still, part, lambda row: row.index_version != version
                )
                progress(min(first + SLICE, len(rows)), len(rows))
            if not self._engine.files.online():
                return False
            if await self._engine.finish_next(lambda: bool(left())):
                break
        if failed:
            log.warning("%d memories could not be read to be indexed anew.", len(failed))
            unread = await asyncio.to_thread(self.outdated, version)
            await asyncio.to_thread(self._catalog.forget_index, [row.id for row in unread])
        return True

    def outdated(self, version: str) -> list[NoteRow]:
        """Memories that are not in a generation of this version."""
        return [row for row in self._catalog.memories() if row.index_version != version]

    def _differences(self, held: Held) -> list[str]:
        memories = self._catalog.memories()
        in_order = self._catalog.get_meta(_ENDED) is not None
        last = max((row.indexed_at or 0 for row in memories), default=0)
        return [
            row.id
            for row in memories
            if row.chunks != held.chunks.get(row.id, 0)
            or (row.embedded and row.id in held.unembedded)
            or (not in_order and (row.indexed_at or 0) > last - _LAST_WRITES_MS)
        ]

    def _unembedded(self) -> list[NoteRow]:
        enough = SLICE + len(self._given_up)
        rows = self._catalog.memories(embedded=False, limit=enough)
        return [row for row in rows if self._given_up.get(row.path) != row.hash][:SLICE]

    def _still(
        self, tried: Sequence[NoteRow], lacking: Callable[[NoteRow], bool]
    ) -> dict[str, str]:
        """Those of the memories that are still lacking; path to hash."""
        rows = (self._catalog.by_path(row.path) for row in tried)
        return {
            row.path: row.hash
            for row in rows
            if row is not None and row.is_memory and row.missing_since is None and lacking(row)
        }
