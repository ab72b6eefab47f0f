from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from server_fakes import TOKEN, FakeMemories
from starlette.applications import Starlette
from starlette.testclient import TestClient

from second_brain.server.app import create_app
from second_brain.server.body import Limits
from second_brain.server.serve import HttpServer, bind

SMALL = Limits(body_bytes=20_000, body_seconds=1.0)


@pytest.fixture
def memories() -> FakeMemories:
    return FakeMemories()


@pytest.fixture
def app(memories: FakeMemories) -> Starlette:
    return create_app(memories, token=TOKEN, limits=SMALL)


@pytest.fixture
def anonymous(app: Starlette) -> Iterator[TestClient]:
    """A client without a token, at a host that the server knows."""
    base = "http://127.0.0.1:8787"
    with TestClient(app, base_url=base, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def client(anonymous: TestClient) -> TestClient:
    anonymous.headers["Authorization"] = f"Bearer {TOKEN}"
    return anonymous


class Running:
    """A real uvicorn server in a thread of its own."""

    def __init__(self, app: Starlette, port: int = 0) -> None:
        self._socket = bind("127.0.0.1", port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._server = HttpServer(app, shutdown_seconds=2)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    def start(self) -> None:
        self._thread.start()
        deadline = time.monotonic() + 10
        while not self._server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self._server.started

    def stop(self) -> float:
        """Stop and return how many seconds that took."""
        began = time.monotonic()
        self._server.stop()
        self._thread.join(10)
        assert not self._thread.is_alive()
        return time.monotonic() - began


@contextmanager
def running(app: Starlette, port: int = 0) -> Iterator[Running]:
    server = Running(app, port)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def serve() -> Callable[..., object]:
    return running


@pytest.fixture
def live(app: Starlette) -> Iterator[Running]:
    with running(app) as server:
        yield server
