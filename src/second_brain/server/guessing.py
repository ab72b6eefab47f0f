"""Slows down whoever tries wrong bearer tokens. A right one is never kept waiting.

After some wrong ones within a minute, each further refusal is given later, up to some seconds; so
many wait at a time, and more are refused at once. Each address has a count of its own, and there
is a bound on how many are kept. An application with an expired token notices nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from second_brain.server.responses import RequestRefused

FREE = 10
LONGEST_WAIT = 8.0
MOST_WAITING = 8

_FORGOTTEN_AFTER = 60.0
_MOST_ADDRESSES = 1_000

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Count:
    wrong: int = 0
    last: float = 0.0
    waiting: int = 0


def wait_after(wrong: int) -> float:
    """Return how many seconds the refusal of the wrong token of this number waits."""
    beyond = wrong - FREE - 1
    return 0.0 if beyond < 0 else min(LONGEST_WAIT, 0.25 * 2.0 ** min(beyond, 10))


class Guesses:
    """`clock` gives seconds, `sleep` waits for some."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._counts: OrderedDict[str, _Count] = OrderedDict()

    async def wrong(self, address: str) -> None:
        """Note a wrong token; returns when it may be refused.

        Raises:
            RequestRefused: 429, as so many refusals wait for this address already.
        """
        count, now = self._count(address), self._clock()
        if now - count.last > _FORGOTTEN_AFTER:
            count.wrong = 0
        count.wrong, count.last = count.wrong + 1, now
        wait = wait_after(count.wrong)
        if not wait:
            return
        if count.wrong == FREE + 1:
            log.warning("Many wrong tokens from %s; further ones are answered slowly.", address)
        if count.waiting >= MOST_WAITING:
            raise RequestRefused(429, "Too many wrong tokens", again=int(LONGEST_WAIT))
        count.waiting += 1
        try:
            await self._sleep(wait)
        finally:
            count.waiting -= 1

    def _count(self, address: str) -> _Count:
        count = self._counts.pop(address, None) or _Count()
        self._counts[address] = count
        if len(self._counts) > _MOST_ADDRESSES:
            self._counts.popitem(last=False)
        return count
