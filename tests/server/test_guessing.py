"""Wrong tokens: slower and slower for who sends them, and of no concern to anybody else."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from server_fakes import TOKEN
from server_running import Running
from starlette.requests import HTTPConnection

from second_brain.server.guessing import FREE, LONGEST_WAIT, MOST_WAITING, Guesses, wait_after
from second_brain.server.peers import Peers
from second_brain.server.responses import RequestRefused


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waited: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)


def test_each_wrong_one_waits_longer_than_the_one_before() -> None:
    waits = [wait_after(n) for n in range(1, 40)]
    assert waits[:FREE] == [0.0] * FREE
    assert waits[FREE : FREE + 3] == [0.25, 0.5, 1.0]
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_WAIT


def test_each_address_has_its_own_count_and_it_is_forgotten() -> None:
    async def guess() -> None:
        clock = Clock()
        guesses = Guesses(clock, clock.sleep)
        for _ in range(FREE + 2):
            await guesses.wrong("203.0.113.9")
        await guesses.wrong("203.0.113.10")
        assert clock.waited == [0.25, 0.5]
        clock.now += 61
        await guesses.wrong("203.0.113.9")
        assert clock.waited == [0.25, 0.5]

    asyncio.run(guess())


def test_only_so_many_wait() -> None:
    async def guess() -> None:
        clock, gate = Clock(), asyncio.Event()

        async def sleep(_: float) -> None:
            await gate.wait()

        guesses = Guesses(clock, sleep)
        for _ in range(FREE):
            await guesses.wrong("a")
        waiting = [asyncio.create_task(guesses.wrong("a")) for _ in range(MOST_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(RequestRefused) as refused:
            await guesses.wrong("a")
        assert (refused.value.status, refused.value.again) == (429, int(LONGEST_WAIT))
        await guesses.wrong("b")
        gate.set()
        await asyncio.gather(*waiting)

    asyncio.run(guess())


def test_addresses_without_end_take_no_memory_without_end() -> None:
    async def guess() -> None:
        guesses = Guesses(Clock())
        for number in range(3_000):
            await guesses.wrong(str(number))
        assert len(guesses._counts) == 1_000

    asyncio.run(guess())


def test_the_owner_gets_in_while_somebody_guesses(
    live: Running, caplog: pytest.LogCaptureFixture
) -> None:
    """From the same address, as behind a tunnel."""
    caplog.set_level(logging.DEBUG)

    def guess(number: int) -> tuple[int, str | None]:
        path, method = (("/count", "GET"), ("/mcp", "POST"))[number % 2]
        answer = httpx2.request(
            method,
            live.url + path,
            headers={"Authorization": f"Bearer guess-{number}"},
            trust_env=False,
            timeout=60,
        )
        return answer.status_code, answer.headers.get("retry-after")

    with ThreadPoolExecutor(24) as pool:
        guesses = [pool.submit(guess, number) for number in range(40)]
        for _ in range(20):
            answer = httpx2.get(
                f"{live.url}/count",
                headers={"Authorization": f"Bearer {TOKEN}"},
                trust_env=False,
                timeout=60,
            )
            assert answer.status_code == 200
        assert not all(guess.done() for guess in guesses), "nobody was slowed down"
        said = Counter(guess.result() for guess in guesses)
    assert said[401, None] >= FREE + MOST_WAITING
    assert said[429, str(int(LONGEST_WAIT))] > 0
    assert set(said) == {(401, None), (429, str(int(LONGEST_WAIT)))}
    assert "Many wrong tokens from 127.0.0.1" in caplog.text
    assert "guess-" not in caplog.text


@pytest.mark.parametrize(
    ("trusted", "client", "forwarded", "found"),
    [
        ([], "127.0.0.1", ["203.0.113.9"], "127.0.0.1"),
        (["10.0.0.0/8"], "127.0.0.1", ["203.0.113.9"], "127.0.0.1"),
        (["127.0.0.1"], "127.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        (["127.0.0.1"], "127.0.0.1", ["1.2.3.4, 203.0.113.9"], "203.0.113.9"),
        (["127.0.0.1"], "127.0.0.1", ["1.2.3.4", "203.0.113.9"], "203.0.113.9"),
        (["127.0.0.1", "10.0.0.0/8"], "127.0.0.1", ["203.0.113.9, 10.1.2.3"], "203.0.113.9"),
        (["127.0.0.1"], "127.0.0.1", ["203.0.113.9, nonsense"], "127.0.0.1"),
        (["127.0.0.1"], "127.0.0.1", ["", " , "], "127.0.0.1"),
        (["127.0.0.1"], "127.0.0.1", [], "127.0.0.1"),
        (["::1"], "::1", ["2001:db8:1:2:3::4"], "2001:db8:1:2::/64"),
        (["127.0.0.1"], "::ffff:127.0.0.1", ["[2001:db8::1]"], "2001:db8::/64"),
        ([], "testclient", [], "unknown"),
    ],
)
def test_whose_word_counts_for_an_address(
    trusted: list[str], client: str, forwarded: list[str], found: str
) -> None:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    scope = {"type": "http", "client": (client, 1), "headers": headers}
    assert Peers(trusted).address(HTTPConnection(scope)) == found
