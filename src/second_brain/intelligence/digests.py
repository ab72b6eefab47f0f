"""Digests: the old memories of a tag, condensed into a note that links to all of them.

The marks that the sources are rolled up lie in the digest's own note; undoing its one write takes
them back. What a model says without support in the sources does not get in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from second_brain.intelligence.citations import Cited, checked
from second_brain.intelligence.extract import first_sentence
from second_brain.intelligence.prompts import as_data, instructions
from second_brain.intelligence.provider import Model, ModelFailed, Question
from second_brain.intelligence.sources import MOST_CHARS, of_memories
from second_brain.memory.composing import Composing, Part
from second_brain.memory.digestible import DIGEST_LEAST, DIGEST_TAG, ROLLED_UP_KEY
from second_brain.memory.model import Caller, Memory

NO_MODEL = (
    "No language model is set up, so no digest was made; `extract` shows what it would cover."
)
_MOST_SOURCES = 40
_LEAST_EACH = 400
_MOST_TOKENS = 2_000
_SHOWN = 12


class Covered(Protocol):
    """Where the memories that a digest may cover are found."""

    async def of(self, tag: str) -> list[Memory]: ...

    async def newest_digest(self, tag: str) -> Memory | None: ...


@dataclass(frozen=True, slots=True)
class Digest:
    """`entry_id` is None where none was made; then `error` says why, and `extract` shows, word for
    word, what it would have covered. `waits`: it is worth trying again later."""

    tag: str
    source_count: int
    synthesis: str | None = None
    entry_id: str | None = None
    error: str | None = None
    extract: str | None = None
    waits: bool = False


class Digests:
    """`now` is local time. At most one digest of a tag is made a day."""

    def __init__(
        self,
        covered: Covered,
        composing: Composing,
        model: Model | None,
        *,
        now: Callable[[], datetime],
        chars: int = MOST_CHARS,
    ) -> None:
        self._covered = covered
        self._composing = composing
        self._model = model
        self._now = now
        self._chars = chars
        self._lock = asyncio.Lock()

    async def make(self, tag: str, caller: Caller) -> Digest:
        """Make the digest of a tag, or say why not. Raises what writing a note raises."""
        try:
            return await self.attempt(tag, caller)
        except ModelFailed as error:
            memories = await self._covered.of(tag)
            return Digest(
                tag,
                len(memories),
                error=f"{error} The digest waits, and is made as soon as the model answers.",
                extract=_extract(memories),
                waits=True,
            )

    async def attempt(self, tag: str, caller: Caller) -> Digest:
        """As `make`, but raises ModelFailed. Two at once do not make two digests of one tag."""
        async with self._lock:
            return await self._attempt(tag, caller)

    async def _attempt(self, tag: str, caller: Caller) -> Digest:
        memories = await self._covered.of(tag)
        count = len(memories)
        if count < DIGEST_LEAST:
            return Digest(
                tag, count,
                error=f"A digest needs at least {DIGEST_LEAST} old memories that are seldom"
                f" recalled; “{tag}” has {count}.",
            )  # fmt: skip
        last = await self._covered.newest_digest(tag)
        if last is not None and last.created_at >= _midnight(self._now()):
            return Digest(
                tag, count,
                error=f"Today's digest of “{tag}” is made already ({last.id}); the next one"
                " can be made tomorrow.",
            )  # fmt: skip
        memories = memories[: max(DIGEST_LEAST, min(_MOST_SOURCES, self._chars // _LEAST_EACH))]
        extract = _extract(memories)
        if self._model is None:
            return Digest(tag, count, error=NO_MODEL, extract=extract)
        sources = of_memories(memories, max_chars=self._chars)
        question = Question(
            "digest.v1",
            instructions("digest.v1"),
            as_data(sources.blocks),
            max_tokens=_MOST_TOKENS,
        )
        answer = await self._model.ask(question)
        kept = checked(answer.text, sources)
        if not kept:
            error = "The language model said nothing that these memories support."
            return Digest(tag, count, error=error, extract=extract)
        return await self._written(tag, memories, kept, caller)

    async def _written(
        self, tag: str, memories: Sequence[Memory], kept: Sequence[Cited], caller: Caller
    ) -> Digest:
        title = f"Digest of {tag}, {self._now():%Y-%m-%d}"
        parts = [Part(f"- {c.text.lstrip('-*• ')}", _ids(c)) for c in kept]
        id, _ = await self._composing.compose(
            title,
            parts,
            tags=[tag, DIGEST_TAG],
            caller=caller,
            marks={ROLLED_UP_KEY: [memory.id for memory in memories]},
        )
        synthesis = "\n".join(cited.marked() for cited in kept)
        return Digest(tag, len(memories), synthesis=synthesis, entry_id=id)


def _midnight(now: datetime) -> int:
    """When the day of `now` began, in Unix milliseconds."""
    return int(now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)


def _ids(cited: Cited) -> tuple[str, ...]:
    return tuple(source.id for source in cited.sources)


def _extract(memories: Sequence[Memory]) -> str:
    lines = [f"> {first_sentence(m.content) or m.title} [{m.id}]" for m in memories[:_SHOWN]]
    more = len(memories) - _SHOWN
    return "\n".join([*lines, f"… and {more} more"] if more > 0 else lines)
