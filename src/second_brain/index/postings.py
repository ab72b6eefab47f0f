"""A full-text index in memory: which passages hold a term, how often, and what that is worth.

BM25 as in LanceDB's full-text index, computed over exactly the passages that there are: a search
takes a tenth of a millisecond where the table's takes several on other threads, and a passage
weighs the same before and after the table is optimized. Two things are better here than there, by
the table "What the words are worth" in README.md: the spellings of one word (its English and
its French stem, a compound and its parts) count once, by the best of them; and a passage of a few
words is not taken for one that speaks of nothing else.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75
"""Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), 3.5."""

FEW = 60
"""Terms added to each passage's length: below about so many, a shorter one is no better one. See
"What the words are worth" in README.md."""

_SHIFT = 16
_MOST = (1 << _SHIFT) - 1


class Postings:
    """Belongs to one thread. A place is the number that the owner gives a passage."""

    def __init__(self) -> None:
        self._terms: dict[str, array[int]] = {}
        self._held: dict[int, tuple[str, ...]] = {}
        self._lengths: NDArray[np.float32] = np.zeros(256, dtype=np.float32)
        self._total = 0.0

    def __len__(self) -> int:
        return len(self._held)

    def put(self, place: int, terms: str) -> None:
        """This place has these terms (`analyze.terms`) now."""
        self.remove(place)
        counts = Counter(terms.split())
        while place >= len(self._lengths):
            self._lengths = np.concatenate([self._lengths, np.zeros_like(self._lengths)])
        self._lengths[place] = length = counts.total()
        self._total += length
        known = self._terms
        for term, count in counts.items():
            posting = place << _SHIFT | min(count, _MOST)
            if (own := known.get(term)) is None:
                known[term] = array("Q", (posting,))
            else:
                own.append(posting)
        # The terms of the dictionary, so that no passage keeps spellings of its own.
        self._held[place] = tuple(counts)

    def remove(self, place: int) -> None:
        """This place has none any more."""
        for term in self._held.pop(place, ()):
            own = self._terms[term]
            if len(own) == 1:
                del self._terms[term]
                continue
            at = int(np.flatnonzero(np.frombuffer(own, np.uint64) >> _SHIFT == place)[0])
            own.pop(at)
        if place < len(self._lengths):
            self._total -= float(self._lengths[place])
            self._lengths[place] = 0.0

    def weigh(self, words: Iterable[Sequence[str]], places: int) -> NDArray[np.float32]:
        """The weight of every place below `places`: 0 where no word is.

        A word is given by its terms, of which the one that is worth most in a passage counts.
        idf = ln(1 + (N - n + 0.5) / (n + 0.5)); a term that occurs f times in a passage of length
        L is worth idf * f * (K1 + 1) / (f + K1 * (1 - B + B * (L + FEW) / (mean L + FEW))).
        """
        weights: NDArray[np.float32] = np.zeros(places, dtype=np.float32)
        for word in dict.fromkeys(map(tuple, words)):
            worth = [own for term in word if (own := self._worth(term)) is not None]
            if len(worth) == 1:
                found, values = worth[0]
                weights[found] += values
            elif worth:
                best: NDArray[np.float32] = np.zeros(places, dtype=np.float32)
                for found, values in worth:
                    best[found] = np.maximum(best[found], values)
                weights += best
        return weights

    def _worth(self, term: str) -> tuple[NDArray[np.intp], NDArray[np.float32]] | None:
        """The places of a term, each once, and what it is worth there."""
        if (own := self._terms.get(term)) is None:
            return None
        count = len(self._held)
        packed = np.frombuffer(own, np.uint64)
        found = (packed >> _SHIFT).astype(np.intp)
        often = (packed & _MOST).astype(np.float32)
        idf = np.log1p((count - len(own) + 0.5) / (len(own) + 0.5))
        share = B / (self._total / count + FEW)
        length = (self._lengths[found] + np.float32(FEW)) * np.float32(share) + np.float32(1 - B)
        values = np.float32(idf * (K1 + 1)) * often / (often + np.float32(K1) * length)
        return found, values.astype(np.float32, copy=False)
