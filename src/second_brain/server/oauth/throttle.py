"""Slows down whoever guesses the token on the page, without ever shutting the owner out.

After a few wrong tokens each attempt waits before it is looked at, longer with each further one,
up to some seconds; the right token waits as long and is then accepted. Only so many attempts wait
at a time, which bounds the guesses a second; whoever comes beyond that is told to try again. What
comes through the public address waits in a lane of its own, so a stranger out there does not keep
the owner on this machine waiting. Calls with a token are not concerned at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

FREE_ATTEMPTS = 3
LONGEST_WAIT = 8.0
MOST_WAITING = 16

_FORGOTTEN_AFTER = 900.0
_MOST_LANES = 256

Lane = tuple[object, ...]


class TooManyAttempts(Exception):
    """So many attempts wait already; `retry_after` is in seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"try again in {retry_after} s")
        self.retry_after = retry_after


@dataclass(slots=True)
class _State:
    wrong: int = 0
    last: float = 0.0
    waiting: int = 0


def wait_after(wrong: int) -> float:
    """Return how many seconds an attempt waits after so many wrong ones."""
    beyond = wrong - FREE_ATTEMPTS
    return 0.0 if beyond < 0 else min(LONGEST_WAIT, 0.5 * 2.0 ** min(beyond, 10))


class Throttle:
    """`clock` gives seconds, `sleep` waits for some."""

    def __init__(
        self,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._lanes: dict[Lane, _State] = {}

    async def attempt(self, lane: Lane, is_right: Callable[[], Awaitable[bool]]) -> bool:
        """Wait as the lane demands, then return what `is_right` says.

        Raises:
            TooManyAttempts: the lane is full.
        """
        state = self._lane(lane)
        if self._clock() - state.last > _FORGOTTEN_AFTER:
            state.wrong = 0
        wait = wait_after(state.wrong)
        if wait:
            if state.waiting >= MOST_WAITING:
                raise TooManyAttempts(round(LONGEST_WAIT))
            state.waiting += 1
            try:
                await self._sleep(wait)
            finally:
                state.waiting -= 1
        if await is_right():
            state.wrong = 0
            return True
        state.wrong += 1
        state.last = self._clock()
        return False

    def _lane(self, lane: Lane) -> _State:
        if lane not in self._lanes and len(self._lanes) >= _MOST_LANES:
            now = self._clock()
            for name, state in list(self._lanes.items()):
                if not state.waiting and now - state.last > _FORGOTTEN_AFTER:
                    del self._lanes[name]
            if len(self._lanes) >= _MOST_LANES:
                lane = ("all others",)
        return self._lanes.setdefault(lane, _State())
