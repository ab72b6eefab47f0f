"""Fixtures of the vault's tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from yaml_readers import NoLibrary, Obsidian, obsidian


@pytest.fixture(scope="session")
def obsidian_yaml() -> Iterator[Obsidian]:
    """The YAML library of Obsidian. Installed at the first use, for which npm must be reached."""
    try:
        with obsidian() as library:
            yield library
    except NoLibrary as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
