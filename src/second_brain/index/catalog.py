"""The catalogue: every note that the daemon knows of, their edges, and the embedding cache.

Everything in it is derived from the vault; a file that cannot be read is thrown away and filled
again. Every method may raise StoreDamaged or WriteFailed. Safe to call from any thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from second_brain.errors import IndexUnavailable, SecondBrainError
from second_brain.index import edges, episodes, vectors
from second_brain.index.database import (
    Database,
    StoreDamaged,
    StoreTooNew,
    chunked,
    marks,
    set_aside,
)
from second_brain.index.note_queries import PRESENT, NoteQueries
from second_brain.index.rows import (
    NOTE_COLUMNS,
    NoteRow,
    note_values,
    path_key,
    tag_keys,
)

_VERSION = 2
_SCHEMA = f"""
CREATE TABLE notes (
  path TEXT PRIMARY KEY, path_key TEXT NOT NULL, id TEXT NOT NULL, stored_id INTEGER NOT NULL,
  title TEXT NOT NULL, hash TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT, is_memory INTEGER NOT NULL,
  embedded INTEGER NOT NULL, chunks INTEGER NOT NULL, kind TEXT, memory_status TEXT,
  importance INTEGER, source TEXT NOT NULL, tags TEXT NOT NULL, aliases TEXT NOT NULL,
  created INTEGER NOT NULL, modified INTEGER NOT NULL, indexed_at INTEGER,
  index_version TEXT NOT NULL, missing_since INTEGER, problems TEXT NOT NULL,
  vector_keys BLOB NOT NULL, text_key TEXT NOT NULL, claimed_id TEXT
);
CREATE UNIQUE INDEX notes_id ON notes (id) WHERE missing_since IS NULL;
CREATE INDEX notes_any_id ON notes (id);
CREATE INDEX notes_path_key ON notes (path_key);
CREATE INDEX notes_hash ON notes (hash);
CREATE INDEX notes_created ON notes (created) WHERE is_memory AND missing_since IS NULL;
CREATE INDEX notes_status ON notes (status);
CREATE INDEX notes_memory_status ON notes (memory_status) WHERE memory_status IS NOT NULL;
CREATE INDEX notes_text_key ON notes (text_key) WHERE is_memory AND missing_since IS NULL;
CREATE INDEX notes_claimed ON notes (claimed_id) WHERE claimed_id IS NOT NULL;
CREATE TABLE note_tags (
  path TEXT NOT NULL REFERENCES notes (path) ON DELETE CASCADE ON UPDATE CASCADE,
  tag TEXT NOT NULL, PRIMARY KEY (path, tag)
) WITHOUT ROWID;
CREATE INDEX note_tags_tag ON note_tags (tag);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
{edges.SCHEMA};
{episodes.SCHEMA};
{vectors.SCHEMA}
"""
_UPDATES = ", ".join(
    f"{name} = excluded.{name}" for name in [*NOTE_COLUMNS.split(", ")[1:], "path_key"]
)
_UPSERT = (
    f"INSERT INTO notes ({NOTE_COLUMNS}, path_key) VALUES ({marks(range(29))})"
    f" ON CONFLICT (path) DO UPDATE SET {_UPDATES}"
)


class IdTaken(SecondBrainError):
    """Another note that is present has this id; nothing was stored."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(f"Two notes cannot have one id: {', '.join(ids)}")
        self.ids = tuple(ids)


class Catalog(NoteQueries):
    """`rebuilt`: the file was new, damaged or of another version, and starts empty; `lost`: there
    was an earlier one that could not be used. It is `incomplete` then until `mark_filled`."""

    def __init__(self, db: Database, *, rebuilt: bool, lost: bool = False) -> None:
        super().__init__(db)
        self.rebuilt = rebuilt
        self._lost = lost
        self._filled = 0
        self.edges = edges.EdgeStore(db)
        self.episodes = episodes.EpisodeStore(db)
        self.vectors = vectors.VectorCache(db)

    @classmethod
    def open(cls, path: Path, *, expected: bool = False) -> Catalog:
        """Opens the file; what cannot be used is moved aside (`.damaged`) and begun anew.

        `expected`: there was one, by what else is there; if it is gone, it was lost.
        """
        there = path.exists()
        fresh = not there or path.stat().st_size == 0
        try:
            return cls(_connect(path), rebuilt=fresh, lost=fresh and (there or expected))
        except (StoreDamaged, StoreTooNew, sqlite3.DatabaseError):
            set_aside(path, "damaged")
            return cls(_connect(path), rebuilt=True, lost=True)

    def close(self) -> None:
        self._db.close()

    @property
    def renewals(self) -> int:
        """How often it turned out damaged and was begun anew, empty, since it was opened."""
        return self._db.renewals

    @property
    def incomplete(self) -> bool:
        """Whether notes that were known are not known at present, because it is being refilled."""
        return self._lost or self._filled != self._db.renewals

    def mark_filled(self) -> None:
        """All of the vault has been taken in."""
        self._lost, self._filled = False, self._db.renewals

    def require_complete(self) -> None:
        """Raises IndexUnavailable while it is `incomplete`."""
        if self.incomplete:
            raise IndexUnavailable(
                "What is known of the vault is being built anew from it; try again in a moment."
            )

    def mend(self) -> None:
        """Begin one that turned out damaged anew now, rather than at the next use."""
        self._db.mend()

    def transaction(self) -> AbstractContextManager[None]:
        """Everything done inside, edges and vectors too, is stored at once or not at all."""
        return self._db.transaction()

    # Writing

    def upsert(self, notes: Iterable[NoteRow]) -> None:
        """Stores notes by path, in one transaction. Raises IdTaken when two would share an id."""
        batch = list(notes)
        try:
            with self._db.transaction():
                self._db.run_many(_UPSERT, ((*note_values(n), path_key(n.path)) for n in batch))
                self._db.run_many(
                    "DELETE FROM note_tags WHERE path = ?", [(note.path,) for note in batch]
                )
                self._db.run_many(
                    "INSERT INTO note_tags (path, tag) VALUES (?, ?)",
                    [(note.path, tag) for note in batch for tag in tag_keys(note.tags)],
                )
        except sqlite3.IntegrityError as error:
            raise IdTaken(self._shared_ids(batch)) from error

    def rename(self, old: str, new: NoteRow) -> None:
        """The note at `old` is at `new.path` now; edges follow its id."""
        with self._db.transaction():
            self._db.run("DELETE FROM notes WHERE path = ?", (old,))
            self.upsert([new])
            self._db.run("UPDATE edges SET target_path = ? WHERE target_id = ?", (new.path, new.id))

    def change_id(self, old: str, new: str) -> None:
        """A note got another id (the user or a client wrote one into it); edges follow."""
        try:
            with self._db.transaction():
                self._db.run("UPDATE notes SET id = ? WHERE id = ?", (new, old))
                self._db.run(
                    "UPDATE OR REPLACE edges SET source_id = ? WHERE source_id = ?", (new, old)
                )
                for column in ("target_id", "meant_id"):
                    self._db.run(f"UPDATE edges SET {column} = ? WHERE {column} = ?", (new, old))
        except sqlite3.IntegrityError as error:
            raise IdTaken([new]) from error

    def mark_missing(self, paths: Iterable[str], at: int) -> None:
        """The files are gone; the first time of absence is kept."""
        with self._db.transaction():
            self._db.run_many(
                f"UPDATE notes SET missing_since = ? WHERE path = ? AND {PRESENT}",
                [(at, path) for path in paths],
            )

    def purge_missing(self, before: int) -> list[NoteRow]:
        """Forgets notes gone since before that time, with the edges they state; returns them."""
        with self._db.transaction():
            gone = self._notes("WHERE missing_since < ?", (before,))
            self.forget(note.path for note in gone)
        return gone

    def forget(self, paths: Iterable[str], *, keeping: Collection[str] = ()) -> None:
        """Removes notes from the catalogue. An id that lives on at another path, or is among
        `keeping` because it is about to, keeps its edges."""
        with self._db.transaction():
            for batch in chunked(paths):
                ids = [
                    (str(id),)
                    for (id,) in self._db.rows(
                        f"SELECT id FROM notes WHERE path IN ({marks(batch)})", batch
                    )
                ]
                self._db.run(f"DELETE FROM notes WHERE path IN ({marks(batch)})", batch)
                lost = [
                    id
                    for id in ids
                    if id[0] not in keeping
                    and not self._db.row("SELECT 1 FROM notes WHERE id = ?", id)
                ]
                self._db.run_many("DELETE FROM edges WHERE source_id = ?", lost)
                self._db.run_many(
                    "UPDATE edges SET target_path = NULL, target_id = NULL WHERE target_id = ?",
                    lost,
                )
                self._db.run_many("UPDATE edges SET meant_id = NULL WHERE meant_id = ?", lost)

    def forget_index(self, ids: Iterable[str] | None = None) -> None:
        """The index does not hold these memories (None: any) as it should: index them again."""
        if ids is None:
            self._db.run("UPDATE notes SET embedded = 0, index_version = ''")
            return
        with self._db.transaction():
            self._db.run_many(
                "UPDATE notes SET embedded = 0, index_version = '' WHERE id = ?",
                [(id,) for id in ids],
            )

    def forget_version(self, version: str) -> None:
        """The index of this version is gone: no memory is in it."""
        self._db.run("UPDATE notes SET index_version = '' WHERE index_version = ?", (version,))

    def forget_stamps(self) -> None:
        """Every file is to be read again, whether or not it changed."""
        self._db.run("UPDATE notes SET mtime_ns = 0")

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

    def _shared_ids(self, notes: Sequence[NoteRow]) -> list[str]:
        """The ids for which the notes would have met another path."""
        owner: dict[str, str] = {
            id: note.path for id, note in self.by_ids(n.id for n in notes).items()
        }
        shared = [n.id for n in notes if owner.setdefault(n.id, n.path) != n.path]
        return list(dict.fromkeys(shared))


def _connect(path: Path) -> Database:
    return Database(path, schema=_SCHEMA, version=_VERSION, synchronous="NORMAL")
