"""The one place where a model is asked: tries again, keeps the budget, pauses after failures.

Everything here is bounded in time; nobody who writes a memory ever waits for it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from second_brain.index.model_use import ModelUse
from second_brain.intelligence.chat_protocol import estimate
from second_brain.intelligence.provider import (
    Answer,
    Model,
    ModelConfused,
    ModelFailed,
    ModelPaused,
    ModelRefused,
    ModelUnreachable,
    Question,
)

BreakerState = Literal["closed", "open", "half-open"]

_AT_ONCE = 2
_MOST_PAUSE = 30.0


@dataclass(slots=True)
class Breaker:
    """Pure: closed until `failures` in a row, then open for a while that doubles each time.

    After the while one try is let through: it closes the breaker, or opens it again.
    """

    failures: int = 4
    first: float = 30.0
    longest: float = 1800.0
    _failed: int = field(default=0, init=False)
    _until: float = field(default=0.0, init=False)
    _trying: bool = field(default=False, init=False)

    def state(self, now: float) -> BreakerState:
        if self._failed < self.failures:
            return "closed"
        return "open" if now < self._until else "half-open"

    def remaining(self, now: float) -> float:
        """Seconds until it may be tried again."""
        return max(0.0, self._until - now) if self._failed >= self.failures else 0.0

    def admit(self, now: float) -> bool:
        """Whether the model may be asked now."""
        state = self.state(now)
        if state == "half-open":
            admitted = not self._trying
            self._trying = True
            return admitted
        return state == "closed"

    def succeeded(self) -> None:
        self._failed = 0
        self._trying = False

    def failed(self, now: float, *, hopeless: bool = False) -> None:
        """`hopeless`: no use in trying it several times, such as a wrong key."""
        self._trying = False
        self._failed = max(self._failed + 1, self.failures if hopeless else 0)
        if self._failed >= self.failures:
            wait = self.first * 2.0 ** min(self._failed - self.failures, 16)
            self._until = now + min(wait, self.longest)

    def gave_up(self) -> None:
        """A try ended without saying anything of the model."""
        self._trying = False


@dataclass(frozen=True, slots=True)
class Budget:
    """What a day may cost; 0 is no limit."""

    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Patience:
    """How often one question is tried, and the seconds before the second time; they double.

    `queue` are the seconds for which a question waits until others are answered.
    """

    tries: int = 3
    first: float = 1.0
    queue: float = 30.0


class Desk:
    """Implements `Model` over another one. `today` names the day that a call counts for."""

    def __init__(
        self,
        model: Model,
        use: ModelUse,
        *,
        budget: Budget,
        today: Callable[[], str],
        patience: Patience | None = None,
        breaker: Breaker | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._model = model
        self._use = use
        self._budget = budget
        self._today = today
        self._patience = patience or Patience()
        self._breaker = breaker or Breaker()
        self._clock = clock
        self._sleep = sleep
        self._chance = chance
        self._places = asyncio.Semaphore(_AT_ONCE)
        self.last_error: str | None = None

    @property
    def name(self) -> str:
        return self._model.name

    async def ask(self, question: Question) -> Answer:
        """Raises ModelFailed after the last try."""
        async with self._place():
            for attempt in range(1, self._patience.tries + 1):
                await self._admit()
                tokens = 0
                try:
                    answer = await self._model.ask(question)
                    tokens = answer.tokens
                except (ModelUnreachable, ModelConfused) as error:
                    tokens = estimate(question, "") if isinstance(error, ModelConfused) else 0
                    self._failed(error)
                    if attempt == self._patience.tries:
                        raise
                    pause = self._pause(attempt, error)
                except ModelFailed as error:
                    self._failed(error)
                    raise
                else:
                    self._succeeded()
                    return answer
                finally:
                    self._breaker.gave_up()
                    await asyncio.to_thread(self._use.count, self._today(), 1, tokens)
                await self._sleep(pause)
        raise AssertionError("a question is tried at least once")

    async def stream(self, question: Question) -> AsyncGenerator[str, None]:
        """Tried once: who reads along would see the beginning twice."""
        async with self._place():
            await self._admit()
            said = 0
            try:
                async with aclosing(self._model.stream(question)) as pieces:
                    async for piece in pieces:
                        said += len(piece)
                        yield piece
            except ModelFailed as error:
                self._failed(error)
                raise
            else:
                self._succeeded()
            finally:
                self._breaker.gave_up()
                tokens = estimate(question, "x" * said) if said else 0
                # Not in a thread: the reader may have gone, and this task with him.
                self._use.count(self._today(), 1, tokens)

    def status(self) -> dict[str, object]:
        """How it stands, for /health; blocking for one small read."""
        calls, tokens = self._use.of(self._today())
        now = self._clock()
        return {
            "model": self.name,
            "breaker": self._breaker.state(now),
            "retry_in": round(self._breaker.remaining(now)),
            "calls_today": calls,
            "tokens_today": tokens,
            "calls_a_day": self._budget.calls,
            "tokens_a_day": self._budget.tokens,
            "error": self.last_error,
        }

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """One of the few places at the model; ModelPaused if none becomes free for a while."""
        try:
            async with asyncio.timeout(self._patience.queue):
                await self._places.acquire()
        except TimeoutError:
            raise ModelPaused("The model is busy with other questions; try again later.") from None
        try:
            yield
        finally:
            self._places.release()

    async def _admit(self) -> None:
        calls, tokens = await asyncio.to_thread(self._use.of, self._today())
        for used, most, what in (
            (calls, self._budget.calls, "llm.calls_per_day"),
            (tokens, self._budget.tokens, "llm.tokens_per_day"),
        ):
            if most and used >= most:
                raise ModelPaused(
                    f"The model's budget of today is used up ({used:,} of {most:,}, {what})."
                )
        now = self._clock()
        if not self._breaker.admit(now):
            wait = max(1, round(self._breaker.remaining(now)))
            raise ModelPaused(
                f"The model failed several times and is left alone for {wait} s more"
                f" ({self.last_error})."
            )

    def _succeeded(self) -> None:
        self.last_error = None
        self._breaker.succeeded()

    def _failed(self, error: ModelFailed) -> None:
        self.last_error = str(error)
        if isinstance(error, ModelConfused):
            return  # Somebody is there and answers; another question may fare better.
        self._breaker.failed(self._clock(), hopeless=isinstance(error, ModelRefused))

    def _pause(self, attempt: int, error: ModelFailed) -> float:
        asked = error.after if isinstance(error, ModelUnreachable) else None
        own = self._patience.first * 2.0 ** (attempt - 1) * (0.5 + self._chance())
        return min(max(own, asked or 0.0), _MOST_PAUSE)
