"""The check on what a model says: a sentence stays only if the memory that it cites supports it.

Pure, and by words: the sentence must cite a label that was given, share its words with that memory,
and bring no number and no address that is not there. That is no proof of truth. It keeps out what
was made up, what comes from nowhere, and what somebody smuggled in to lead the reader away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from second_brain.index.analyze import parse_query, terms
from second_brain.intelligence.sentences import CITATION, SentenceReader, sentences
from second_brain.intelligence.sources import Source, Sources

_LABEL = re.compile(r"\d+")
_CITED = re.compile(rf"\s*{CITATION}")
_BRACKETED = re.compile(CITATION)
# `www.`, `name@host`, any scheme, and links in the ways of Markdown and HTML.
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://[^\s)\]>\"']+|www\.[^\s)\]>\"']+|[\w.+-]+@[\w-]+\.\w+"
    r"|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|app|info|biz|co|me|ru|cn|fr|de|uk|ai|xyz|tk)\b/?\S*"
    r"|(?:javascript|data|file|mailto|obsidian):\S+",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"!\[|\]\(|<\s*[a-z!/]|<%|`", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,'’\u00a0\u202f ]\d{3})+(?!\d)|\d+")
_LEAST_SHARE = 0.34
_FEW = 2


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence that stays: its text without labels, and the memories that support it."""

    text: str
    sources: tuple[Source, ...]
    lead: str = ""
    """The white space before it."""

    def marked(self) -> str:
        """The sentence with the ids of its memories in brackets, before its full stop."""
        ids = ", ".join(source.id for source in self.sources)
        body = self.text.rstrip()
        stop = re.search(r"[.!?…]*$", body)
        place = stop.start() if stop else len(body)
        return f"{body[:place]} [{ids}]{body[place:]}"


def check(sentence: str, sources: Sources) -> Cited | None:
    """The sentence if the memories that it cites support it, else None."""
    lead = sentence[: len(sentence) - len(sentence.lstrip())]
    labels = [f"M{n}" for mark in _BRACKETED.findall(sentence) for n in _LABEL.findall(mark)]
    cited = [sources.get(label) for label in dict.fromkeys(labels)]
    known = [source for source in cited if source is not None]
    if not known or len(known) < len(cited):
        return None
    text = _CITED.sub("", sentence).strip()
    if not supported(text, "\n".join(source.all_text for source in known)):
        return None
    return Cited(text, tuple(known), lead)


class CitationFilter:
    """Lets through, of a text that comes in pieces, the sentences that are supported."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._reader = SentenceReader()
        self.kept: list[Cited] = []
        self.dropped = 0

    def feed(self, piece: str) -> list[Cited]:
        return self._checked(self._reader.feed(piece))

    def finish(self) -> list[Cited]:
        return self._checked(self._reader.finish())

    def _checked(self, found: Iterable[str]) -> list[Cited]:
        passed: list[Cited] = []
        for sentence in found:
            cited = check(sentence, self._sources)
            if cited is None:
                self.dropped += 1
            else:
                passed.append(cited)
        self.kept += passed
        return passed


def checked(text: str, sources: Sources) -> list[Cited]:
    """The sentences of a whole text that are supported."""
    found = (check(sentence, sources) for sentence in sentences(text))
    return [cited for cited in found if cited is not None]


def numbers(text: str) -> set[str]:
    """The numbers of a text, `3,500` as `3500` and `07` as `7`."""
    found = (re.sub(r"\D", "", match) for match in _NUMBER.findall(text))
    return {number.lstrip("0") or "0" for number in found}


def shares(sentence: str, text: str) -> tuple[int, int]:
    """How many of the sentence's telling words are in the text, and how many there are."""
    words = parse_query(sentence).words
    there = frozenset(terms(text).split())
    return sum(any(term in there for term in word) for word in words), len(words)


def supported(sentence: str, text: str) -> bool:
    """Whether the text has the sentence's words, and every number and address of it."""
    folded = text.casefold()
    if any(
        address.casefold().rstrip(".,;") not in folded for address in _ADDRESS.findall(sentence)
    ):
        return False
    if any(mark not in text for mark in _MARKUP.findall(sentence)):
        return False
    if not numbers(sentence) <= numbers(text) | set(re.findall(r"\d+", text)):
        return False
    shared, all_words = shares(sentence, text)
    enough = shared >= min(_FEW, all_words) and shared >= _LEAST_SHARE * all_words
    return shared > 0 and enough
