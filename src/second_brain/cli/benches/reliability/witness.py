"""Looks at a daemon's /health all the while, so that it is known what a kill struck."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable
from typing import Any

from second_brain.cli.benches.asking import Client
from second_brain.errors import SecondBrainError

_EVERY = 0.03
_PATIENCE = 120.0


class Witness(threading.Thread):
    """`last` is what /health said last; None until it answers, and for ever if nobody does."""

    def __init__(self, client: Client) -> None:
        super().__init__(name="witness", daemon=True)
        self._client = client
        self._stopped = threading.Event()
        self.last: dict[str, Any] | None = None

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        while not self._stopped.wait(_EVERY):
            try:
                answer = self._client.ask("GET", "/health")
            except (OSError, http.client.HTTPException):
                continue
            if answer.ok:
                self.last = answer.data
        self._client.close()

    def wait(self, check: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first report for which `check` is true."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            seen = self.last
            if seen is not None and "writer" in seen["index"] and check(seen):
                return seen
            time.sleep(_EVERY / 3)
        raise SecondBrainError(f"What was waited for did not come; /health said: {self.last}")
