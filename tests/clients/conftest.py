"""One real daemon for all clients, and a home of its own for each test.

A test asks for `daemon` (a `DaemonProcess` on the example vault, with `TOKEN`), `home` (an isolated
`Home`, whose `run` starts a client by its command's name), or both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import TOKEN, DaemonProcess, copy_examples
from isolated import Home


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Iterator[DaemonProcess]:
    """A daemon on a copy of the example vault that has read its notes."""
    root = tmp_path_factory.mktemp("clients")
    vault = copy_examples(root / "vault")
    (root / "data").mkdir()
    # Where `brain mcp` looks for it, without a variable.
    (root / "data" / "token").touch(mode=0o600)
    (root / "data" / "token").write_text(TOKEN)
    process = DaemonProcess(vault, root / "data", model_dir)
    try:
        process.start()
        process.wait_scanned()
        yield process
        assert process.crashes() == ""
    finally:
        process.close()


@pytest.fixture
def own_daemon(tmp_path: Path, model_dir: Path) -> Iterator[Callable[[], DaemonProcess]]:
    """Starts a daemon of the test's own on an empty vault, for it to stop and start."""
    made: list[DaemonProcess] = []

    def start() -> DaemonProcess:
        vault, data = tmp_path / "vault", tmp_path / "data"
        vault.mkdir()
        data.mkdir()
        made.append(DaemonProcess(vault, data, model_dir))
        return made[0].start()

    try:
        yield start
        for process in made:
            assert process.crashes() == ""
    finally:
        for process in made:
            process.close()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")
