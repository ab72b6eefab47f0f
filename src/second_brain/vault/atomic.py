"""Writing one file so that a reader, a crash or a full disk never sees half of it.

Knows absolute paths and bytes only. Raises OSError; `reason` puts one into words.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from second_brain.vault.stamps import FileStamp, stamp_of

BINARY: int = getattr(os, "O_BINARY", 0)
NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
_NAME_BYTES = 255
_MARK_BYTES = _RANDOM_BYTES = 4
# Earlier versions had six random bytes and no mark.
_TEMPORARY = re.compile(r"\..*\.(?P<mark>[0-9a-f]{8})[0-9a-f]{4,8}\.second-brain\.tmp\Z", re.S)
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM}

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file is too large for this disk",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "no permission",
    errno.EPERM: "not permitted by the system",
    errno.EIO: "the disk reports an error",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EXDEV: "it would have to move to another disk",
    errno.EISDIR: "it is a folder",
    errno.ENOTDIR: "a file has the name of one of its folders",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
    errno.ELOOP: "its symbolic links go in a circle",
}


def reason(error: OSError) -> str:
    """What the system said, in plain words."""
    known = _REASONS.get(error.errno or 0)
    return known or (error.strerror or str(error) or "unknown error").lower()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A complete, synced file beside its target, waiting to take its place."""

    path: Path
    stamp: FileStamp

    def take_the_place_of(self, target: Path) -> None:
        self.path.replace(target)
        sync_folder(target.parent)


def new_mark() -> str:
    """What tells the temporary files of one installation from those of others: see `sweep`."""
    return secrets.token_hex(_MARK_BYTES)


@contextlib.contextmanager
def prepared(
    target: Path, data: bytes, like: os.stat_result | None = None, *, mark: str | None = None
) -> Iterator[Prepared]:
    """Writes `data` beside `target`; removed again at the end unless it took the target's place.

    `like` is the stat of the file that it is to replace: mode, owner and attributes are kept.
    `mark` is who writes, from `new_mark`.
    """
    path = target.with_name(_temporary_name(target.name, mark or new_mark()))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY
    handle = os.open(path, flags, 0o666 if like is None else 0o600)
    try:
        try:
            if like is not None:
                _dress(handle, target, like)
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
            ready = Prepared(path, stamp_of(os.fstat(handle)))
        finally:
            os.close(handle)
        yield ready
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def create(target: Path, data: bytes, *, mark: str | None = None) -> FileStamp:
    """A new file; FileExistsError if there is one, which is never touched."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "exists", target)
    with prepared(target, data, mark=mark) as temporary:
        try:
            target.hardlink_to(temporary.path)
            sync_folder(target.parent)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            with _claimed(target):
                temporary.take_the_place_of(target)
        return temporary.stamp


def move(source: Path, target: Path) -> None:
    """Renames within one disk; FileExistsError if there is a target, which is never touched."""
    with _claimed(target):
        source.replace(target)
    sync_folder(target.parent)
    sync_folder(source.parent)


def read_all(handle: int, size: int) -> bytes:
    """The bytes of an open file from its beginning; `size` is a guess."""
    os.lseek(handle, 0, os.SEEK_SET)
    chunks: list[bytes] = []
    while chunk := os.read(handle, max(size + 1 - sum(map(len, chunks)), 65536)):
        chunks.append(chunk)
    return b"".join(chunks)


def sync_folder(folder: Path) -> None:
    """Makes names in `folder` durable, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(handle)


def sweep(
    root: Path, before: float, skip: Callable[[str], bool], *, mark: str | None = None
) -> int:
    """Removes the `leftovers`; how many."""
    removed = 0
    for path in leftovers(root, before, skip, mark=mark):
        with contextlib.suppress(OSError):
            path.unlink()
            removed += 1
    return removed


def leftovers(
    root: Path, before: float, skip: Callable[[str], bool], *, mark: str | None = None
) -> Iterator[Path]:
    """Temporary files below `root` that were last written `before` (seconds of the epoch).

    Those with this `mark` count however new they are. Folders whose name is to be skipped are not
    entered.
    """
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not skip(name)]
        for name, found in ((name, _TEMPORARY.match(name)) for name in names):
            if found is None:
                continue
            path = Path(folder, name)
            with contextlib.suppress(OSError):
                if found["mark"] == mark or path.lstat().st_mtime <= before:
                    yield path


@contextlib.contextmanager
def _claimed(target: Path) -> Iterator[None]:
    """Holds a free name with an empty file that the caller renames over."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o666))
    claim = target.lstat()
    try:
        yield
    except OSError:
        with contextlib.suppress(OSError):
            now = target.lstat()
            if (now.st_ino, now.st_size) == (claim.st_ino, 0):
                target.unlink()
        raise


def _temporary_name(name: str, mark: str) -> str:
    tail = f".{mark}{secrets.token_hex(_RANDOM_BYTES)}.second-brain.tmp"
    room = _NAME_BYTES - len(tail) - 1
    kept = os.fsencode(name)[:room].decode("utf-8", "ignore")
    return f".{kept}{tail}"


def _dress(handle: int, target: Path, like: os.stat_result) -> None:
    """Gives a new file the owner, attributes and mode of the one that it replaces."""
    if os.name == "nt":
        return
    own = os.fstat(handle)
    if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
        with contextlib.suppress(OSError):
            os.fchown(handle, like.st_uid, like.st_gid)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(target):
                with contextlib.suppress(OSError):
                    os.setxattr(handle, name, os.getxattr(target, name))
    with contextlib.suppress(OSError):
        os.fchmod(handle, like.st_mode & 0o7777)
