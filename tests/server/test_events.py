"""GET /events over real connections: every change, in order, to whoever still listens."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import httpx2
import pytest
from server_fakes import TOKEN, FakeMemories
from server_running import Running, running

from second_brain.memory.feed import Ended, Feed
from second_brain.server.app import create_app
from second_brain.server.connections import Patience
from second_brain.sync.changes import Change

HEADERS = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/event-stream"}


def change(n: int, path: str = "a.md") -> Change:
    return Change("updated", f"m{n}", path, n)


class Told:
    """A server whose feed can be spoken to from the test."""

    def __init__(self, feed: Feed, loop: asyncio.AbstractEventLoop, server: Running) -> None:
        self.feed = feed
        self.server = server
        self.loop = loop

    def publish(self, *changes: Change) -> None:
        done = threading.Event()

        def tell() -> None:
            for one in changes:
                self.feed.publish(one)
            done.set()

        self.loop.call_soon_threadsafe(tell)
        assert done.wait(30)


@contextmanager
def told(feed: Feed, patience: Patience | None = None) -> Iterator[Told]:
    loops: list[asyncio.AbstractEventLoop] = []

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        loops.append(asyncio.get_running_loop())
        yield

    app = create_app(FakeMemories(), token=TOKEN, feed=feed, lifespan=lifespan)
    with running(app, patience=patience) as server:
        yield Told(feed, loops[0], server)


@contextmanager
def listening(server: Running, since: str | None = None) -> Iterator[Iterator[str]]:
    """The lines of a stream, after the first ones that say that it is open."""
    headers = {**HEADERS, **({"Last-Event-ID": since} if since else {})}
    with (
        httpx2.Client(trust_env=False, timeout=30) as client,
        client.stream("GET", f"{server.url}/events", headers=headers) as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert [next(lines), next(lines)] == ["retry: 2000", ": connected"]
        yield (line for line in lines if line)


def take(lines: Iterator[str], count: int) -> list[tuple[str, dict[str, object]]]:
    """The next events: their marks and data."""
    found = []
    for _ in range(count):
        mark, data = next(lines), next(lines)
        assert mark.startswith("id: ")
        assert data.startswith("data: ")
        found.append((mark[4:], json.loads(data[6:])))
    return found


def test_each_change_is_one_event_for_every_listener() -> None:
    with told(Feed("7")) as it, listening(it.server) as one, listening(it.server) as two:
        it.publish(Change("created", "m1", "Été/a\udce9\n.md", 5), change(2))
        for lines in (one, two):
            events = take(lines, 2)
            assert events[0] == (
                "7-1",
                {"type": "created", "id": "m1", "path": "Été/a\udce9\n.md", "at": 5},
            )
            assert events[1][0] == "7-2"


def test_who_comes_back_is_given_what_was_missed() -> None:
    with told(Feed("7", kept=3)) as it:
        it.publish(*(change(n) for n in range(1, 6)))
        with listening(it.server, "7-3") as lines:
            it.publish(change(6))
            assert [mark for mark, _ in take(lines, 3)] == ["7-4", "7-5", "7-6"]
        for lost in ("7-1", "6-4", "7-99", "x", "7-" + "9" * 400):
            with listening(it.server, lost) as lines:
                ((mark, data),) = take(lines, 1)
                assert (mark, data["type"], data["path"]) == ("7-6", "problem", None)
                assert "GET /notes" in str(data["message"])


def test_one_that_never_reads_holds_up_nobody_and_is_given_up() -> None:
    patience = Patience(head=20, unread=1.0, look=0.2)
    with told(Feed(waiting=90), patience) as it, socket.socket() as stalled:
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        stalled.connect(("127.0.0.1", it.server.port))
        head = f"Host: localhost\r\nConnection: close\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        stalled.sendall(f"GET /events HTTP/1.1\r\n{head}".encode())
        stalled.recv(1)
        with listening(it.server) as lines:
            for start in range(0, 150, 10):
                it.publish(*(change(n, "x" * 100_000) for n in range(start, start + 10)))
                assert [data["at"] for _, data in take(lines, 10)] == [*range(start, start + 10)]
            assert httpx2.get(f"{it.server.url}/count", headers=HEADERS, trust_env=False).is_success
        # It lost its subscription: there is an end of what it can still read.
        stalled.settimeout(30)
        while stalled.recv(65536):
            pass
        assert it.feed.streams == 0


def test_one_that_goes_away_is_forgotten() -> None:
    with told(Feed()) as it:
        with listening(it.server):
            assert it.feed.streams == 1
        deadline = threading.Event()
        for _ in range(300):
            if it.feed.streams == 0:
                break
            deadline.wait(0.05)
        assert it.feed.streams == 0


def test_the_end_of_the_daemon_is_the_end_of_the_stream() -> None:
    with told(Feed()) as it, listening(it.server) as lines:
        assert it.server.stop() < 5
        assert list(lines) == []


def test_too_many_streams_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("second_brain.server.events._MOST_STREAMS", 1)
    with told(Feed()) as it, listening(it.server):
        answer = httpx2.get(f"{it.server.url}/events", headers=HEADERS, trust_env=False)
        assert (answer.status_code, answer.json()["ok"]) == (503, False)
        assert answer.headers["retry-after"]


def test_a_quiet_stream_says_that_it_lives() -> None:
    async def listen() -> None:
        feed = Feed("1")
        with feed.subscribed() as subscription:
            assert await subscription.next(0.01) is None
            feed.publish(change(1))
            marked = await subscription.next(0.01)
            assert marked is not None
            assert marked.mark == "1-1"
            feed.close()
            with pytest.raises(Ended):
                await subscription.next(0.01)
        with feed.subscribed() as late, pytest.raises(Ended):
            await late.next(0.01)

    asyncio.run(listen())


def test_the_sign_of_life_is_a_comment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("second_brain.server.events.HEARTBEAT_SECONDS", 0.05)
    with told(Feed("1")) as it, listening(it.server) as lines:
        assert next(lines) == ": ping"


def test_whoever_asks_for_the_head_gets_no_stream() -> None:
    with told(Feed()) as it:
        url = f"{it.server.url}/events"
        answer = httpx2.head(url, headers=HEADERS, trust_env=False, timeout=20)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert httpx2.post(url, headers=HEADERS, trust_env=False).status_code == 405
        assert httpx2.get(url, trust_env=False).status_code == 401
