"""Tidies up once a day at a quiet hour: one step after the other, each of which may be repeated.

What is done is kept in state.db after each step, so that a night that was cut short goes on where
it was. A step that fails says so in the report and keeps none of the others from being done.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Protocol

from second_brain.errors import SecondBrainError

log = logging.getLogger(__name__)

_KEY = "maintenance"
_POLL_SECONDS = 5.0


class Meta(Protocol):
    """A few words that outlive a restart."""

    def get_meta(self, key: str) -> str | None: ...

    def set_meta(self, key: str, value: str | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Step:
    """`run` does it and says in one sentence what was done. It may raise errors of ours."""

    name: str
    run: Callable[[], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Night:
    """One run: the day it belongs to, and each step that is done with its sentence.

    `wanted` by somebody, and not due by the clock. Times are Unix milliseconds.
    """

    day: str
    begun: int
    done: Mapping[str, str] = field(default_factory=dict)
    finished: int | None = None
    wanted: bool = False


def is_due(now: datetime, hour: int, last: Night) -> bool:
    """Whether the night of today is to be done, or one that was begun to be ended."""
    if last.finished is None:
        return True
    return now.hour >= hour and last.day < _day(now)


class Maintenance:
    """`steps` are made when they are needed first. `now` is local time, `ready` whether the vault
    is there and at rest; `report` is given each finished night, where a note of it is wanted."""

    def __init__(
        self,
        steps: Callable[[], Sequence[Step]],
        meta: Meta,
        *,
        hour: int | None,
        now: Callable[[], datetime],
        ready: Callable[[], bool],
        report: Callable[[Night], Awaitable[None]] | None = None,
        poll: float = _POLL_SECONDS,
    ) -> None:
        self._make_steps = steps
        self._meta = meta
        self._hour = hour
        self._now = now
        self._ready = ready
        self._report = report
        self._poll = poll
        self._wake = asyncio.Event()
        self._running: str | None = None

    @cached_property
    def _steps(self) -> Sequence[Step]:
        return self._make_steps()

    def start(self) -> None:
        """Do it all now. If it is being done already, it goes on."""
        last = self._last()
        if last is None or last.finished is not None:
            self._keep(Night(_day(self._now()), _ms(self._now()), wanted=True))
        self._wake.set()

    def status(self) -> dict[str, object]:
        """What was done last, and what is being done."""
        last = self._last()
        known = asdict(last) if last is not None and last.begun else None
        left = [s.name for s in self._steps if last is None or s.name not in last.done]
        return {
            "enabled": self._hour is not None,
            "hour": self._hour,
            "running": self._running,
            "last": known,
            "left": left if last is not None and last.finished is None else [],
        }

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                await self._look()
            except SecondBrainError as error:
                log.warning("The maintenance is done later: %s", error)
            try:
                async with asyncio.timeout(self._poll):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()

    async def _look(self) -> None:
        last = await asyncio.to_thread(self._last)
        now = self._now()
        if last is None:
            # A new installation: its first night is the next one.
            passed = self._hour is None or now.hour >= self._hour
            day = _day(now if passed else now - timedelta(days=1))
            last = Night(day, 0, finished=0)
            await asyncio.to_thread(self._keep, last)
        unfinished = last.finished is None
        allowed = self._hour is not None or (unfinished and last.wanted)
        if not allowed or not is_due(now, self._hour or 0, last) or not self._ready():
            return
        await self._do(last if unfinished else Night(_day(now), _ms(now)))

    async def _do(self, night: Night) -> None:
        try:
            for step in self._steps:
                if step.name in night.done:
                    continue
                self._running = step.name
                night = replace(night, done={**night.done, step.name: await _outcome(step)})
                await asyncio.to_thread(self._keep, night)
            night = replace(night, finished=_ms(self._now()))
            if self._report is not None:
                try:
                    await self._report(night)
                except SecondBrainError as error:
                    log.warning("The report of the maintenance was not written: %s", error)
            await asyncio.to_thread(self._keep, night)
        finally:
            self._running = None

    def _last(self) -> Night | None:
        kept = self._meta.get_meta(_KEY)
        if kept is None:
            return None
        try:
            found: dict[str, Any] = json.loads(kept)
            return Night(**found)
        except (ValueError, TypeError):
            return None  # written by another version

    def _keep(self, night: Night) -> None:
        self._meta.set_meta(_KEY, json.dumps(asdict(night), ensure_ascii=False))


async def _outcome(step: Step) -> str:
    try:
        return await step.run()
    except SecondBrainError as error:
        log.warning("The maintenance could not do “%s”: %s", step.name, error)
        return f"Not done: {error}"


def _day(now: datetime) -> str:
    return f"{now:%Y-%m-%d}"


def _ms(now: datetime) -> int:
    return int(now.timestamp() * 1000)
