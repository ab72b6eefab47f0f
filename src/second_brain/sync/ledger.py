"""Keeps the catalogue: which id a file has, its row, its edges. Blocking, under the commit lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from second_brain.index.catalog import Catalog
from second_brain.index.chunk import key as vector_key
from second_brain.index.rows import NoteRow
from second_brain.index.state import State
from second_brain.sync.identity import Known, Seen, assign_ids
from second_brain.sync.link_graph import LinkGraph
from second_brain.sync.prepare import Prepared
from second_brain.sync.reading import Reader
from second_brain.vault.model import Note


class Ledger:
    """Belongs to whoever holds the commit lock. `clock_ms` is Unix milliseconds."""

    def __init__(
        self, catalog: Catalog, state: State, reader: Reader, clock_ms: Callable[[], int]
    ) -> None:
        self.links = LinkGraph(catalog)
        self._catalog = catalog
        self._state = state
        self._reader = reader
        self._clock_ms = clock_ms

    def begin_anew(self) -> None:
        """The catalogue is another one now."""
        self.links = LinkGraph(self._catalog)

    def assign(
        self,
        prepared: Sequence[Prepared],
        before: Mapping[str, NoteRow | None],
        moved: Mapping[str, str],
    ) -> dict[str, str]:
        """The ids of some files; `before` are the rows at their paths, `moved` as events told."""
        seen = [Seen(p.path, p.digest, p.stamp.size, p.stored_id) for p in prepared]
        here = {item.path: item for item in prepared}
        moves = {path: moved[path] for path in here if path in moved}
        candidates = [*before.values(), *(self._catalog.by_path(old) for old in moves.values())]
        for item in prepared:
            if item.stored_id:
                candidates.append(self._catalog.by_id(item.stored_id, missing=True))
            if item.stamp.size > 0:
                candidates += self._catalog.by_hash(item.digest)
        spelled = {
            row.path
            for item in prepared
            if before[item.path] is None
            for row in self._catalog.by_path_key(item.path)
            if row.inode == item.stamp.inode
        }  # On a disk that ignores case, the file answers to its old spelling too.
        known = {
            row.path: Known(
                row.path,
                row.id,
                row.hash,
                row.path in spelled or self._reader.is_vacated(row, here.get(row.path)),
            )
            for row in candidates
            if row is not None
        }
        return assign_ids(seen, known.values(), self._taken, moves)

    def _taken(self, id: str) -> bool:
        return self._catalog.by_id(id, missing=True) is not None

    def store(
        self,
        rows: Mapping[str, NoteRow],
        before: Mapping[str, NoteRow | None],
        holders: Mapping[str, NoteRow | None],
        notes: Mapping[str, Note],
        now: int,
    ) -> None:
        """Store rows by path with the edges of their notes, and resolve what links to them.

        `before` are the rows that were at these paths, `holders` those that had these ids.
        """
        catalog = self._catalog
        left = {h.path for id, h in holders.items() if h is not None} - rows.keys()
        renewed = {p: old for p, row in rows.items() if (old := before[p]) and old.id != row.id}
        displaced: dict[str, NoteRow] = {}
        with self.links.in_step(), catalog.transaction():
            for path, old in renewed.items():
                row, holder = rows[path], holders.get(rows[path].id)
                named = row.stored_id and not old.stored_id
                if named and holder is None:
                    self._state.change_id(old.id, row.id)
                    catalog.change_id(old.id, row.id)
                elif old.hash != row.hash and old.claimed_id != row.id and old.id not in holders:
                    displaced[old.id] = _displaced(old, now)
            catalog.forget([*left, *renewed], keeping=holders.keys() | displaced.keys())
            catalog.upsert([*rows.values(), *displaced.values()])
            for row in rows.values():
                catalog.edges.replace(row.id, self.links.stated(row.id, notes[row.path], now))
            keys = self.links.moved(left, rows)
            keys |= self.links.keys_of(p for p in rows if p in renewed or was_absent(before[p]))
            self.links.resolve([row.id for row in rows.values()], keys)

    def store_unreadable(self, reasons: Mapping[str, str]) -> list[NoteRow]:
        """Files that are there but cannot be read: a known one stays as it was, with a problem.

        Returns the rows for which that is news.
        """
        rows: list[NoteRow] = []
        for path, reason in reasons.items():
            row = self._catalog.by_path(path)
            if row is None or row.missing_since is not None:
                known = [Known(row.path, row.id, row.hash, vacated=True)] if row else []
                ids = assign_ids([Seen(path, "", 0, None)], known, self._taken)
                title = path.rpartition("/")[2].removesuffix(".md")
                row = NoteRow(
                    path=path, id=ids[path], title=title, status="failed", modified=self._clock_ms()
                )
            # Without a time it is not current: whoever scans tries to read it again.
            told = replace(row, reason=reason, problems=(reason,), mtime_ns=0)
            if told != row:
                rows.append(told)
        with self.links.in_step(), self._catalog.transaction():
            self._catalog.upsert(rows)
            self.links.resolve([], self.links.moved([], [row.path for row in rows]))
        return rows

    def mark_missing(self, rows: Sequence[NoteRow]) -> None:
        """The files of these notes are gone; their rows are kept for a while."""
        with self.links.in_step(), self._catalog.transaction():
            self._catalog.mark_missing([row.path for row in rows], self._clock_ms())
            self.links.resolve([], self.links.moved([row.path for row in rows], []))


def row_of(
    item: Prepared, id: str, *, embedded: bool, fingerprint: str | None, version: str, now: int
) -> NoteRow:
    """The row of a file that was prepared, for the index of this `version`.

    `fingerprint` is of the model that its passages are embedded with, None without one.
    """
    keys = (vector_key(fingerprint, text) for text in item.texts) if fingerprint else ()
    return NoteRow(
        path=item.path,
        id=id,
        stored_id=item.stored_id == id,
        title=item.note.title,
        hash=item.digest,
        size=item.stamp.size,
        mtime_ns=item.stamp.mtime_ns,
        inode=item.stamp.inode,
        status=item.state,
        reason=item.reason,
        is_memory=item.is_memory,
        embedded=embedded,
        chunks=len(item.chunks),
        kind=item.facets.kind,
        memory_status=item.facets.status,
        importance=item.facets.importance,
        source=item.facets.source,
        tags=item.facets.tags,
        aliases=item.note.aliases,
        created=item.created,
        modified=item.stamp.mtime_ns // 1_000_000,
        indexed_at=now if item.is_memory else None,
        index_version=version if item.is_memory else "",
        problems=item.problems,
        vector_keys=tuple(keys),
        text_key=item.facets.text_key if item.is_memory else "",
        claimed_id=item.stored_id if item.stored_id != id else None,
    )


def _displaced(row: NoteRow, now: int) -> NoteRow:
    """The row of a note in whose place another one is: missing, until its text turns up.

    Under a path that no file can have, because its own is the other's now.
    """
    return replace(row, path=f"/{row.id}", missing_since=row.missing_since or now)


def was_absent(row: NoteRow | None) -> bool:
    """Whether there was no file, as far as a row tells."""
    return row is None or row.missing_since is not None
