from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from server_fakes import SMALL, TOKEN, FakeMemories
from server_running import Running, running
from starlette.applications import Starlette
from starlette.testclient import TestClient

from second_brain.server.app import create_app


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


@pytest.fixture
def serve() -> Callable[..., object]:
    return running


@pytest.fixture
def live(app: Starlette) -> Iterator[Running]:
    with running(app) as server:
        yield server
