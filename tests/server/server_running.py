"""A real uvicorn server for a test."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.applications import Starlette

from second_brain.server.connections import Patience
from second_brain.server.serve import HttpServer, bind


class Running:
    """A real uvicorn server in a thread of its own."""

    def __init__(self, app: Starlette, port: int = 0, patience: Patience | None = None) -> None:
        self._socket = bind("127.0.0.1", port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._server = HttpServer(app, shutdown_seconds=2, patience=patience or Patience())
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
def running(app: Starlette, port: int = 0, patience: Patience | None = None) -> Iterator[Running]:
    server = Running(app, port, patience)
    server.start()
    try:
        yield server
    finally:
        server.stop()
