"""Of memories that say about the same thing at different times the newest comes first. Pure.

"We run on MySQL" matches a question after the database as well as "we moved to Postgres", often
better. Where two memories are alike as only texts about one thing are, the older one yields, even
to a somewhat weaker match. The numbers come from the table "Stale facts" of docs/recall.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from second_brain.memory.rank import Scored, Signals, best_first, standing

REACH = 0.2
"""A memory never yields to one whose match is weaker by more than this."""

LOOKED_AT = 20
"""So many of the best are compared with each other."""

_DAY_MS = 86_400_000
_STEP = 1e-6


def renew(
    ranked: Sequence[Scored],
    vectors: Mapping[str, NDArray[np.float32]],
    signals: Mapping[str, Signals],
    alike: float,
) -> list[Scored]:
    """Let older memories yield to newer ones of about the same content, best first.

    `vectors` are L2-normalised; `alike` is the cosine from which two are taken to speak of one
    thing. Newer is what was made a day later or more, and counts for no less (`standing`): a draft
    does not replace what is canonical.
    """
    pool = [e for e in ranked[:LOOKED_AT] if e.note_id in vectors and e.note_id in signals]
    if len(pool) < 2:
        return list(ranked)
    matrix = np.stack([vectors[entry.note_id] for entry in pool])
    close = np.einsum("id,jd->ij", matrix, matrix) >= alike
    yielding: dict[str, float] = {}
    for place in np.flatnonzero(close.sum(axis=1) > 1).tolist():
        old = pool[place]
        others = [pool[n] for n in np.flatnonzero(close[place]).tolist() if n != place]
        newer = [
            entry.score
            for entry in others
            if old.score - entry.score <= REACH
            and _replaces(signals[entry.note_id], signals[old.note_id])
        ]
        if newer and min(newer) <= old.score:
            yielding[old.note_id] = min(newer) - _STEP * len(newer)
    if not yielding:
        return list(ranked)
    return best_first(
        replace(
            entry,
            score=max(0.0, yielding[entry.note_id]),
            parts={**entry.parts, "yields": entry.score - yielding[entry.note_id]},
        )
        if entry.note_id in yielding
        else entry
        for entry in ranked
    )


def _replaces(new: Signals, old: Signals) -> bool:
    return (
        new.created_at - old.created_at >= _DAY_MS
        and not new.superseded
        and standing(replace(new, recalls=0)) >= standing(replace(old, recalls=0))
    )
