"""Embeds pairs as remember does, lets its rules decide, and looks for the best limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from second_brain.cli.benches.capture.pairs import KINDS, WITH_NEWS, Kind, Pair
from second_brain.index.chunk import chunks, embedded_text
from second_brain.index.embedding import Embedder, Similarity
from second_brain.memory.describe import text_key
from second_brain.memory.novelty import says_something_new
from second_brain.memory.similar import Outcome, outcome
from second_brain.vault.markdown import scan
from second_brain.vault.names import title_of

NEAR: tuple[Kind, ...] = ("reworded", "updated", "contradicted", "elaborated")
"""What is to be flagged: about the very thing that the known text is about."""
FAR: tuple[Kind, ...] = ("sibling", "unrelated")


@dataclass(frozen=True, slots=True)
class Compared:
    """A pair with what remember would go by: `news` is whether its rules find any."""

    pair: Pair
    cosine: float
    news: bool
    same_words: bool

    def outcome(self, scale: Similarity) -> Outcome:
        """Refuse, flag or store, on a scale."""
        if self.same_words:
            return "refuse"
        return outcome(scale.score(self.cosine), news=self.news)


@dataclass(frozen=True, slots=True)
class Line:
    """How many pairs of a kind, in a language or in all, were refused, flagged and stored."""

    kind: Kind
    language: str
    pairs: int
    refused: int
    flagged: int
    stored: int


def compare(pairs: Sequence[Pair], model: Embedder) -> list[Compared]:
    """Each text is embedded once, as the one passage of a note named as remember names it."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.known, pair.new)))
    vectors = model.embed_documents([_passage(text) for text in texts])
    by_text = dict(zip(texts, vectors, strict=True))
    return [
        Compared(
            pair=pair,
            cosine=float(np.dot(by_text[pair.known], by_text[pair.new])),
            news=bool(says_something_new(pair.new, pair.known)),
            same_words=text_key(pair.new) == text_key(pair.known),
        )
        for pair in pairs
    ]


def lines(compared: Sequence[Compared], scale: Similarity) -> Iterator[Line]:
    """A line for each kind, in all languages and in each."""
    languages = sorted({one.pair.language for one in compared})
    for kind in KINDS:
        for language in ("all", *languages):
            own = [
                one.outcome(scale)
                for one in compared
                if one.pair.kind == kind and language in ("all", one.pair.language)
            ]
            counted = Counter(own)
            yield Line(
                kind, language, len(own), counted["refuse"], counted["flag"], counted["store"]
            )


def wrongly_refused(compared: Iterable[Compared], scale: Similarity) -> list[Pair]:
    """Pairs with new information that would not be stored: there must be none."""
    return [
        one.pair
        for one in compared
        if one.pair.kind in WITH_NEWS and one.outcome(scale) == "refuse"
    ]


def told_apart(compared: Sequence[Compared], similar: float) -> float:
    """Mean of the shares told rightly: NEAR ones from the limit on, FAR ones below it."""

    def share(kinds: tuple[Kind, ...]) -> float:
        own = [one.cosine >= similar for one in compared if one.pair.kind in kinds]
        return sum(own) / len(own) if own else 0.0

    return (share(NEAR) + 1 - share(FAR)) / 2


def best_limit(compared: Sequence[Compared]) -> float:
    """The cosine that tells most apart; of equally good ones the middle."""
    tried = [step * 0.005 for step in range(60, 199)]
    scored = {limit: told_apart(compared, limit) for limit in tried}
    top = max(scored.values())
    best = [limit for limit, value in scored.items() if value == top]
    return best[len(best) // 2]


def quantiles(compared: Iterable[Compared], kind: Kind) -> tuple[float, float, float]:
    """The cosines of a kind that 5, 50 and 95 in 100 pairs do not exceed."""
    cosines = [one.cosine for one in compared if one.pair.kind == kind]
    low, middle, high = np.quantile(cosines, (0.05, 0.5, 0.95))
    return float(low), float(middle), float(high)


def _passage(text: str) -> str:
    title = title_of(text)
    cut = chunks(title, text, scan(text).headings)
    return embedded_text(title, cut[0])
