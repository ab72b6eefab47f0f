"""Answers questions from memories: by the model with citations, or word for word without one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from second_brain.intelligence.citations import CitationFilter, Cited, checked
from second_brain.intelligence.extract import quotes
from second_brain.intelligence.prompts import Block, as_data, instructions
from second_brain.intelligence.provider import Model, ModelFailed, Question
from second_brain.intelligence.sources import MOST_CHARS, Source, Sources, of_hits
from second_brain.memory.api import Memories
from second_brain.memory.model import RecallHit, RecallQuery

NO_MODEL = "No language model is set up, so this is not an answer, but what your memories say:"
NO_ANSWER = "The language model found no answer in your memories. The closest passages:"
NOTHING = "Nothing in your memories answers this."

_HITS = 8
_CONTEXT_CHARS = 12_000
_QUERY_CHARS = 4_000
_GIVEN_CHARS = 6_000
_GIVEN = "given"


@dataclass(frozen=True, slots=True)
class Insight:
    """`by` says where the text comes from; a text by `extract` says so itself, too."""

    text: str | None
    by: Literal["model", "extract"] | None
    sources: tuple[Source, ...] = ()


class Answering:
    """`model` is None where none is set up; `chars` is the room for memories in one question."""

    def __init__(self, memories: Memories, model: Model | None, *, chars: int = MOST_CHARS) -> None:
        self._memories = memories
        self._model = model
        self._chars = min(chars, _CONTEXT_CHARS)

    async def chat(self, query: str, given: str = "") -> AsyncGenerator[str, None]:
        """An answer piece by piece. `given` is text that the client wants considered, too.

        Never raises for a model that fails: it then ends with the passages and says why.
        """
        sources = await self._found(query, given)
        if not len(sources):
            yield NOTHING
            return
        if self._model is None:
            yield _extract(NO_MODEL, query, sources)
            return
        passing = CitationFilter(sources)
        why = NO_ANSWER
        try:
            async with aclosing(self._model.stream(_question("chat.v1", query, sources))) as text:
                async for piece in text:
                    for cited in passing.feed(piece):
                        yield _joined(cited, first=cited is passing.kept[0])
            for cited in passing.finish():
                yield _joined(cited, first=cited is passing.kept[0])
        except ModelFailed as error:
            why = f"{error} So this is what your memories say:"
        if passing.kept:
            yield f"\n\nSources:\n{_listed(passing.kept)}"
            if why is not NO_ANSWER:
                yield "\n\n"
        if not passing.kept or why is not NO_ANSWER:
            yield _extract(why, query, sources)

    async def insight(self, query: str, hits: Sequence[RecallHit]) -> Insight:
        """What the hits of a recall tell together."""
        return await self.insight_from(query, of_hits(hits, max_chars=self._chars))

    async def insight_from(self, query: str, sources: Sources, said: str | None = None) -> Insight:
        """The same of sources; `said` is what some model answered to `insight_question`."""
        if not len(sources):
            return Insight(None, None)
        why = NO_MODEL
        if said is None and self._model is not None:
            try:
                said = (await self._model.ask(insight_question(query, sources))).text
            except ModelFailed as error:
                why = f"{error} So this is what your memories say:"
        if said is not None:
            kept = checked(said, sources)
            if kept:
                text = "".join(_joined(c, first=n == 0) for n, c in enumerate(kept))
                return Insight(text, "model", _sources(kept))
            why = NO_ANSWER
        shown = tuple(quote.source for quote in quotes(query, sources))
        return Insight(_extract(why, query, sources), "extract", shown)

    async def _found(self, query: str, given: str) -> Sources:
        recalled = await self._memories.recall(
            RecallQuery(query=query[:_QUERY_CHARS], top_k=_HITS, max_chars=_CONTEXT_CHARS)
        )
        found = [*of_hits(recalled.hits, max_chars=self._chars)]
        if given.strip():
            text = given.strip()[: min(_GIVEN_CHARS, self._chars // 2)]
            found.append(Source(f"M{len(found) + 1}", _GIVEN, "Sent by the client", "", text))
        return Sources(found)


def insight_question(query: str, sources: Sources) -> Question:
    """What a model is asked for an insight."""
    return _question("insight.v1", query, sources)


def _question(prompt: str, query: str, sources: Sources) -> Question:
    blocks = [*sources.blocks, Block("question", query[:_QUERY_CHARS])]
    return Question(prompt, instructions(prompt), as_data(blocks))


def _joined(cited: Cited, *, first: bool) -> str:
    return cited.marked() if first else f"{cited.lead or ' '}{cited.marked()}"


def _sources(kept: Iterable[Cited]) -> tuple[Source, ...]:
    return tuple({source.id: source for cited in kept for source in cited.sources}.values())


def _listed(kept: Iterable[Cited]) -> str:
    return "\n".join(f"- {source.title} [{source.id}]" for source in _sources(kept))


def _extract(label: str, query: str, sources: Sources) -> str:
    found = quotes(query, sources)
    return "\n\n".join([label, *(quote.line() for quote in found)]) if found else NOTHING
