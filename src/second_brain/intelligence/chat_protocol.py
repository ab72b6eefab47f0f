"""A server that speaks the OpenAI chat protocol, on this machine or a hosted one.

What it sends is not trusted: its size, its pace and its shape are bounded, redirects are not
followed (they would carry the key elsewhere), and its words in error messages are cut short.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from second_brain.intelligence.json_reading import read_json
from second_brain.intelligence.provider import (
    Answer,
    ModelConfused,
    ModelFailed,
    ModelRefused,
    ModelUnreachable,
    Question,
)

if TYPE_CHECKING:
    import httpx2

_PATH = "/chat/completions"
_TEMPERATURE = 0.2
_LEAST_TOKENS = 2_048
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_MOST_BYTES = 4_000_000
_MOST_ERROR = 200
_WAITED_AT_MOST = 120.0
# Pieces may come as slowly as one a time-out; the whole answer in this many.
_STREAM_TIMEOUTS = 5
_OF_THE_FORM = frozenset({400, 422})
_TEMPORARY = frozenset({408, 409, 425, 429})


@dataclass(slots=True)
class _Dialect:
    """What this server understands of the protocol, learnt from what it refuses."""

    schemas: bool = True
    temperature: bool = True
    limit: str = "max_tokens"

    def learnt(self, refusal: ModelRefused, *, shaped: bool) -> bool:
        """Whether there is another way to put the same request. `shaped`: it asked for JSON."""
        if refusal.status not in _OF_THE_FORM:
            return False
        said = str(refusal)
        if self.limit in said and self.limit == "max_tokens":
            self.limit = "max_completion_tokens"
        elif self.temperature and "temperature" in said:
            self.temperature = False
        elif shaped and self.schemas:
            # Not every server knows the parameter; the schema is in the words as well.
            self.schemas = False
        else:
            return False
        return True


class ChatServer:
    """Implements `Model`. `seconds` is the time for one answer, or for one piece of a stream."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url.rstrip("/").removesuffix(_PATH) + _PATH
        self._model = model
        self._key = key
        self._seconds = seconds
        self._clock = clock
        self._client: httpx2.AsyncClient | None = None
        self._dialect = _Dialect()

    @property
    def name(self) -> str:
        return self._model

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def ask(self, question: Question) -> Answer:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._ask(question)
        except TimeoutError:
            raise ModelUnreachable(
                f"The model did not answer within {self._seconds:g} s."
            ) from None

    async def stream(self, question: Question) -> AsyncGenerator[str, None]:
        deadline = self._clock() + _STREAM_TIMEOUTS * self._seconds
        async with self._sent(question, stream=True) as response:
            if "event-stream" not in response.headers.get("content-type", ""):
                # Some servers know no streams and answer whole.
                yield _text_of(_parsed(await self._read(response)))
                return
            room = question.max_tokens * 16
            async for event in _events(response):
                if event is None:
                    return
                piece, finished = _piece_of(event)
                room -= len(piece)
                if room < 0:
                    raise ModelConfused("The model goes on writing beyond what was asked for.")
                if self._clock() > deadline:
                    raise ModelUnreachable("The model takes too long for one answer.")
                if piece:
                    yield piece
                if finished:
                    return
        raise ModelUnreachable("The model's answer broke off in the middle.")

    async def _ask(self, question: Question) -> Answer:
        async with self._sent(question, stream=False) as response:
            data = _parsed(await self._read(response))
        text = _text_of(data)
        value = None if question.schema is None else read_json(text, question.schema)
        return Answer(text, value, _tokens_of(data) or estimate(question, text))

    def _body(self, question: Question, *, stream: bool) -> dict[str, object]:
        orders = question.instructions
        body: dict[str, object] = {
            "model": self._model,
            # Some models think aloud before they answer, and need room for that.
            self._dialect.limit: max(question.max_tokens, _LEAST_TOKENS),
            "stream": stream,
        }
        if self._dialect.temperature:
            body["temperature"] = _TEMPERATURE
        if question.schema is not None:
            orders += "\n\nThe schema of the JSON:\n" + json.dumps(question.schema)
            if self._dialect.schemas:
                name = question.prompt.replace(".", "_")
                schema = {"name": name, "schema": question.schema, "strict": True}
                body["response_format"] = {"type": "json_schema", "json_schema": schema}
        body["messages"] = [
            {"role": "system", "content": orders},
            {"role": "user", "content": question.data},
        ]
        return body

    @asynccontextmanager
    async def _sent(self, question: Question, *, stream: bool) -> AsyncIterator[httpx2.Response]:
        """The response to a question that the server accepted, put in its dialect."""
        while True:
            async with AsyncExitStack() as opened:
                try:
                    response = await opened.enter_async_context(
                        self._accepted(self._body(question, stream=stream))
                    )
                except ModelRefused as error:
                    if not self._dialect.learnt(error, shaped=question.schema is not None):
                        raise
                else:
                    yield response
                    return

    @asynccontextmanager
    async def _accepted(self, body: Mapping[str, object]) -> AsyncIterator[httpx2.Response]:
        import httpx2  # noqa: PLC0415 - a daemon without a model never needs it

        if self._client is None:
            here = (urlsplit(self._url).hostname or "") in _LOOPBACK
            self._client = httpx2.AsyncClient(
                timeout=httpx2.Timeout(self._seconds, connect=min(10.0, self._seconds)),
                # No proxy is of use on the way to this very machine.
                trust_env=not here,
                # A connection that a server closed meanwhile costs more than a new one.
                limits=httpx2.Limits(max_keepalive_connections=0),
                follow_redirects=False,
            )
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            async with self._client.stream(
                "POST", self._url, json=body, headers=headers
            ) as response:
                if response.status_code != 200:
                    raise _refusal(response, await self._read(response))
                yield response
        except httpx2.TimeoutException:
            raise ModelUnreachable(
                f"The model did not answer within {self._seconds:g} s."
            ) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            raise ModelUnreachable(
                f"The model cannot be reached at {self._url}: {reason[:_MOST_ERROR]}"
            ) from None

    async def _read(self, response: httpx2.Response) -> bytes:
        found = bytearray()
        async for part in response.aiter_bytes():
            found += part
            if len(found) > _MOST_BYTES:
                raise ModelConfused("The model's answer is too large.")
        return bytes(found)


def estimate(question: Question, answer: str) -> int:
    """About how many tokens a question and its answer cost: four characters each."""
    asked = len(question.instructions) + len(question.data)
    return (asked + len(answer)) // 4 + 1


def _refusal(response: httpx2.Response, body: bytes) -> ModelFailed:
    said = _said(body)
    status = response.status_code
    if status in _TEMPORARY or status >= 500:
        text = f"The model's server answers {status}{said}"
        return ModelUnreachable(text, after=_pause(response.headers.get("retry-after")))
    hint = "Check llm.api_key." if status in (401, 403) else "Check llm.url and llm.model."
    text = f"The model's server refuses the request ({status}{said}). {hint}"
    return ModelRefused(text, status=status)


def _said(body: bytes) -> str:
    """The server's own words in a refusal, short and on one line."""
    try:
        data = json.loads(body)
        error = data.get("error") if isinstance(data, dict) else None
        text = error.get("message") if isinstance(error, dict) else error
    except (ValueError, RecursionError):
        return ""
    words = " ".join(text.split()) if isinstance(text, str) else ""
    shown = "".join(c for c in words if c.isprintable())[:_MOST_ERROR]
    return f": {shown}" if shown else ""


def _pause(value: str | None) -> float | None:
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return min(seconds, _WAITED_AT_MOST) if seconds >= 0 else None


def _parsed(body: bytes) -> Mapping[str, Any]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise ModelConfused("The model's server did not answer with JSON.")
    if data.get("error"):
        raise ModelUnreachable(f"The model's server reports an error{_said(body)}.")
    return data


def _choice(data: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _text_of(data: Mapping[str, Any]) -> str:
    message = _choice(data).get("message")
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(text, str) or not text.strip():
        cut = _choice(data).get("finish_reason") == "length"
        why = ": it had no room left for one; a model that thinks less may do" if cut else ""
        raise ModelConfused(f"The model's answer is empty{why}.")
    return text


def _tokens_of(data: Mapping[str, Any]) -> int:
    usage = data.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and 0 < total < 10_000_000 else 0


def _piece_of(event: Mapping[str, Any]) -> tuple[str, bool]:
    """The text of an event, and whether it is the last."""
    choice = _choice(event)
    delta = choice.get("delta")
    text = delta.get("content") if isinstance(delta, dict) else None
    return text if isinstance(text, str) else "", bool(choice.get("finish_reason"))


async def _events(response: httpx2.Response) -> AsyncIterator[Mapping[str, Any] | None]:
    """The events of a stream; None is its proper end."""
    waiting = b""
    async for part in response.aiter_bytes():
        waiting += part
        if len(waiting) > _MOST_BYTES:
            raise ModelConfused("The model's answer has a line without an end.")
        *lines, waiting = waiting.split(b"\n")
        for line in lines:
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                yield None
                return
            yield _parsed(data)
