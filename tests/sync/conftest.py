"""Brains in temporary folders for the tests of sync."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from brains import Brain


@pytest.fixture
def make_brain(tmp_path: Path) -> Callable[..., Brain]:
    """Makes a brain on the vault of this test, with `watch=True` if it is to watch it."""

    def make(data: str = "data", **options: Any) -> Brain:
        return Brain(tmp_path / "vault", tmp_path / data, **options)

    return make


@pytest.fixture
def brain(make_brain: Callable[..., Brain]) -> Brain:
    """A brain that only sees what a scan finds."""
    return make_brain()
