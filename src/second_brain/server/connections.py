"""Connections of clients that are slow on purpose or broken: they are given up, nobody waits.

uvicorn bounds how long a connection may be idle between two requests. This bounds the rest: the
size of the head of a request and the time until it is there, and the time in which a client takes
nothing of what is sent to it. A client that is merely slow, and takes a little at a time, is waited
for.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD_BYTES = 64 * 1024
"""A request's line and headers together; a long question fits into its URL."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: for the next request's head, for a client that reads nothing, between two looks."""

    head: float = 20.0
    unread: float = 30.0
    look: float = 5.0


class _Connection(HttpToolsProtocol):
    """uvicorn's connection, looked after. `patience` is set by `looked_after`."""

    patience: Patience

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self._progress = self.loop.time()
        self._unsent = 0
        self._head: int | None = 0
        """Bytes of a head that is not complete yet; None while a body comes."""
        self._look_task = self.loop.call_later(self.patience.look, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        self._look_task.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head is not None:
            self._head += len(data)
        super().data_received(data)
        # The parser keeps a header until its end is there, however long it becomes.
        if self._head is not None and self._head > _HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def on_header(self, name: bytes, value: bytes) -> None:
        # RFC 9110, 5.5: white space around a value is no part of it; the parser leaves some.
        super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        self._head = None
        if (
            len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            > _HEAD_BYTES
        ):
            raise ValueError("too large a head")  # answered by the parser's caller
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._head = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def _look(self) -> None:
        now = self.loop.time()
        answering = self.cycle is not None and not self.cycle.response_complete
        unsent = self.transport.get_write_buffer_size()
        if unsent == 0 or unsent < self._unsent:
            self._progress = now
        self._unsent = unsent
        late = not answering and unsent == 0 and now - self._since > self.patience.head
        if late or now - self._progress > self.patience.unread:
            self.transport.abort()
            return
        self._look_task = self.loop.call_later(self.patience.look, self._look)


def looked_after(patience: Patience) -> type[HttpToolsProtocol]:
    """Return the class of connections for uvicorn."""

    class Connection(_Connection):
        pass

    Connection.patience = patience
    return Connection
