"""One HTTP request to a daemon of this machine, over a connection of its own.

The client of the standard library loads TLS and e-mail first: longer than the daemon takes to
answer. And a proxy set for the web has no business with the loopback of this machine.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

import httptools

_READ = 65_536


class NoAnswer(Exception):
    """Nothing listens there, or what does is no HTTP server, or hangs, or broke off."""


def request(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
    *,
    timeout: float,
) -> tuple[int, bytes]:
    """The answer's status and body. `timeout`: seconds for each wait. Raises NoAnswer."""
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    lines = [f"{method} {target or '/'} HTTP/1.1", f"Host: {parts.netloc}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    if any("\r" in line or "\n" in line for line in lines):
        raise NoAnswer("a header cannot have a line break")
    answer = _Answer()
    try:
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        address = (parts.hostname or "", parts.port or 80)
        with socket.create_connection(address, timeout=timeout) as connection:
            connection.sendall(head + (body or b""))
            while not answer.complete and (data := connection.recv(_READ)):
                answer.take(data)
    except (OSError, UnicodeEncodeError) as error:
        raise NoAnswer(str(error)) from error
    return answer.result()


class _Answer:
    """Takes the bytes in as they come; the parser calls the methods that begin with `on_`."""

    def __init__(self) -> None:
        self.complete = False
        self._parser = httptools.HttpResponseParser(self)
        self._status: int | None = None
        self._expected: int | None = None
        self._chunked = False
        self._body = bytearray()

    def take(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            raise NoAnswer(f"this is no HTTP: {error}") from error

    def result(self) -> tuple[int, bytes]:
        """What is there when nothing more comes; NoAnswer if that is not all of it."""
        # Without a length and without chunks the end of the connection is the end of the body.
        whole = self.complete or (not self._chunked and self._expected in (None, len(self._body)))
        if self._status is None or not whole:
            raise NoAnswer("the connection broke off")
        return self._status, bytes(self._body)

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"content-length":
            self._expected = int(value)
        elif name.lower() == b"transfer-encoding":
            self._chunked = True

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()

    def on_body(self, data: bytes) -> None:
        self._body += data

    def on_message_complete(self) -> None:
        self.complete = True
