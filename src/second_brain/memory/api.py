"""The use cases as one protocol: what server/ and cli/ call, whoever implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from second_brain.memory.classifying import Classification
from second_brain.memory.importing import Asked, Imported, ImportedEdge, Place
from second_brain.memory.model import (
    Appended,
    Caller,
    Connection,
    Edge,
    ExportedEntry,
    Forgotten,
    Graph,
    Health,
    Likeness,
    LooseLink,
    Memory,
    NoteFile,
    NoteName,
    NoteStatus,
    RecallAnswer,
    RecallQuery,
    Remembered,
    Stats,
    Updated,
    WriteContents,
    WriteRecord,
)
from second_brain.memory.pictures import Picture
from second_brain.memory.reviewing import Decided, ReviewItem


class Memories(Protocol):
    """Every method may raise `InvalidInput`, `NoteNotFound` and the other errors of ours."""

    async def remember(
        self,
        content: str,
        *,
        tags: Sequence[str] = (),
        source: str = "api",
        title: str | None = None,
        caller: Caller = ...,
    ) -> Remembered: ...

    async def likenesses(self, content: str, title: str | None = None) -> list[Likeness]:
        """What remembering this text would find: a duplicate or similar memory, then related ones.

        Nothing is stored.
        """
        ...

    async def append(self, id: str, addition: str, *, caller: Caller = ...) -> Appended: ...

    async def update(
        self, id: str, content: str, *, base: str | None = None, caller: Caller = ...
    ) -> Updated:
        """With `base`, only where that is still the version of the memory's text."""
        ...

    async def forget(self, id: str, *, caller: Caller = ...) -> Forgotten: ...

    async def recall(self, query: RecallQuery) -> RecallAnswer: ...

    async def list_recent(
        self,
        n: int = 10,
        *,
        tag: str | None = None,
        after: int | None = None,
        before: int | None = None,
        offset: int = 0,
        kind: str | None = None,
        status: str | None = None,
    ) -> list[Memory]: ...

    async def named(self, text: str, n: int = 20) -> list[NoteName]:
        """Memories with `text` in the path of their note, in whatever case, the best first."""
        ...

    async def get(self, id: str) -> Memory: ...

    async def section(self, id: str, heading: str) -> str: ...

    async def picture(self, target: str, note: str) -> Picture:
        """The image of the vault that a link in the note at the path `note` means."""
        ...

    async def link(
        self, source_id: str, target_id: str, type: str = "relates_to", *, caller: Caller = ...
    ) -> None: ...

    async def unlink(
        self, source_id: str, target_id: str, type: str | None = None, *, caller: Caller = ...
    ) -> int: ...

    async def connections(self, id: str, type: str | None = None) -> list[Connection]: ...

    async def graph(self, seed: str | None = None, limit: int | None = None) -> Graph: ...

    async def set_status(self, id: str, status: str, *, caller: Caller = ...) -> None: ...

    async def reviews(self, n: int = 50) -> tuple[int, list[ReviewItem]]:
        """How many pairs of memories wait for a decision, and the newest of them."""
        ...

    async def loose_links(self, n: int = 100) -> tuple[int, list[LooseLink]]:
        """How many links of memories lead nowhere, and the first of them."""
        ...

    async def decide_review(
        self, n: int, decision: str, winner: str | None = None, *, caller: Caller = ...
    ) -> Decided: ...

    async def unclassified(self, n: int) -> list[Memory]:
        """Memories of the daemon's making without an importance, the newest first."""
        ...

    async def classify(self, id: str, given: Classification, *, caller: Caller = ...) -> bool:
        """Write what a memory's note lacks of kind, importance and standing."""
        ...

    async def count(self) -> int: ...

    async def tags(self) -> list[str]: ...

    async def stats(self) -> Stats: ...

    async def health(self) -> Health: ...

    async def export(self) -> tuple[list[ExportedEntry], list[Edge]]: ...

    async def notes(
        self,
        *,
        path: str | None = None,
        status: str | None = None,
        n: int = 100,
        cursor: str | None = None,
    ) -> tuple[int, str | None, list[NoteStatus]]: ...

    async def history(self, id: str | None = None, n: int = 20) -> list[WriteRecord]:
        """The last writes (of one memory), newest first; the beginning of an id is enough."""
        ...

    async def write_contents(self, n: int) -> WriteContents:
        """One write of the history with the file's bytes around it."""
        ...

    async def file(self, id: str) -> NoteFile:
        """A memory's file as it is now; the beginning of an id is enough."""
        ...

    async def undo(self, n: int, *, caller: Caller = ...) -> WriteRecord: ...

    async def reindex(self) -> None:
        """Drop the index and build it anew from the vault, in the background."""
        ...

    async def accept_deletions(self) -> list[str]:
        """The notes that are held back as missing are deleted indeed; their paths."""
        ...

    # Import

    async def import_places(self, asked: Sequence[Asked]) -> list[Place]: ...

    async def import_notes(self, entries: Sequence[Imported], *, caller: Caller = ...) -> int: ...

    async def import_edges(
        self, edges: Sequence[ImportedEdge], *, caller: Caller = ...
    ) -> None: ...
