"""What sync tells the rest of the program: changes of notes, and what a note is described by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ChangeType = Literal["created", "updated", "deleted", "renamed", "problem"]


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a note that has been taken in. `at` is Unix milliseconds."""

    type: ChangeType
    id: str
    path: str
    at: int


@dataclass(frozen=True, slots=True)
class Facets:
    """What a search filters by and a ranking weighs, as the domain reads it from a note.

    `text_key` is equal for two notes that say the same in the same words.
    """

    tags: tuple[str, ...] = ()
    kind: str | None = None
    status: str | None = None
    importance: int | None = None
    source: str = ""
    text_key: str = ""
