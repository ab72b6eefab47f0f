"""Compares memories that were not new when their text came: edited, imported, or written by hand.

What a client edited is looked at soon after, beside the answers. All else is found by the nightly
sweep, which keeps in state.db which text of a memory it has read: what was cut short, by a restart
or by the bound of one night, goes on with the next.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass

from second_brain.errors import NoteNotFound, SecondBrainError
from second_brain.index.rows import NoteRow
from second_brain.index.state import State
from second_brain.memory.describe import USER_SOURCE
from second_brain.memory.reviewing import Reviewing
from second_brain.memory.shelf import Shelf
from second_brain.memory.similar import Similarities
from second_brain.sync.engine import Engine

log = logging.getLogger(__name__)

_KEY = "texts compared"
_KEY_CHARACTERS = 12
_MOST_A_NIGHT = 300


@dataclass(frozen=True, slots=True)
class Swept:
    """How many memories were compared, and how many are left for the next time."""

    compared: int
    left: int


class Rereading:
    def __init__(
        self,
        engine: Engine,
        shelf: Shelf,
        similarities: Similarities,
        reviewing: Reviewing,
        state: State,
    ) -> None:
        self._engine = engine
        self._shelf = shelf
        self._similarities = similarities
        self._reviewing = reviewing
        self._state = state
        self._edited: dict[str, None] = {}
        self._wake = asyncio.Event()

    def later(self, id: str) -> None:
        """This memory's text was changed; it is compared soon, and nobody waits for it."""
        self._edited[id] = None
        self._wake.set()

    async def run(self) -> None:
        """Compare what was edited, until it is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._edited:
                id = next(iter(self._edited))
                del self._edited[id]
                try:
                    await self.reread(id)
                except NoteNotFound:
                    continue
                except SecondBrainError as error:
                    log.warning("An edited memory is compared by night instead: %s", error)

    async def reread(self, id: str) -> None:
        """Compare one memory whose text is news. Raises NoteNotFound, and errors of ours."""
        row = await asyncio.to_thread(self._shelf.row, id)
        await self._compare(row, edited=True, ask=True)

    async def sweep(self, most: int = _MOST_A_NIGHT) -> Swept:
        """Compare memories with a text that was not read yet, the newest first."""
        read, rows = await asyncio.to_thread(self._unread)
        done = 0
        try:
            for row in rows[:most]:
                edited = row.id in read
                ours = row.source not in ("", USER_SOURCE)
                try:
                    # The user's own notes, as they came, are no questions of a model's budget.
                    if not await self._compare(row, edited=edited, ask=edited or ours):
                        continue
                except NoteNotFound:
                    continue  # It went meanwhile.
                read[row.id] = _short(row)
                done += 1
        finally:
            kept = json.dumps(read)
            await asyncio.to_thread(self._state.set_meta, _KEY, kept)
        return Swept(done, max(0, len(rows) - most))

    async def _compare(self, row: NoteRow, *, edited: bool, ask: bool) -> bool:
        """Whether there was a text to compare."""
        if not row.is_memory or row.memory_status == "deprecated":
            return False
        text = await asyncio.to_thread(self._shelf.text, row)
        if not text.strip():
            return False
        near = await self._similarities.near(row.title, text, besides=row.id)

        def mark() -> None:
            later: list[tuple[NoteRow, float]] = []
            earlier: list[tuple[str, float]] = []
            rows = self._engine.catalog.by_ids(id for id, _ in near)
            for id, score in near:
                other = rows.get(id)
                if other is None:
                    continue
                # What was edited is the newer of two, else what came later.
                if edited or (other.created, id) < (row.created, row.id):
                    earlier.append((id, score))
                else:
                    later.append((other, score))
            self._reviewing.compare(row.id, text, earlier, ask=ask)
            for other, score in later:
                said = self._shelf.text(other)
                self._reviewing.compare(other.id, said, [(row.id, score)], ask=ask)

        await asyncio.to_thread(mark)
        return True

    def _unread(self) -> tuple[dict[str, str], list[NoteRow]]:
        """What was read of the memories that there are, and those of which another text is."""
        try:
            found = json.loads(self._state.get_meta(_KEY) or "{}")
        except ValueError:
            found = {}
        known = found if isinstance(found, dict) else {}
        rows = [r for r in self._engine.catalog.memories() if r.memory_status != "deprecated"]
        read = {row.id: str(known[row.id]) for row in rows if row.id in known}
        return read, [row for row in rows if read.get(row.id) != _short(row)]


def _short(row: NoteRow) -> str:
    return row.text_key[:_KEY_CHARACTERS]
