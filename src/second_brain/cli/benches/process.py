"""The real daemon as a process of its own, and what the system says that it uses."""

from __future__ import annotations

import http.client
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlencode

import psutil

from second_brain.cli.benches.asking import Client
from second_brain.errors import SecondBrainError

_PATIENCE = 60.0
_LONGEST_INDEXING = 4 * 3600.0


class DaemonProcess:
    """`brain serve` on a vault; a context manager that ends it. Requests are sent one by one.

    The client is a plain socket kept open, so that what is measured is the daemon. It may be
    started again after it ended, on the same port; `flags` are those of `brain serve`, and
    `environment` its settings as variables; `prefix` is a command that runs it.
    """

    def __init__(
        self,
        vault: Path,
        data: Path,
        model_dir: Path,
        *,
        log: Path | None = None,
        prefix: tuple[str, ...] = (),
    ) -> None:
        self.vault = vault
        self.data = data
        self.log = log or data / "serve.log"
        self.flags: tuple[str, ...] = ()
        self.environment: dict[str, str] = {}
        self.spawned = 0.0
        self._prefix = prefix
        self._model_dir = model_dir
        self._token = secrets.token_urlsafe(16)
        self._port = _free_port()
        self._process: psutil.Popen | None = None
        self._client = self.client()

    # Life

    def start(self) -> DaemonProcess:
        """Spawn it; `spawned` is the moment, by `time.perf_counter`."""
        self.data.mkdir(parents=True, exist_ok=True)
        config = self.log.with_name("bench.toml")
        config.touch()
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SECOND_BRAIN_")}
        environment = {
            **kept,
            "SECOND_BRAIN_AUTH_TOKEN": self._token,
            "SECOND_BRAIN_MODEL_DIR": str(self._model_dir),
            "SECOND_BRAIN_CONFIG": str(config),
            **self.environment,
        }
        command = [sys.executable, "-m", "second_brain", "serve", "--vault", str(self.vault)]
        command += ["--port", str(self._port), "--data-dir", str(self.data)]
        with self.log.open("ab") as log:
            self.spawned = time.perf_counter()
            self._process = psutil.Popen(
                [*self._prefix, *command, *self.flags],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
            )
        return self

    def __enter__(self) -> DaemonProcess:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End it in order, whether or not it runs."""
        self._client.close()
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait()

    def kill(self) -> None:
        """End it as a power cut would: SIGKILL, where there are signals."""
        self._client.close()
        process, self._process = self._running(), None
        process.kill()
        process.wait()

    @property
    def process(self) -> psutil.Process:
        """The running process, as the system sees it."""
        return self._running()

    @property
    def port(self) -> int:
        return self._port

    @property
    def token(self) -> str:
        return self._token

    # Waiting

    def wait_serving(self) -> float:
        """Seconds from the spawn until /health was answered."""
        deadline = time.perf_counter() + _PATIENCE
        while True:
            try:
                self.get("/health")
                return time.perf_counter() - self.spawned
            except (ConnectionError, http.client.HTTPException):
                if self._running().poll() is not None or time.perf_counter() > deadline:
                    raise self._failed() from None
                time.sleep(0.01)

    def wait_ready(self, every: float = 0.5, within: float = _LONGEST_INDEXING) -> dict[str, Any]:
        """Until the model is there and nothing is left to index; the last /health."""
        self.wait_serving()
        found: dict[str, Any] = {}

        def ready() -> bool:
            nonlocal found
            found = self.get("/health")
            if found["embedding"]["state"] == "unavailable":
                raise SecondBrainError(str(found["embedding"]["notice"]))
            index = found["index"]
            idle = not index["scanning"] and index["pending"] == 0 and index["state"] == "ready"
            return bool(idle and found["embedding"]["state"] == "ready")

        self.until(ready, every=every, within=within)
        return found

    def until(
        self, check: Callable[[], bool], *, every: float = 0.02, within: float = _PATIENCE
    ) -> float:
        """Seconds until `check` was true."""
        began = time.perf_counter()
        while not check():
            if time.perf_counter() - began > within or self._running().poll() is not None:
                raise self._failed()
            time.sleep(every)
        return time.perf_counter() - began

    # Asking

    def get(self, path: str, query: Mapping[str, object] | None = None) -> Any:
        return self._ask("GET", f"{path}?{urlencode(query)}" if query else path, None, {})

    def post(self, path: str, body: object, **headers: str) -> Any:
        return self._ask("POST", path, body, headers)

    def recall(self, question: str, **query: object) -> Any:
        """The answer of /recall."""
        return self.get("/recall", {"query": question, **query})

    def initialize(self) -> None:
        """The first request of an MCP client."""
        client = {"name": "brain-bench", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        answer = self.post("/mcp", request, Accept="application/json, text/event-stream")
        assert "result" in answer, answer

    def client(self) -> Client:
        """One more client, for a thread of its own."""
        return Client(self._port, self._token, timeout=_PATIENCE)

    def _ask(self, method: str, path: str, body: object, headers: dict[str, str]) -> Any:
        answer = self._client.ask(method, path, body, headers)
        if not answer.ok:
            said = f"{method} {path} was answered {answer.status}: {str(answer.data)[:300]}"
            raise SecondBrainError(said)
        return answer.data

    # What it uses

    def cpu_seconds(self) -> float:
        times = self._running().cpu_times()
        return float(times.user + times.system)

    def rss_mb(self) -> float:
        return float(self._running().memory_info().rss) / 2**20

    def handles(self) -> int:
        """Open files, sockets and whatever else the system counts with them."""
        process = self._running()
        return int(process.num_fds() if os.name == "posix" else process.num_handles())

    def _running(self) -> psutil.Popen:
        assert self._process is not None
        return self._process

    def _failed(self) -> SecondBrainError:
        said = self.log.read_text(encoding="utf-8", errors="replace")[-2000:]
        return SecondBrainError(f"The daemon ended or did not get ready. It said:\n{said}")


def disk_use(folder: Path) -> tuple[int, float]:
    """How many files are below a folder, and their megabytes."""
    files, size = 0, 0
    for file in folder.rglob("*"):
        try:
            if file.is_file():
                files, size = files + 1, size + file.stat().st_size
        except FileNotFoundError:
            continue  # cleaned up meanwhile
    return files, size / 2**20


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
