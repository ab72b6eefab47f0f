"""How good rankings are: recall, hit, reciprocal rank and nDCG, on plain values."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields

DEPTH = 20
"""So many results are asked for; what comes later counts as not found."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Of one question, or the means over several. nDCG takes relevance as yes or no."""

    recall_1: float
    recall_5: float
    recall_10: float
    recall_20: float
    hit_5: float
    hit_10: float
    hit_20: float
    mrr: float
    ndcg_10: float


def score(ranking: Sequence[str], relevant: Collection[str]) -> Scores:
    """One question's scores; there must be something relevant."""
    wanted = set(relevant)
    places = [n for n, id in enumerate(ranking[:DEPTH], 1) if id in wanted]
    best = sum(1 / math.log2(n + 1) for n in range(1, min(len(wanted), 10) + 1))

    def recall(k: int) -> float:
        return sum(place <= k for place in places) / len(wanted)

    def hit(k: int) -> float:
        return float(any(place <= k for place in places))

    return Scores(
        recall_1=recall(1),
        recall_5=recall(5),
        recall_10=recall(10),
        recall_20=recall(20),
        hit_5=hit(5),
        hit_10=hit(10),
        hit_20=hit(20),
        mrr=1 / places[0] if places else 0.0,
        ndcg_10=sum(1 / math.log2(n + 1) for n in places if n <= 10) / best,
    )


def mean(scores: Iterable[Scores]) -> Scores:
    """The means; there must be one at least."""
    every = list(scores)
    names = [field.name for field in fields(Scores)]
    return Scores(*(math.fsum(getattr(s, name) for s in every) / len(every) for name in names))
