"""What cannot be derived from the vault: recall counters, logins, the history of our writes.

Losing it loses nothing of the user's. It holds the text of notes before and after each write, so
the file is the owner's alone (0600) from its first byte. Every method may raise StoreDamaged or
WriteFailed. Times are Unix ms and passed in. Safe to call from any thread.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from second_brain.index import logins, model_use, reviews
from second_brain.index.database import Database, StoreDamaged, Value, chunked, marks, set_aside

WriteState = Literal["pending", "done", "undone"]

_VERSION = 4
# Earlier versions had fewer tables: what is there stays, the rest is added.
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS counters (
  id TEXT PRIMARY KEY, recall_count INTEGER NOT NULL DEFAULT 0, last_recalled INTEGER,
  contradiction_wins INTEGER NOT NULL DEFAULT 0, contradiction_losses INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS writes (
  n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, path TEXT NOT NULL, at INTEGER NOT NULL,
  client TEXT NOT NULL, tool TEXT NOT NULL, summary TEXT NOT NULL, state TEXT NOT NULL,
  after_hash TEXT, trash_path TEXT, bytes INTEGER NOT NULL, before BLOB, after BLOB
);
CREATE INDEX IF NOT EXISTS writes_id ON writes (id, n);
CREATE INDEX IF NOT EXISTS writes_state ON writes (state);
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
{logins.SCHEMA};
{model_use.SCHEMA};
{reviews.SCHEMA}
"""
_COUNTERS = "id, recall_count, last_recalled, contradiction_wins, contradiction_losses"
_COLUMNS = "n, id, path, at, client, tool, summary, state, after_hash, trash_path"


@dataclass(frozen=True, slots=True)
class Counters:
    """How a memory fared; kept by id, absent means all zero."""

    recall_count: int = 0
    last_recalled: int | None = None
    contradiction_wins: int = 0
    contradiction_losses: int = 0


@dataclass(frozen=True, slots=True)
class WriteRow:
    """One write of ours. `trash_path`: where the file was moved to by this write."""

    n: int
    id: str
    path: str
    at: int
    client: str
    tool: str
    summary: str
    state: WriteState
    after_hash: str | None
    trash_path: str | None


@dataclass(frozen=True, slots=True)
class WriteContents:
    """The file's bytes around a write; None where there was no file."""

    row: WriteRow
    before: bytes | None
    after: bytes | None


class State:
    """`lost`: an earlier file could not be read and was moved to this path (its own: it was
    empty); one was begun anew."""

    def __init__(self, db: Database, *, lost: Path | None) -> None:
        self._db = db
        self._lost = lost
        self.logins = logins.Logins(db)
        self.model_use = model_use.ModelUse(db)
        self.model_jobs = model_use.ModelJobs(db)
        self.reviews = reviews.Reviews(db)

    @property
    def lost(self) -> Path | None:
        begun_anew = self._db.path if self._db.renewals else None
        return self._db.lost or self._lost or begun_anew

    def mend(self) -> None:
        """Begin a file that is damaged or gone anew now, rather than at the next use."""
        self._db.mend()

    @classmethod
    def open(cls, path: Path) -> State:
        """Opens or creates. Raises StoreTooNew rather than drop what a newer version wrote."""
        emptied = path.exists() and path.stat().st_size == 0
        try:
            return cls(_connect(path), lost=path if emptied else None)
        except (StoreDamaged, sqlite3.DatabaseError):
            aside = set_aside(path, "damaged")
            return cls(_connect(path), lost=aside)

    def close(self) -> None:
        self._db.close()

    # Counters

    def count_recalls(self, recalled: Iterable[tuple[str, int]]) -> None:
        """These memories were recalled, each at a Unix ms. Not worth waiting for the disk."""
        with self._db.relaxed():
            self._db.run_many(
                "INSERT INTO counters (id, recall_count, last_recalled) VALUES (?, 1, ?)"
                " ON CONFLICT (id) DO UPDATE SET recall_count = recall_count + 1,"
                " last_recalled = max(ifnull(last_recalled, 0), excluded.last_recalled)",
                recalled,
            )

    def count_contradiction(self, winner: str, loser: str) -> None:
        with self._db.relaxed():
            for column, id in (("contradiction_wins", winner), ("contradiction_losses", loser)):
                self._db.run(
                    f"INSERT INTO counters (id, {column}) VALUES (?, 1)"
                    f" ON CONFLICT (id) DO UPDATE SET {column} = {column} + 1",
                    (id,),
                )

    def uncount_contradiction(self, winner: str, loser: str) -> None:
        """A decision was taken back, and what it counted with it."""
        with self._db.relaxed():
            for column, id in (("contradiction_wins", winner), ("contradiction_losses", loser)):
                self._db.run(
                    f"UPDATE counters SET {column} = max(0, {column} - 1) WHERE id = ?", (id,)
                )

    def set_counters(self, counters: dict[str, Counters]) -> None:
        """Stores counters as they are given: for an import."""
        with self._db.transaction():
            self._db.run_many(
                "INSERT OR REPLACE INTO counters VALUES (?, ?, ?, ?, ?)",
                [
                    (
                        id,
                        c.recall_count,
                        c.last_recalled,
                        c.contradiction_wins,
                        c.contradiction_losses,
                    )
                    for id, c in counters.items()
                ],
            )

    def counters(self, ids: Iterable[str] | None = None) -> dict[str, Counters]:
        """The counters of those memories, or of all, that have any."""
        if ids is not None:
            return self._db.kept_each("counters", ids, self._counters)
        return _counters(self._db.rows(f"SELECT {_COUNTERS} FROM counters"))

    def _counters(self, ids: list[str]) -> dict[str, Counters]:
        found: dict[str, Counters] = {}
        for batch in chunked(ids):
            where = f"WHERE id IN ({marks(batch)})"
            found |= _counters(self._db.rows(f"SELECT {_COUNTERS} FROM counters {where}", batch))
        return found

    def change_id(self, old: str, new: str) -> None:
        """A memory has another id now; its counters and history follow."""
        with self._db.transaction():
            self._db.run("UPDATE OR REPLACE counters SET id = ? WHERE id = ?", (new, old))
            self._db.run("UPDATE writes SET id = ? WHERE id = ?", (new, old))
            self.reviews.change_id(old, new)

    # History of writes

    def begin_write(
        self,
        *,
        id: str,
        path: str,
        at: int,
        client: str,
        tool: str,
        summary: str,
        before: bytes | None,
        after: bytes | None = None,
        after_hash: str | None = None,
    ) -> int:
        """Keeps the bytes before a write; on disk when it returns. The write's number.

        The write stays `pending`, in no history, until `finish_write`; one that a crash left
        pending is found by `pending_writes`.
        """
        packed = _pack(before), _pack(after)
        return self._db.insert(
            "INSERT INTO writes (id, path, at, client, tool, summary, state, after_hash, bytes,"
            " before, after) VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?)",
            (id, path, at, client, tool, summary, after_hash, _size(*packed), *packed),
        )

    def finish_write(
        self,
        n: int,
        *,
        after: bytes | None,
        after_hash: str | None,
        before: bytes | None = None,
        path: str | None = None,
        trash_path: str | None = None,
    ) -> None:
        """The write is on disk. `before` and `path` correct what `begin_write` was told, if the
        file had changed meanwhile or got another name. Raises KeyError for an unknown number."""
        with self._db.transaction():
            row = self._db.row("SELECT before FROM writes WHERE n = ?", (n,))
            if row is None and self._db.renewals:
                return  # The history was lost meanwhile; the note is written all the same.
            if row is None:
                raise KeyError(n)
            packed = _pack(before) if before is not None else cast("bytes | None", row[0])
            packed_after = _pack(after)
            self._db.run(
                "UPDATE writes SET state = 'done', path = ifnull(?, path), after_hash = ?,"
                " trash_path = ?, before = ?, after = ?, bytes = ? WHERE n = ?",
                (
                    path,
                    after_hash,
                    trash_path,
                    packed,
                    packed_after,
                    _size(packed, packed_after),
                    n,
                ),
            )

    def abandon_write(self, n: int) -> None:
        """Nothing was written: as if it had not been begun."""
        self._db.run("DELETE FROM writes WHERE n = ? AND state = 'pending'", (n,))

    def mark_undone(self, n: int) -> None:
        self._db.run("UPDATE writes SET state = 'undone' WHERE n = ? AND state = 'done'", (n,))

    def pending_writes(self) -> list[WriteRow]:
        """Writes that were begun and neither finished nor abandoned, oldest first."""
        return self._writes("WHERE state = 'pending' ORDER BY n")

    def history(self, id: str | None = None, n: int = 20) -> list[WriteRow]:
        """The last `n` writes (of one memory), newest first."""
        of, values = ("", [n]) if id is None else ("AND id = ?", cast("list[Value]", [id, n]))
        return self._writes(f"WHERE state <> 'pending' {of} ORDER BY n DESC LIMIT ?", *values)

    def ids_from(self, beginning: str, limit: int) -> list[str]:
        """Ids of memories that were written to and begin so, sorted."""
        rows = self._db.rows(
            "SELECT DISTINCT id FROM writes WHERE substr(id, 1, ?) = ? AND state <> 'pending'"
            " ORDER BY id LIMIT ?",
            (len(beginning), beginning, limit),
        )
        return [str(id) for (id,) in rows]

    def contents(self, n: int) -> WriteContents | None:
        """One write with the bytes around it, pending ones too."""
        row = self._db.row(f"SELECT {_COLUMNS}, before, after FROM writes WHERE n = ?", (n,))
        if row is None:
            return None
        before, after = cast("tuple[bytes | None, bytes | None]", row[-2:])
        return WriteContents(_write_row(row[:-2]), _unpack(before), _unpack(after))

    def prune_history(self, *, older_than: int, max_bytes: int) -> int:
        """Drops writes of before that time, then the oldest until the rest fits; how many.

        Pending writes stay, and so does the newest of all.
        """
        with self._db.transaction():
            kept, drop = 0, cast("list[tuple[Value, ...]]", [])
            rows = self._db.rows(
                "SELECT n, at, bytes FROM writes WHERE state <> 'pending' ORDER BY n DESC"
            )
            for place, row in enumerate(rows):
                n, at, size = cast("tuple[int, int, int]", row)
                kept += size
                if place > 0 and (at < older_than or kept > max_bytes):
                    drop.append((n,))
            self._db.run_many("DELETE FROM writes WHERE n = ?", drop)
            self.reviews.prune()
        if drop:
            self._db.shrink()
        return len(drop)

    # Settings

    def get_meta(self, key: str) -> str | None:
        found = self._db.row("SELECT value FROM meta WHERE key = ?", (key,))
        return str(found[0]) if found else None

    def set_meta(self, key: str, value: str | None) -> None:
        """None removes the key."""
        if value is None:
            self._db.run("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self._db.run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

    def _writes(self, where: str, *values: Value) -> list[WriteRow]:
        return [
            _write_row(r) for r in self._db.rows(f"SELECT {_COLUMNS} FROM writes {where}", values)
        ]


def _connect(path: Path) -> Database:
    return Database(path, schema=_SCHEMA, version=_VERSION, synchronous="FULL")


def _counters(rows: Iterable[tuple[Value, ...]]) -> dict[str, Counters]:
    return {
        str(row[0]): Counters(*cast("tuple[int, int | None, int, int]", row[1:])) for row in rows
    }


def _write_row(values: tuple[Value, ...]) -> WriteRow:
    return WriteRow(*values)  # type: ignore[arg-type]


def _pack(data: bytes | None) -> bytes | None:
    return None if data is None else zlib.compress(data, 6)


def _unpack(blob: bytes | None) -> bytes | None:
    return None if blob is None else zlib.decompress(blob)


def _size(*blobs: bytes | None) -> int:
    return sum(len(blob) for blob in blobs if blob is not None)
