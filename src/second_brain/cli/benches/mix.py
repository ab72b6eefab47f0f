"""What the load is made of: kinds of requests, how often each comes, and the session of a client.

The shares are those of a person's tools at full tilt: mostly reading, one recall in thirty
requests, one write in a hundred.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Request:
    """One request of the load; `kind` is the row of the table that it counts for."""

    kind: str
    method: str
    target: str
    body: bytes = b""


SHARES: dict[str, int] = {
    "entry": 320,
    "list": 240,
    "connections": 100,
    "count": 100,
    "tags": 80,
    "get": 70,
    "recall": 30,
    "history": 30,
    "notes": 20,
    "capture": 5,
    "append": 5,
}
"""Of a thousand requests."""


class Mix:
    """Makes requests about the memories `ids`. `appended` are the ids that may grow."""

    def __init__(
        self, ids: Sequence[str], appended: Sequence[str], questions: Sequence[str], *, seed: int
    ) -> None:
        rng = random.Random(seed)
        self._rng = rng
        self._ids = ids
        self._appended = itertools.cycle(appended)
        self._questions = itertools.cycle(rng.sample(list(questions), len(questions)))
        self._number = itertools.count(1)
        self._seed = seed
        self._makers: dict[str, Callable[[], tuple[str, str, bytes]]] = {
            "entry": lambda: _get("/entry", id=self._any()),
            "list": lambda: _get("/list", n=10),
            "connections": lambda: _get("/connections", id=self._any()),
            "count": lambda: _get("/count"),
            "tags": lambda: _get("/tags"),
            "get": lambda: _get("/get", id=self._any()),
            "recall": lambda: _get("/recall", query=next(self._questions)),
            "history": lambda: _get("/history", n=5),
            "notes": lambda: _get("/notes", n=10),
            "capture": lambda: _post("/capture", content=self._text(), tags=["load"]),
            "append": lambda: _post("/append", id=next(self._appended), addition=self._text()),
        }

    def one(self, kind: str) -> Request:
        method, target, body = self._makers[kind]()
        return Request(kind, method, target, body)

    def endless(self) -> Iterator[Request]:
        """Requests by their shares, in no order."""
        kinds, shares = list(SHARES), list(SHARES.values())
        while True:
            for kind in self._rng.choices(kinds, shares, k=500):
                yield self.one(kind)

    def calls(self) -> Iterator[bytes]:
        """Tool calls of an MCP session, as JSON-RPC messages."""
        for number in itertools.count(2):
            name, arguments = self._call(number)
            yield rpc("tools/call", {"name": name, "arguments": arguments}, number)

    def _call(self, number: int) -> tuple[str, dict[str, object]]:
        match number % 4:
            case 0:
                return "list_recent", {"n": 5}
            case 2:
                return "recall", {"query": next(self._questions)}
            case _:
                return "get", {"id": self._any()}

    def _any(self) -> str:
        return self._rng.choice(self._ids)

    def _text(self) -> str:
        """A text that is not one of those before, so that it is stored."""
        return f"Load {self._seed}-{next(self._number)}. {next(self._questions)}"


def rpc(method: str, params: dict[str, object], number: int | None = None) -> bytes:
    """One JSON-RPC message; without a number it is a notification."""
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    return json.dumps(message).encode()


def _get(path: str, **query: object) -> tuple[str, str, bytes]:
    return "GET", f"{path}?{urlencode(query)}" if query else path, b""


def _post(path: str, **body: object) -> tuple[str, str, bytes]:
    return "POST", path, json.dumps(body).encode()
