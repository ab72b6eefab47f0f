"""The night: when it is due, that it goes on where it was, and what it does to links."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from second_brain.errors import VaultOffline
from second_brain.index.state import State
from second_brain.intelligence.maintenance import Maintenance, Night, Step, is_due


def at(day: int, hour: int) -> datetime:
    return datetime(2026, 12, day, hour, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "last", "due"),
    [
        (at(2, 2), Night("2026-12-01", 1, finished=2), False),
        (at(2, 3), Night("2026-12-01", 1, finished=2), True),
        (at(2, 15), Night("2026-12-01", 1, finished=2), True),
        (at(2, 15), Night("2026-12-02", 1, finished=2), False),
        (at(2, 1), Night("2026-12-01", 1), True),
        (at(1, 5), Night("2026-12-02", 1, finished=2), False),
    ],
)
def test_due_once_a_day_from_the_hour_on(now: datetime, last: Night, due: bool) -> None:
    assert is_due(now, 3, last) is due


class World:
    """Steps that note that they were done; `trouble` is raised by the step of that name."""

    def __init__(self, state: State, *, hour: int | None = 3) -> None:
        self.state = state
        self.now = at(1, 12)
        self.hour = hour
        self.done: list[str] = []
        self.nights: list[Night] = []
        self.trouble: dict[str, BaseException] = {}
        self.is_ready = True

    def step(self, name: str) -> Step:
        async def run() -> str:
            if name in self.trouble:
                raise self.trouble.pop(name)
            self.done.append(name)
            return f"{name} is done."

        return Step(name, run)

    def made(self) -> Maintenance:
        async def report(night: Night) -> None:
            self.nights.append(night)

        return Maintenance(
            lambda: [self.step("one"), self.step("two"), self.step("three")],
            self.state,
            hour=self.hour,
            now=lambda: self.now,
            ready=lambda: self.is_ready,
            report=report,
            poll=0.01,
        )

    def run(self, until: Callable[[Maintenance], bool], begin: bool = False) -> Maintenance:
        """A daemon's life: until that is so, or the maintenance itself ends with an error."""
        maintenance = self.made()

        async def live() -> None:
            if begin:
                maintenance.start()
            task = asyncio.create_task(maintenance.run())
            async with asyncio.timeout(20):
                while not until(maintenance) and not task.done():
                    await asyncio.sleep(0.01)
            if task.done():
                await task
            await self.stopped(task)

        asyncio.run(live())
        return maintenance

    async def stopped(self, task: Awaitable[None]) -> None:
        task.cancel()  # type: ignore[attr-defined]
        with pytest.raises(asyncio.CancelledError):
            await task

    def some_rounds(self) -> Callable[[Maintenance], bool]:
        rounds = iter(range(15))
        return lambda _: next(rounds, None) is None

    def kept(self) -> Night:
        return Night(**json.loads(self.state.get_meta("maintenance") or ""))


def finished(world: World) -> Callable[[Maintenance], bool]:
    return lambda _: bool(world.nights)


def test_the_first_night_of_a_new_installation_is_the_next_one(state: State) -> None:
    world = World(state)
    world.run(world.some_rounds())
    assert world.done == []
    world.now = at(2, 3)
    world.run(finished(world))
    assert world.done == ["one", "two", "three"]
    world.run(world.some_rounds())
    assert world.done == ["one", "two", "three"], "once a night"
    (night,) = world.nights
    assert night.day == "2026-12-02"
    assert night.done == {n: f"{n} is done." for n in ("one", "two", "three")}


def test_a_night_that_was_cut_short_goes_on_where_it_was(state: State) -> None:
    world = World(state)
    world.run(world.some_rounds())
    world.now = at(2, 3)
    world.trouble["two"] = RuntimeError("killed")
    with pytest.raises(RuntimeError):
        world.run(finished(world))
    assert world.done == ["one"]
    world.now += timedelta(hours=30)
    world.run(finished(world))
    assert world.done == ["one", "two", "three"]


def test_a_step_that_cannot_be_done_keeps_none_of_the_others(state: State) -> None:
    world = World(state)
    world.trouble["two"] = VaultOffline("The vault is offline.")
    world.run(finished(world), begin=True)
    assert world.done == ["one", "three"]
    assert world.kept().done["two"] == "Not done: The vault is offline."


def test_nothing_is_done_while_the_vault_is_not_there(state: State) -> None:
    world = World(state)
    world.is_ready = False
    world.run(world.some_rounds(), begin=True)
    assert world.done == []
    world.is_ready = True
    world.run(finished(world))
    assert len(world.done) == 3


def test_switched_off_it_is_done_when_it_is_asked_for_and_only_then(state: State) -> None:
    world = World(state, hour=None)
    world.now = at(5, 4)
    world.run(world.some_rounds())
    world.now = at(6, 4)
    world.run(world.some_rounds())
    assert world.done == []
    maintenance = world.run(finished(world), begin=True)
    assert len(world.done) == 3
    assert maintenance.status()["enabled"] is False
    assert maintenance.status()["left"] == []
