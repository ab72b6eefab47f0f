"""What is said of a setting beside its type and default, in the metadata of its field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def about(
    help: str,
    *,
    env: str | None = None,
    flag: str | None = None,
    minimum: int | None = None,
    maximum: int | None = None,
    check: Callable[[Any], str | None] | None = None,
    secret: bool = False,
    shown_default: str | None = None,
) -> dict[str, Any]:
    """A field's metadata. `env` is the name after SECOND_BRAIN_ where it is not the key's own."""
    return {
        "help": help,
        "env": env,
        "flag": flag,
        "minimum": minimum,
        "maximum": maximum,
        "check": check,
        "secret": secret,
        "shown_default": shown_default,
    }
