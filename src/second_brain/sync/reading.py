"""Reads files for the engine: which of them changed, what is in them, and which must wait.

Blocking: the engine calls it in a worker thread. One file that cannot be read or understood never
keeps the others from being taken in.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from second_brain.errors import InvalidInput, NoteChanged, ReadFailed
from second_brain.index.catalog import Catalog
from second_brain.index.rows import NoteRow
from second_brain.sync.prepare import Chunking, Describe, Prepared, not_understood, prepare
from second_brain.vault.files import FileRead, FileStamp, VaultFiles, digest
from second_brain.vault.note import note_id, parse_note
from second_brain.vault.rules import SyncRule, conflict_copy, numbered_copy
from second_brain.vault.stamps import IN_THE_CLOUD
from second_brain.vault.versions import same_note

log = logging.getLogger(__name__)

QUIET_SECONDS = 2.0
"""A note that would cease to be a memory, or become empty, must have been left alone this long:
a save in place truncates the file first, and the rest may take a while."""


@dataclass(slots=True)
class Reading:
    """What some paths hold. `gone` have no file; `later` are in the middle of a save, as it seems;
    `unreadable` tells why a file that is there cannot be read. The rest had not changed."""

    prepared: list[Prepared] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    unreadable: dict[str, str] = field(default_factory=dict)


class Reader:
    """`clock_ms` is Unix milliseconds. Every method may raise VaultOffline."""

    def __init__(
        self,
        files: VaultFiles,
        catalog: Catalog,
        *,
        rule: SyncRule,
        describe: Describe,
        chunking: Chunking,
        clock_ms: Callable[[], int],
    ) -> None:
        self._files = files
        self._catalog = catalog
        self.rule = rule
        self._describe = describe
        self._chunking = chunking
        self._clock_ms = clock_ms
        self._compared: dict[str, tuple[FileStamp, FileStamp, bool]] = {}

    def read(self, paths: Iterable[str], *, version: str | None, finished: bool = False) -> Reading:
        """Read and prepare what changed; memories not in the index of this `version` count as
        changed, with None all files do. `finished`: nobody is in the middle of saving these."""
        result = Reading()
        for path in dict.fromkeys(paths):
            try:
                if self._files.in_the_cloud(path):
                    raise ReadFailed(path, IN_THE_CLOUD)
                if version is not None and self.is_current(path, version):
                    continue
                found = self._files.read(path)
            except FileNotFoundError:
                result.gone.add(path)
            except NoteChanged:
                result.later.add(path)
            except (ReadFailed, InvalidInput) as error:
                result.unreadable[path] = str(error)
            else:
                item = self._prepare(path, found)
                if not finished and self._loses(item):
                    result.later.add(path)
                else:
                    result.prepared.append(item)
        return result

    def is_current(self, path: str, version: str) -> bool:
        """Whether the catalogue knows the file as it is on disk, and the index has it."""
        row = self._catalog.by_path(path)
        if row is None or row.missing_since is not None:
            return False
        stamp = self._files.stamp(path)
        return (
            stamp is not None
            and stamp == FileStamp(row.mtime_ns, row.size, row.inode)
            and (not row.is_memory or row.index_version == version)
            and self._is_conflict_copy(path, stamp) == (row.status == "conflict-copy")
        )

    def unchanged(self, item: Prepared) -> bool:
        """Whether the file still is what was prepared."""
        try:
            return self._files.stamp(item.path) == item.stamp
        except ReadFailed:
            return False

    def exists(self, path: str) -> bool:
        """Whether there is a file; one that cannot be looked at, or is in the cloud, is there."""
        try:
            return self._files.stamp(path) is not None or self._files.in_the_cloud(path)
        except (ReadFailed, InvalidInput):
            return True

    def is_vacated(self, row: NoteRow, seen: Prepared | None) -> bool:
        """Whether a row's text is no longer at its path (`seen`: what was read there).

        Where another file stands that nobody has read yet, only if that is known to be another
        note: by its stored id, or by a text that a note is known to have. Otherwise it was edited.
        """
        if row.missing_since is not None:
            return True
        if seen is not None:
            return seen.digest != row.hash
        try:
            stamp = self._files.stamp(row.path)
            if stamp == FileStamp(row.mtime_ns, row.size, row.inode):
                return False
            data = self._files.read(row.path).data
        except FileNotFoundError:
            return not self.exists(row.path)
        except (ReadFailed, InvalidInput, NoteChanged):
            return False
        if row.stored_id:
            return note_id(parse_note(row.path, data)) != row.id
        found = digest(data)
        return found != row.hash and any(o.id != row.id for o in self._catalog.by_hash(found))

    def _is_conflict_copy(self, path: str, stamp: FileStamp) -> bool:
        return conflict_copy(path, self.exists) or self._is_version(path, stamp)

    def _is_version(self, path: str, stamp: FileStamp) -> bool:
        """Whether the file is iCloud's other version of the note without the number."""
        base = numbered_copy(path)
        try:
            other = self._files.stamp(base) if base is not None else None
            if base is None or other is None:
                return False
            known = self._compared.get(path)
            if known is not None and known[:2] == (stamp, other):
                return known[2]
            one, two = self._files.read(path), self._files.read(base)
        except (FileNotFoundError, ReadFailed, InvalidInput, NoteChanged):
            return False
        same = same_note(two.data, one.data)
        self._compared[path] = (one.stamp, two.stamp, same)
        return same

    def _prepare(self, path: str, found: FileRead) -> Prepared:
        try:
            return prepare(
                path,
                found.data,
                found.stamp,
                rule=self.rule,
                describe=self._describe,
                chunking=self._chunking,
                is_conflict_copy=self._is_conflict_copy(path, found.stamp),
            )
        except Exception as error:
            log.exception("%s could not be understood; it is left out", path)
            return not_understood(path, digest(found.data), found.stamp, error)

    def _loses(self, item: Prepared) -> bool:
        """Whether a memory would be lost by a file that may be in the middle of a save."""
        row = self._catalog.by_path(item.path)
        if row is None or row.missing_since is not None or not row.is_memory:
            return False
        if item.is_memory and item.stamp.size > 0:
            return False
        age = self._clock_ms() - item.stamp.mtime_ns // 1_000_000
        return 0 <= age < QUIET_SECONDS * 1000
