"""The vault's files on the disk: read, create, replace, edit, trash. The only writer of the vault.

Every write is atomic (a temporary dot-file beside the target, synced, renamed over it, the folder
synced) and compare-and-swap: what somebody else wrote meanwhile is never overwritten. All calls
block; the caller runs them in threads. Paths are vault-relative with `/`, spelled as on the disk.
"""

from __future__ import annotations

import contextlib
import os
import stat as st
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Lock

from second_brain.errors import (
    InvalidInput,
    NoteChanged,
    ReadFailed,
    WriteFailed,
)
from second_brain.vault import atomic
from second_brain.vault.names import free_path, path_key
from second_brain.vault.paths import TRASH, checked
from second_brain.vault.root import VaultRoot
from second_brain.vault.stamps import (
    IN_THE_CLOUD,
    FileStamp,
    digest,
    is_placeholder,
    placeholder_name,
    stamp_of,
)

__all__ = ["Edited", "FileRead", "FileStamp", "VaultFiles", "digest"]

_REMEMBERED_WRITES = 4096
_LATE_SECONDS = 0.05
"""How long a file that was replaced is watched for somebody who had it open: an append that opens,
writes and closes is over by then, on a busy machine too."""


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file's bytes and the stamp they had."""

    data: bytes
    stamp: FileStamp


@dataclass(frozen=True, slots=True)
class Edited:
    """What `VaultFiles.edit` did. `before == after`: nothing had to be written."""

    before: bytes
    after: bytes
    stamp: FileStamp

    @property
    def changed(self) -> bool:
        return self.before != self.after


class VaultFiles:
    """The files below `root`.

    Errors of every method: InvalidInput (a path that leaves the vault), VaultOffline (the root is
    gone, or another folder stands in its place), FileNotFoundError (only this file is gone),
    ReadFailed, WriteFailed (the old file is intact). VaultOffline from the constructor too.
    """

    def __init__(self, root: Path) -> None:
        self._place = VaultRoot(root)
        self.root = self._place.path
        self.mark: str | None = None
        """By which temporary files of this installation are known again, from `new_mark`."""
        self._swap = Lock()
        # How this process left each file: such a file has no editor that must be waited for.
        self._left: OrderedDict[str, FileStamp] = OrderedDict()

    def online(self) -> bool:
        """Whether the root is there and still is the folder that was opened."""
        return self._place.online()

    def accept_root(self) -> None:
        """Takes the folder that is at the root now for the vault (after a remount, for example)."""
        self._place.accept()

    def stamp(self, path: str) -> FileStamp | None:
        """The stamp of the file as it is now; None if there is no such file."""
        try:
            found = self._place.locate(path, write=False).stat()
        except (FileNotFoundError, NotADirectoryError):
            self._place.require()
            return None
        except OSError as error:
            raise ReadFailed(path, atomic.reason(error)) from error
        return stamp_of(found) if st.S_ISREG(found.st_mode) else None

    def in_the_cloud(self, path: str) -> bool:
        """Whether a cloud client has taken the content away and left a placeholder: no deletion.

        That is the file itself, without its blocks, or in older iCloud a hidden one beside it.
        """
        real = self._place.locate(path, write=False)
        try:
            return is_placeholder(real.stat())
        except OSError:
            return os.path.lexists(real.with_name(placeholder_name(real.name)))

    def read(self, path: str) -> FileRead:
        """The whole file. Never waits for a cloud client, a pipe or a device."""
        real = self._place.locate(path, write=False)
        handle = self._open(path, real)
        try:
            return self._read_handle(path, handle)
        finally:
            os.close(handle)

    def taken(self, path: str) -> bool:
        """Whether some file has this path on a disk that ignores case and composition."""
        checked(path, write=False)
        folder, _, name = path.rpartition("/")
        key = path_key(name)
        where = self._place.locate(folder, write=False) if folder else self.root
        try:
            if os.path.lexists(where / name):
                return True
            with os.scandir(where) as entries:
                return any(path_key(entry.name) == key for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            self._place.require()
            return False
        except OSError as error:
            raise ReadFailed(folder or "The vault", atomic.reason(error)) from error

    def create(self, path: str, data: bytes) -> FileStamp:
        """Writes a new file and the folders it needs. FileExistsError if the path is taken."""
        real = self._place.locate(path, write=True)
        with self._writing(path):
            self._make_folders(path, real)
            return self._wrote(path, atomic.create(real, data, mark=self.mark))

    def replace(self, path: str, data: bytes, expected: FileRead | FileStamp | str) -> FileStamp:
        """Writes `data` over the file if it still is what `expected` says.

        `expected` is what was read, its stamp, or the digest of its bytes. NoteChanged if the
        file is another one by now; it is not touched then.
        """
        real = self._place.locate(path, write=True)
        old = self._open(path, real)
        try:
            if not os.access(real, os.W_OK):
                raise WriteFailed(path, "the file is read-only")
            before = self._read_handle(path, old)
            if not _matches(before, expected):
                raise NoteChanged(path)
            like = os.fstat(old)
            with self._writing(path), self._prepared(real, data, like) as new:
                with self._swap:
                    if self.stamp(path) != before.stamp:
                        raise NoteChanged(path)
                    new.take_the_place_of(real)
                # Who had opened the old file before the swap writes to a file without a name, now
                # or in a moment.
                late = self._read_handle(path, old)
                if late.data == before.data:
                    time.sleep(_LATE_SECONDS)
                    late = self._read_handle(path, old)
                if late.data == before.data:
                    return self._wrote(path, new.stamp)
                if self._put_back(path, real, late.data, new.stamp):
                    raise NoteChanged(path)
            return self._rescue(path, before.data, late.data)
        finally:
            os.close(old)

    def edit(
        self,
        path: str,
        change: Callable[[bytes], bytes],
        *,
        quiet: float,
        deadline: float,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Edited:
        """Reads the file, applies `change`, writes the result; again if somebody wrote meanwhile.

        A file that somebody else touched less than `quiet` seconds ago is given time first: an
        editor may hold newer text, or be half-way through a save. NoteChanged if `deadline`
        seconds are over before the write could be made. What `change` raises is passed on.
        """
        started = clock()
        seen: FileStamp | None = None
        since = started
        while True:
            found = self.read(path)
            now = clock()
            if found.stamp != seen:
                seen, since = found.stamp, now
            rest = 0.0 if self._left.get(path) == found.stamp else quiet - _age(found, since, now)
            left = deadline - (now - started)
            if rest > max(left, 0.0):
                raise NoteChanged(path)
            if rest > 0:
                sleep(rest)
                continue
            after = change(found.data)
            if after == found.data:
                return Edited(found.data, after, found.stamp)
            try:
                return Edited(found.data, after, self.replace(path, after, found))
            except NoteChanged:
                if left <= 0:
                    raise

    def rest(self, path: str, quiet: float, now: float | None = None) -> float:
        """Seconds until a file will have been left alone for `quiet` seconds, by its own time.

        0 for a file that this process left so, and for one whose time says nothing (see `edit`).
        """
        stamp = self.stamp(path)
        if stamp is None or self._left.get(path) == stamp:
            return 0.0
        age = (time.time() if now is None else now) - stamp.mtime_ns / 1e9
        return max(0.0, quiet - age) if age >= 0 else 0.0

    def trash(self, path: str) -> str:
        """Moves a file into the vault's `.trash/`, keeping its folders; where it lies now."""
        real = self._place.locate(path, write=True, follow=False)
        if path.startswith(f"{TRASH}/"):
            raise InvalidInput("path", f"{path} is in the trash already.")
        plain = PurePosixPath(TRASH, path)
        number = 1
        while True:
            name = plain.name if number == 1 else f"{plain.stem} {number}{plain.suffix}"
            target = str(plain.with_name(name))
            try:
                if not self.taken(target):
                    self._move(path, real, target)
                    return target
            except FileExistsError:
                pass  # Taken in this very moment.
            number += 1

    def restore(self, trashed: str, path: str) -> FileStamp:
        """Moves a file of `.trash/` to `path`. FileExistsError if that path is taken."""
        if not trashed.startswith(f"{TRASH}/"):
            raise InvalidInput("path", f"{trashed} is not in the trash.")
        real = self._place.locate(trashed, write=True, follow=False)
        self._move(trashed, real, path)
        stamp = self.stamp(path)
        if stamp is None:
            raise FileNotFoundError(f"{path} does not exist.")
        return stamp

    def sweep(self, min_age: float = 60.0, now: float | None = None, *, mine: bool = False) -> int:
        """Removes temporary files that a killed process left; how many. Never raises for one.

        Somebody else may be writing one right now: it must be `min_age` seconds old. Not so those
        with this installation's own mark, if they are `mine` because nobody writes yet.
        """
        self._place.require()
        before = (time.time() if now is None else now) - min_age
        return atomic.sweep(
            self.root,
            before,
            skip=lambda name: name[0] == "." and name != TRASH,
            mark=self.mark if mine else None,
        )

    # The disk, with its errors made plain.

    def _open(self, path: str, real: Path) -> int:
        try:
            found = real.stat()
            if not st.S_ISREG(found.st_mode):
                raise ReadFailed(path, "it is not a plain file")
            if is_placeholder(found):
                raise ReadFailed(path, IN_THE_CLOUD)
            return os.open(real, os.O_RDONLY | atomic.BINARY | atomic.NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            self._place.require()
            raise FileNotFoundError(f"{path} does not exist.") from None
        except OSError as error:
            raise ReadFailed(path, atomic.reason(error)) from error

    def _read_handle(self, path: str, handle: int) -> FileRead:
        """All bytes of an open file, with a stamp that was the same before and after."""
        try:
            for _ in range(20):
                stamp = stamp_of(os.fstat(handle))
                data = atomic.read_all(handle, stamp.size)
                if len(data) == stamp.size and stamp_of(os.fstat(handle)) == stamp:
                    return FileRead(data, stamp)
        except OSError as error:
            raise ReadFailed(path, atomic.reason(error)) from error
        raise NoteChanged(path)

    def _prepared(
        self, real: Path, data: bytes, like: os.stat_result
    ) -> contextlib.AbstractContextManager[atomic.Prepared]:
        return atomic.prepared(real, data, like, mark=self.mark)

    def _put_back(self, path: str, real: Path, data: bytes, ours: FileStamp) -> bool:
        """Restores the text of somebody who wrote during the swap; False if newer text is there."""
        with self._prepared(real, data, real.stat()) as newer, self._swap:
            if self.stamp(path) != ours:
                return False
            newer.take_the_place_of(real)
            return True

    def _rescue(self, path: str, before: bytes, late: bytes) -> FileStamp:
        """Saves what was written into the replaced file while others wrote into the new one.

        Lines that were added are added to the new file as well; another text becomes a conflict
        copy beside it, which its owner is told of.
        """
        if not late.startswith(before):
            stem = path[:-3] if path[-3:].casefold() == ".md" else path
            folder, _, name = stem.rpartition("/")
            copy = free_path(folder, f"{name} (conflicted copy)", self.taken)
            self.create(copy, late)
            return self.read(path).stamp
        while True:
            now = self.read(path)
            try:
                return self.replace(path, now.data + late[len(before) :], now)
            except NoteChanged:
                continue

    def _move(self, path: str, real: Path, target: str) -> None:
        destination = self._place.locate(target, write=True, follow=False)
        if not os.path.lexists(real):
            raise FileNotFoundError(f"{path} does not exist.")
        if real.is_dir() and not real.is_symlink():
            raise InvalidInput("path", f"{path} is a folder.")
        with self._writing(path):
            self._make_folders(target, destination)
            atomic.move(real, destination)

    def _make_folders(self, path: str, real: Path) -> None:
        missing: list[Path] = []
        folder = real.parent
        while folder != self.root and not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
        for folder in reversed(missing):
            try:
                folder.mkdir()
            except FileExistsError as error:
                if not folder.is_dir():
                    raise WriteFailed(path, "a file has the name of one of its folders") from error
            atomic.sync_folder(folder.parent)

    @contextlib.contextmanager
    def _writing(self, path: str) -> Iterator[None]:
        """Turns what the disk says into WriteFailed, or VaultOffline if the vault is gone."""
        try:
            yield
        except FileExistsError:
            raise
        except OSError as error:
            self._place.require()
            if isinstance(error, FileNotFoundError):
                raise
            raise WriteFailed(path, atomic.reason(error)) from error

    def _wrote(self, path: str, stamp: FileStamp) -> FileStamp:
        with self._swap:
            self._left[path] = stamp
            self._left.move_to_end(path)
            while len(self._left) > _REMEMBERED_WRITES:
                self._left.popitem(last=False)
        return stamp


def _age(found: FileRead, since: float, now: float) -> float:
    """Seconds without a change: by the file's own time, or as long as it was watched.

    A modification time in the future (another machine's clock) says nothing.
    """
    by_file = now - found.stamp.mtime_ns / 1e9
    return max(now - since, by_file if by_file >= 0 else 0.0)


def _matches(found: FileRead, expected: FileRead | FileStamp | str) -> bool:
    if isinstance(expected, str):
        return digest(found.data) == expected
    if isinstance(expected, FileStamp):
        return found.stamp == expected
    return found == expected
