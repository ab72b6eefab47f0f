"""What a decision between two memories does to their notes: one stands, or both become one.

The loser stays in the vault as deprecated, and the winner says that it supersedes it. The writes of
one decision belong together: one undo takes all of them back, and what was counted with them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from second_brain.errors import EditRefused, SecondBrainError
from second_brain.index.rows import NoteRow
from second_brain.index.state import State, WriteContents
from second_brain.memory.describe import USER_SOURCE
from second_brain.memory.model import Caller
from second_brain.memory.novelty import says_something_new
from second_brain.memory.scribe import Scribe
from second_brain.memory.shelf import Shelf
from second_brain.memory.statements import sentences
from second_brain.sync.engine import Engine
from second_brain.vault.edit import (
    add_to_list,
    append_text,
    remove_from_list,
    replace_body,
    set_properties,
)
from second_brain.vault.frontmatter import split
from second_brain.vault.note import STATUS_KEY

DUPLICATE_TAG = "duplicate-candidate"
SUPERSEDES = "supersedes"

Change = Callable[[bytes], bytes]


def merged_text(known: str, new: str) -> str | None:
    """Both texts as one, in their own words: the new one if it says all that the known one says,
    else the known one with the sentences that are new. None where nothing is to be added."""
    if not says_something_new(new, known):
        return None
    if not says_something_new(known, new):
        return new
    added = [s.strip() for s in sentences(new) if says_something_new(s, known)]
    return known.rstrip() + "\n\n" + "\n\n".join(added) + "\n"


class Resolving:
    """Writes decisions. Each method gives the numbers of its writes, which are one bundle."""

    def __init__(self, engine: Engine, scribe: Scribe, shelf: Shelf, state: State) -> None:
        self._engine = engine
        self._scribe = scribe
        self._shelf = shelf
        self._state = state

    async def replace(self, winner: str, loser: str, caller: Caller) -> list[int]:
        """The winner supersedes the loser, which is deprecated."""
        return await self._stand(winner, loser, caller, lambda data: data)

    async def merge(self, into: str, gone: str, text: str | None, caller: Caller) -> list[int]:
        """What both say stands in `into`, in this text or in their own words."""
        known = await asyncio.to_thread(self._shelf.text, self._scribe.row(into))
        new = await asyncio.to_thread(self._shelf.text, self._scribe.row(gone))
        whole = text if text is not None else merged_text(known, new)

        def change(data: bytes) -> bytes:
            if whole is None:
                return data
            parts = split(data)
            if parts.body.decode("utf-8", "replace") != known:
                # It was changed meanwhile: nothing of that may go.
                added = [s.strip() for s in sentences(whole) if says_something_new(s, known)]
                return append_text(data, "\n\n".join(added)) if added else data
            eol = parts.eol.decode()
            return replace_body(data, whole if eol == "\n" else whole.replace("\n", eol))

        return await self._stand(into, gone, caller, change)

    async def keep(self, id: str, caller: Caller) -> list[int]:
        """Both stand: the mark of a duplicate goes."""
        row = self._scribe.row(id)
        n = await self._write(row, _unmarked, caller, f"keep “{row.title}” beside its like")
        return [n] if n is not None else []

    async def draft(self, id: str, caller: Caller, reason: str) -> list[int]:
        """A newcomer against what is protected is a draft until the user decides."""
        row = self._scribe.row(id)

        def change(data: bytes) -> bytes:
            return set_properties(data, {STATUS_KEY: "draft"})

        n = await self._write(row, change, caller, f"set “{row.title}” to draft: {reason}")
        return [n] if n is not None else []

    async def undo(self, n: int, caller: Caller) -> WriteContents:
        """Take a write back with all that belong to it, the last one first. Raises as the Scribe
        does; what was taken back until then stays so, and undoing again goes on."""
        undone: WriteContents | None = None
        bundle = await asyncio.to_thread(self._state.reviews.bundled_with, n)
        for other in reversed(bundle):
            contents = await asyncio.to_thread(self._state.contents, other)
            done = contents is not None and contents.row.state == "done"
            if other == n or done:
                made = await self._scribe.undo(other, caller=caller)
                undone = made if other == n else undone
        row = await asyncio.to_thread(self._state.reviews.reopen, bundle[0])
        if row is not None and row.winner is not None and row.loser is not None:
            await asyncio.to_thread(self._state.uncount_contradiction, row.winner, row.loser)
        assert undone is not None, "a write is in its own bundle"
        return undone

    async def _stand(self, winner: str, loser: str, caller: Caller, change: Change) -> list[int]:
        one, other = self._scribe.row(winner), self._scribe.row(loser)
        link = await self._engine.link_text(other.path)
        if link is None:
            raise EditRefused(one.path, f"no wiki-link can be written to {other.path}")

        def stand(data: bytes) -> bytes:
            data = add_to_list(change(data), SUPERSEDES, [f"[[{link}]]"])
            return data if one.source == USER_SOURCE else _unmarked(data)

        def yield_(data: bytes) -> bytes:
            return set_properties(data, {STATUS_KEY: "deprecated"})

        summary = f"“{one.title}” supersedes “{other.title}”"
        begun = await asyncio.to_thread(self._begun, summary, winner, loser)
        first = await self._write(one, stand, caller, summary)
        try:
            second = await self._write(other, yield_, caller, summary)
        except SecondBrainError:
            if first is not None:
                with contextlib.suppress(SecondBrainError):
                    await self._scribe.undo(first, caller=caller)
            raise
        return [*begun, *(n for n in (first, second) if n is not None)]

    def _begun(self, summary: str, *ids: str) -> list[int]:
        """What this decision wrote before the daemon was stopped in the middle of it."""
        return sorted(
            write.n
            for id in ids
            for write in self._state.history(id, 10)
            if write.summary == summary
            and write.state == "done"
            and self._state.reviews.bundled_with(write.n) == [write.n]
        )

    async def _write(
        self, row: NoteRow, change: Change, caller: Caller, summary: str
    ) -> int | None:
        """The number of the write; None where nothing was to be changed."""
        newest = await asyncio.to_thread(self._state.history, None, 1)
        before = newest[0].n if newest else 0
        if not await self._scribe.edit(row.id, change, caller=caller, summary=summary):
            return None
        writes = await asyncio.to_thread(self._state.history, row.id, 10)
        own = [w.n for w in writes if w.n > before and w.summary == summary]
        return own[0] if own else None


def _unmarked(data: bytes) -> bytes:
    return remove_from_list(data, "tags", [DUPLICATE_TAG])
