"""Reads the history of writes, and files as they are now, for whoever looks something up by id."""

from __future__ import annotations

from second_brain.errors import InvalidInput, NoteNotFound, WriteNotFound
from second_brain.index.catalog import Catalog
from second_brain.index.state import State, WriteRow
from second_brain.memory.model import NoteFile, WriteContents, WriteRecord
from second_brain.vault.files import VaultFiles

_NAMED = 5


class Chronicle:
    """Blocking reads: call them in a worker thread. The beginning of an id is enough everywhere."""

    def __init__(self, catalog: Catalog, state: State, files: VaultFiles) -> None:
        self._catalog = catalog
        self._state = state
        self._files = files

    def history(self, id: str | None, n: int) -> list[WriteRecord]:
        """The last `n` writes (of one memory), newest first. InvalidInput for an unclear id."""
        rows = self._state.history(self.whole_id(id) if id is not None else None, n)
        return [record(row, None, undone=row.state == "undone") for row in rows]

    def contents(self, n: int) -> WriteContents:
        """One write with the bytes around it. WriteNotFound if it is not in the history."""
        found = self._state.contents(n)
        if found is None or found.row.state == "pending":
            raise WriteNotFound(n)
        write = record(found.row, None, undone=found.row.state == "undone")
        return WriteContents(write, found.before, found.after)

    def file(self, id: str) -> NoteFile:
        """A memory's file as it is now. Raises NoteNotFound, ReadFailed, VaultOffline."""
        whole = self.whole_id(id)
        row = self._catalog.by_id(whole)
        if row is None or not row.is_memory:
            raise NoteNotFound(id)
        try:
            return NoteFile(whole, row.path, self._files.read(row.path).data)
        except FileNotFoundError:
            raise NoteNotFound(id) from None

    def whole_id(self, id: str) -> str:
        """The id that is `id` or the only one to begin so; `id` itself if there is none.

        Raises InvalidInput for the beginning of several.
        """
        few = _NAMED + 1
        found = {*self._catalog.ids_from(id, few), *self._state.ids_from(id, few)}
        if id in found or not found:
            return id
        if len(found) > 1:
            names = sorted(found)
            listed = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
            raise InvalidInput("id", f"Several ids begin with {id}: {listed}")
        return found.pop()


def record(row: WriteRow, path: str | None, *, undone: bool) -> WriteRecord:
    """A write as callers see it; `path` is where its note is, if it is not where it was."""
    return WriteRecord(
        n=row.n,
        id=row.id,
        path=path or row.path,
        at=row.at,
        client=row.client,
        tool=row.tool,
        summary=row.summary,
        undone=undone,
    )
