from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from oauth_world import World


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    made: list[World] = []

    def make(**options: Any) -> World:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(World(folder, **options))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    return make_world()
