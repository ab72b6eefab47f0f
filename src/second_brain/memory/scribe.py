"""Writes notes on behalf of a caller: one write of a note at a time, kept in the history first.

Every write goes through here. The bytes before it are on disk in the history before the vault is
touched; when a method returns, the file is synced and catalogue and index know it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from weakref import WeakValueDictionary

from second_brain.errors import (
    EditRefused,
    IndexUnavailable,
    NoteNotFound,
    Stopping,
    WriteNotFound,
)
from second_brain.index.rows import NoteRow
from second_brain.index.state import State, WriteContents, WriteRow
from second_brain.memory import undoing
from second_brain.memory.model import Caller
from second_brain.sync.engine import Engine
from second_brain.vault.files import VaultFiles, digest
from second_brain.vault.names import free_path, safe_name
from second_brain.vault.note import note_source, parse_note
from second_brain.vault.rules import conflict_copy

log = logging.getLogger(__name__)

Change = Callable[[bytes], bytes]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settling:
    """How long a note must have been left alone before it is written to, and the patience for it.

    All in seconds: `user` for a note that the user wrote, `own` for one that the daemon created.
    """

    user: float = 10.0
    own: float = 2.0
    patience: float = 30.0


@dataclass(frozen=True, slots=True)
class NewNote:
    """A note to create. `path` is where it shall lie, `summary` its line in the history."""

    id: str
    path: str
    data: bytes
    summary: str


class Scribe:
    """Writes for callers. `clock_ms` is Unix milliseconds."""

    def __init__(
        self,
        files: VaultFiles,
        state: State,
        engine: Engine,
        *,
        clock_ms: Callable[[], int],
        settling: Settling | None = None,
    ) -> None:
        self._files = files
        self._state = state
        self._engine = engine
        self._clock_ms = clock_ms
        self._settling = settling or Settling()
        self._stopping = asyncio.Event()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def stop_waiting(self) -> None:
        """From now on no write waits for its note to settle: Stopping is raised instead."""
        self._stopping.set()

    def row(self, id: str) -> NoteRow:
        """The memory with this id. Raises NoteNotFound, or IndexUnavailable while it may yet be."""
        row = self._engine.catalog.by_id(id)
        if row is None:
            self._engine.catalog.require_complete()
        if row is None or not row.is_memory:
            raise NoteNotFound(id)
        return row

    def chunks_of(self, id: str) -> int:
        """How many passages of a note are indexed; 0 if it is no memory (any more)."""
        row = self._engine.catalog.by_id(id)
        return row.chunks if row is not None and row.is_memory else 0

    async def create(
        self, folder: str, title: str, data: bytes, *, id: str, caller: Caller, summary: str
    ) -> str:
        """Create a note named after `title` in `folder`; its path."""

        def write() -> str:
            name = self._name(folder, title, id)
            while True:
                path = free_path(folder, name, self._files.taken)
                if self._create(NewNote(id, path, data, summary), caller):
                    return path

        path = await asyncio.to_thread(write)
        await self._take_in([path])
        return path

    async def create_all(self, notes: Sequence[NewNote], *, caller: Caller) -> None:
        """Create many notes, each at its path, or beside it if that is taken by now."""

        paths = await asyncio.to_thread(lambda: [self._create_near(n, caller) for n in notes])
        if paths:
            await self._take_in(paths)

    def free(self, folder: str, name: str, id: str) -> str:
        """A path of this name for a new note; where it is taken, always the same other one."""
        name = self._name(folder, name, id)
        path = f"{folder}/{name}.md"
        return path if not self._files.taken(path) else f"{folder}/{name} {id[:8]}.md"

    async def edit(self, id: str, change: Change, *, caller: Caller, summary: str) -> bool:
        """Apply `change` to a memory's bytes; whether that changed anything.

        Waits until the note has been left alone for a while. Raises NoteNotFound, EditRefused,
        NoteChanged if somebody goes on writing, WriteFailed, VaultOffline.
        """
        async with self._lock(id):
            patience = await self._settled(self.row(id).path)
            row = self.row(id)
            changed = await asyncio.to_thread(
                self._edit,
                id,
                row.path,
                change,
                caller=caller,
                summary=summary,
                patience=patience,
            )
            if changed:
                await self._take_in([row.path])
            return changed

    async def trash(self, id: str, *, caller: Caller, summary: str) -> str:
        """Move a memory's note to the vault's trash; where it lies now."""
        async with self._lock(id):
            row = self.row(id)

            def move() -> str:
                try:
                    before = self._files.read(row.path).data
                    n = self._begin(id, row.path, caller, summary, before=before, after=None)
                    trashed = self._attempt(n, lambda: self._files.trash(row.path))
                except FileNotFoundError:
                    raise NoteNotFound(id) from None
                self._state.finish_write(n, after=None, after_hash=None, trash_path=trashed)
                return trashed

            trashed = await asyncio.to_thread(move)
            await self._engine.drop([row.path])
            return trashed

    async def undo(self, n: int, *, caller: Caller) -> WriteContents:
        """Take one write back: what it made goes, what it took away comes back, and no more.

        A file that was changed since is merged where the two changes are apart; NoteChanged if
        they are not, saying what to do. EditRefused for a write that is undone already,
        WriteNotFound for an unknown one. The undoing is a write of its own in the history.
        """
        contents = await asyncio.to_thread(self._undoable, n)
        async with self._lock(contents.row.id):
            path = self._place(contents.row)
            patience = await self._settled(path)
            contents, path = self._undoable(n), self._place(contents.row)
            await asyncio.to_thread(self._undo, contents, path, caller, patience)
            await self._take_in([path])
            await self._engine.drop([path])
        return contents

    def recover(self) -> None:
        """Decide on writes that a crash left unfinished, by what is in the vault."""
        for write in self._state.pending_writes():
            contents = self._state.contents(write.n)
            done = contents is not None and self._is_done(contents)
            if done and contents is not None:
                self._state.finish_write(write.n, after=contents.after, after_hash=write.after_hash)
            else:
                self._state.abandon_write(write.n)

    # In a worker thread

    def _create(self, note: NewNote, caller: Caller) -> bool:
        """Whether the path was free."""
        n = self._begin(note.id, note.path, caller, note.summary, before=None, after=note.data)
        try:
            self._files.create(note.path, note.data)
        except FileExistsError:
            self._state.abandon_write(n)
            return False
        except BaseException:
            self._state.abandon_write(n)
            raise
        self._state.finish_write(n, after=note.data, after_hash=digest(note.data))
        return True

    def _create_near(self, note: NewNote, caller: Caller) -> str:
        folder, _, name = note.path.removesuffix(".md").rpartition("/")
        while not self._create(note, caller):
            note = replace(note, path=free_path(folder, name, self._files.taken))
        return note.path

    def _name(self, folder: str, title: str, id: str) -> str:
        """The file's name; not one by which the rules would keep the note out."""
        name = safe_name(title)
        path = f"{folder}/{name}.md"
        kept_out = self._engine.rule.path_reason(path) or conflict_copy(path, self._files.taken)
        return f"Memory {id[:8]}" if kept_out else name

    def _edit(
        self,
        id: str,
        path: str,
        change: Change,
        *,
        caller: Caller,
        summary: str,
        patience: float,
    ) -> bool:
        begun: list[int] = []

        def journalled(data: bytes) -> bytes:
            while begun:
                self._state.abandon_write(begun.pop())
            try:
                after = change(data)
            except EditRefused as error:
                raise EditRefused(path, error.reason) from None
            if after != data:
                begun.append(self._begin(id, path, caller, summary, before=data, after=after))
            return after

        try:
            edited = self._files.edit(path, journalled, quiet=self._quiet(path), deadline=patience)
        except BaseException as error:
            while begun:
                self._state.abandon_write(begun.pop())
            if isinstance(error, FileNotFoundError):
                raise NoteNotFound(id) from None
            raise
        if edited.changed:
            after = edited.after
            self._state.finish_write(begun[-1], after=after, after_hash=digest(after))
        return edited.changed

    def _quiet(self, path: str) -> float:
        own = note_source(parse_note(path, self._files.read(path).data)) is not None
        return self._settling.own if own else self._settling.user

    def _rest(self, path: str) -> float:
        try:
            return self._files.rest(path, self._quiet(path))
        except FileNotFoundError:
            return 0.0

    def _undoable(self, n: int) -> WriteContents:
        contents = self._state.contents(n)
        if contents is None or contents.row.state == "pending":
            raise WriteNotFound(n)
        if contents.row.state == "undone":
            raise EditRefused(contents.row.path, f"write {n} is already undone")
        return contents

    def _place(self, write: WriteRow) -> str:
        """Where the note of a write is now, or was when it was last seen."""
        row = self._engine.catalog.by_id(write.id)
        if row is not None:
            return row.path
        other = self._engine.catalog.by_path(write.path)
        if other is not None and other.missing_since is None:
            raise undoing.place_taken(write.path)
        return write.path

    def _undo(self, contents: WriteContents, path: str, caller: Caller, patience: float) -> None:
        write = contents.row
        summary = f"undo of {write.n}: {write.summary}"
        if contents.before is not None and contents.after is not None:
            change = undoing.taking_back(contents, path)
            try:
                self._edit(
                    write.id, path, change, caller=caller, summary=summary, patience=patience
                )
            except NoteNotFound:
                raise undoing.gone(contents, path) from None
        else:
            self._undo_whole(contents, path, caller, summary)
        self._state.mark_undone(write.n)

    def _undo_whole(self, contents: WriteContents, path: str, caller: Caller, summary: str) -> None:
        """Take back a write that made the file, or moved it to the trash."""
        write, before = contents.row, contents.before
        try:
            now: bytes | None = self._files.read(path).data
        except FileNotFoundError:
            now = None
        undoing.require_unchanged(contents, path, now)
        n = self._begin(write.id, path, caller, summary, before=now, after=before)
        trashed: str | None = None
        if before is None:
            trashed = self._attempt(n, lambda: self._files.trash(path))
        else:
            self._attempt(n, lambda: self._restore(write.trash_path, path, before))
        self._state.finish_write(
            n,
            after=before,
            after_hash=digest(before) if before is not None else None,
            trash_path=trashed,
        )

    def _restore(self, trashed: str | None, path: str, data: bytes) -> None:
        """Bring a note back out of the trash, or write it anew if the trash was emptied."""
        if trashed is not None:
            try:
                if self._files.read(trashed).data == data:
                    self._files.restore(trashed, path)
                    return
            except FileNotFoundError:
                pass
        self._files.create(path, data)

    def _begin(
        self,
        id: str,
        path: str,
        caller: Caller,
        summary: str,
        *,
        before: bytes | None,
        after: bytes | None,
    ) -> int:
        return self._state.begin_write(
            id=id,
            path=path,
            at=self._clock_ms(),
            client=caller.client,
            tool=caller.tool,
            summary=summary,
            before=before,
            after=after,
            after_hash=digest(after) if after is not None else None,
        )

    def _attempt(self, n: int, act: Callable[[], T]) -> T:
        try:
            return act()
        except BaseException:
            self._state.abandon_write(n)
            raise

    def _is_done(self, contents: WriteContents) -> bool:
        try:
            return self._files.read(contents.row.path).data == contents.after
        except FileNotFoundError:
            return contents.after is None

    # On the loop

    async def _settled(self, path: str) -> float:
        """Wait while a note was touched moments ago; the seconds of patience that are left.

        Raises Stopping.

        Here and not in a worker thread: those are few, and everybody else needs them.
        """
        left = self._settling.patience
        while 0 < (rest := await asyncio.to_thread(self._rest, path)) <= left:
            try:
                async with asyncio.timeout(rest):
                    await self._stopping.wait()
                raise Stopping
            except TimeoutError:
                left -= rest
        return left

    def _lock(self, id: str) -> asyncio.Lock:
        return self._locks.setdefault(id, asyncio.Lock())

    async def _take_in(self, paths: list[str]) -> None:
        """Index what was written. The vault has it: an index that fails now only lags behind."""
        try:
            await self._engine.take_in(paths, urgent=True, finished=True)
        except IndexUnavailable as error:
            log.warning("%s is written, but not searchable yet: %s", paths[0], error)
