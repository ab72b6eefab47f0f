"""Clients that dawdle on purpose: each loses its connection, and nobody else notices."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import httpx2
import pytest
from server_fakes import TOKEN, FakeMemories
from server_running import Running, running

from second_brain.server.app import create_app
from second_brain.server.body import Limits
from second_brain.server.connections import Patience

SHORT = Patience(head=1.0, unread=1.5, look=0.2)
AUTH = f"Authorization: Bearer {TOKEN}\r\n".encode()
REFUSALS = (b"", *(b"HTTP/1.1 %d" % status for status in (400, 414, 421, 431, 501)))
START = b"GET /count HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def memories() -> FakeMemories:
    return FakeMemories()


@pytest.fixture
def server(memories: FakeMemories) -> Iterator[Running]:
    app = create_app(memories, token=TOKEN, limits=Limits(body_bytes=20_000, body_seconds=1.0))
    with running(app, patience=SHORT) as server:
        yield server


def connect(server: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=30)


def ends(raw: socket.socket, within: float = 20.0) -> bool:
    """Whether the server ends the connection; what it still says is read."""
    raw.settimeout(within)
    try:
        while raw.recv(65536):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def dribble(raw: socket.socket, piece: bytes, *, every: float, within: float) -> bool:
    """Send a little again and again until the server ends the connection; whether it did."""
    deadline = time.monotonic() + within
    raw.settimeout(every)
    while time.monotonic() < deadline:
        try:
            raw.sendall(piece)
            if raw.recv(65536) == b"":
                return True
        except TimeoutError:
            continue
        except (ConnectionResetError, BrokenPipeError):
            return True
    return False


def is_served(server: Running) -> bool:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = httpx2.get(f"{server.url}/count", headers=headers, trust_env=False, timeout=20)
    return answer.status_code == 200


def test_one_that_says_nothing(server: Running) -> None:
    with connect(server) as raw:
        assert ends(raw)


def test_one_that_never_comes_to_the_end_of_its_headers(server: Running) -> None:
    with connect(server) as raw:
        raw.sendall(START)
        assert dribble(raw, b"X-More: 1\r\n", every=0.1, within=20)
    assert is_served(server)


def test_one_that_dawdles_in_its_second_request(server: Running) -> None:
    with connect(server) as raw:
        raw.sendall(START + AUTH + b"\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 200")
        assert dribble(raw, b"G", every=0.1, within=20)


def test_a_stranger_that_dribbles_a_body(server: Running) -> None:
    with connect(server) as raw:
        raw.sendall(b"POST /capture HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n")
        assert dribble(raw, b"x", every=0.1, within=20)


def test_many_that_dawdle_leave_room_for_others(server: Running) -> None:
    dawdling = [connect(server) for _ in range(200)]
    try:
        for raw in dawdling:
            raw.sendall(START)
        assert is_served(server)
        assert all(ends(raw) for raw in dawdling)
    finally:
        for raw in dawdling:
            raw.close()


def test_one_that_does_not_read_its_answer(server: Running, memories: FakeMemories) -> None:
    memories.add("x" * 8_000_000)
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        raw.connect(("127.0.0.1", server.port))
        raw.sendall(b"GET /entry?id=m1 HTTP/1.1\r\nHost: localhost\r\n" + AUTH + b"\r\n")
        raw.settimeout(30)
        raw.recv(1)
        assert is_served(server)
        time.sleep(2 * SHORT.unread + SHORT.look)
        received = 0
        while data := raw.recv(65536):
            received += len(data)
        assert received < 8_000_000


def test_one_that_reads_slowly_gets_all_of_it(server: Running, memories: FakeMemories) -> None:
    size = 6_000_000
    memories.add("x" * size)
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        raw.connect(("127.0.0.1", server.port))
        raw.sendall(
            b"GET /entry?id=m1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + AUTH
            + b"\r\n"
        )
        raw.settimeout(30)
        received, began = 0, time.monotonic()
        while data := raw.recv(200_000):
            received += len(data)
            time.sleep(0.05)
        assert received > size
        assert time.monotonic() - began > SHORT.unread


@pytest.mark.parametrize(
    "request_head",
    [
        b"GET /count HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 70_000 + b"\r\n\r\n",
        b"GET /count HTTP/1.1\r\nHost: localhost\r\n" + b"X-Many: 1\r\n" * 7_000 + b"\r\n",
        b"GET /recall?query=" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /count HTTP/1.1\r\nHost: localhost\r\nBroken header\r\n\r\n",
        b"GET /count HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /capture HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET /count HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        b"GET /count HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 40,
        b"GET http://evil.example/count HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    ],
    ids=lambda head: repr(bytes(head[:24])) + str(len(head)),
)
def test_a_head_beyond_the_limits_or_the_grammar(server: Running, request_head: bytes) -> None:
    with connect(server) as raw:
        try:
            raw.sendall(request_head)
            answer = raw.recv(200)
        except (ConnectionResetError, BrokenPipeError):
            answer = b""
        assert answer[:12] in REFUSALS
    assert is_served(server)


def test_a_header_that_never_ends_is_refused_before_it_is_long(server: Running) -> None:
    with connect(server) as raw:
        raw.sendall(b"GET /count HTTP/1.1\r\nHost: localhost\r\nX-Endless: " + b"x" * 70_000)
        assert raw.recv(200).startswith(b"HTTP/1.1 400 ")
    assert is_served(server)


def test_white_space_around_a_header_is_no_part_of_it(server: Running) -> None:
    with connect(server) as raw:
        raw.sendall(
            b"GET /count HTTP/1.1\r\nHost: localhost\r\nAuthorization: \t Bearer "
            + TOKEN.encode()
            + b" \t \r\n\r\n"
        )
        assert raw.recv(200).startswith(b"HTTP/1.1 200 ")


def test_a_long_question_fits(server: Running) -> None:
    query = "x" * 30_000
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = httpx2.get(f"{server.url}/recall?query={query}", headers=headers, trust_env=False)
    assert answer.status_code == 200
