"""How guessing is slowed down: waiting attempts are bounded, and forgotten after a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from second_brain.server.oauth.throttle import (
    FREE_ATTEMPTS,
    LONGEST_WAIT,
    MOST_WAITING,
    Throttle,
    TooManyAttempts,
    wait_after,
)


def says(right: bool) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return right

    return check


def test_the_wait_grows_to_its_limit() -> None:
    waits = [wait_after(wrong) for wrong in range(50)]
    assert waits[:FREE_ATTEMPTS] == [0.0] * FREE_ATTEMPTS
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_WAIT
    assert wait_after(10**9) == LONGEST_WAIT


def test_so_many_wait_and_no_more() -> None:
    async def play() -> None:
        gate, asleep = asyncio.Event(), 0

        async def sleep(seconds: float) -> None:
            nonlocal asleep
            asleep += 1
            await gate.wait()

        throttle = Throttle(lambda: 0.0, sleep)
        for _ in range(FREE_ATTEMPTS):
            assert not await throttle.attempt(("a",), says(False))
        waiting = [
            asyncio.create_task(throttle.attempt(("a",), says(True))) for _ in range(MOST_WAITING)
        ]
        while asleep < MOST_WAITING:
            await asyncio.sleep(0)
        with pytest.raises(TooManyAttempts) as refused:
            await throttle.attempt(("a",), says(True))
        assert 0 < refused.value.retry_after <= LONGEST_WAIT
        # Another lane is not concerned.
        assert await throttle.attempt(("b",), says(True))
        waiting[0].cancel()
        gate.set()
        done = await asyncio.gather(*waiting, return_exceptions=True)
        assert done[1:] == [True] * (MOST_WAITING - 1)
        assert await throttle.attempt(("a",), says(True))

    asyncio.run(play())


def test_it_is_looked_at_only_after_the_wait() -> None:
    async def play() -> None:
        order: list[str] = []

        async def sleep(seconds: float) -> None:
            order.append("waited")

        async def check() -> bool:
            order.append("looked")
            return False

        throttle = Throttle(lambda: 0.0, sleep)
        for _ in range(FREE_ATTEMPTS + 1):
            await throttle.attempt((), check)
        assert order == ["looked"] * FREE_ATTEMPTS + ["waited", "looked"]

    asyncio.run(play())


def test_it_is_forgotten_after_a_while() -> None:
    async def play() -> None:
        now, slept = 0.0, 0

        async def sleep(seconds: float) -> None:
            nonlocal slept
            slept += 1

        throttle = Throttle(lambda: now, sleep)
        for _ in range(FREE_ATTEMPTS + 2):
            await throttle.attempt((), says(False))
        assert slept == 2
        now = 901.0
        await throttle.attempt((), says(False))
        assert slept == 2

    asyncio.run(play())


def test_many_addresses_share_a_lane_in_the_end() -> None:
    async def play() -> None:
        slept = 0

        async def sleep(seconds: float) -> None:
            nonlocal slept
            slept += 1

        throttle = Throttle(lambda: 0.0, sleep)
        for number in range(1000):
            await throttle.attempt((number,), says(False))
        assert slept > 700

    asyncio.run(play())
