"""How many examples a property gets, where the profile's own number does not fit it.

The profiles are in conftest.py; `make nightly` runs the long one.
"""

from __future__ import annotations

import os

from hypothesis import settings

NIGHTLY = 10_000


def is_nightly() -> bool:
    return os.environ.get("HYPOTHESIS_PROFILE") == "nightly"


def examples(usual: int, nightly: int = NIGHTLY) -> settings:
    """`usual` examples in `make test`, `nightly` in `make nightly`.

    Fewer than 10,000 are for properties of which one example takes long; say why where it is used.
    """
    return settings(max_examples=nightly if is_nightly() else usual)
