"""A client of the daemon's REST interface over a plain socket kept open."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any, NamedTuple

_IDLE_CONNECTION = 5.0


class NotSent(ConnectionError):
    """Nobody listens at the port: the request never left."""


class Answer(NamedTuple):
    """What came back. `data` is the JSON of the body, its text if it is none."""

    status: int
    data: Any

    @property
    def ok(self) -> bool:
        return self.status == http.client.OK


class Client:
    """For one thread. Raises ConnectionError or HTTPException where there is no answer."""

    def __init__(self, port: int, token: str, *, timeout: float = 60.0) -> None:
        self._token = token
        self._last_used = 0.0
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Answer:
        sent = {"Authorization": f"Bearer {self._token}", **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/json"
        now = time.monotonic()
        if now - self._last_used > _IDLE_CONNECTION:
            self.close()  # the daemon does so with idle ones; the next is a new one
        self._last_used = now
        try:
            if self._connection.sock is None:
                self._connect()
            text = None if body is None else json.dumps(body)
            self._connection.request(method, path, text, sent)
            answer = self._connection.getresponse()
            said = answer.read().decode()
        except BaseException:
            self.close()
            raise
        if answer.headers.get_content_type() == "text/event-stream":
            said = _event(said)
        try:
            return Answer(answer.status, json.loads(said))
        except ValueError:
            return Answer(answer.status, said)

    def close(self) -> None:
        self._connection.close()

    def _connect(self) -> None:
        try:
            self._connection.connect()
        except OSError as error:
            raise NotSent(str(error)) from error


def _event(text: str) -> str:
    """The data of a stream's first event."""
    return next(line.partition(":")[2] for line in text.splitlines() if line.startswith("data:"))
