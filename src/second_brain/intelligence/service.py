"""Everything that a language model may do here; all of it answers without one, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from second_brain.index.model_use import ModelJobs
from second_brain.intelligence.classify import Batch, classify_pending
from second_brain.intelligence.provider import Model, Question
from second_brain.memory.api import Memories
from second_brain.memory.model import Caller, Problem, RecallHit

if TYPE_CHECKING:
    from second_brain.intelligence.answering import Answering, Insight
    from second_brain.intelligence.digests import Digest, Digests

DIGEST = "digest"
"""The kind of job that waits for a model."""
SELF = Caller("second-brain", "maintenance")


class ModelAtDesk(Model, Protocol):
    """A model that says how it stands."""

    def status(self) -> dict[str, object]: ...


class Intelligence:
    """`model` is None where none is set up; `digests` and `jobs` where no notes can be made.

    What answers is imported when it is first asked: a start does not wait for it.
    """

    def __init__(
        self,
        memories: Memories,
        *,
        model: ModelAtDesk | None = None,
        digests: Callable[[], Digests] | None = None,
        jobs: ModelJobs | None = None,
        clock_ms: Callable[[], int] = lambda: 0,
        context_tokens: int = 8192,
    ) -> None:
        self._memories = memories
        self._model = model
        self._make_digests = digests
        self._jobs = jobs
        self._clock_ms = clock_ms
        self._context_tokens = context_tokens

    @property
    def has_model(self) -> bool:
        return self._model is not None

    @cached_property
    def _answering(self) -> Answering:
        from second_brain.intelligence.answering import Answering  # noqa: PLC0415 - see above
        from second_brain.intelligence.sources import room  # noqa: PLC0415

        return Answering(self._memories, self._model, chars=room(self._context_tokens))

    @cached_property
    def _digests(self) -> Digests | None:
        return self._make_digests() if self._make_digests is not None else None

    def chat(self, query: str, given: str = "") -> AsyncGenerator[str, None]:
        return self._answering.chat(query, given)

    async def insight(self, query: str, hits: Sequence[RecallHit]) -> Insight:
        return await self._answering.insight(query, hits)

    def insight_question(self, query: str, shown: Sequence[Mapping[str, Any]]) -> Question:
        """What another model is asked for an insight into memories as tools show them."""
        from second_brain.intelligence.answering import insight_question  # noqa: PLC0415
        from second_brain.intelligence.sources import of_shown  # noqa: PLC0415

        return insight_question(query, of_shown(shown))

    async def insight_of(
        self, query: str, shown: Sequence[Mapping[str, Any]], said: str | None
    ) -> Insight:
        """The insight into such memories; `said` is what that model answered, if one did."""
        from second_brain.intelligence.sources import of_shown  # noqa: PLC0415

        return await self._answering.insight_from(query, of_shown(shown), said)

    async def classify_pending(self) -> Batch:
        return await classify_pending(self._memories, self._model)

    async def digest(self, tag: str, caller: Caller) -> Digest:
        """Make the digest of a tag. Where the model fails, it waits and is made later."""
        if self._digests is None:
            from second_brain.intelligence.digests import NO_MODEL, Digest  # noqa: PLC0415

            candidates = dict((await self._memories.stats()).digest_candidates)
            return Digest(tag, candidates.get(tag, 0), error=NO_MODEL)
        digest = await self._digests.make(tag, caller)
        if digest.waits and self._jobs is not None:
            await asyncio.to_thread(self._jobs.put, DIGEST, tag, self._clock_ms(), digest.error)
        return digest

    async def made_later(self, tag: str) -> None:
        """Make a digest that waited; ModelFailed says that it goes on waiting."""
        assert self._digests is not None
        await self._digests.attempt(tag, SELF)

    async def status(self) -> dict[str, object]:
        """How the model stands, and what waits for it."""
        waiting = await asyncio.to_thread(self._jobs.waiting) if self._jobs is not None else {}
        if self._model is None:
            return {"ok": True, "configured": False, "waiting": waiting}
        found = await asyncio.to_thread(self._model.status)
        well = found["breaker"] == "closed" and not spent(found)
        return {"ok": well, "configured": True, **found, "waiting": waiting}


def spent(status: Mapping[str, object]) -> bool:
    """Whether the budget of the day is used up."""
    return any(
        status[most] and int(str(status[used])) >= int(str(status[most]))
        for used, most in (("calls_today", "calls_a_day"), ("tokens_today", "tokens_a_day"))
    )


def problems(status: Mapping[str, object]) -> list[Problem]:
    """What the user should know of the model's state."""
    if not status["configured"] or status["ok"]:
        return []
    waiting = status["waiting"]
    waits = isinstance(waiting, dict) and sum(waiting.values())
    rest = f" Waiting for it: {waits}." if waits else ""
    if spent(status):
        return [
            Problem(
                "llm-budget", None, f"Today's budget of the language model is used up.{rest}",
                "It goes on tomorrow; llm.calls_per_day and llm.tokens_per_day set the budget.",
            )
        ]  # fmt: skip
    return [
        Problem(
            "llm-unreachable", None,
            f"The language model {status['model']} fails: {status['error']}{rest}",
            "Everything else works. It is tried again by itself; check the server and llm.*.",
        )
    ]  # fmt: skip
