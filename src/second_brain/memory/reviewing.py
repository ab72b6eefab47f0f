"""The use case review: pairs of memories that may not both hold, and what is decided on them.

What rules can prove is only ever marked here, never done by itself. A pair leaves the list when
it is decided, when one of the two is gone or deprecated, or when the texts were changed so that
the proof holds no longer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from second_brain.errors import InvalidInput, ReviewNotFound, SecondBrainError
from second_brain.index.reviews import ReviewRow
from second_brain.index.rows import NoteRow
from second_brain.index.state import State
from second_brain.memory.conflicts import Conflict, conflict_of
from second_brain.memory.model import Caller, Memory
from second_brain.memory.resolving import DUPLICATE_TAG, Resolving
from second_brain.memory.shelf import Shelf
from second_brain.sync.engine import Engine

log = logging.getLogger(__name__)

Decision = Literal["keep", "replace", "merge", "dismiss"]
DECISIONS: tuple[Decision, ...] = ("keep", "replace", "merge", "dismiss")
RULES, LIKENESS = "rules", "likeness"
_MOST_ASKED = 2
"""A model is asked about so many of the nearest memories for each new one."""

_SUGGESTED: dict[str, Decision] = {
    "value": "replace",
    "denial": "replace",
    "contained": "replace",
}


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """`kind` is value, denial or contained where rules found it, similar where both are close to
    each other and nothing more is known, else what a model called it; `merged` is the text that a
    model suggests for both."""

    n: int
    kind: str
    suggestion: str
    reason: str
    found_by: str
    score: float
    at: int
    newcomer: Memory
    known: Memory
    merged: str | None


@dataclass(frozen=True, slots=True)
class Decided:
    """`writes` are the numbers of what was written; undoing any of them undoes all."""

    n: int
    decision: Decision
    winner: str | None
    writes: tuple[int, ...]


class Reviewing:
    """`clock_ms` is Unix milliseconds."""

    def __init__(
        self,
        engine: Engine,
        shelf: Shelf,
        state: State,
        resolving: Resolving,
        *,
        clock_ms: Callable[[], int],
    ) -> None:
        self._engine = engine
        self._shelf = shelf
        self._state = state
        self._resolving = resolving
        self._clock_ms = clock_ms
        self.ask_later: Callable[[str, str], None] | None = None
        """Has a model judge a newcomer and a known memory when it can; blocking, soon done."""

    async def told(self, newcomer: str, text: str, near: Sequence[tuple[str, float]]) -> str:
        """Mark what rules prove of a memory that was just stored against those near to it, and
        say so in a sentence. Never raises: the memory is stored, and this is only about order."""
        if not near:
            return ""
        try:
            found = await asyncio.to_thread(self._compare, newcomer, text, near)
        except SecondBrainError as error:
            log.warning("A new memory was not compared with those near to it: %s", error)
            return ""
        if found is None:
            return ""
        row, conflict = found
        return f" Marked for review beside “{row.title}” (ID: {row.id}): {conflict.reason}"

    async def alike(self, newcomer: str, known: str, score: float, news: str) -> None:
        """Mark a memory that was just stored as what may be a duplicate of another. As `told`, it
        never raises."""

        def mark() -> None:
            self.propose(
                newcomer,
                known,
                kind="similar",
                suggestion="keep" if news else "merge",
                reason=f"It adds: {news}." if news else "They say nearly the same.",
                found_by=LIKENESS,
                score=score,
            )

        try:
            await asyncio.to_thread(mark)
        except SecondBrainError as error:
            log.warning("A new memory was not put beside the one that it is like: %s", error)

    def propose(
        self,
        newcomer: str,
        known: str,
        *,
        kind: str,
        suggestion: str,
        reason: str,
        found_by: str,
        score: float,
        merged: str | None = None,
    ) -> int | None:
        """Put a pair on the list, blocking; None if it was decided before."""
        return self._state.reviews.put(
            newcomer=newcomer,
            known=known,
            kind=kind,
            suggestion=suggestion,
            reason=reason,
            found_by=found_by,
            score=score,
            at=self._clock_ms(),
            merged=merged,
        )

    async def items(self, n: int) -> tuple[int, list[ReviewItem]]:
        """How many wait, and the newest of them."""

        def read() -> tuple[int, list[ReviewItem]]:
            items = [item for row in self._state.reviews.open() if (item := self._item(row))]
            return len(items), items[:n]

        return await asyncio.to_thread(read)

    async def decide(self, n: int, decision: str, winner: str | None, caller: Caller) -> Decided:
        """Do what the user decides. Raises ReviewNotFound, InvalidInput, and as every edit does.

        `winner` is the memory that replaces the other, or takes its text in; by default the
        newcomer replaces, and the known one takes in.
        """
        row = await asyncio.to_thread(self._state.reviews.get, n)
        if row is None or row.decision is not None:
            raise ReviewNotFound(n)
        if decision not in DECISIONS:
            raise InvalidInput("decision", f"decision must be one of: {', '.join(DECISIONS)}")
        if winner not in (None, row.newcomer, row.known):
            raise InvalidInput("winner", "winner must be the id of one of the two memories")
        chosen: Decision = next(known for known in DECISIONS if known == decision)
        return await self.carry_out(row, chosen, winner, caller)

    async def carry_out(
        self, row: ReviewRow, decision: Decision, winner: str | None, caller: Caller
    ) -> Decided:
        """Write a decision and close the pair."""
        writes: list[int] = []
        stands: str | None = None
        if decision == "replace":
            stands = winner or row.newcomer
            writes = await self._resolving.replace(stands, _other(row, stands), caller)
        elif decision == "merge":
            stands = winner or row.known
            gone = _other(row, stands)
            writes = await self._resolving.merge(stands, gone, row.merged, caller)
        elif decision == "keep":
            writes = await self._resolving.keep(row.newcomer, caller)

        def close() -> None:
            if stands is not None:
                self._state.count_contradiction(stands, _other(row, stands))
            self._state.reviews.decide(
                row.n, decision, at=self._clock_ms(), winner=stands, writes=writes
            )

        await asyncio.to_thread(close)
        return Decided(row.n, decision, stands, tuple(writes))

    async def draft(self, id: str, why: str, caller: Caller) -> None:
        """A newcomer against what is protected is a draft, until the user decides."""
        await self._resolving.draft(id, caller, why)

    def _compare(
        self, newcomer: str, text: str, near: Sequence[tuple[str, float]]
    ) -> tuple[NoteRow, Conflict] | None:
        if self.ask_later is not None:
            for id, _ in near[:_MOST_ASKED]:
                self.ask_later(newcomer, id)
        first: tuple[NoteRow, Conflict] | None = None
        rows = self._engine.catalog.by_ids(id for id, _ in near)
        for id, score in near:
            row = rows.get(id)
            if row is None or id == newcomer:
                continue
            conflict = conflict_of(text, self._shelf.text(row))
            if conflict is None:
                continue
            self.propose(
                newcomer,
                id,
                kind=conflict.kind,
                suggestion=_SUGGESTED[conflict.kind],
                reason=conflict.reason,
                found_by=RULES,
                score=round(score, 1),
            )
            first = first or (row, conflict)
        return first

    def _item(self, row: ReviewRow) -> ReviewItem | None:
        """The pair as it is now; None where there is nothing to decide any more."""
        rows = self._engine.catalog.by_ids([row.newcomer, row.known])
        pair = [rows.get(row.newcomer), rows.get(row.known)]
        found = [one for one in pair if one is not None and one.is_memory]
        if len(found) < 2 or any(one.memory_status == "deprecated" for one in found):
            return None
        newcomer, known = self._shelf.memories(found)
        if row.found_by == RULES and conflict_of(newcomer.content, known.content) is None:
            return None
        if row.found_by == LIKENESS and DUPLICATE_TAG not in newcomer.tags:
            return None
        return ReviewItem(
            n=row.n,
            kind=row.kind,
            suggestion=row.suggestion,
            reason=row.reason,
            found_by=row.found_by,
            score=row.score,
            at=row.at,
            newcomer=newcomer,
            known=known,
            merged=row.merged,
        )


def _other(row: ReviewRow, id: str) -> str:
    return row.known if id == row.newcomer else row.newcomer
