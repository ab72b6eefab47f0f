"""The changes of notes as they happen, for whoever listens.

A listener has a queue of its own with an end: one that does not keep up loses its subscription and
nothing else waits for it. Each change has a mark, and who comes back with the last one that was
seen is given what was missed, as far as it is kept.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from second_brain.sync.changes import Change

_KEPT = 2_000
_WAITING = 1_000


@dataclass(frozen=True, slots=True)
class Marked:
    """A change and its mark. `change` None: some were missed that are not kept any more."""

    mark: str
    change: Change | None


class Ended(Exception):
    """There is nothing more to come: the feed was closed, or the listener was too slow."""


class Subscription:
    """What one listener has not seen yet. Belongs to the event loop's thread."""

    def __init__(self, missed: list[Marked], waiting: int, *, outside: bool) -> None:
        self.outside = outside
        self._queue = deque(missed)
        self._most = waiting + len(missed)
        self._ended = False
        self._news = asyncio.Event()

    async def next(self, within: float) -> Marked | None:
        """The next change, or None if there is none `within` these seconds. Raises Ended."""
        while not self._queue:
            if self._ended:
                raise Ended
            self._news.clear()
            try:
                async with asyncio.timeout(within):
                    await self._news.wait()
            except TimeoutError:
                return None
        return self._queue.popleft()

    def give(self, marked: Marked) -> None:
        """One more; the listener that has too many unread ones is given up."""
        if len(self._queue) >= self._most:
            self._queue.clear()
            self._ended = True
        if not self._ended:
            self._queue.append(marked)
        self._news.set()

    def end(self) -> None:
        self._ended = True
        self._news.set()

    @property
    def ended(self) -> bool:
        return self._ended


class Feed:
    """Spreads changes. `origin` tells this run's marks from those of another."""

    def __init__(self, origin: str = "0", *, kept: int = _KEPT, waiting: int = _WAITING) -> None:
        self._origin = origin
        self._waiting = waiting
        self._last = 0
        self._recent: deque[tuple[int, Change]] = deque(maxlen=kept)
        self._listeners: set[Subscription] = set()
        self._closed = False

    @property
    def streams(self) -> int:
        """How many listen from outside this program."""
        return sum(listener.outside for listener in self._listeners)

    def publish(self, change: Change) -> None:
        """Tell all listeners; returns at once. To be called in the event loop's thread."""
        self._last += 1
        self._recent.append((self._last, change))
        marked = Marked(self._mark(self._last), change)
        for listener in [*self._listeners]:
            listener.give(marked)
            if listener.ended:
                self._listeners.discard(listener)

    @contextmanager
    def subscribed(
        self, since: str | None = None, *, outside: bool = False
    ) -> Iterator[Subscription]:
        """Listen, from the mark `since` on if it is given."""
        subscription = Subscription(self._missed(since), self._waiting, outside=outside)
        if self._closed:
            subscription.end()
        else:
            self._listeners.add(subscription)
        try:
            yield subscription
        finally:
            self._listeners.discard(subscription)

    def close(self) -> None:
        """End all subscriptions, and those to come."""
        self._closed = True
        for listener in self._listeners:
            listener.end()
        self._listeners.clear()

    def _mark(self, number: int) -> str:
        return f"{self._origin}-{number}"

    def _missed(self, since: str | None) -> list[Marked]:
        if since is None:
            return []
        origin, _, number = since.rpartition("-")
        known = origin == self._origin and number.isascii() and number.isdigit()
        seen = int(number[:18]) if known else -1
        oldest = self._recent[0][0] if self._recent else self._last + 1
        if not oldest - 1 <= seen <= self._last:
            return [Marked(self._mark(self._last), None)]
        return [Marked(self._mark(n), change) for n, change in self._recent if n > seen]
