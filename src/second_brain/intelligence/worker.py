"""Works off what waits for a model, one thing at a time, for as long as the daemon runs.

What fails waits longer each time and is never dropped: the queue lies in state.db, and what is done
is looked up anew when its turn comes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from second_brain.errors import NoteNotFound, SecondBrainError
from second_brain.index.model_use import Job, ModelJobs
from second_brain.intelligence.provider import ModelPaused

log = logging.getLogger(__name__)

_POLL_SECONDS = 5.0
_PAUSED_MS = 60_000
_FIRST_MS = 60_000
_LONGEST_MS = 6 * 3_600_000

Handler = Callable[[str], Awaitable[None]]


def next_try(tries: int) -> int:
    """Milliseconds until something that failed `tries` times is tried again."""
    return min(_FIRST_MS << min(tries, 12), _LONGEST_MS)


class Worker:
    """`handlers` do what waits, by kind and for one key; each may raise errors of ours."""

    def __init__(
        self,
        jobs: ModelJobs,
        handlers: Mapping[str, Handler],
        *,
        clock_ms: Callable[[], int],
        poll: float = _POLL_SECONDS,
    ) -> None:
        self._jobs = jobs
        self._handlers = handlers
        self._clock_ms = clock_ms
        self._poll = poll

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                more = await self.step()
            except SecondBrainError as error:
                log.warning("What waits for the language model cannot be read: %s", error)
                more = False
            if not more:
                await asyncio.sleep(self._poll)

    async def step(self) -> bool:
        """Try one thing that is due; whether there was any."""
        job = await asyncio.to_thread(self._jobs.due, self._clock_ms())
        handler = self._handlers.get(job.kind) if job is not None else None
        if job is None or handler is None:
            return False
        try:
            await handler(job.key)
        except NoteNotFound:
            pass  # What it was about is gone, and with it the wish.
        except SecondBrainError as error:
            await self._later(job, error)
            return True
        await asyncio.to_thread(self._jobs.done, job.kind, job.key)
        return True

    async def _later(self, job: Job, error: SecondBrainError) -> None:
        paused = isinstance(error, ModelPaused)
        wait = _PAUSED_MS if paused else next_try(job.tries)
        log.info("%s of %s is tried again in %d s: %s", job.kind, job.key, wait // 1000, error)
        await asyncio.to_thread(
            self._jobs.failed, job, str(error), self._clock_ms() + wait, counts=not paused
        )
