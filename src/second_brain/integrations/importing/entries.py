"""What a source is read into: entries and relations, checked whole before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from second_brain.errors import SecondBrainError
from second_brain.memory.describe import text_key
from second_brain.vault.names import safe_name, title_of


class ImportRefused(SecondBrainError):
    """A source that cannot be imported; the message says where it is wrong."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory of a source. `created` is Unix milliseconds, None where nothing tells it."""

    id: str
    content: str
    title: str = ""
    tags: tuple[str, ...] = ()
    source: str = "import"
    created: int | None = None
    kind: str | None = None
    status: str | None = None
    importance: int | None = None
    recall_count: int = 0
    contradiction_wins: int = 0
    contradiction_losses: int = 0

    @property
    def name(self) -> str:
        """What its note is called."""
        return safe_name(self.title or title_of(self.content))

    @property
    def key(self) -> str:
        """Equal for two entries that say the same."""
        return text_key(self.content)

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "tags": list(self.tags)}


@dataclass(frozen=True, slots=True)
class Relation:
    """`source` and `target` are ids of entries. `created` is Unix milliseconds; `inferred`: found
    by a program, not stated by anybody."""

    source: str
    target: str
    type: str
    created: int | None = None
    weight: float | None = None
    inferred: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """A whole source. `left_out`: sentences on what it holds and the brain cannot take over."""

    entries: tuple[Entry, ...]
    relations: tuple[Relation, ...] = ()
    left_out: tuple[str, ...] = ()


def names(entries: tuple[Entry, ...]) -> Mapping[str, str]:
    """A note's name for each id, no two alike on a disk that ignores case."""
    found: dict[str, str] = {}
    used: set[str] = set()
    for entry in entries:
        name = entry.name
        if name.casefold() in used:
            name = f"{name} {entry.id[:8]}"
        if name.casefold() in used:
            name = safe_name(f"{entry.name} {entry.id}")
        used.add(name.casefold())
        found[entry.id] = name
    return found
