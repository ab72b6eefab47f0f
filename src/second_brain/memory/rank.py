"""How recall orders what the index found: pure arithmetic over values, each step explainable.

The order of the steps:

1. `fuse`: dense and keyword scores of chunks become one relevance, 0 to 1.
2. `collapse`: chunks become memories.
3. `lending.lend`: memories of one episode lend each other relevance, never more than LENT_MOST.
4. `adjust`: age, importance, status and use move a memory, but never past one that matches clearly
   better (`REORDER_MARGIN`).
5. `diversify`: near ties are ordered so that two results do not say the same thing.
6. `expand`: neighbours in the graph follow, below every direct match.
7. `percent`: relevance becomes the 0 to 100 that a client sees.

The numbers below come from the tables of README.md, each from the one that it names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from second_brain.memory.languages import Bridge
from second_brain.memory.model import Status

DENSE_WEIGHT = 0.4
"""Share of the dense score where both searches ran. Table "Meaning and words"."""

COLLAPSE_BONUS = 0.05
"""The most that further matching chunks add to a memory's best one."""

RECENCY_REACH = 0.08
BOOST_REACH = 0.02
REORDER_MARGIN = RECENCY_REACH + BOOST_REACH
"""`adjust` never moves a memory past one whose relevance is higher by more than this much."""

TIME_BONUS = 0.25
"""What a memory gains that was written in the month, year or day that the query names."""

TIE = 0.05
MMR_LAMBDA = 0.7
"""How near a tie is, and what relevance counts for in it against novelty. Table "Near ties"."""

HOP_DECAY = 0.6
MAX_HOPS = 3
MAX_EDGES = 8
MAX_NODES = 50

_DAY_MS = 86_400_000
_HALF_LIFE_DAYS = (("task", 7.0), ("work", 90.0), ("context", 180.0))
_HALF_LIFE_OTHER = 30.0
_MOST_LOST_TASK = 0.85
_MOST_LOST = 0.40
_MOST_LOST_IMPORTANT = 0.10


class FusedChunk(NamedTuple):
    """A chunk's relevance, 0 to 1, and the two shares it is made of."""

    chunk_id: str
    score: float
    dense: float
    keyword: float


class Scored(NamedTuple):
    """A memory's relevance and how it came about. `best_chunk` is what to show as the passage."""

    note_id: str
    score: float
    best_chunk: str
    parts: Mapping[str, float]


class Signals(NamedTuple):
    """What a memory brings besides its text. `created_at` is Unix milliseconds.

    `superseded` tells that another memory replaces it.
    """

    created_at: int
    tags: tuple[str, ...] = ()
    status: Status | None = None
    importance: int | None = None
    recalls: int = 0
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The other end of an edge; `weight` lies between 0 and 1."""

    note_id: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Reached:
    """A memory found over the graph: from `via`, `hop` steps away from a direct match."""

    note_id: str
    score: float
    hop: int
    via: str


def fuse(
    dense: Mapping[str, float] | None,
    keyword: Mapping[str, float] | None,
    weight: float = DENSE_WEIGHT,
    bridge: Bridge | None = None,
) -> list[FusedChunk]:
    """Join the two searches' candidates, best first; None means that a search did not run.

    score = weight × dense' + (1 - weight) × keyword', where dense' is the cosine stretched over its
    own candidates (lowest 0, best 1), keyword' is BM25 over its best, and a candidate that one
    search did not find has 0 there. Where only one search ran, or only one found anything, its
    weight is 1. Ties go by id, so that the order never depends on the index. `bridge` corrects
    both for candidates in another language than the question's.
    """
    near = _stretched(bridge.nearer(dense or {}) if bridge else dense or {})
    exact = _shared(keyword or {})
    if bridge is not None:
        exact = bridge.by_words(near, exact)
    share = weight if near and exact else float(bool(near))
    chunks = [
        FusedChunk(id, share * dense + (1 - share) * keyword, dense, keyword)
        for id in {**near, **exact}
        for dense, keyword in [(near.get(id, 0.0), exact.get(id, 0.0))]
    ]
    return sorted(chunks, key=lambda chunk: (-chunk.score, chunk.chunk_id))


def collapse(chunks: Iterable[FusedChunk], note_of: Callable[[str], str]) -> list[Scored]:
    """One entry a memory, best first: its best chunk, and a little more if others match as well.

    `chunks` are best first, as `fuse` gives them.
    score = best + COLLAPSE_BONUS × best × (1 - 1 / (1 + m)), where m is the sum of the other
    chunks' scores, each as a share of the best: one equal chunk adds 2.5 %, any number under 5 %.
    """
    by_note: dict[str, list[FusedChunk]] = {}
    for chunk in chunks:
        by_note.setdefault(note_of(chunk.chunk_id), []).append(chunk)
    scored = []
    for note_id, own in by_note.items():
        best, bonus = own[0], 0.0
        if len(own) > 1 and best.score > 0:
            mass = max(0.0, sum(chunk.score for chunk in own[1:]) / best.score)
            bonus = COLLAPSE_BONUS * best.score * (1 - 1 / (1 + mass))
        parts = {
            "dense": best.dense,
            "keyword": best.keyword,
            "best_chunk": best.score,
            "chunks": float(len(own)),
            "chunk_bonus": bonus,
        }
        scored.append(Scored(note_id, best.score + bonus, best.chunk_id, parts))
    return best_first(scored)


def prefer_time(
    scored: Iterable[Scored],
    signals: Mapping[str, Signals],
    after_ms: int | None,
    before_ms: int | None,
) -> list[Scored]:
    """Raise memories of a time by TIME_BONUS, best first; the bounds are inclusive Unix ms."""

    def raised(entry: Scored) -> Scored:
        own = signals.get(entry.note_id)
        if own is None or not (
            (after_ms is None or own.created_at >= after_ms)
            and (before_ms is None or own.created_at <= before_ms)
        ):
            return entry
        parts = {**entry.parts, "time_bonus": TIME_BONUS}
        return entry._replace(score=entry.score + TIME_BONUS, parts=parts)

    return best_first(map(raised, scored))


def contenders(scored: Sequence[Scored], places: int, *, bonus: float = 0.0) -> list[Scored]:
    """Those that `adjust` may bring among the first `places`: it only ever takes away, and from
    nobody more than REORDER_MARGIN. `scored` is in order; `bonus` is what any may gain before."""
    if len(scored) <= places:
        return list(scored)
    least = scored[places - 1].score - REORDER_MARGIN - bonus
    return [entry for entry in scored if entry.score >= least]


def recency(signals: Signals, now_ms: int) -> float:
    """What age leaves of a memory: 1 when new, falling by half-lives towards a floor.

    Half-lives: 7 days for a task, 90 for work, 180 for context, else 30. At most 40 % is lost,
    10 % where the memory is canonical or of importance 4 and over, 85 % for a task.
    """
    half_life, most = _decay(signals.tags)
    if signals.status == "canonical" or (signals.importance or 0) >= 4:
        most = _MOST_LOST_IMPORTANT
    age_days = max(0.0, (now_ms - signals.created_at) / _DAY_MS)
    return 1 - most * (1 - math.pow(0.5, age_days / half_life))


@lru_cache(maxsize=4_096)
def _decay(tags: tuple[str, ...]) -> tuple[float, float]:
    """The half-life in days of a memory with these tags, and the most that age takes from it."""
    tops = {tag.casefold().lstrip("#").split("/")[0] for tag in tags}
    half_life = next(
        (days for tag, days in _HALF_LIFE_DAYS if tag in tops or f"{tag}s" in tops),
        _HALF_LIFE_OTHER,
    )
    return half_life, _MOST_LOST_TASK if tops & {"task", "tasks"} else _MOST_LOST


def standing(signals: Signals) -> float:
    """How much a memory counts, 0 to 1: its importance, its status and how often it was recalled.

    0.5 is a memory of which nothing is known. Recalls count by their logarithm: what is often
    shown must not win because it is often shown.
    """
    importance = (min(5, max(1, signals.importance)) - 1) / 4 if signals.importance else 0.5
    status = {"canonical": 1.0, "draft": 0.25, "deprecated": 0.0}.get(signals.status or "", 0.5)
    recalls = min(1.0, math.log2(1 + max(0, signals.recalls)) / 5)
    return 0.45 * importance + 0.45 * status + 0.1 * (0.5 + recalls / 2)


def adjust(scored: Iterable[Scored], signals: Mapping[str, Signals], now_ms: int) -> list[Scored]:
    """Let age and standing decide among matches of about the same relevance, best first.

    score = relevance - RECENCY_REACH × (1 - recency) / 0.85 - BOOST_REACH × (1 - standing), and a
    superseded memory counts as the oldest of tasks. Nobody loses more than REORDER_MARGIN, so a
    match that is better by more than that stays above whatever its age. An unknown id is left
    as it is. No score falls below 0.
    """
    adjusted = []
    for entry in scored:
        own = signals.get(entry.note_id)
        if own is None:
            adjusted.append(entry)
            continue
        left = 1 - _MOST_LOST_TASK if own.superseded else recency(own, now_ms)
        age_loss = RECENCY_REACH * (1 - left) / _MOST_LOST_TASK
        stands = standing(own)
        standing_loss = BOOST_REACH * (1 - stands)
        parts = {
            **entry.parts,
            "relevance": entry.score,
            "recency": left,
            "age_loss": age_loss,
            "standing": stands,
            "standing_loss": standing_loss,
        }
        score = max(0.0, entry.score - age_loss - standing_loss)
        adjusted.append(Scored(entry.note_id, score, entry.best_chunk, parts))
    # What the floor of 0 makes equal keeps the order of relevance.
    return sorted(
        adjusted,
        key=lambda e: (-e.score, -e.parts.get("relevance", e.score), e.note_id),
    )


def diversify(
    ranked: Sequence[Scored],
    vectors: Mapping[str, NDArray[np.float32]],
    limit: int,
    *,
    alike: float = 0.0,
    weight: float = MMR_LAMBDA,
) -> list[Scored]:
    """The first `limit` results, near ties ordered by what they add (maximal marginal relevance).

    `ranked` is best first; `vectors` are L2-normalised, one a memory; an entry without one counts
    as unlike all others. The best match stays first. At each place only entries within TIE of the
    best that is left may step forward, by weight × score - (1 - weight) × what the greatest
    cosine to those already placed exceeds `alike` by: two of one subject need not say the same.
    Scores do not change.
    """
    left = list(ranked)
    placed: list[Scored] = left[:1]
    del left[:1]
    likeness = {entry.note_id: alike for entry in left}
    while left and len(placed) < limit:
        newest = vectors.get(placed[-1].note_id)
        for entry in left:
            own = vectors.get(entry.note_id)
            if newest is not None and own is not None:
                likeness[entry.note_id] = max(likeness[entry.note_id], float(own @ newest))
        tied = [entry for entry in left if entry.score >= left[0].score - TIE]
        chosen = max(
            tied, key=lambda e: weight * e.score - (1 - weight) * (likeness[e.note_id] - alike)
        )
        left.remove(chosen)
        placed.append(chosen)
    return placed[: max(0, limit)]


def expand(
    direct: Mapping[str, float],
    neighbours: Callable[[str], Iterable[Neighbour]],
    hops: int,
) -> list[Reached]:
    """Memories linked to the direct matches, best first, none above the weakest direct match.

    Each hop passes on score × HOP_DECAY × weight; a memory keeps its best way. At most MAX_HOPS
    hops, the MAX_EDGES heaviest edges of a node, and MAX_NODES memories in all. `neighbours` is
    asked once for each memory that is walked through.
    """
    ceiling = min(direct.values(), default=0.0)
    reached: dict[str, Reached] = {}
    frontier = [
        (id, score) for id, score in sorted(direct.items(), key=lambda item: (-item[1], item[0]))
    ]
    for hop in range(1, min(hops, MAX_HOPS) + 1):
        found: dict[str, Reached] = {}
        for via, score in frontier:
            for other in _heaviest(neighbours(via)):
                if other.note_id in direct or other.note_id in reached:
                    continue
                passed = min(ceiling, score * HOP_DECAY * min(1.0, max(0.0, other.weight)))
                known = found.get(other.note_id)
                if known is None or passed > known.score:
                    found[other.note_id] = Reached(other.note_id, passed, hop, via)
        best = sorted(found.values(), key=lambda r: (-r.score, r.note_id))
        best = best[: MAX_NODES - len(reached)]
        reached.update((entry.note_id, entry) for entry in best)
        frontier = [(entry.note_id, entry.score) for entry in best]
    return sorted(reached.values(), key=lambda r: (-r.score, r.hop, r.note_id))


def coverage(query_terms: Iterable[str], text_terms: Iterable[str]) -> float:
    """Share of the query's distinct terms that a text holds, 0 to 1."""
    wanted = set(query_terms)
    return len(wanted & set(text_terms)) / len(wanted) if wanted else 0.0


def evidence(similarity: float | None, covered: float | None) -> float:
    """How good a match is in itself, 0 to 1, whatever the other candidates are.

    `similarity` is the model's calibrated 0 to 100 (95 and over is "the same"), `covered` the
    share of the query's terms found. Both together decide; one alone counts for nine tenths, so
    only a match in meaning and in words can reach 1. None is "not known".
    """
    near = None if similarity is None else min(1.0, max(0.0, similarity / 100))
    exact = None if covered is None else min(1.0, max(0.0, covered))
    alone = 0.9 * max(near or 0.0, exact or 0.0)
    if near is None or exact is None:
        return alone
    return max(alone, DENSE_WEIGHT * near + (1 - DENSE_WEIGHT) * exact)


def percent(scores: Sequence[float], best_evidence: float) -> list[float]:
    """Scores as the 0 to 100 that clients see, one decimal, in the same order.

    The best score stands for its own evidence, the others for their share of it: fused scores say
    who is better than whom, never how good the best one is.
    """
    top = max(scores, default=0.0)
    if top <= 0:
        return [0.0 for _ in scores]
    best = 100 * min(1.0, max(0.0, best_evidence))
    return [round(best * max(0.0, score / top), 1) for score in scores]


def _stretched(scores: Mapping[str, float]) -> dict[str, float]:
    """Lowest 0, best 1; all 1 where they are equal."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high - low < 1e-12:
        return dict.fromkeys(scores, 1.0)
    return {id: (score - low) / (high - low) for id, score in scores.items()}


def _shared(scores: Mapping[str, float]) -> dict[str, float]:
    high = max(scores.values(), default=0.0)
    return {id: max(0.0, score) / high for id, score in scores.items()} if high > 0 else {}


def _heaviest(edges: Iterable[Neighbour]) -> list[Neighbour]:
    return sorted(edges, key=lambda edge: (-edge.weight, edge.note_id))[:MAX_EDGES]


def best_first(scored: Iterable[Scored]) -> list[Scored]:
    """By score; ties go by id, so that the order never depends on the index."""
    return sorted(scored, key=lambda entry: (-entry.score, entry.note_id))
