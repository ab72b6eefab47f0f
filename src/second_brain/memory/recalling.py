"""The use case recall: a question becomes the memories that answer it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import cast

from second_brain.index.analyze import Query, parse_query, terms
from second_brain.index.embedding.protocol import Vectors
from second_brain.index.episodes import Around
from second_brain.index.index import Index
from second_brain.index.passages import Hit, SearchFilter
from second_brain.index.state import State
from second_brain.memory import rank, time_phrases
from second_brain.memory.counting import RecallCounter
from second_brain.memory.describe import USER_SOURCE
from second_brain.memory.excerpt import excerpt, shares
from second_brain.memory.languages import Bridge, bridge
from second_brain.memory.lending import lend, lenders
from second_brain.memory.limits import Limits
from second_brain.memory.model import RecallAnswer, RecallHit, RecallQuery, Status
from second_brain.memory.question import checked, is_about_something
from second_brain.memory.renewal import renew
from second_brain.memory.shelf import Shelf
from second_brain.memory.stages import ALL_STAGES, Stages
from second_brain.sync.engine import Engine

CANDIDATES = 100
"""Passages that each of the two searches contributes; measured close to looking at all."""

_DIVERSE = 20


@dataclass(frozen=True, slots=True)
class _Found:
    """What the two searches gave, by passage. `covered` is the share of the question's words that
    the best keyword match holds."""

    dense: dict[str, float] | None
    keyword: dict[str, float]
    hits: dict[str, Hit]
    vector: Vectors | None
    asked: str
    parsed: Query
    covered: float

    def joined(self, other: _Found) -> _Found:
        """This and another search by the same words that leaves nothing out of this one's."""
        dense = None
        if self.dense is not None and other.dense is not None:
            dense = {**self.dense, **other.dense}
        return _Found(
            dense=dense,
            keyword={**self.keyword, **other.keyword},
            hits={**self.hits, **other.hits},
            vector=self.vector,
            asked=self.asked,
            parsed=self.parsed,
            covered=other.covered,
        )


class Recalling:
    """Searches and ranks. `now` is local time with its zone; `clock_ms` Unix milliseconds.

    `is_read`: whether the vault has been read whole since the start.
    """

    def __init__(
        self,
        engine: Engine,
        index: Index,
        state: State,
        shelf: Shelf,
        *,
        now: Callable[[], datetime],
        clock_ms: Callable[[], int],
        stages: Stages = ALL_STAGES,
        is_read: Callable[[], bool] = lambda: True,
    ) -> None:
        self._engine = engine
        self._index = index
        self._state = state
        self._shelf = shelf
        self._now = now
        self._clock_ms = clock_ms
        self._stages = stages
        self._is_read = is_read
        self._counter = RecallCounter(state, clock_ms)

    async def recall(self, query: RecallQuery) -> RecallAnswer:
        """The memories that answer, best first. Raises InvalidInput, IndexUnavailable."""
        asked = checked(query)
        phrase = time_phrases.TimePhrase(None, None, asked, None)
        if self._stages.times:
            phrase = time_phrases.parse(asked, self._now())
        limits = Limits.of(query, phrase)
        words = phrase.rest.strip() or asked
        message = None
        preferred = phrase if phrase.named and is_about_something(words) else None
        if preferred is not None:
            # It may be what the memory speaks of: those of that time are preferred, no more.
            words = asked
            inside = await self._search(asked, limits.filter())
            limits = limits.without_phrase()
            found = inside.joined(await self._search(asked, limits.filter()))
        else:
            found = await self._search(words, limits.filter())
        if not found.hits and limits.phrase:
            limits = limits.without_phrase()
            found = await self._search(asked, limits.filter())
            if found.hits:
                message = f"Nothing was found for “{phrase.phrase}”; these are from other times."
        ranked, hops = await self._ranked(query, limits, found, preferred)
        hits = await asyncio.to_thread(self._filled, query, limits, ranked, hops, found)
        if self._stages.counting:
            self._counter.count(hit.memory.id for hit in hits if hit.hop == 0)
        if not hits:
            message = self._nothing(query)
        return RecallAnswer(
            hits=tuple(hits),
            query_used=words,
            semantic_unavailable=found.dense is None,
            message=message,
            notice=self._index.encoder.notice if found.dense is None else None,
        )

    async def finished(self) -> None:
        """Wait until the counters of past recalls are stored."""
        await self._counter.finished()

    # Searching

    async def _search(self, words: str, filter: SearchFilter) -> _Found:
        parsed = parse_query(words)
        if not self._engine.catalog.any_deprecated():
            # A predicate doubles what a vector search costs in a table of several fragments.
            filter = replace(filter, exclude_deprecated=False)
        searched = parsed if self._stages.words else Query(())
        # The model is asked first: it works in a thread of its own.
        asking = asyncio.ensure_future(self._query_vector(words))
        by_text = asyncio.ensure_future(self._index.text_search(searched, filter, CANDIDATES))
        try:
            keyword = await by_text
            covered = _covered(parsed, keyword)
            self._read_ahead(keyword)
            vector = await asking
            dense: list[Hit] | None = None
            if vector is not None:
                try:
                    dense = await self._index.vector_search(vector, filter, CANDIDATES)
                except ValueError:  # the table in force changed to another model's meanwhile
                    dense = None
        finally:
            asking.cancel()
            by_text.cancel()
        return _Found(
            dense={hit.id: hit.score for hit in dense} if dense is not None else None,
            keyword={hit.id: hit.score for hit in keyword},
            hits={hit.id: hit for hit in [*keyword, *(dense or [])]},
            vector=vector,
            asked=words,
            parsed=parsed,
            covered=covered,
        )

    async def _query_vector(self, words: str) -> Vectors | None:
        return await self._index.query_vector(words) if self._stages.meaning else None

    def _read_ahead(self, keyword: Iterable[Hit]) -> None:
        """Have at hand what the ranking will ask the stores for, while the model works."""
        ids = list(dict.fromkeys(hit.note_id for hit in keyword))
        self._engine.catalog.standings(ids)
        self._engine.catalog.edges.superseded(ids)
        self._state.counters(ids)

    # Ranking

    async def _ranked(
        self,
        query: RecallQuery,
        limits: Limits,
        found: _Found,
        preferred: time_phrases.TimePhrase | None,
    ) -> tuple[list[rank.Scored], list[rank.Reached]]:
        covered = found.covered
        fused = rank.fuse(found.dense, found.keyword, bridge=self._bridge(found))
        scored = rank.collapse(fused, lambda chunk_id: found.hits[chunk_id].note_id)
        if self._stages.episodes and covered:
            scored = lend(scored, self._beside(lenders(scored)), covered)
        wanted = max(query.top_k, 1)
        bonus = 0.0 if preferred is None else rank.TIME_BONUS
        scored = rank.contenders(scored, _DIVERSE + wanted, bonus=bonus)
        scored = self._allowed(scored, limits)
        # A thread would cost more than the three queries do.
        signals = self._signals([s.note_id for s in scored], limits)
        known = [entry for entry in scored if entry.note_id in signals]
        if preferred is not None:
            span = preferred.after_ms, preferred.before_ms
            known = rank.prefer_time(known, signals, *span)
        adjusted = rank.adjust(known, signals, self._clock_ms()) if self._stages.age else known
        pool = adjusted[: max(_DIVERSE, wanted)]
        vectors = {
            e.note_id: hit.vector
            for e in pool
            if (hit := found.hits.get(e.best_chunk)) is not None and hit.vector is not None
        }
        scale = self._index.encoder.similarity
        if self._stages.renewal and scale is not None:
            pool = renew(pool, vectors, signals, scale.similar)
        chosen = pool[:wanted]
        if self._stages.diversity and _has_ties(pool[: wanted + 1]):
            alike = scale.related if scale is not None else 0.0
            chosen = rank.diversify(pool, vectors, wanted, alike=alike)
        hops: list[rank.Reached] = []
        if query.hops > 0 and chosen:
            direct = {entry.note_id: entry.score for entry in chosen}
            hops = await asyncio.to_thread(rank.expand, direct, self._neighbours, query.hops)
        return chosen, hops

    def _bridge(self, found: _Found) -> Bridge | None:
        if not self._stages.languages or not found.dense or not found.keyword:
            return None
        texts = {id: found.hits[id].text for id in found.dense}
        return bridge(found.asked, texts, found.dense, found.covered)

    def _beside(self, scored: Sequence[rank.Scored]) -> dict[str, Around]:
        """The neighbours in their episode of those that a client stored.

        Where a user's own notes came from tells nothing: a checkout gives them all one time.
        """
        ids = [entry.note_id for entry in scored]
        return self._engine.catalog.episodes.around(ids, apart=USER_SOURCE)

    def _allowed(self, scored: list[rank.Scored], limits: Limits) -> list[rank.Scored]:
        """Without those that only an episode brings along although a filter keeps them out."""
        brought = [entry.note_id for entry in scored if not entry.best_chunk]
        if not brought:
            return scored
        rows = self._engine.catalog.by_ids(brought)
        kept = {id for id, row in rows.items() if limits.allow(row)}
        return [entry for entry in scored if entry.best_chunk or entry.note_id in kept]

    def _signals(self, ids: Iterable[str], limits: Limits) -> dict[str, rank.Signals]:
        wanted = list(ids)
        standings = self._engine.catalog.standings(wanted)
        counters = self._state.counters(wanted)
        superseded = self._engine.catalog.edges.superseded(wanted)
        return {
            id: rank.Signals(
                created_at=standing.created,
                tags=standing.tags,
                status=cast("Status | None", standing.memory_status),
                importance=standing.importance,
                recalls=counters[id].recall_count if id in counters else 0,
                superseded=id in superseded,
            )
            for id, standing in standings.items()
            if limits.shows(standing.memory_status)
        }

    def _neighbours(self, id: str) -> list[rank.Neighbour]:
        found = []
        for edge in self._engine.catalog.edges.around(id):
            other = edge.target_id if edge.source_id == id else edge.source_id
            if other is not None and other != id:
                found.append(rank.Neighbour(other, edge.weight))
        return found

    # Results

    def _filled(
        self,
        query: RecallQuery,
        limits: Limits,
        ranked: Sequence[rank.Scored],
        hops: Sequence[rank.Reached],
        found: _Found,
    ) -> list[RecallHit]:
        rows = self._engine.catalog.by_ids(
            [*(r.note_id for r in ranked), *(h.note_id for h in hops)]
        )
        ranked = [entry for entry in ranked if entry.note_id in rows]
        hops = [hop for hop in hops if (row := rows.get(hop.note_id)) and limits.allow(row)]
        hops = hops[: query.top_k]
        scores = rank.percent(
            [*(entry.score for entry in ranked), *(reached.score for reached in hops)],
            self._evidence(ranked, found),
        )
        results: list[RecallHit] = []
        for entry, score in zip(ranked, scores, strict=False):
            row, hit = rows[entry.note_id], found.hits.get(entry.best_chunk)
            text = self._shelf.text(row, instead=hit.text if hit else "")
            results.append(
                RecallHit(
                    memory=self._shelf.filled(row, text),
                    score=score,
                    passage=hit.text if hit else excerpt(text, "", 400),
                    heading=hit.heading if hit else "",
                    content=text,
                    explain=dict(entry.parts) if query.explain else None,
                )
            )
        for reached, score in zip(hops, scores[len(ranked) :], strict=True):
            row = rows[reached.note_id]
            text = self._shelf.text(row)
            results.append(
                RecallHit(
                    memory=self._shelf.filled(row, text),
                    score=score,
                    passage=excerpt(text, "", 400),
                    heading="",
                    content=text,
                    hop=reached.hop,
                    explain={"via": reached.via, "hop": reached.hop} if query.explain else None,
                )
            )
        return _within(results, query.max_chars)

    def _evidence(self, ranked: Sequence[rank.Scored], found: _Found) -> float:
        """How good the best match is in itself: by its cosine and by the words it holds."""
        best = next((entry.best_chunk for entry in ranked if entry.best_chunk), None)
        if best is None:
            return 0.0
        scale = self._index.encoder.similarity
        near = None
        if found.dense is not None and scale is not None and best in found.dense:
            near = scale.score(found.dense[best])
        covered = None
        if found.parsed.terms:
            hit = found.hits[best]
            held = _terms_held(hit.title, hit.heading, hit.text)
            covered = rank.coverage(found.parsed.terms, held)
        return rank.evidence(near, covered)

    def _nothing(self, query: RecallQuery) -> str:
        said = "There are no memories yet."
        if self._engine.catalog.counts().memories:
            filtered = query.tag or query.after or query.before or query.kind or query.status
            said = "No memory matches" + (" these filters." if filtered else ".")
        if not self._is_read():
            said += " The vault is still being read; try again in a moment."
        return said


@lru_cache(maxsize=64)  # the best match in words is often the best of all
def _terms_held(title: str, heading: str, text: str) -> frozenset[str]:
    return frozenset(terms(f"{title}\n{heading}\n{text}").split())


def _covered(asked: Query, keyword: Iterable[Hit]) -> float:
    """The share of the question's words that the best keyword match holds."""
    best = max(keyword, key=lambda hit: (hit.score, hit.id), default=None)
    if best is None or not asked.words:
        return 0.0
    held = _terms_held(best.title, best.heading, best.text)
    return sum(not held.isdisjoint(word) for word in asked.words) / len(asked.words)


def _has_ties(ranked: Sequence[rank.Scored]) -> bool:
    return any(a.score - b.score < rank.TIE for a, b in pairwise(ranked))


def _within(hits: list[RecallHit], budget: int) -> list[RecallHit]:
    """The hits with their texts cut so that all together keep to the budget."""
    given = shares([len(hit.content) for hit in hits], budget)
    return [
        replace(
            hit,
            content=excerpt(hit.content, hit.passage, share),
            passage=excerpt(hit.passage, "", share),
        )
        for hit, share in zip(hits, given, strict=True)
    ]
