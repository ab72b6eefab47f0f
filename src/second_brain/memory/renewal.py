"""Of memories that say about the same thing at different times the newest comes first. Pure.

"We run on MySQL" matches a question after the database as well as "we moved to Postgres", often
better. Where two memories are alike as only texts about one thing are, the older one yields, even
to a somewhat weaker match. The numbers come from the table "Stale facts" of README.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    if close.sum() == len(pool):
        return list(ranked)
    # How often a memory was recalled tells nothing of whether it still holds.
    stands = [standing(signals[entry.note_id]._replace(recalls=0)) for entry in pool]
    yielding: dict[str, float] = {}
    for place in np.flatnonzero(close.sum(axis=1) > 1).tolist():
        old = pool[place]
        newer = [
            pool[n].score
            for n in np.flatnonzero(close[place]).tolist()
            if old.score - pool[n].score <= REACH
            and stands[n] >= stands[place]
            and _is_newer(signals[pool[n].note_id], signals[old.note_id])
        ]
        if newer and min(newer) <= old.score:
            yielding[old.note_id] = min(newer) - _STEP * len(newer)
    if not yielding:
        return list(ranked)
    return best_first(
        entry._replace(
            score=max(0.0, yielding[entry.note_id]),
            parts={**entry.parts, "yields": entry.score - yielding[entry.note_id]},
        )
        if entry.note_id in yielding
        else entry
        for entry in ranked
    )


def _is_newer(one: Signals, other: Signals) -> bool:
    return one.created_at - other.created_at >= _DAY_MS and not one.superseded
