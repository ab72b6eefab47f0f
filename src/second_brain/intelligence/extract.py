"""Answers without a model: the sentences of the memories that meet the question best, verbatim.

Pure. Nothing is put into other words, so nothing can be made up; what it is, is always said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from second_brain.index.analyze import parse_query, terms
from second_brain.intelligence.sources import Source, Sources

_SPLIT = re.compile(r"(?<=[.!?…])\s+(?=[^\sa-zà-ÿ])|\s*\n\s*")
_MARKS = re.compile(r"^(?:[#>*+-]+|\d+[.)]|\[[ xX]\])\s+")
_MOST_CHARS = 400
_MOST_SOURCES = 3
_A_SOURCE = 2


@dataclass(frozen=True, slots=True)
class Quote:
    """Sentences of one memory as they stand there."""

    text: str
    source: Source

    def line(self) -> str:
        """As a quotation with its memory's id."""
        return f"> {self.text} [{self.source.id}]"


def quotes(query: str, sources: Sources) -> list[Quote]:
    """The best sentences of the best memories, in the order of the memories."""
    words = parse_query(query).words
    found: list[Quote] = []
    for place, source in enumerate(sources):
        if place == _MOST_SOURCES:
            break
        text = _best(source.text, words)
        if text:
            found.append(Quote(text, source))
    return found


def first_sentence(text: str) -> str:
    """What a memory begins with, below its headings."""
    cut = _sentences(text)
    return cut[0][:_MOST_CHARS] if cut else ""


def _best(text: str, words: tuple[tuple[str, ...], ...]) -> str:
    cut = _sentences(text)
    scored = []
    for place, sentence in enumerate(cut):
        there = frozenset(terms(sentence).split())
        met = sum(any(term in there for term in word) for word in words)
        scored.append((-met, place))
    chosen = sorted(place for met, place in sorted(scored)[:_A_SOURCE] if met < 0)
    if not chosen:
        # Found by its meaning: the beginning is as good as any part.
        chosen = [0] if cut else []
    return " … ".join(cut[place][:_MOST_CHARS] for place in chosen)


def _sentences(text: str) -> list[str]:
    """A memory's sentences without the marks of lists; headings and fences are none."""
    found = []
    for part in _SPLIT.split(text):
        if part.lstrip().startswith(("#", "```", "---", "|")) and not re.match(r"#\w", part):
            continue
        plain = _MARKS.sub("", part.strip())
        if any(c.isalnum() for c in plain):
            found.append(plain)
    return found
