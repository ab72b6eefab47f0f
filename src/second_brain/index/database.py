"""One SQLite file as both stores use it: opened safely, one connection, errors said in words."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeVar, cast
from urllib.parse import quote

from second_brain.errors import IndexUnavailable, SecondBrainError, WriteFailed

T = TypeVar("T")

Value = str | int | float | bytes | None

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_REFUSED = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_PERM,
    }
)

_BETWEEN_CHECKS = 10.0
_CHECKED_SHARE = 0.001
"""At least so many seconds lie between two looks at every page, and no more than this share of the
time is spent on them: 100 MB took 0.1 s from memory and 8 s from a slow disk."""

_KEPT_MOST = 4_096
"""So many answers are kept of one kind, so that memory does not grow with the vault."""

_HINT = "It is moved aside, and a new one is begun. Try again in a moment."


class StoreDamaged(IndexUnavailable):
    """The file is not a database that can be read; what it held must be rebuilt or is lost."""

    def __init__(self, path: Path, reason: str, hint: str = "") -> None:
        super().__init__(f"{path} cannot be read ({reason}).{hint and f' {hint}'}")
        self.path = path


class StoreTooNew(SecondBrainError):
    """A newer version of this program wrote the file; it was left as it is."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} was written by a newer version of this program. Update it.")
        self.path = path


class Database:
    """A connection in WAL mode that any thread may use, one at a time.

    `transaction()` may be nested: the outermost commits. A disk that refuses raises WriteFailed;
    constraint errors stay sqlite3.IntegrityError. Damage found later raises StoreDamaged, once:
    whoever comes next finds a new, empty file, the damaged one is moved aside to `lost`.
    """

    def __init__(
        self,
        path: Path,
        *,
        schema: str,
        version: int,
        synchronous: Literal["NORMAL", "FULL"],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Opens or creates. Raises StoreDamaged, StoreTooNew, WriteFailed."""
        self.path = path
        self.lost: Path | None = None
        self.renewals = 0
        """How often the file was begun anew: what was read of it before holds no longer."""
        self._schema = schema
        self._version = version
        self._synchronous = synchronous
        self._lock = threading.RLock()
        self._depth = 0
        self._kept: dict[str, tuple[int, object]] = {}
        self._damaged = False
        self._begun = False
        self._identity = (0, 0)
        self._clock = clock
        self._checked_mtime, self._check_from = 0, 0.0
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        self._kept.clear()  # another connection counts its writes anew
        with self._errors():
            _create_private(self.path)
            connection = sqlite3.connect(
                self.path, timeout=5.0, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
                found = self.path.stat()
            except BaseException:
                connection.close()
                raise
            self._identity = (found.st_dev, found.st_ino)
            self._checked_mtime = found.st_mtime_ns
            self._check_from = self._clock() + _BETWEEN_CHECKS
            return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = self._version
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found > version:
            raise StoreTooNew(self.path)
        # Must precede the first table, so that pruning gives the space back.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA busy_timeout = 5000")
        connection.execute("PRAGMA foreign_keys = ON")
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise StoreDamaged(self.path, verdict)
        self._begun = found == 0
        if found != version:
            script = f"BEGIN IMMEDIATE; {self._schema}; PRAGMA user_version = {version}; COMMIT;"
            connection.executescript(script)

    def mend(self) -> None:
        """Begin the file anew now if it is damaged, or is not there any more.

        What is in memory may hide that for long; what is written meanwhile would be gone.
        """
        # Looked at beside the connection, which others use meanwhile.
        identity = self._identity
        if self._is_another():
            with self._lock:
                if self._depth == 0 and self._identity == identity:
                    self._damaged = True
        with self._turn():
            return

    def _is_another(self) -> bool:
        """Whether another process would not find the database that this one has open."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        if (found.st_dev, found.st_ino) != self._identity:
            return True
        try:
            address = f"file:{quote(str(self.path))}?mode=ro"
            with closing(sqlite3.connect(address, uri=True)) as other:
                tables = other.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                return int(tables) == 0 or not self._is_whole(other, found.st_mtime_ns)
        except sqlite3.DatabaseError as error:
            return _primary_code(error) in _DAMAGED

    def _is_whole(self, other: sqlite3.Connection, mtime_ns: int) -> bool:
        """Whether every page can be read, looked at when the file was written to: by a checkpoint,
        or by whoever damaged it."""
        began = self._clock()
        if mtime_ns == self._checked_mtime or began < self._check_from:
            return True
        self._checked_mtime = mtime_ns
        verdict = other.execute("PRAGMA quick_check(1)").fetchone()[0]
        ended = self._clock()
        self._check_from = ended + max(_BETWEEN_CHECKS, (ended - began) / _CHECKED_SHARE)
        return bool(verdict == "ok")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """The connection for one use, to what can be read."""
        with self._lock:
            if self._damaged and self._depth == 0:
                self._renew()
            yield

    def _renew(self) -> None:
        self._connection.close()
        try:
            self._connection = self._open()  # It may have been the memory, and not the file.
        except (StoreDamaged, sqlite3.DatabaseError):
            with self._errors():
                self.lost = set_aside(self.path, "damaged")
            self._connection = self._open()
        self.renewals += self._begun
        self._damaged = False

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, for the calling thread; other threads wait."""
        with self._turn():
            self._depth += 1
            try:
                if self._depth > 1:
                    yield
                    return
                with self._errors():
                    self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield
                    with self._errors():
                        self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        with suppress(sqlite3.DatabaseError):  # What is damaged refuses this, too.
                            self._connection.execute("ROLLBACK")
                    raise
            finally:
                self._depth -= 1

    @contextmanager
    def relaxed(self) -> Iterator[None]:
        """A transaction that does not wait for the disk: a power cut may undo it, nothing else."""
        with self._turn():
            if self._depth:
                with self.transaction():
                    yield
                return
            level = self._connection.execute("PRAGMA synchronous").fetchone()[0]
            self._connection.execute("PRAGMA synchronous = NORMAL")
            try:
                with self.transaction():
                    yield
            finally:
                self._connection.execute(f"PRAGMA synchronous = {level}")

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[tuple[Value, ...]]:
        with self._turn(), self._errors():
            return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Value] = ()) -> tuple[Value, ...] | None:
        with self._turn(), self._errors():
            found: tuple[Value, ...] | None = self._connection.execute(sql, values).fetchone()
            return found

    def number(self, sql: str, values: Sequence[Value] = ()) -> int:
        """The single number that a query such as `SELECT count(*)` gives; NULL is 0."""
        found = self.row(sql, values)
        return int(found[0] or 0) if found else 0

    def kept(self, key: str, read: Callable[[], T]) -> T:
        """What `read` gives, read anew only after something was written.

        Not from within a transaction, whose writes may yet be taken back.
        """
        with self._lock:
            if self._depth:
                return read()
            writes = self._connection.total_changes
            found = self._kept.get(key)
            if found is None or found[0] != writes:
                found = self._kept[key] = (writes, read())
            return cast(T, found[1])

    def kept_each(
        self, key: str, ids: Iterable[str], read: Callable[[list[str]], Mapping[str, T]]
    ) -> dict[str, T]:
        """What `read` gives for each of `ids`, asked only for those that it was not asked for since
        something was written. An id for which it gives nothing is left out."""
        kept: dict[str, T | None] = self.kept(key, dict)
        wanted = dict.fromkeys(ids)
        known = {id: kept[id] for id in wanted if id in kept}
        if missing := [id for id in wanted if id not in known]:
            found = read(missing)
            known.update((id, found.get(id)) for id in missing)
            if len(kept) + len(missing) <= _KEPT_MOST:
                kept.update((id, known[id]) for id in missing)
            else:
                self._kept.pop(key, None)
        return {id: one for id in wanted if (one := known[id]) is not None}

    def run(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Executes one statement; the number of rows that it changed."""
        with self._turn(), self._errors():
            return self._connection.execute(sql, values).rowcount

    def insert(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Executes one INSERT; the new row's number."""
        with self._turn(), self._errors():
            number = self._connection.execute(sql, values).lastrowid
            assert number is not None
            return number

    def run_many(self, sql: str, values: Iterable[Sequence[Value]]) -> int:
        with self._turn(), self._errors():
            return self._connection.executemany(sql, values).rowcount

    def shrink(self) -> None:
        """Gives pages that are no longer used back to the file system."""
        with self._turn(), self._errors():
            # Each step frees one page, and execute() takes a single step.
            self._connection.executescript("PRAGMA incremental_vacuum")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            primary = _primary_code(error)
            if primary in _DAMAGED:
                self._damaged = True
                raise StoreDamaged(self.path, str(error), _HINT) from error
            if primary in _REFUSED:
                raise WriteFailed(str(self.path), str(error)) from error
            raise
        except OSError as error:
            raise WriteFailed(str(self.path), error.strerror or str(error)) from error


def _primary_code(error: sqlite3.DatabaseError) -> int | None:
    """What kind of error it is, by SQLite's numbers."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def chunked(values: Iterable[str], size: int = 500) -> Iterator[list[str]]:
    """Lists of at most `size`: SQLite bounds the variables of one statement."""
    batch: list[str] = []
    for value in values:
        batch.append(value)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def marks(values: Sequence[object]) -> str:
    """`?,?,?` for an IN list."""
    return ",".join("?" * len(values))


def set_aside(path: Path, suffix: str) -> Path:
    """Moves an unreadable database (with its WAL) out of the way, replacing an earlier one."""
    target = path.with_name(f"{path.name}.{suffix}")
    for tail in ("-wal", "-shm"):
        path.with_name(path.name + tail).unlink(missing_ok=True)
    path.replace(target)
    return target


def _create_private(path: Path) -> None:
    """Creates the file readable by its owner alone before anything is written to it.

    SQLite gives the WAL and shared-memory files the mode of the database.
    """
    # Its own folder only: a data directory that is gone altogether may be a disk not mounted.
    with suppress(FileNotFoundError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags, 0o600)
    os.close(descriptor)
