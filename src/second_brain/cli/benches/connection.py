"""An HTTP connection of the load generator: little work a request, so that the daemon is measured.

One request at a time, kept open, opened again by the next request after it was lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

_HEAD_END = b"\r\n\r\n"
_LAST_CHUNK = b"0\r\n\r\n"


class Reply(NamedTuple):
    """What came back: the body as it was sent, in chunks or not."""

    status: int
    body: bytes


class _Reader(asyncio.Protocol):
    """Collects one answer after another; `answered` is done when the one asked for is whole."""

    def __init__(self) -> None:
        self.answered: asyncio.Future[Reply] | None = None
        self.lost = False
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def ask(self, request: bytes) -> asyncio.Future[Reply]:
        assert self._transport is not None
        self._buffer.clear()
        self.answered = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self.answered

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        waiting = self.answered
        if waiting is not None and not waiting.done() and (found := _whole(self._buffer)):
            waiting.set_result(found)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        if self.answered is not None and not self.answered.done():
            self.answered.set_exception(ConnectionResetError("the daemon closed the connection"))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class Connection:
    """For one task at a time. `ask` raises OSError where there is no answer."""

    def __init__(self, port: int, token: str, *, timeout: float = 60.0) -> None:
        self._port = port
        self._timeout = timeout
        self._common = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        self._reader: _Reader | None = None

    async def ask(
        self, method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Reply:
        further = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        if body:
            further += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        head = f"{method} {target} HTTP/1.1\r\n{self._common}{further}\r\n"
        try:
            async with asyncio.timeout(self._timeout):
                reader = await self._connected()
                return await reader.ask(head.encode("ascii") + body)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    async def _connected(self) -> _Reader:
        if self._reader is None or self._reader.lost:
            loop = asyncio.get_running_loop()
            _, self._reader = await loop.create_connection(_Reader, "127.0.0.1", self._port)
        return self._reader


def _whole(buffer: bytearray) -> Reply | None:
    """The answer in the buffer, once all of it is there."""
    end = buffer.find(_HEAD_END)
    if end < 0:
        return None
    head, start = bytes(buffer[:end]).lower(), end + len(_HEAD_END)
    status = int(head[9:12])
    place = head.find(b"\r\ncontent-length:")
    if place >= 0:
        length = int(head[place + 17 :].partition(b"\r\n")[0])
        return Reply(status, bytes(buffer[start:])) if len(buffer) - start >= length else None
    if b"\r\ntransfer-encoding: chunked" in head:
        return Reply(status, bytes(buffer[start:])) if buffer.endswith(_LAST_CHUNK) else None
    return Reply(status, b"")
