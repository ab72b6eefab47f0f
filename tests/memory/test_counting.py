"""Recalls are counted beside the answers, and none is lost or counted twice."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from second_brain.errors import WriteFailed
from second_brain.index.state import State
from second_brain.memory.counting import RecallCounter

Recalled = list[tuple[str, int]]


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    opened = State.open(tmp_path / "state.db")
    yield opened
    opened.close()


def counted(state: State) -> dict[str, tuple[int, int | None]]:
    found = state.counters()
    return {id: (one.recall_count, one.last_recalled) for id, one in found.items()}


def test_recalls_of_a_moment_are_one_write(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[Recalled] = []
    write = state.count_recalls

    def noted(recalled: Iterable[tuple[str, int]]) -> None:
        writes.append(list(recalled))
        write(writes[-1])

    monkeypatch.setattr(state, "count_recalls", noted)
    times = iter([10, 20, 30])

    async def run() -> None:
        counter = RecallCounter(state, lambda: next(times))
        counter.count(["a", "b"])
        counter.count(["a"])
        counter.count([])
        assert counted(state) == {}
        await counter.finished()

    asyncio.run(run())
    assert writes == [[("a", 10), ("b", 10), ("a", 20)]]
    assert counted(state) == {"a": (2, 20), "b": (1, 10)}


def test_they_are_stored_without_being_waited_for(state: State) -> None:
    async def run() -> None:
        counter = RecallCounter(state, lambda: 5)
        counter.count(["a"])
        for _ in range(200):
            if counted(state):
                break
            await asyncio.sleep(0.05)

    asyncio.run(run())
    assert counted(state) == {"a": (1, 5)}


def test_recalls_during_a_write_are_in_the_next_one(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = state.count_recalls
    begun, go_on = threading.Event(), threading.Event()

    def slow(recalled: Iterable[tuple[str, int]]) -> None:
        begun.set()
        assert go_on.wait(10)
        write(recalled)

    monkeypatch.setattr(state, "count_recalls", slow)

    async def run() -> None:
        counter = RecallCounter(state, lambda: 5)
        counter.count(["a"])
        assert await asyncio.to_thread(begun.wait, 10)
        counter.count(["a", "b"])
        go_on.set()
        await counter.finished()

    asyncio.run(run())
    assert counted(state) == {"a": (2, 5), "b": (1, 5)}


def test_a_failed_write_is_told_and_the_next_counts(
    state: State, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write = state.count_recalls
    outcomes = iter([WriteFailed("state.db", "the disk is full"), None])

    def full_at_first(recalled: Iterable[tuple[str, int]]) -> None:
        if error := next(outcomes):
            raise error
        write(recalled)

    monkeypatch.setattr(state, "count_recalls", full_at_first)

    async def run() -> None:
        counter = RecallCounter(state, lambda: 5)
        counter.count(["a"])
        await counter.finished()
        counter.count(["b"])
        await counter.finished()

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())
    assert counted(state) == {"b": (1, 5)}
    (told,) = caplog.messages
    assert "1 recalls were not counted" in told
    assert "the disk is full" in told
