"""The request that commands send to the daemon, against servers that answer in every way."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from second_brain.cli.loopback import NoAnswer, request


@contextmanager
def server(*pieces: bytes) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Answers one request with the pieces, then closes; its address, and what it was sent."""
    sent = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                while b"\r\n\r\n" not in sent:
                    sent.extend(connection.recv(65_536))
                for piece in pieces:
                    connection.sendall(piece)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", lambda: bytes(sent)
        thread.join(10)


@pytest.mark.parametrize(
    "pieces",
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",),
        (b"HTTP/1.1 200 OK\r\nContent-Le", b"ngth: 5\r\n\r", b"\nhel", b"lo"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n",
            b"2\r\nlo\r\n0\r\n\r\n",
        ),
        (b"HTTP/1.0 200 OK\r\n\r\nhel", b"lo"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",),
    ],
)
def test_an_answer_is_read_whole(pieces: tuple[bytes, ...]) -> None:
    with server(*pieces) as (url, sent):
        assert request("GET", f"{url}/a?b=%20c", {"X-Y": "z"}, timeout=10) == (200, b"hello")
    assert sent().startswith(b"GET /a?b=%20c HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"\r\nX-Y: z\r\n" in sent()


def test_a_body_is_sent_with_its_length() -> None:
    answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    with server(answer) as (url, sent):
        assert request("POST", f"{url}/x", {}, "é".encode(), timeout=10) == (404, b"")
    assert b"Content-Length: 2\r\n" in sent()


@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        ((), "broke off"),
        ((b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello",), "broke off"),
        ((b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",), "broke off"),
        ((b"HTTP/1.1 200 OK\r\nContent-Len",), "broke off"),
        ((b"SSH-2.0-OpenSSH_9.6\r\n",), "no HTTP"),
    ],
)
def test_half_an_answer_and_none_are_told(pieces: tuple[bytes, ...], why: str) -> None:
    with server(*pieces) as (url, _), pytest.raises(NoAnswer, match=why):
        request("GET", f"{url}/", {}, timeout=10)


def test_nobody_there_and_one_that_hangs() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(NoAnswer, match="timed out"):
            request("GET", url, {}, timeout=0.2)
    with pytest.raises(NoAnswer, match="refused"):
        request("GET", url, {}, timeout=10)


def test_a_token_cannot_bring_in_another_header() -> None:
    with pytest.raises(NoAnswer, match="line break"):
        request("GET", "http://127.0.0.1:1/", {"Authorization": "a\r\nX: y"}, timeout=1)
