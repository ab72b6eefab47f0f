"""How a text stands to the memories that there are: the same, similar, related, or new."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from second_brain.errors import IndexUnavailable, NoteNotFound
from second_brain.index.analyze import parse_query
from second_brain.index.chunk import chunks, embedded_text
from second_brain.index.embedding.protocol import SAME_SCORE, SIMILAR_SCORE
from second_brain.index.index import Index
from second_brain.index.passages import SearchFilter
from second_brain.index.rows import NoteRow
from second_brain.memory.describe import text_key
from second_brain.memory.languages import language
from second_brain.memory.novelty import says_something_new
from second_brain.memory.shelf import Shelf
from second_brain.sync.prepare import Chunking
from second_brain.vault.markdown import scan

log = logging.getLogger(__name__)

_NEAREST = 12

NEAR_SCORE = 45.0
"""Below it, two texts are not about the same thing: of 192 pairs that share a fact and differ in
it, none has a lower one (README.md, "New or known")."""
_MOST_NEAR = 5
_CLOSE_BY_WORDS = 6
"""A link is made only to one of so many memories that share most words with a text, itself among
them where it is one: README.md, "Links between memories", says what that is worth."""
_READ_FOR_WORDS = 1_000

Outcome = Literal["refuse", "flag", "store"]


@dataclass(frozen=True, slots=True)
class Match:
    """The memory that a text was compared with. `score`: 85 is similar, 95 the same."""

    row: NoteRow
    score: float


@dataclass(frozen=True, slots=True)
class Standing:
    """`duplicate` says nothing that its memory does not; `similar` is close to one, `news` says
    what it brings beyond it; `related` are the ids of memories worth a link, the closest first;
    `near` those that may be about the same thing, with their scores."""

    duplicate: Match | None = None
    similar: Match | None = None
    news: str = ""
    related: tuple[str, ...] = ()
    near: tuple[tuple[str, float], ...] = ()


def outcome(score: float, *, news: bool) -> Outcome:
    """What becomes of a text by its score against the closest memory. What brings news is never
    refused, whatever the score; README.md, "New or known", shows both limits at work."""
    if score >= SAME_SCORE and not news:
        return "refuse"
    return "flag" if score >= SIMILAR_SCORE else "store"


class Similarities:
    """Compares texts with the memories by words and, when there is a model, by meaning."""

    def __init__(self, index: Index, shelf: Shelf, chunking: Chunking) -> None:
        self._index = index
        self._shelf = shelf
        self._chunking = chunking

    async def standing(self, title: str, text: str, exact: NoteRow | None) -> Standing:
        """`exact` is the memory that said the same in the same words when it was read last.

        Deprecated memories count for nothing: nobody would be shown what was refused for them.
        """
        if exact is not None and exact.memory_status != "deprecated":
            said = await asyncio.to_thread(self._shelf.text, exact)
            if text_key(said) == text_key(text):
                return Standing(duplicate=Match(exact, 100.0))
        scale = self._index.encoder.similarity
        if scale is None or not self._index.semantic:
            return Standing()
        try:
            best = await self._closest(title, text)
            related = await self._by_words_too(text, best, scale.related)
        except IndexUnavailable as error:
            log.warning("A memory is stored without being compared with others: %s", error)
            return Standing()
        if not best:
            return Standing()
        scored = [(id, scale.score(cosine)) for id, cosine in best[:_MOST_NEAR]]
        near = tuple((id, score) for id, score in scored if score >= NEAR_SCORE)
        id, cosine = best[0]
        score = round(scale.score(cosine), 1)
        if score < SIMILAR_SCORE:
            return Standing(related=related, near=near)
        try:
            row = await asyncio.to_thread(self._shelf.row, id)
        except NoteNotFound:  # it has gone in this very moment
            return Standing(related=related, near=near[1:])
        known = await asyncio.to_thread(self._shelf.text, row)
        novelty = await asyncio.to_thread(says_something_new, text, known)
        if outcome(score, news=not known or bool(novelty)) == "refuse":
            return Standing(duplicate=Match(row, score))
        return Standing(similar=Match(row, score), news=novelty.reason, related=related, near=near)

    async def related(self, title: str, text: str) -> list[str]:
        """The memories that are close enough to a text for a link, the closest first.

        The text's own memory is among them, if it is one.
        """
        scale = self._index.encoder.similarity
        if scale is None or not self._index.semantic:
            return []
        try:
            closest = await self._closest(title, text)
            return [*await self._by_words_too(text, closest, scale.related)]
        except IndexUnavailable as error:
            log.warning("Related memories cannot be looked for: %s", error)
            return []

    async def near(self, title: str, text: str, *, besides: str) -> tuple[tuple[str, float], ...]:
        """The memories that may be about the same as one that is there, `besides`, with their
        scores. Raises IndexUnavailable; it gives way to what somebody waits for."""
        scale = self._index.encoder.similarity
        if scale is None or not self._index.semantic:
            raise IndexUnavailable("texts are compared by the embedding model, which is not loaded")
        closest = await self._closest(title, text, urgent=False)
        scored = [(id, scale.score(cosine)) for id, cosine in closest if id != besides]
        return tuple((id, score) for id, score in scored[:_MOST_NEAR] if score >= NEAR_SCORE)

    async def _by_words_too(
        self, text: str, closest: Sequence[tuple[str, float]], least: float
    ) -> tuple[str, ...]:
        """Of the memories close enough by meaning those that are close by words, or in another
        language: what is alike in its tone alone ("Thanks, Anna!") is not related."""
        close = [id for id, cosine in closest if cosine >= least]
        if not close:
            return ()
        query = replace(parse_query(text[:_READ_FOR_WORDS]), phrases=())
        everything = SearchFilter(exclude_deprecated=True)
        hits = await self._index.text_search(query, everything, _NEAREST * 3)
        shared = [*dict.fromkeys(hit.note_id for hit in hits)][:_CLOSE_BY_WORDS]
        if set(close) <= set(shared):
            return tuple(close)
        own = language(text)

        def foreign(id: str) -> bool:
            try:
                other = language(self._shelf.text(self._shelf.row(id))[:_READ_FOR_WORDS])
            except NoteNotFound:
                return False
            return own is not None and other is not None and other != own

        def kept() -> tuple[str, ...]:
            return tuple(id for id in close if id in shared or foreign(id))

        return await asyncio.to_thread(kept)

    async def _closest(
        self, title: str, text: str, *, urgent: bool = True
    ) -> list[tuple[str, float]]:
        """Memories by the cosine of their passage that is nearest to the text's least near one.

        Every passage of the text must be near to the same memory for that to be near to the text.
        """
        cut = chunks(
            title,
            text,
            scan(text).headings,
            max_chars=self._chunking.max_chars,
            overlap=self._chunking.overlap,
        )
        texts = [embedded_text(title, chunk) for chunk in cut]
        vectors = await self._index.encoder.documents(texts, urgent=urgent)
        found: list[dict[str, float]] = []
        everything = SearchFilter(exclude_deprecated=True)
        for vector in vectors[:_NEAREST]:
            if vector is None:
                return []
            hits = await self._index.vector_search(vector, everything, _NEAREST)
            best: dict[str, float] = {}
            for hit in hits:
                best[hit.note_id] = max(hit.score, best.get(hit.note_id, -1.0))
            found.append(best)
        return _least_of_all(found)


def _least_of_all(found: Sequence[dict[str, float]]) -> list[tuple[str, float]]:
    if not found:
        return []
    common = set(found[0]).intersection(*found[1:])
    least = {id: min(best[id] for best in found) for id in common}
    return sorted(least.items(), key=lambda pair: (-pair[1], pair[0]))
