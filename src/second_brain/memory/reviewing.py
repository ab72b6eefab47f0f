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
SETTLED = "settled"
"""The decision on what was settled by editing one of the two."""
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
        self._deciding = asyncio.Lock()
        self.ask_later: Callable[[str, str], None] | None = None
        """Has a model judge a newcomer and a known memory when it can; blocking, soon done."""

    async def told(self, newcomer: str, text: str, near: Sequence[tuple[str, float]]) -> str:
        """Mark what rules prove of a memory that was just stored against those near to it, and
        say so in a sentence. Never raises: the memory is stored, and this is only about order."""
        if not near:
            return ""
        try:
            found = await asyncio.to_thread(self.compare, newcomer, text, near)
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
        """Put a pair on the list, blocking; None if it was decided before, either way round.

        What was only settled by editing is open again when an edit unsettles it.
        """
        before = self._state.reviews.between(newcomer, known)
        while before is not None and before.decision == SETTLED:
            self._state.reviews.drop(before.n)
            before = self._state.reviews.between(newcomer, known)
        if before is not None and before.decision is not None:
            return None
        elif before is not None and before.newcomer != newcomer:
            self._state.reviews.turn(before.n)
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
        """How many wait, and the newest of them. What needs no decision any more is closed as far
        as the texts are read for these; the number may still count some further down."""

        def read() -> tuple[int, list[ReviewItem]]:
            waiting = self._waiting()
            shown: list[ReviewItem] = []
            closed = 0
            for row, newcomer, known in waiting:
                if len(shown) == n:
                    break
                one, other = self._shelf.memories([newcomer, known])
                if _is_settled(row, one, other):
                    self._state.reviews.decide(row.n, SETTLED, at=self._clock_ms())
                    closed += 1
                else:
                    shown.append(_item(row, one, other))
            return len(waiting) - closed, shown

        return await asyncio.to_thread(read)

    async def decide(self, n: int, decision: str, winner: str | None, caller: Caller) -> Decided:
        """Do what the user decides. Raises ReviewNotFound, InvalidInput, and as every edit does.

        `winner` is the memory that replaces the other, or takes its text in; by default the
        newcomer replaces, and the known one takes in.
        """
        if decision not in DECISIONS:
            raise InvalidInput("decision", f"decision must be one of: {', '.join(DECISIONS)}")
        chosen: Decision = next(known for known in DECISIONS if known == decision)
        async with self._deciding:  # Of two who decide at once, the second finds it decided.
            row = await asyncio.to_thread(self._state.reviews.get, n)
            if row is None or row.decision is not None:
                raise ReviewNotFound(n)
            if winner not in (None, row.newcomer, row.known):
                raise InvalidInput("winner", "winner must be the id of one of the two memories")
            return await self._carry_out(row, chosen, winner, caller)

    async def _carry_out(
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

    def compare(
        self, newcomer: str, text: str, near: Sequence[tuple[str, float]], *, ask: bool = True
    ) -> tuple[NoteRow, Conflict] | None:
        """Mark what rules prove, blocking, and have a model `ask`ed; the first that was found."""
        if ask and self.ask_later is not None:
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

    def _waiting(self) -> list[tuple[ReviewRow, NoteRow, NoteRow]]:
        """The open pairs of which both are there and hold."""
        open_rows = self._state.reviews.open()
        ids = {id for row in open_rows for id in (row.newcomer, row.known)}
        rows = {
            id: found
            for id, found in self._engine.catalog.by_ids(ids).items()
            if found.is_memory and found.memory_status != "deprecated"
        }
        return [
            (row, rows[row.newcomer], rows[row.known])
            for row in open_rows
            if row.newcomer in rows and row.known in rows
        ]


def _is_settled(row: ReviewRow, newcomer: Memory, known: Memory) -> bool:
    """Whether the proof holds no longer; a file that cannot be read just now settles nothing."""
    if not newcomer.content or not known.content:
        return False
    if row.found_by == LIKENESS:
        return DUPLICATE_TAG not in newcomer.tags
    return row.found_by == RULES and conflict_of(newcomer.content, known.content) is None


def _item(row: ReviewRow, newcomer: Memory, known: Memory) -> ReviewItem:
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
