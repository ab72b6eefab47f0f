"""A home of one's own for each test, and commands run in it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import click.testing
import pytest

from second_brain.cli.main import main

Brain = Callable[..., click.testing.Result]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith("SECOND_BRAIN_"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    for name, part in (("HOME", ""), ("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data")):
        monkeypatch.setenv(name, str(home / part))
    return home


@pytest.fixture(autouse=True)
def log() -> Iterator[None]:
    """A command run in this process sets up the process's log; afterwards it is as before."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    for handler in [h for h in root.handlers if h not in handlers]:
        root.removeHandler(handler)
    logging.captureWarnings(False)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "My Vault"
    vault.mkdir()
    return vault


@pytest.fixture
def brain() -> Brain:
    """`brain` with arguments, in this process; standard output and error apart."""

    def run(*arguments: str) -> click.testing.Result:
        return click.testing.CliRunner().invoke(main, arguments, prog_name="brain")

    return run
