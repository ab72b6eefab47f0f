"""Counts which memories were recalled: beside the answers, those of a moment in one write."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable

from second_brain.errors import SecondBrainError
from second_brain.index.state import State

log = logging.getLogger(__name__)

_MOMENT_SECONDS = 0.3
"""A write holds up whoever reads the counters meanwhile, and what is kept of them is read anew."""


class RecallCounter:
    """Belongs to one event loop. `clock_ms` gives Unix milliseconds."""

    def __init__(self, state: State, clock_ms: Callable[[], int]) -> None:
        self._state = state
        self._clock_ms = clock_ms
        self._recalled: list[tuple[str, int]] = []
        self._writing: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    def count(self, ids: Iterable[str]) -> None:
        """These memories were returned just now; the counters say so in a moment."""
        at = self._clock_ms()
        self._recalled += ((id, at) for id in ids)
        if self._recalled and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._write())

    async def finished(self) -> None:
        """Wait until all that was counted is stored."""
        while self._writing is not None and not self._writing.done():
            self._hurry.set()
            await asyncio.wait([self._writing])

    async def _write(self) -> None:
        while self._recalled:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), _MOMENT_SECONDS)
            self._hurry.clear()
            recalled, self._recalled = self._recalled, []
            try:
                await asyncio.to_thread(self._state.count_recalls, recalled)
            except SecondBrainError as error:
                log.warning("%d recalls were not counted: %s", len(recalled), error)
