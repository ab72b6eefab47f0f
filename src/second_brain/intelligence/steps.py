"""What is done in the maintenance, step by step, each with a sentence on what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from second_brain.index.rows import NoteRow
from second_brain.intelligence.digests import Digest
from second_brain.intelligence.maintenance import Night, Step
from second_brain.intelligence.patterns import Patterns
from second_brain.intelligence.provider import ModelFailed
from second_brain.intelligence.relating import Relating
from second_brain.intelligence.service import SELF, Intelligence
from second_brain.memory.composing import Composing, Part
from second_brain.memory.service import MemoryService

_MOST_BATCHES = 20
_MOST_DIGESTS = 5
_MOST_COPIES = 50
_SHOWN = 5
PATTERNS, RELATIONS = "patterns", "relations"
"""The kinds of jobs that wait for a model, should it fail by night; there is one of each."""
_WITHOUT = "Not done: no language model is set up."


class Steps:
    """`tidy` is the daemon's own upkeep, blocking; `copies` finds memories that say the same;
    `later`, given a kind and an error, has what a model failed in wait for it, blocking."""

    def __init__(
        self,
        memories: MemoryService,
        intelligence: Intelligence,
        patterns: Patterns,
        relating: Relating | None,
        *,
        optimize: Step,
        tidy: Callable[[], None],
        copies: Callable[[int], list[list[NoteRow]]],
        later: Callable[[str, str], None],
    ) -> None:
        self._memories = memories
        self._intelligence = intelligence
        self._patterns = patterns
        self._relating = relating
        self._optimize = optimize
        self._tidy = tidy
        self._copies = copies
        self._later = later

    def all(self) -> Sequence[Step]:
        return (
            Step("classify", self._classify),
            Step("links", self._links),
            Step("relations", self._relations),
            Step("duplicates", self._duplicates),
            Step("contradictions", self._contradictions),
            Step("digests", self._digests),
            Step("patterns", self._find_patterns),
            self._optimize,
            Step("history", self._history),
        )

    async def _classify(self) -> str:
        processed, message = 0, None
        for _ in range(_MOST_BATCHES):
            batch = await self._intelligence.classify_pending()
            processed, message = processed + batch.processed, batch.message
            if not batch.remaining or not batch.processed:
                break
        return f"{processed} memories were looked at{f'; {message}' if message else '.'}"

    async def _links(self) -> str:
        linked = await self._memories.link_pass.run(SELF)
        return f"{linked.added} links between related memories came, {linked.pruned} went."

    async def _relations(self) -> str:
        if self._relating is None:
            return _WITHOUT
        try:
            return f"{await self._relating.run(SELF)} links got a type."
        except ModelFailed as error:
            return await self._again(RELATIONS, error)

    async def _duplicates(self) -> str:
        found = await asyncio.to_thread(self._copies, _MOST_COPIES)
        if not found:
            return "No two memories say the same in the same words."
        shown = "; ".join(" = ".join(f"“{row.path}”" for row in rows) for rows in found[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        return f"The same in the same words: {shown}{more}. Nothing was changed."

    async def _contradictions(self) -> str:
        swept = await self._memories.rereading.sweep()
        left = f"; {swept.left} are left for the next nights" if swept.left else ""
        waiting, _ = await self._memories.reviews(0)
        return (
            f"{swept.compared} new or changed memories were compared{left}. "
            f"{waiting} pairs wait for review."
        )

    async def _digests(self) -> str:
        if not self._intelligence.has_model:
            return _WITHOUT
        made: list[Digest] = []
        for tag, _ in (await self._memories.stats()).digest_candidates[:_MOST_DIGESTS]:
            digest = await self._intelligence.digest(tag, SELF)
            if digest.waits:
                return f"{len(made)} made; {digest.error}"
            if digest.entry_id is not None:
                made.append(digest)
        return f"{len(made)} made{': ' + ', '.join(d.tag for d in made) if made else ''}."

    async def _find_patterns(self) -> str:
        if not self._intelligence.has_model:
            return _WITHOUT
        try:
            found = await self._patterns.find(SELF)
        except ModelFailed as error:
            return await self._again(PATTERNS, error)
        return f"{len(found)} found; they wait for your confirmation." if found else "None found."

    async def _again(self, kind: str, error: ModelFailed) -> str:
        await asyncio.to_thread(self._later, kind, str(error))
        return f"Not finished, and tried again when the model answers: {error}"

    async def _history(self) -> str:
        await asyncio.to_thread(self._tidy)
        return "What is too old was dropped."


async def write_report(composing: Composing, night: Night) -> None:
    """A note on one night for the user's eyes."""
    parts = [Part(f"- **{name}**: {said}") for name, said in night.done.items()]
    title = f"Maintenance {night.day}"
    await composing.compose(title, parts, tags=[], caller=SELF, memory=False)
