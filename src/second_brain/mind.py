"""Puts together what is optional of one daemon: its language model, if any, and its nights.

A part of the composition root, apart from `daemon` because nothing else needs to know of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime

from second_brain.clock import clock_ms, local_now
from second_brain.config import Settings
from second_brain.index.catalog import Catalog
from second_brain.index.index import Index
from second_brain.index.state import State
from second_brain.intelligence.chat_protocol import ChatServer
from second_brain.intelligence.comparing import COMPARE, Comparing, key
from second_brain.intelligence.desk import Budget, Desk
from second_brain.intelligence.digests import Digests
from second_brain.intelligence.maintenance import Maintenance, Night, Step
from second_brain.intelligence.patterns import Patterns
from second_brain.intelligence.service import DIGEST, Intelligence
from second_brain.intelligence.steps import Steps, write_report
from second_brain.intelligence.worker import Worker
from second_brain.memory.service import MemoryService


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
        llm = settings.llm
        self._server = (
            ChatServer(llm.url, llm.model, key=llm.api_key, seconds=llm.timeout_seconds)
            if llm.url and llm.model
            else None
        )
        desk = (
            Desk(
                self._server,
                state.model_use,
                budget=Budget(llm.calls_per_day, llm.tokens_per_day),
                today=lambda: f"{now():%Y-%m-%d}",
            )
            if self._server is not None
            else None
        )
        self.intelligence = Intelligence(
            memories,
            model=desk,
            digests=Digests(memories.digestible, memories.composing, desk, now=now),
            jobs=state.model_jobs,
            clock_ms=clock_ms,
        )
        self._worker: Worker | None = None
        if desk is not None:
            comparing = Comparing(memories, desk)
            handlers = {DIGEST: self.intelligence.made_later, COMPARE: comparing.compare}
            self._worker = Worker(state.model_jobs, handlers, clock_ms=clock_ms)
            memories.reviewing.ask_later = lambda newcomer, known: state.model_jobs.put(
                COMPARE, key(newcomer, known), clock_ms()
            )

        async def optimize() -> str:
            await index.optimize()
            return "The index was tidied."

        async def report(night: Night) -> None:
            await write_report(memories.composing, night)

        steps = Steps(
            memories,
            self.intelligence,
            Patterns(memories, memories.composing, desk),
            optimize=Step("index", optimize),
            tidy=tidy,
            copies=catalog.copies,
        )
        self.maintenance = Maintenance(
            steps.all(),
            state,
            hour=settings.maintenance.hour if settings.maintenance.enabled else None,
            now=now,
            ready=ready,
            report=report if settings.maintenance.report else None,
        )

    def tasks(self) -> list[asyncio.Task[object]]:
        """What goes on beside the answers, begun."""
        running: list[Coroutine[object, object, object]] = [self.maintenance.run()]
        if self._worker is not None:
            running.append(self._worker.run())
        return [asyncio.create_task(each, name="mind") for each in running]

    async def close(self) -> None:
        if self._server is not None:
            await self._server.close()
