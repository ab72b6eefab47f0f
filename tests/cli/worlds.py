"""A vault to run commands on, with a daemon beside them or without."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click.testing

from second_brain.cli.main import main
from second_brain.cli.reach import reached
from second_brain.config import Settings, load_settings
from second_brain.instance import running_daemon, vault_folder


@dataclass(frozen=True)
class World:
    """A vault and where its data lies."""

    vault: Path
    data: Path
    models: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "SECOND_BRAIN_VAULT": str(self.vault),
            "SECOND_BRAIN_DATA_DIR": str(self.data),
            "SECOND_BRAIN_MODEL_DIR": str(self.models),
        }

    @property
    def settings(self) -> Settings:
        return load_settings(environ=self.environment)

    def run(self, *arguments: str, input: str | None = None) -> click.testing.Result:
        """`brain` with arguments and this world's settings, in this process, all of it piped."""
        return click.testing.CliRunner().invoke(
            main, arguments, prog_name="brain", env=self.environment, input=input
        )

    def ask(self, method: str, path: str, **values: Any) -> Any:
        with reached(self.settings) as brain:
            return brain.get(path, **values) if method == "GET" else brain.post(path, **values)

    def write(self, path: str, data: bytes) -> Path:
        """A note that was left alone long ago."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        os.utime(file, (1_700_000_000, 1_700_000_000))
        return file


@contextmanager
def serving(world: World) -> Iterator[None]:
    """With the daemon running, ready and its vault read."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    daemon = subprocess.Popen(
        [sys.executable, "-m", "second_brain", "serve", "--port", str(port)],
        env={**os.environ, **world.environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while not _is_ready(world):
            assert daemon.poll() is None, "the daemon ended"
            assert time.monotonic() < deadline, "the daemon is not ready"
            time.sleep(0.1)
        yield
    finally:
        daemon.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.wait(30)
        daemon.kill()


def _is_ready(world: World) -> bool:
    if running_daemon(vault_folder(world.settings)) is None:
        return False
    health = world.ask("GET", "/health")
    index = health["index"]
    return bool(health["ok"] and health["embedding"]["ok"] and not index["scanning"])
