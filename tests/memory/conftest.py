"""One brain for each module: starting it costs more than most tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from live import Brain

from second_brain.index.embedding import Embedder


@pytest.fixture(scope="module")
def brain(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Brain]:
    """On an empty vault that the tests of a module share; nothing is watched."""
    folder = tmp_path_factory.mktemp("brain")
    with Brain(folder / "vault", folder / "data", lambda name: embedder) as brain:
        yield brain
