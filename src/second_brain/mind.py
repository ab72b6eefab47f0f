"""Puts together what is optional of one daemon: its language model, if any, and its nights.

A part of the composition root, apart from `daemon` because nothing else needs to know of it. What
is used only with a model, by night or when somebody asks is imported then: no start waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from second_brain.clock import clock_ms, local_now
from second_brain.config import Settings
from second_brain.index.catalog import Catalog
from second_brain.index.index import Index
from second_brain.index.state import State
from second_brain.intelligence.maintenance import Maintenance, Night, Step
from second_brain.intelligence.service import DIGEST, SELF, Intelligence
from second_brain.memory.service import MemoryService

if TYPE_CHECKING:
    from second_brain.intelligence.chat_protocol import ChatServer
    from second_brain.intelligence.desk import Desk
    from second_brain.intelligence.digests import Digests
    from second_brain.intelligence.patterns import Patterns
    from second_brain.intelligence.relating import Relating
    from second_brain.intelligence.worker import Worker


class Mind:
    """`tasks` go on for as long as the daemon runs; `close` lets go of the model."""

    def __init__(
        self,
        settings: Settings,
        memories: MemoryService,
        index: Index,
        catalog: Catalog,
        state: State,
        *,
        tidy: Callable[[], None],
        ready: Callable[[], bool],
        now: Callable[[], datetime] = local_now,
        clock_ms: Callable[[], int] = clock_ms,
    ) -> None:
        self._memories = memories
        self._index = index
        self._catalog = catalog
        self._state = state
        self._tidy = tidy
        self._now = now
        self._clock_ms = clock_ms
        self._context_tokens = settings.llm.context_tokens
        self._server: ChatServer | None = None
        self._desk = self._model(settings)
        self.intelligence = Intelligence(
            memories,
            model=self._desk,
            digests=self._digests,
            jobs=state.model_jobs,
            clock_ms=clock_ms,
            context_tokens=settings.llm.context_tokens,
        )
        self._worker = self._waiting_room(self._desk) if self._desk is not None else None
        self.maintenance = Maintenance(
            self._steps,
            state,
            hour=settings.maintenance.hour if settings.maintenance.enabled else None,
            now=now,
            ready=ready,
            report=self._report if settings.maintenance.report else None,
        )

    def tasks(self) -> list[asyncio.Task[object]]:
        """What goes on beside the answers, begun."""
        running: list[Coroutine[object, object, object]] = [
            self.maintenance.run(),
            self._memories.rereading.run(),
        ]
        if self._worker is not None:
            running.append(self._worker.run())
        return [asyncio.create_task(each, name="mind") for each in running]

    async def close(self) -> None:
        if self._server is not None:
            await self._server.close()

    def _model(self, settings: Settings) -> Desk | None:
        llm = settings.llm
        if not llm.url or not llm.model:
            return None
        from second_brain.intelligence.chat_protocol import ChatServer  # noqa: PLC0415
        from second_brain.intelligence.desk import Budget, Desk  # noqa: PLC0415

        self._server = ChatServer(llm.url, llm.model, key=llm.api_key, seconds=llm.timeout_seconds)
        return Desk(
            self._server,
            self._state.model_use,
            budget=Budget(llm.calls_per_day, llm.tokens_per_day),
            today=lambda: f"{self._now():%Y-%m-%d}",
        )

    def _waiting_room(self, desk: Desk) -> Worker:
        from second_brain.intelligence.comparing import COMPARE, Comparing, key  # noqa: PLC0415
        from second_brain.intelligence.steps import PATTERNS, RELATIONS  # noqa: PLC0415
        from second_brain.intelligence.worker import Worker  # noqa: PLC0415

        jobs = self._state.model_jobs
        self._memories.reviewing.ask_later = lambda newcomer, known: jobs.put(
            COMPARE, key(newcomer, known), self._clock_ms()
        )
        handlers = {
            DIGEST: self.intelligence.made_later,
            COMPARE: Comparing(self._memories, desk, self._state).compare,
            PATTERNS: self._patterns_again,
            RELATIONS: self._relations_again,
        }
        return Worker(jobs, handlers, clock_ms=self._clock_ms)

    def _digests(self) -> Digests:
        from second_brain.intelligence.digests import Digests  # noqa: PLC0415
        from second_brain.intelligence.sources import room  # noqa: PLC0415

        memories, chars = self._memories, room(self._context_tokens)
        return Digests(
            memories.digestible, memories.composing, self._desk, now=self._now, chars=chars
        )

    @cached_property
    def _patterns(self) -> Patterns:
        from second_brain.intelligence.patterns import Patterns  # noqa: PLC0415
        from second_brain.intelligence.sources import room  # noqa: PLC0415

        chars = room(self._context_tokens)
        return Patterns(self._memories, self._memories.composing, self._desk, chars=chars)

    @cached_property
    def _relating(self) -> Relating | None:
        from second_brain.intelligence.relating import Relating  # noqa: PLC0415

        memories, desk = self._memories, self._desk
        if desk is None:
            return None
        return Relating(memories, memories.link_pass.untyped, desk, self._state)

    async def _patterns_again(self, _: str) -> None:
        await self._patterns.find(SELF)

    async def _relations_again(self, _: str) -> None:
        if self._relating is not None:
            await self._relating.run(SELF)

    def _steps(self) -> Sequence[Step]:
        from second_brain.intelligence.steps import Steps  # noqa: PLC0415

        jobs = self._state.model_jobs
        return Steps(
            self._memories,
            self.intelligence,
            self._patterns,
            self._relating,
            optimize=Step("index", self._optimize),
            tidy=self._tidy,
            copies=self._catalog.copies,
            later=lambda kind, error: jobs.put(kind, "", self._clock_ms(), error),
        ).all()

    async def _optimize(self) -> str:
        await self._index.optimize()
        return "The index was tidied."

    async def _report(self, night: Night) -> None:
        from second_brain.intelligence.steps import write_report  # noqa: PLC0415

        await write_report(self._memories.composing, night)
