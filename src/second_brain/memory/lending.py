"""Memories of one episode lend each other relevance: pure arithmetic over values.

What was stored just before and after a good match is often what the question asks for: the answer
to a question that was noted, the reason of a decision, the name that a "she" stands for. The
numbers come from the table "Episodes" of README.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from second_brain.memory.rank import Scored, best_first

LENDERS = 40
"""So many of the best memories lend to their neighbours; more change nothing."""

LENDS_ABOVE = 0.3
"""What is middling lends nothing: only a score above this counts, by how much it is above."""

TRUSTED_FROM = 0.33
"""Where no memory holds this share of the question's words, the best ones are too unsure to lend
all: less, the fewer words were met."""

TO_LATER = (0.8, 0.55, 0.27, 0.18)
TO_EARLIER = (0.54, 0.36, 0.18, 0.09)
"""What a memory lends to those stored after and before it, the nearest first: the answer follows
the question more often than it precedes it. Table "Episodes"."""

LENT_MOST = 0.8
"""No memory is lent more, so one that matches better by this much is never passed. "Episodes"."""


class Beside(Protocol):
    """The ids of the memories stored before and after one, each the nearest first."""

    @property
    def before(self) -> tuple[str, ...]: ...

    @property
    def after(self) -> tuple[str, ...]: ...


def lenders(scored: Sequence[Scored]) -> list[Scored]:
    """Those of the best that have something to lend; `scored` is in order."""
    return [entry for entry in scored[:LENDERS] if entry.score > LENDS_ABOVE]


def lend(
    scored: Sequence[Scored],
    around: Mapping[str, Beside],
    covered: float = 1.0,
) -> list[Scored]:
    """Raise memories by what those stored just before and after them are worth, best first.

    `scored` is in order; `around` tells the neighbours of its `lenders`. What those
    lend adds up to L and raises a memory by LENT_MOST × (1 - exp(-L / LENT_MOST)). `covered` is the
    share of the question's words that the best keyword match holds. A memory that no search found
    may be among the result: its `best_chunk` is empty.
    """
    trust = min(1.0, covered / TRUSTED_FROM)
    lent: dict[str, float] = {}
    for entry in lenders(scored):
        beside = around.get(entry.note_id)
        if beside is None:
            continue
        for ids, shares in ((beside.after, TO_LATER), (beside.before, TO_EARLIER)):
            for id, share in zip(ids, shares, strict=False):
                lent[id] = lent.get(id, 0.0) + trust * share * (entry.score - LENDS_ABOVE)
    if not lent:
        return list(scored)
    raised = {id: LENT_MOST * -math.expm1(-amount / LENT_MOST) for id, amount in lent.items()}
    found = [
        entry
        if (bonus := raised.pop(entry.note_id, 0.0)) == 0
        else entry._replace(
            score=entry.score + bonus, parts={**entry.parts, "episode_bonus": bonus}
        )
        for entry in scored
    ]
    none = {"dense": 0.0, "keyword": 0.0, "best_chunk": 0.0, "chunks": 0.0, "chunk_bonus": 0.0}
    found += [
        Scored(id, bonus, "", {**none, "episode_bonus": bonus})
        for id, bonus in raised.items()
        if bonus > 0
    ]
    return best_first(found)
