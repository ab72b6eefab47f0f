"""Daemons as processes: one for each module that shares it, others where a restart is the point."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import DaemonProcess, MakeDaemon, copy_examples, serving_examples


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Iterator[DaemonProcess]:
    """A daemon on a copy of the example vault, ready; the tests of a module share it."""
    with serving_examples(tmp_path_factory.mktemp("daemon"), model_dir) as process:
        yield process


@pytest.fixture
def make_daemon(tmp_path: Path, model_dir: Path) -> Iterator[MakeDaemon]:
    """Makes daemons of one's own, not started; `vault` is a folder, or a copy of the examples."""
    made: list[DaemonProcess] = []

    def make(vault: Path | None = None, *flags: str, **options: object) -> DaemonProcess:
        root = tmp_path / f"daemon-{len(made)}"
        (root / "data").mkdir(parents=True)
        chosen = vault or copy_examples(root / "vault")
        process = DaemonProcess(chosen, root / "data", model_dir, *flags, **options)  # type: ignore[arg-type]
        made.append(process)
        return process

    try:
        yield make
        for process in made:
            assert process.crashes() == ""
    finally:
        for process in made:
            process.close()
