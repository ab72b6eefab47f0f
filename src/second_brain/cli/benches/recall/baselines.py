"""Other ways to rank the same documents, for comparison: each question to ids, best first.

BM25 is the classic one (k1 1.2, b 0.75, English and French stems, stop words), not the one that
recall searches with. `original` is a port of the pipeline of the first Second Brain, a cloud
service, as its code describes it, on the model that recall uses here: the question distilled to its
three rarest terms for both searches, the keyword search over the hundred newest memories that hold
one of them, reciprocal ranks weighted by the terms' rarity, age, and maximal marginal relevance.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from second_brain.cli.benches.recall.data import DataSet
from second_brain.cli.benches.recall.scoring import DEPTH
from second_brain.index.analyze import query_terms, terms
from second_brain.index.embedding import Embedder
from second_brain.index.stopwords import STOP_WORDS

Rankings = dict[str, list[str]]

_CANDIDATES = 100
_RRF = 60
_K1, _B = 1.2, 0.75
_DISTILLED = 3
_HALF_LIFE_DAYS, _MOST_LOST = 30.0, 0.4
_MMR = 0.7
_DAY_MS = 86_400_000
_ASCII_WORD = re.compile(r"[a-z0-9_]{3,}")

BASELINES = ("BM25 alone", "dense alone", "RRF", "original")


class Baselines:
    """Over one set's documents, each embedded whole."""

    def __init__(self, data: DataSet, model: Embedder) -> None:
        self._ids = [document.id for document in data.documents]
        self._texts = [document.text for document in data.documents]
        self._created = np.array([document.created or 0 for document in data.documents])
        self._model = model
        self._vectors = np.concatenate(
            [model.embed_documents([text]) for text in self._texts]  # as the index embeds them
        )
        self._counts = [Counter(terms(text).split()) for text in self._texts]
        self._lengths = np.array([max(1, counts.total()) for counts in self._counts])
        self._holding: dict[str, list[tuple[int, int]]] = {}
        for place, counts in enumerate(self._counts):
            for term, often in counts.items():
                self._holding.setdefault(term, []).append((place, often))

    def rank(self, questions: Mapping[str, str]) -> dict[str, Rankings]:
        """Every baseline's rankings, by its name."""
        made: dict[str, Rankings] = {name: {} for name in BASELINES}
        for id, text in questions.items():
            words = _best(self._bm25(text), positive=True)
            near = _best(self._vectors @ self._model.embed_query(text))
            made["BM25 alone"][id] = self._named(words)
            made["dense alone"][id] = self._named(near)
            made["RRF"][id] = self._named(_joined((near, 1.0), (words, 1.0)))
            made["original"][id] = self._named(self._original(text))
        return made

    def _named(self, places: Sequence[int]) -> list[str]:
        return [self._ids[place] for place in places[:DEPTH]]

    def _bm25(self, text: str) -> NDArray[np.float64]:
        weights = np.zeros(len(self._ids))
        mean = self._lengths.mean()
        for term in query_terms(text):
            holding = self._holding.get(term, [])
            idf = math.log(1 + (len(self._ids) - len(holding) + 0.5) / (len(holding) + 0.5))
            for place, often in holding:
                norm = _K1 * (1 - _B + _B * self._lengths[place] / mean)
                weights[place] += idf * often * (_K1 + 1) / (often + norm)
        return weights

    def _original(self, text: str) -> list[int]:
        asked = dict.fromkeys(_ASCII_WORD.findall(text.casefold()))
        folded = [text.casefold() for text in self._texts]
        rarity: dict[str, float] = {}
        for word in asked:
            if word in STOP_WORDS:
                continue
            held = sum(word in text for text in folded)
            rarity[word] = math.log(1 + len(folded) / (1 + held))
        chosen = sorted(rarity, key=lambda word: -rarity[word])[:_DISTILLED]
        distilled = " ".join(word for word in rarity if word in chosen) or text
        near = _best(self._vectors @ self._model.embed_query(distilled))
        newest = sorted(
            (n for n, text in enumerate(folded) if any(word in text for word in chosen)),
            key=lambda n: -self._created[n],
        )[:_CANDIDATES]
        worth = {n: sum(rarity[word] for word in chosen if word in folded[n]) for n in newest}
        words = sorted(newest, key=lambda n: -worth[n])
        scores: dict[int, float] = {}
        for rank, place in enumerate(near, 1):
            scores[place] = 1 / (_RRF + rank)
        for rank, place in enumerate(words, 1):
            scores[place] = scores.get(place, 0.0) + worth[place] / (_RRF + rank)
        now = self._created.max() + _DAY_MS
        aged = {
            place: score * (1 - _MOST_LOST * (1 - 0.5 ** self._age(place, now)))
            for place, score in scores.items()
        }
        pool = sorted(aged, key=lambda place: -aged[place])[: 3 * DEPTH]
        return self._diverse(pool, aged)

    def _age(self, place: int, now: int) -> float:
        return float(now - self._created[place]) / _DAY_MS / _HALF_LIFE_DAYS

    def _diverse(self, pool: list[int], scores: Mapping[int, float]) -> list[int]:
        best = max((scores[place] for place in pool), default=1.0)
        placed: list[int] = []
        likeness = dict.fromkeys(pool, 0.0)
        while pool and len(placed) < DEPTH:
            chosen = max(pool, key=lambda n: _MMR * scores[n] / best - (1 - _MMR) * likeness[n])
            pool.remove(chosen)
            placed.append(chosen)
            for place in pool:
                near = float(self._vectors[place] @ self._vectors[chosen])
                likeness[place] = max(likeness[place], near)
        return placed


def _best(scores: NDArray[np.floating], *, positive: bool = False) -> list[int]:
    order = np.argsort(-scores, kind="stable")[:_CANDIDATES]
    return [int(place) for place in order if not positive or scores[place] > 0]


def _joined(*rankings: tuple[Sequence[int], float]) -> list[int]:
    """By the sum of weighted reciprocal ranks."""
    scores: dict[int, float] = {}
    for places, weight in rankings:
        for rank, place in enumerate(places, 1):
            scores[place] = scores.get(place, 0.0) + weight / (_RRF + rank)
    return sorted(scores, key=lambda place: -scores[place])
