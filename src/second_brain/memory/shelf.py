"""Reads memories: a catalogue row and its file become a `Memory`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import cast
from urllib.parse import quote

from second_brain.errors import NoteNotFound, SecondBrainError
from second_brain.index.catalog import Catalog
from second_brain.index.rows import NoteRow
from second_brain.memory.model import Kind, Memory, Status
from second_brain.vault.files import VaultFiles
from second_brain.vault.frontmatter import split
from second_brain.vault.markdown import scan
from second_brain.vault.model import Heading
from second_brain.vault.note import note_source, parse_note


class Shelf:
    """Blocking reads: call them in a worker thread."""

    def __init__(self, files: VaultFiles, catalog: Catalog, vault_name: str) -> None:
        self._files = files
        self._catalog = catalog
        self._vault = vault_name

    def row(self, id: str) -> NoteRow:
        """The memory's row. Raises NoteNotFound, or IndexUnavailable while it may yet be."""
        row = self._catalog.by_id(id)
        if row is None:
            self._catalog.require_complete()
        if row is None or not row.is_memory:
            raise NoteNotFound(id)
        return row

    def memory(self, id: str) -> Memory:
        """The memory with its whole text. Raises NoteNotFound, VaultOffline, ReadFailed."""
        row = self.row(id)
        try:
            return self.filled(row, self.body(row))
        except FileNotFoundError:
            raise NoteNotFound(id) from None

    def memories(self, rows: Iterable[NoteRow]) -> list[Memory]:
        """Memories with their texts; one whose file cannot be read just now has an empty one."""
        return [self.filled(row, self.text(row)) for row in rows]

    def body(self, row: NoteRow) -> str:
        """The note's text, without its frontmatter, as it is in the file now."""
        return split(self._files.read(row.path).data).body.decode("utf-8", "replace")

    def text(self, row: NoteRow, instead: str = "") -> str:
        """The note's text, or `instead` while the file cannot be read."""
        try:
            return self.body(row)
        except (FileNotFoundError, SecondBrainError):
            return instead

    def source(self, row: NoteRow) -> str | None:
        """Through whom the daemon created the note; None for a user's own, or an unreadable one."""
        try:
            return note_source(parse_note(row.path, self._files.read(row.path).data))
        except (FileNotFoundError, SecondBrainError):
            return None

    def is_ours(self, row: NoteRow) -> bool:
        """Whether the daemon created the note; False while it cannot be read."""
        return self.source(row) is not None

    def section(self, id: str, heading: str) -> str:
        """The part of a memory under a heading, up to the next one of its level.

        `heading` is its text, or a path of them (`Plan > Costs`), compared without case. Raises
        NoteNotFound if the memory or the heading is not there.
        """
        body = self.body(self.row(id))
        marks = scan(body).headings
        place = find_heading(marks, heading)
        if place is None:
            raise NoteNotFound(f"{id}#{heading}")
        mark = marks[place]
        end = next((m.start for m in marks[place + 1 :] if m.level <= mark.level), len(body))
        return body[mark.start : end]

    def filled(self, row: NoteRow, content: str) -> Memory:
        """A row as a memory with this text."""
        return Memory(
            id=row.id,
            path=row.path,
            title=row.title,
            content=content,
            tags=row.tags,
            source=row.source,
            created_at=row.created,
            updated_at=row.modified,
            kind=cast("Kind | None", row.kind),
            status=cast("Status | None", row.memory_status),
            importance=row.importance,
            chunk_ids=row.chunk_ids,
            url=self.url(row.path),
        )

    def url(self, path: str) -> str:
        """The link that opens a note of this vault in Obsidian."""
        return obsidian_url(self._vault, path)


@lru_cache(maxsize=4_096)
def obsidian_url(vault: str, path: str) -> str:
    """The link that opens a note in Obsidian."""
    file = path[:-3] if path[-3:].casefold() == ".md" else path
    return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(file, safe='')}"


def find_heading(marks: tuple[Heading, ...], wanted: str) -> int | None:
    """Which heading `wanted` names: its text, or a path of texts joined by ` > ` or `#`."""
    parts = [part.strip().casefold() for part in wanted.replace("#", ">").split(">")]
    parts = [part for part in parts if part]
    above: list[Heading] = []
    for place, mark in enumerate(marks):
        above = [*(m for m in above if m.level < mark.level), mark]
        names = [m.text.casefold() for m in above]
        if parts and names[-1] == parts[-1] and _in_order(parts[:-1], names[:-1]):
            return place
    return None


def _in_order(parts: list[str], names: list[str]) -> bool:
    rest = iter(names)
    return all(part in rest for part in parts)
