"""Reading the catalogue's notes: one of them, many, and sums over all."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from second_brain.errors import InvalidInput
from second_brain.index.database import Database, Value, chunked, marks
from second_brain.index.rows import (
    NOTE_COLUMNS,
    NoteRow,
    Stamp,
    Standing,
    note_row,
    path_key,
    string_list,
    tag_keys,
)

PRESENT = "missing_since IS NULL"
MEMORY = f"is_memory AND {PRESENT}"
UNCLASSIFIED = "importance IS NULL AND source NOT IN ('', 'obsidian')"
"""Of a memory that did not come from the user's own hand."""


@dataclass(frozen=True, slots=True)
class Counts:
    """`notes` are the files present, `statuses` how many of them have which; `unembedded`,
    `unclassified` and `average_importance` are about memories."""

    notes: int
    memories: int
    unembedded: int
    unclassified: int
    average_importance: float | None
    statuses: Mapping[str, int]


class NoteQueries:
    """The reading half of `Catalog`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # Single notes

    def by_path(self, path: str) -> NoteRow | None:
        """The note with this very path, missing or not."""
        return self._one("WHERE path = ?", (path,))

    def by_path_key(self, path: str) -> list[NoteRow]:
        """Present notes whose path differs at most in case or Unicode form."""
        return self._notes(f"WHERE path_key = ? AND {PRESENT}", (path_key(path),))

    def by_id(self, id: str, *, missing: bool = False) -> NoteRow | None:
        """The present note with this id; with `missing` one that is gone, if none is present."""
        found = self.by_ids([id]).get(id)
        if found is None and missing:
            found = self._one("WHERE id = ? ORDER BY missing_since DESC LIMIT 1", (id,))
        return found

    def ids_from(self, beginning: str, limit: int) -> list[str]:
        """Ids of present notes that begin so, sorted."""
        rows = self._db.rows(
            f"SELECT id FROM notes WHERE substr(id, 1, ?) = ? AND {PRESENT} ORDER BY id LIMIT ?",
            (len(beginning), beginning, limit),
        )
        return [str(id) for (id,) in rows]

    def by_ids(self, ids: Iterable[str]) -> dict[str, NoteRow]:
        """The present notes among `ids`."""
        return self._db.kept_each("notes", ids, self._by_ids)

    def _by_ids(self, ids: list[str]) -> dict[str, NoteRow]:
        found: dict[str, NoteRow] = {}
        for batch in chunked(ids):
            where = f"WHERE id IN ({marks(batch)}) AND {PRESENT}"
            found.update((note.id, note) for note in self._notes(where, batch))
        return found

    def standings(self, ids: Iterable[str]) -> dict[str, Standing]:
        """What a ranking weighs of the memories among `ids`: a tenth of the cost of their rows."""
        return self._db.kept_each("standings", ids, self._standings)

    def _standings(self, ids: list[str]) -> dict[str, Standing]:
        found: dict[str, Standing] = {}
        for batch in chunked(ids):
            rows = self._db.rows(
                "SELECT id, created, tags, memory_status, importance FROM notes"
                f" WHERE id IN ({marks(batch)}) AND {MEMORY}",
                batch,
            )
            for id, created, tags, status, importance in cast("list[tuple[Any, ...]]", rows):
                found[id] = Standing(created, string_list(tags), status, importance)
        return found

    def any_deprecated(self) -> bool:
        """Whether there is a deprecated memory at all."""
        sql = f"SELECT 1 FROM notes WHERE memory_status = 'deprecated' AND {MEMORY} LIMIT 1"
        return self._db.kept("any_deprecated", lambda: self._db.row(sql)) is not None

    def by_hash(self, hash: str, *, missing: bool | None = None) -> list[NoteRow]:
        """Notes with these bytes: all, only those gone (to pair a rename), or only present ones."""
        which = {None: "", True: "AND missing_since IS NOT NULL", False: f"AND {PRESENT}"}
        return self._notes(
            f"WHERE hash = ? {which[missing]} ORDER BY missing_since DESC, path", (hash,)
        )

    def by_text_key(self, text_key: str) -> NoteRow | None:
        """The oldest memory that says the same in the same words."""
        return self._one(f"WHERE text_key = ? AND {MEMORY} ORDER BY created, id", (text_key,))

    def by_title(self, title: str) -> list[NoteRow]:
        """Present notes of this name, in whatever folder, case and Unicode form."""
        name = path_key(f"{title}.md")
        return self._notes(
            f"WHERE (path_key = ? OR path_key LIKE ? ESCAPE '\\') AND {PRESENT}",
            (name, f"%/{_literal(name)}"),
        )

    def claimants(self) -> list[NoteRow]:
        """Present notes in which an id stands that another note has, or had."""
        return self._notes(f"WHERE claimed_id IS NOT NULL AND {PRESENT} ORDER BY path")

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

    def copies(self, limit: int) -> list[list[NoteRow]]:
        """Memories that say the same in the same words, together, the oldest of each first."""
        rows = self._notes(
            f"WHERE {MEMORY} AND text_key IN (SELECT text_key FROM notes WHERE {MEMORY}"
            " AND text_key <> '' GROUP BY text_key HAVING count(*) > 1 ORDER BY text_key LIMIT ?)"
            " ORDER BY text_key, created, id",
            [limit],
        )
        groups: dict[str, list[NoteRow]] = {}
        for row in rows:
            groups.setdefault(row.text_key, []).append(row)
        return list(groups.values())

    # Many notes

    def stamps(self) -> dict[str, Stamp]:
        """Path to stamp of every present note, in one query."""
        rows = self._db.rows(f"SELECT path, mtime_ns, size, inode, hash FROM notes WHERE {PRESENT}")
        return {str(row[0]): Stamp(*row[1:]) for row in rows}  # type: ignore[arg-type]

    def paths(self) -> list[str]:
        """The paths of the present notes, sorted."""
        rows = self._db.rows(f"SELECT path FROM notes WHERE {PRESENT} ORDER BY path")
        return [str(path) for (path,) in rows]

    def with_status(self, status: str) -> set[str]:
        """The paths of the present notes with this status."""
        rows = self._db.rows(f"SELECT path FROM notes WHERE status = ? AND {PRESENT}", (status,))
        return {str(path) for (path,) in rows}

    def missing(self) -> list[NoteRow]:
        """The notes whose file is gone, the latest first."""
        return self._notes("WHERE missing_since IS NOT NULL ORDER BY missing_since DESC, path")

    def with_problems(self) -> list[NoteRow]:
        """Present notes that failed, are conflict copies, or could be read only in part."""
        return self._notes(
            f"WHERE {PRESENT} AND (status IN ('failed', 'conflict-copy') OR problems <> '[]')"
            " ORDER BY path"
        )

    def memories(
        self,
        *,
        tag: str | None = None,
        after: int | None = None,
        before: int | None = None,
        kind: str | None = None,
        status: str | None = None,
        embedded: bool | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[NoteRow]:
        """Memories, newest first. `tag` includes the tags below it; the times are inclusive."""
        where, values = [f"WHERE {MEMORY}"], []
        for condition, value in (
            ("created >= ?", after),
            ("created <= ?", before),
            ("kind = ?", kind),
            ("memory_status = ?", status),
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
            f"WHERE {MEMORY} AND path_key LIKE ? ESCAPE '\\' ORDER BY "
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
        where, values = f"WHERE {PRESENT}", cast("list[Value]", [])
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
        statuses = self._db.rows(f"SELECT status, count(*) FROM notes WHERE {PRESENT} GROUP BY 1")
        found = {str(status): int(cast(int, count)) for status, count in statuses}
        row = self._db.row(
            f"SELECT count(*), count(*) - total(embedded), total({UNCLASSIFIED}), avg(importance)"
            f" FROM notes WHERE {MEMORY}"
        )
        memories, unembedded, unclassified, average = cast("tuple[int, float, float, float]", row)
        return Counts(
            notes=sum(found.values()),
            memories=memories,
            unembedded=int(unembedded),
            unclassified=int(unclassified),
            average_importance=average,
            statuses=found,
        )

    def unclassified(self, limit: int) -> list[NoteRow]:
        """Memories that count as such, the newest first."""
        where = f"WHERE {MEMORY} AND {UNCLASSIFIED} ORDER BY created DESC, path LIMIT ?"
        return self._notes(where, [limit])

    def tag_counts(self) -> list[tuple[str, int]]:
        """Each tag of the memories in its commonest spelling, the commonest tags first."""
        return [*self._db.kept("tags", self._count_tags)]

    def _count_tags(self) -> list[tuple[str, int]]:
        spellings: dict[str, Counter[str]] = {}
        for (tag,) in self._db.rows(
            f"SELECT t.value FROM notes, json_each(notes.tags) t WHERE {MEMORY} ORDER BY 1"
        ):
            spellings.setdefault(path_key(str(tag)), Counter())[str(tag)] += 1
        counted = [(c.most_common(1)[0][0], c.total()) for c in spellings.values()]
        return sorted(counted, key=lambda pair: (-pair[1], pair[0]))

    def tags(self) -> list[str]:
        """Each tag of the memories once, sorted."""
        return sorted(tag for tag, _ in self.tag_counts())

    def _one(self, where: str, values: Sequence[Value]) -> NoteRow | None:
        found = self._notes(where, values)
        return found[0] if found else None

    def _notes(self, where: str, values: Sequence[Value] = ()) -> list[NoteRow]:
        rows = self._db.rows(f"SELECT {NOTE_COLUMNS} FROM notes {where}", values)
        return [note_row(row) for row in rows]


def _literal(text: str) -> str:
    """Text that LIKE takes as it stands, with a backslash as its escape character."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _encode_cursor(path: str) -> str:
    return base64.urlsafe_b64encode(path.encode()).decode().rstrip("=")


def _decode_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(
            cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True
        ).decode()
    except (binascii.Error, ValueError) as error:
        raise InvalidInput("cursor", "cursor is not one that this server gave") from error
