"""What the rest of the program knows of an embedding model: vectors in, and a scale for cosines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

UNRELATED_SCORE = 30.0
SIMILAR_SCORE = 85.0
SAME_SCORE = 95.0


@dataclass(frozen=True, slots=True)
class Similarity:
    """Where a model's cosines stand: each model squeezes its texts into a range of its own.

    `unrelated` is the median of two texts that have nothing to do with each other, `similar` the
    cosine from which a text is flagged as close to another, `same` the one from which it says
    the same in nearly the same words, `related` the one from which two memories are linked by
    themselves. All compare documents with documents, in rising order
    `unrelated < similar < same < 1`.
    """

    unrelated: float
    related: float
    similar: float
    same: float

    def __post_init__(self) -> None:
        if not -1.0 < self.unrelated < self.similar < self.same < 1.0:
            raise ValueError(f"the anchors of a similarity scale must rise: {self}")

    def score(self, cosine: float) -> float:
        """0 to 100 on the scale where 85 means similar and 95 the same, whatever the model."""
        anchors = self._anchors()
        low, high = anchors[0], anchors[1]
        for lower, upper in pairwise(anchors):
            if cosine >= lower[0]:
                low, high = lower, upper
        slope = (high[1] - low[1]) / (high[0] - low[0])
        return min(100.0, max(0.0, low[1] + (cosine - low[0]) * slope))

    def cosine(self, score: float) -> float:
        """The cosine that `score` (above 0) stands for; the inverse of `score`."""
        anchors = self._anchors()
        low, high = anchors[0], anchors[1]
        for lower, upper in pairwise(anchors):
            if score >= lower[1]:
                low, high = lower, upper
        slope = (high[0] - low[0]) / (high[1] - low[1])
        return low[0] + (score - low[1]) * slope

    def _anchors(self) -> tuple[tuple[float, float], ...]:
        return (
            (self.unrelated, UNRELATED_SCORE),
            (self.similar, SIMILAR_SCORE),
            (self.same, SAME_SCORE),
            (1.0, 100.0),
        )


class Embedder(Protocol):
    """A loaded model. Every method may be called from several threads at once.

    `fingerprint` changes whenever the vectors would (other weights, precision, prefixes): vectors
    of two fingerprints must never meet in one index. `notice` is a sentence for the user when the
    model is not the one that was asked for.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def similarity(self) -> Similarity: ...

    @property
    def notice(self) -> str | None: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (n, dimension), each row of length 1, in the order of `texts`."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """float32 of shape (dimension,) and length 1."""
        ...
