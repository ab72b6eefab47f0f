"""A full-text index in memory: which passages hold a term, how often, and what that is worth.

BM25 as in LanceDB's full-text index, computed over exactly the passages that there are: a search
takes a tenth of a millisecond where the table's takes several on other threads, and a passage
weighs the same before and after the table is optimized. Three things are better here than there,
by the table "What the words are worth" in README.md: the spellings of one word (its English and
its French stem, a compound and its parts) count once, by the best of them; a passage of a few
words is not taken for one that speaks of nothing else; and words that stand side by side in the
question count for more where they stand so in the passage.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75
"""Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), 3.5."""

FEW = 60
"""Terms added to each passage's length: below about so many, a shorter one is no better one. See
"What the words are worth" in README.md."""

PAIR = 0.3
"""What two words side by side are worth, as a share of a word as rare as they are together."""

NEAR = 4
"""Terms from one to the other at most, for words side by side: a word has up to three spellings
here, and "of the" may stand between. See "Words side by side" in README.md for both."""

PART = 0.5
"""What a piece of an identifier is worth as a share of a word: a passage full of "entry 16" is not
what was meant by ADR-016."""

_SHIFT = 16
# Further words of an endless passage stand where the last ones do; never near the next passage.
_LAST = (1 << _SHIFT) - 1 - NEAR

_Weights = tuple[NDArray[np.intp], NDArray[np.float32]]
"""The places where something is, each once, and what it is worth there."""


class Postings:
    """Belongs to one thread. A place is the number that the owner gives a passage."""

    def __init__(self) -> None:
        # Where each term stands: the place, and which of its terms it is. One place's are together.
        self._terms: dict[str, array[int]] = {}
        self._held: dict[int, tuple[str, ...]] = {}
        self._lengths: NDArray[np.float32] = np.zeros(256, dtype=np.float32)
        self._total = 0.0

    def __len__(self) -> int:
        return len(self._held)

    def put(self, passages: Mapping[int, str]) -> None:
        """Each place has these terms (`analyze.terms`) now."""
        for place in passages:
            self.remove(place)
        # One string a term, whatever passage holds it: most of the memory would be copies.
        split = [list(map(sys.intern, terms.split())) for terms in passages.values()]
        numbers = {term: n for n, term in enumerate(dict.fromkeys(chain.from_iterable(split)))}
        if not numbers:
            self._held.update((place, ()) for place in passages)
            return
        size = max(passages) + 1
        if size > len(self._lengths):
            grown = np.zeros(max(size, 2 * len(self._lengths)), dtype=np.float32)
            grown[: len(self._lengths)] = self._lengths
            self._lengths = grown
        lengths = np.array([len(terms) for terms in split])
        places = np.array(list(passages), dtype=np.uint64)
        self._lengths[places] = lengths
        self._total += float(lengths.sum())
        numbered = np.fromiter(map(numbers.__getitem__, chain.from_iterable(split)), np.intp)
        at = np.arange(len(numbered)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        spots = np.repeat(places << _SHIFT, lengths) | np.minimum(at, _LAST).astype(np.uint64)
        spots = spots[np.argsort(numbered, kind="stable")]
        ends = np.cumsum(np.bincount(numbered)).tolist()
        for (name, number), end in zip(numbers.items(), ends, strict=True):
            start = ends[number - 1] if number else 0
            own = self._terms.setdefault(name, array("Q"))
            own.frombytes(spots[start:end].tobytes())
        for place, terms in zip(passages, split, strict=True):
            self._held[place] = tuple(dict.fromkeys(terms))

    def remove(self, place: int) -> None:
        """This place has none any more."""
        for term in self._held.pop(place, ()):
            own = self._terms[term]
            at = np.flatnonzero(np.frombuffer(own, np.uint64) >> _SHIFT == place)
            if len(at) == len(own):
                del self._terms[term]
            else:
                del own[int(at[0]) : int(at[-1]) + 1]
        if place < len(self._lengths):
            self._total -= float(self._lengths[place])
            self._lengths[place] = 0.0

    def weigh(
        self, words: Iterable[Sequence[str]], places: int, parts: Collection[str] = ()
    ) -> NDArray[np.float32]:
        """The weight of every place below `places`: 0 where no word is.

        A word is given by its terms, of which the one that is worth most in a passage counts; those
        in `parts` are worth PART.
        idf = ln(1 + (N - n + 0.5) / (n + 0.5)); a term that occurs f times in a passage of length
        L is worth idf * f * (K1 + 1) / (f + K1 * (1 - B + B * (L + FEW) / (mean L + FEW))).

        Each two words that follow each other here are PAIR times what a term would be worth that
        stands wherever the two are within NEAR terms, in either order: Metzler and Croft, A Markov
        Random Field Model for Term Dependencies (2005), sequential dependence.
        """
        weights: NDArray[np.float32] = np.zeros(places, dtype=np.float32)
        asked = list(dict.fromkeys(map(tuple, words)))
        for word in asked:
            worth = [
                self._worth(own, PART if term in parts else 1.0)
                for term in word
                if (own := self._spots(term)) is not None
            ]
            if len(worth) == 1:
                found, values = worth[0]
                weights[found] += values
            elif worth:
                best: NDArray[np.float32] = np.zeros(places, dtype=np.float32)
                for found, values in worth:
                    best[found] = np.maximum(best[found], values)
                weights += best
        where = [self._all_spots(word) for word in asked]
        for (first, at), (second, beside) in pairwise(zip(asked, where, strict=True)):
            if set(first).isdisjoint(second) and len(at) and len(beside):
                found, values = self._worth(_near(at, beside), PAIR)
                weights[found] += values
        return weights

    def _spots(self, term: str) -> NDArray[np.uint64] | None:
        own = self._terms.get(term)
        # A copy: the postings cannot grow while somebody looks at them.
        return None if own is None else np.frombuffer(own, np.uint64).copy()

    def _all_spots(self, word: Sequence[str]) -> NDArray[np.int64]:
        """Where any of a word's terms stands, in order."""
        found = [own for term in word if (own := self._spots(term)) is not None]
        if not found:
            return np.empty(0, np.int64)
        return np.sort(np.concatenate(found), kind="stable").astype(np.int64)

    def _worth(self, spots: NDArray[np.uint64] | NDArray[np.int64], share: float = 1.0) -> _Weights:
        """What something is worth that stands there; one place's spots are together."""
        places = spots >> _SHIFT
        first = np.flatnonzero(np.concatenate(([True], places[1:] != places[:-1])))[: len(places)]
        found = places[first].astype(np.intp)
        often = np.diff(first, append=len(places)).astype(np.float32)
        count = len(self._held)
        idf = np.log1p((count - len(found) + 0.5) / (len(found) + 0.5))
        slope = B / (self._total / count + FEW)
        length = (self._lengths[found] + np.float32(FEW)) * np.float32(slope) + np.float32(1 - B)
        values = np.float32(share * idf * (K1 + 1)) * often / (often + np.float32(K1) * length)
        return found, values.astype(np.float32, copy=False)


def _near(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """The spots of the rarer of the two that have one of the other's within NEAR; both sorted."""
    rare, common = sorted((first, second), key=len)
    after = np.searchsorted(common, rare)
    ahead = common[np.minimum(after, len(common) - 1)] - rare
    behind = rare - common[np.maximum(after - 1, 0)]
    found: NDArray[np.int64] = rare[np.minimum(np.abs(ahead), np.abs(behind)) <= NEAR]
    return found
