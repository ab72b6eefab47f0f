"""Tries, budget and breaker, against a real server and with a clock of the test's own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
from chat_server import Reply, ScriptedServer

from second_brain.index.state import State
from second_brain.intelligence.chat_protocol import ChatServer
from second_brain.intelligence.desk import Breaker, Budget, Desk, Patience
from second_brain.intelligence.provider import (
    ModelConfused,
    ModelPaused,
    ModelRefused,
    ModelUnreachable,
    Question,
)

PLAIN = Question("chat.v1", "Answer.", "What is it?")


@dataclass
class Time:
    now: float = 0.0
    day: str = "2026-12-01"

    def clock(self) -> float:
        return self.now

    def today(self) -> str:
        return self.day


class World:
    """A desk over the scripted server; `slept` is how long it waited between tries."""

    def __init__(self, server: ScriptedServer, state: State, budget: Budget, tries: int) -> None:
        self.time = Time()
        self.slept: list[float] = []

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            self.time.now += seconds

        self.model = ChatServer(server.url, "small", seconds=20)
        self.desk = Desk(
            self.model,
            state.model_use,
            budget=budget,
            today=self.time.today,
            patience=Patience(tries=tries, first=1.0),
            breaker=Breaker(failures=4, first=30),
            clock=self.time.clock,
            sleep=sleep,
            chance=lambda: 0.5,
        )

    def ask(self) -> str:
        async def run() -> str:
            try:
                return (await self.desk.ask(PLAIN)).text
            finally:
                await self.model.close()

        return asyncio.run(run())


def world(
    server: ScriptedServer, state: State, *, budget: Budget | None = None, tries: int = 3
) -> World:
    return World(server, state, budget or Budget(), tries)


BUSY = Reply(status=503, error="busy")


class TestTries:
    def test_what_passes_is_tried_again_later_each_time(
        self, server: ScriptedServer, state: State
    ) -> None:
        server.script = [BUSY, BUSY, Reply("Blue.")]
        w = world(server, state)
        assert w.ask() == "Blue."
        assert w.slept == [1.0, 2.0]
        assert state.model_use.of("2026-12-01") == (3, 17)
        assert w.desk.status()["error"] is None

    def test_the_pause_that_the_server_asks_for(self, server: ScriptedServer, state: State) -> None:
        server.script = [Reply(status=429, headers={"Retry-After": "9"}), Reply("Blue.")]
        w = world(server, state)
        assert w.ask() == "Blue."
        assert w.slept == [9.0]

    def test_a_wrong_key_is_not_tried_again(self, server: ScriptedServer, state: State) -> None:
        server.always = Reply(status=401, error="bad key")
        w = world(server, state)
        with pytest.raises(ModelRefused):
            w.ask()
        with pytest.raises(ModelPaused, match="bad key"):
            w.ask()
        assert len(server.asked) == 1

    def test_confusion_is_tried_again_and_opens_nothing(
        self, server: ScriptedServer, state: State
    ) -> None:
        server.always = Reply(raw=b"<html>")
        w = world(server, state)
        for _ in range(3):
            with pytest.raises(ModelConfused):
                w.ask()
        assert w.desk.status()["breaker"] == "closed"


class TestBreaker:
    def test_it_opens_waits_lets_one_through_and_closes(
        self, server: ScriptedServer, state: State
    ) -> None:
        server.script = [BUSY] * 5
        server.always = Reply("Blue.")
        w = world(server, state, tries=1)
        for _ in range(4):
            with pytest.raises(ModelUnreachable):
                w.ask()
        with pytest.raises(ModelPaused, match="left alone for 30 s"):
            w.ask()
        assert w.desk.status()["breaker"] == "open"
        assert len(server.asked) == 4
        w.time.now += 31
        assert w.desk.status()["breaker"] == "half-open"
        with pytest.raises(ModelUnreachable):
            w.ask()
        w.time.now += 31
        with pytest.raises(ModelPaused):
            w.ask()
        w.time.now += 31
        assert w.ask() == "Blue."
        assert w.desk.status()["breaker"] == "closed"

    def test_only_one_is_let_through_at_a_time(self) -> None:
        breaker = Breaker(failures=1, first=10)
        breaker.failed(0)
        assert not breaker.admit(5)
        assert breaker.admit(11)
        assert not breaker.admit(11)
        breaker.gave_up()
        assert breaker.admit(11)


class TestPlaces:
    def test_who_waits_too_long_for_others_is_told(
        self, server: ScriptedServer, state: State
    ) -> None:
        server.always = Reply(waits=True)
        model = ChatServer(server.url, "small", seconds=20)
        patience = Patience(tries=1, queue=0.2)
        desk = Desk(
            model, state.model_use, budget=Budget(), today=lambda: "today", patience=patience
        )

        async def run() -> None:
            busy = [asyncio.create_task(desk.ask(PLAIN)) for _ in range(2)]
            while len(server.asked) < 2:
                await asyncio.sleep(0.01)
            with pytest.raises(ModelPaused, match="busy with other questions"):
                await desk.ask(PLAIN)
            for task in busy:
                task.cancel()
            await asyncio.gather(*busy, return_exceptions=True)
            await model.close()

        asyncio.run(run())
        assert len(server.asked) == 2


class TestBudget:
    def test_calls_of_a_day(self, server: ScriptedServer, state: State) -> None:
        server.always = Reply("Blue.")
        w = world(server, state, budget=Budget(calls=2))
        w.ask(), w.ask()
        with pytest.raises(ModelPaused, match=r"llm\.calls_per_day"):
            w.ask()
        # Also after a restart, and only until the day ends.
        w = world(server, state, budget=Budget(calls=2))
        with pytest.raises(ModelPaused):
            w.ask()
        w.time.day = "2026-12-02"
        assert w.ask() == "Blue."

    def test_tokens_of_a_day(self, server: ScriptedServer, state: State) -> None:
        server.always = Reply("Blue.", tokens=600)
        w = world(server, state, budget=Budget(tokens=1_000))
        w.ask(), w.ask()
        with pytest.raises(ModelPaused, match=r"1,200 of 1,000, llm\.tokens_per_day"):
            w.ask()

    def test_a_stream_counts_too_even_if_its_reader_goes(
        self, server: ScriptedServer, state: State
    ) -> None:
        server.always = Reply("It is blue, and that for long.")
        w = world(server, state)

        async def run() -> None:
            stream = w.desk.stream(PLAIN)
            async for _ in stream:
                break
            await stream.aclose()  # type: ignore[attr-defined]
            await w.model.close()

        asyncio.run(run())
        calls, tokens = state.model_use.of("2026-12-01")
        assert calls == 1
        assert tokens > 0


class TestJobs:
    def test_what_waits_survives_a_restart(self, state: State, tmp_path: object) -> None:
        state.model_jobs.put("digest", "work", 5)
        state.model_jobs.put("digest", "work", 6)
        state.model_jobs.put("digest", "home", 7)
        again = State.open(state._db.path)
        assert again.model_jobs.waiting() == {"digest": 2}
        job = again.model_jobs.due(10)
        assert job is not None
        assert (job.kind, job.key, job.asked_at) == ("digest", "work", 5)
        again.model_jobs.failed(job, "gone", 100)
        other = again.model_jobs.due(10)
        assert other is not None
        assert other.key == "home"
        again.model_jobs.done("digest", "home")
        assert again.model_jobs.due(10) is None
        later = again.model_jobs.due(100)
        assert later is not None
        assert (later.tries, later.error) == (1, "gone")
        again.close()
