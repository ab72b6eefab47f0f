"""The catalogue: every note that the daemon knows of, their edges, and the embedding cache.

Everything in it is derived from the vault; a file that cannot be read is thrown away and filled
again. Every method may raise StoreDamaged or WriteFailed. Safe to call from any thread.
"""

from __future__ import annotations

import base64
import binascii
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from second_brain.errors import IndexUnavailable, InvalidInput, SecondBrainError
from second_brain.index import edges, episodes, vectors
from second_brain.index.database import (
    Database,
    StoreDamaged,
    StoreTooNew,
    Value,
    chunked,
    marks,
    set_aside,
)
from second_brain.index.rows import (
    NOTE_COLUMNS,
    NoteRow,
    Stamp,
    Standing,
    note_row,
    note_values,
    path_key,
    string_list,
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
_PRESENT = "missing_since IS NULL"
_MEMORY = f"is_memory AND {_PRESENT}"


class IdTaken(SecondBrainError):
    """Another note that is present has this id; nothing was stored."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(f"Two notes cannot have one id: {', '.join(ids)}")
        self.ids = tuple(ids)


@dataclass(frozen=True, slots=True)
class Counts:
    """`notes` are the files present, `statuses` how many of them have which; `unembedded`,
    `unclassified` (no kind) and `average_importance` are about memories."""

    notes: int
    memories: int
    unembedded: int
    unclassified: int
    average_importance: float | None
    statuses: Mapping[str, int]


class Catalog:
    """`rebuilt`: the file was new, damaged or of another version, and starts empty; `lost`: there
    was an earlier one that could not be used. It is `incomplete` then until `mark_filled`."""

    def __init__(self, db: Database, *, rebuilt: bool, lost: bool = False) -> None:
        self._db = db
        self.rebuilt = rebuilt
        self._lost = lost
        self._filled = 0
        self.edges = edges.EdgeStore(db)
        self.episodes = episodes.EpisodeStore(db)
        self.vectors = vectors.VectorCache(db)

    @classmethod
    def open(cls, path: Path) -> Catalog:
        """Opens the file; what cannot be used is moved aside (`.damaged`) and begun anew."""
        fresh = not path.exists() or path.stat().st_size == 0
        try:
            return cls(_connect(path), rebuilt=fresh)
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
                f"UPDATE notes SET missing_since = ? WHERE path = ? AND {_PRESENT}",
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

    # Single notes

    def by_path(self, path: str) -> NoteRow | None:
        """The note with this very path, missing or not."""
        return self._one("WHERE path = ?", (path,))

    def by_path_key(self, path: str) -> list[NoteRow]:
        """Present notes whose path differs at most in case or Unicode form."""
        return self._notes(f"WHERE path_key = ? AND {_PRESENT}", (path_key(path),))

    def by_id(self, id: str, *, missing: bool = False) -> NoteRow | None:
        """The present note with this id; with `missing` one that is gone, if none is present."""
        found = self._one(f"WHERE id = ? AND {_PRESENT}", (id,))
        if found is None and missing:
            found = self._one("WHERE id = ? ORDER BY missing_since DESC LIMIT 1", (id,))
        return found

    def ids_from(self, beginning: str, limit: int) -> list[str]:
        """Ids of present notes that begin so, sorted."""
        rows = self._db.rows(
            f"SELECT id FROM notes WHERE substr(id, 1, ?) = ? AND {_PRESENT} ORDER BY id LIMIT ?",
            (len(beginning), beginning, limit),
        )
        return [str(id) for (id,) in rows]

    def by_ids(self, ids: Iterable[str]) -> dict[str, NoteRow]:
        """The present notes among `ids`."""
        found: dict[str, NoteRow] = {}
        for batch in chunked(ids):
            where = f"WHERE id IN ({marks(batch)}) AND {_PRESENT}"
            found.update((note.id, note) for note in self._notes(where, batch))
        return found

    def standings(self, ids: Iterable[str]) -> dict[str, Standing]:
        """What a ranking weighs of the memories among `ids`: a tenth of the cost of their rows."""
        found: dict[str, Standing] = {}
        for batch in chunked(ids):
            rows = self._db.rows(
                "SELECT id, created, tags, memory_status, importance FROM notes"
                f" WHERE id IN ({marks(batch)}) AND {_MEMORY}",
                batch,
            )
            for id, created, tags, status, importance in cast("list[tuple[Any, ...]]", rows):
                found[id] = Standing(created, string_list(tags), status, importance)
        return found

    def any_deprecated(self) -> bool:
        """Whether there is a deprecated memory at all."""
        found = self._db.row(
            f"SELECT 1 FROM notes WHERE memory_status = 'deprecated' AND {_MEMORY} LIMIT 1"
        )
        return found is not None

    def by_hash(self, hash: str, *, missing: bool | None = None) -> list[NoteRow]:
        """Notes with these bytes: all, only those gone (to pair a rename), or only present ones."""
        which = {None: "", True: "AND missing_since IS NOT NULL", False: f"AND {_PRESENT}"}
        return self._notes(
            f"WHERE hash = ? {which[missing]} ORDER BY missing_since DESC, path", (hash,)
        )

    def by_text_key(self, text_key: str) -> NoteRow | None:
        """The oldest memory that says the same in the same words."""
        return self._one(f"WHERE text_key = ? AND {_MEMORY} ORDER BY created, id", (text_key,))

    def by_title(self, title: str) -> list[NoteRow]:
        """Present notes of this name, in whatever folder, case and Unicode form."""
        name = path_key(f"{title}.md")
        return self._notes(
            f"WHERE (path_key = ? OR path_key LIKE ? ESCAPE '\\') AND {_PRESENT}",
            (name, f"%/{_literal(name)}"),
        )

    def claimants(self) -> list[NoteRow]:
        """Present notes in which an id stands that another note has, or had."""
        return self._notes(f"WHERE claimed_id IS NOT NULL AND {_PRESENT} ORDER BY path")

    def same_texts(self, folder: str) -> list[tuple[NoteRow, NoteRow]]:
        """Memories with a stored id below `folder` (with its `/`), and those elsewhere that say
        the same in the same words."""
        pairs = self._db.rows(
            "SELECT a.id, b.id FROM notes a JOIN notes b ON b.text_key = a.text_key"
            " AND b.is_memory AND b.missing_since IS NULL"
            " WHERE a.is_memory AND a.missing_since IS NULL AND a.stored_id AND a.text_key <> ''"
            " AND substr(a.path, 1, ?) = ? AND substr(b.path, 1, ?) <> ?",
            (len(folder), folder, len(folder), folder),
        )
        rows = self.by_ids({str(id) for pair in pairs for id in pair})
        return [(rows[str(one)], rows[str(other)]) for one, other in pairs]

    # Many notes

    def stamps(self) -> dict[str, Stamp]:
        """Path to stamp of every present note, in one query."""
        rows = self._db.rows(
            f"SELECT path, mtime_ns, size, inode, hash FROM notes WHERE {_PRESENT}"
        )
        return {str(row[0]): Stamp(*row[1:]) for row in rows}  # type: ignore[arg-type]

    def paths(self) -> list[str]:
        """The paths of the present notes, sorted."""
        rows = self._db.rows(f"SELECT path FROM notes WHERE {_PRESENT} ORDER BY path")
        return [str(path) for (path,) in rows]

    def with_status(self, status: str) -> set[str]:
        """The paths of the present notes with this status."""
        rows = self._db.rows(f"SELECT path FROM notes WHERE status = ? AND {_PRESENT}", (status,))
        return {str(path) for (path,) in rows}

    def missing(self) -> list[NoteRow]:
        """The notes whose file is gone, the latest first."""
        return self._notes("WHERE missing_since IS NOT NULL ORDER BY missing_since DESC, path")

    def with_problems(self) -> list[NoteRow]:
        """Present notes that failed, are conflict copies, or could be read only in part."""
        return self._notes(
            f"WHERE {_PRESENT} AND (status IN ('failed', 'conflict-copy') OR problems <> '[]')"
            " ORDER BY path"
        )

    def memories(
        self,
        *,
        tag: str | None = None,
        after: int | None = None,
        before: int | None = None,
        kind: str | None = None,
        embedded: bool | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[NoteRow]:
        """Memories, newest first. `tag` includes the tags below it; the times are inclusive."""
        where, values = [f"WHERE {_MEMORY}"], []
        for condition, value in (
            ("created >= ?", after),
            ("created <= ?", before),
            ("kind = ?", kind),
            ("embedded = ?", embedded),
        ):
            if value is not None:
                where.append(condition)
                values.append(cast(Value, value))
        if tag is not None:
            keys = tag_keys([tag])
            where.append("path IN (SELECT path FROM note_tags WHERE tag = ?)")
            values.append(keys[-1] if keys else "")
        values += [-1 if limit is None else limit, offset]
        return self._notes(
            f"{' AND '.join(where)} ORDER BY created DESC, modified DESC, id LIMIT ? OFFSET ?",
            values,
        )

    def memories_named(self, text: str, limit: int) -> list[NoteRow]:
        """Memories with `text` in their path, in whatever case; names that begin so come first."""
        literal = _literal(path_key(text))
        return self._notes(
            f"WHERE {_MEMORY} AND path_key LIKE ? ESCAPE '\\' ORDER BY "
            "path_key LIKE ? ESCAPE '\\' OR path_key LIKE ? ESCAPE '\\' DESC, created DESC, id "
            "LIMIT ?",
            (f"%{literal}%", f"{literal}%", f"%/{literal}%", limit),
        )

    def page(
        self,
        *,
        path: str | None = None,
        status: str | None = None,
        n: int = 100,
        cursor: str | None = None,
    ) -> tuple[int, str | None, list[NoteRow]]:
        """How many notes match, where the next page begins (None: nowhere), and `n` of them by
        path. Raises InvalidInput for a cursor that this method did not give."""
        where, values = f"WHERE {_PRESENT}", cast("list[Value]", [])
        for column, wanted in (("path", path), ("status", status)):
            if wanted is not None:
                where += f" AND {column} = ?"
                values.append(wanted)
        total = self._db.number(f"SELECT count(*) FROM notes {where}", values)
        if cursor is not None:
            where += " AND path > ?"
            values.append(_decode_cursor(cursor))
        found = self._notes(f"{where} ORDER BY path LIMIT ?", [*values, n + 1])
        more = _encode_cursor(found[n - 1].path) if len(found) > n else None
        return total, more, found[:n]

    # Sums

    def counts(self) -> Counts:
        return self._db.kept("counts", self._count)

    def _count(self) -> Counts:
        statuses = self._db.rows(f"SELECT status, count(*) FROM notes WHERE {_PRESENT} GROUP BY 1")
        found = {str(status): int(cast(int, count)) for status, count in statuses}
        row = self._db.row(
            "SELECT count(*), count(*) - total(embedded), count(*) - count(kind), avg(importance)"
            f" FROM notes WHERE {_MEMORY}"
        )
        memories, unembedded, unclassified, average = cast("tuple[int, float, int, float]", row)
        return Counts(
            notes=sum(found.values()),
            memories=memories,
            unembedded=int(unembedded),
            unclassified=unclassified,
            average_importance=average,
            statuses=found,
        )

    def tag_counts(self) -> list[tuple[str, int]]:
        """Each tag of the memories in its commonest spelling, the commonest tags first."""
        return [*self._db.kept("tags", self._count_tags)]

    def _count_tags(self) -> list[tuple[str, int]]:
        spellings: dict[str, Counter[str]] = {}
        for (tag,) in self._db.rows(
            f"SELECT t.value FROM notes, json_each(notes.tags) t WHERE {_MEMORY} ORDER BY 1"
        ):
            spellings.setdefault(path_key(str(tag)), Counter())[str(tag)] += 1
        counted = [(c.most_common(1)[0][0], c.total()) for c in spellings.values()]
        return sorted(counted, key=lambda pair: (-pair[1], pair[0]))

    def tags(self) -> list[str]:
        """Each tag of the memories once, sorted."""
        return sorted(tag for tag, _ in self.tag_counts())

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

    def _one(self, where: str, values: Sequence[Value]) -> NoteRow | None:
        found = self._notes(where, values)
        return found[0] if found else None

    def _notes(self, where: str, values: Sequence[Value] = ()) -> list[NoteRow]:
        rows = self._db.rows(f"SELECT {NOTE_COLUMNS} FROM notes {where}", values)
        return [note_row(row) for row in rows]

    def _shared_ids(self, notes: Sequence[NoteRow]) -> list[str]:
        """The ids for which the notes would have met another path."""
        owner: dict[str, str] = {
            id: note.path for id, note in self.by_ids(n.id for n in notes).items()
        }
        shared = [n.id for n in notes if owner.setdefault(n.id, n.path) != n.path]
        return list(dict.fromkeys(shared))


def _literal(text: str) -> str:
    """Text that LIKE takes as it stands, with a backslash as its escape character."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _connect(path: Path) -> Database:
    return Database(path, schema=_SCHEMA, version=_VERSION, synchronous="NORMAL")


def _encode_cursor(path: str) -> str:
    return base64.urlsafe_b64encode(path.encode()).decode().rstrip("=")


def _decode_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(
            cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True
        ).decode()
    except (binascii.Error, ValueError) as error:
        raise InvalidInput("cursor", "cursor is not one that this server gave") from error
