"""A question in one language and memories in another: what the two searches miss there. Pure.

In a vault of two languages the words of a question meet, in the other language, only names; and the
model takes passages in the question's own language for a little nearer than they are. The numbers
come from the table "Across languages" of README.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from second_brain.index.stopwords import ENGLISH_ONLY, FRENCH_ONLY

Language = Literal["en", "fr"]

UNSURE_BELOW = 0.7
"""Share of the question's words in the best keyword match below which that may be a mere name."""

LEAST_FOREIGN = 5
"""Fewer candidates in the other language tell nothing of how far the model takes them to be."""

NEAREST = 10
MOST_NEARER = 0.03
"""How much nearer a passage in the other language may be taken to be, as a cosine."""

FOREIGN_WORDS = 0.7
"""Share of its nearness that such a passage gets for the words that it cannot hold."""

_READ_CHARACTERS = 400
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ELIDED = re.compile(r"(?:[ldjnsmtc]|qu)['’]")


@dataclass(frozen=True, slots=True)
class Bridge:
    """`foreign`: the candidates in the other language than the question's. `covered`: the share of
    the question's words that the best keyword match holds."""

    foreign: frozenset[str]
    covered: float

    def nearer(self, dense: Mapping[str, float]) -> dict[str, float]:
        """The cosines, those of the other language raised to where the question's own ones are:
        the NEAREST of each are as near on average, unless that takes more than MOST_NEARER."""
        own = sorted((c for id, c in dense.items() if id not in self.foreign), reverse=True)
        other = sorted((c for id, c in dense.items() if id in self.foreign), reverse=True)
        many = min(NEAREST, len(own), len(other))
        if many == 0:
            return dict(dense)
        apart = (sum(own[:many]) - sum(other[:many])) / many
        gain = min(MOST_NEARER, max(0.0, apart))
        return {id: c + gain if id in self.foreign else c for id, c in dense.items()}

    def by_words(self, near: Mapping[str, float], exact: Mapping[str, float]) -> dict[str, float]:
        """The shares of the keyword search: all the less, the fewer of the question's words it
        met; and for a passage in the other language no less than its nearness lets expect."""
        told = {id: share * min(1.0, self.covered / UNSURE_BELOW) for id, share in exact.items()}
        for id in self.foreign & near.keys():
            expected = FOREIGN_WORDS * (1 - self.covered) * near[id]
            told[id] = max(told.get(id, 0.0), expected)
        return told


def bridge(
    question: str, texts: Mapping[str, str], dense: Mapping[str, float], covered: float
) -> Bridge | None:
    """Whether candidates (`texts` by id) are in the other language; None where nothing is amiss:
    the words were met, the question's language is unknown, or nearly all is in one language."""
    if covered >= UNSURE_BELOW or (asked := language(question)) is None:
        return None
    # The beginning alone, so that what is remembered of a text does not keep all of it.
    told = {id: language(texts[id][:_READ_CHARACTERS]) for id in dense}
    foreign = frozenset(id for id, found in told.items() if found not in (None, asked))
    if min(len(foreign), len(dense) - len(foreign)) < LEAST_FOREIGN:
        return None
    return Bridge(foreign, covered)


@lru_cache(maxsize=16_384)
def language(text: str) -> Language | None:
    """English or French, by the small words at the beginning; None if they do not tell."""
    words = [word.casefold() for word in _WORD.findall(text[:_READ_CHARACTERS])]
    english = sum(word in ENGLISH_ONLY for word in words)
    french = sum(word in FRENCH_ONLY or bool(_ELIDED.match(word)) for word in words)
    if english == french:
        return None
    return "en" if english > french else "fr"
