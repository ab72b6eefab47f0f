"""The engine of sync: takes files in until catalogue and index say what the vault says.

Whatever says that a file may have changed (an event, a scan, a write of ours) ends in `take_in`:
read, prepare and embed outside any lock, then one short commit that decides on identity, writes
the index, and only then the catalogue. A crash in between is mended by the next scan.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from second_brain.errors import NoteChanged, ReadFailed
from second_brain.index.catalog import Catalog
from second_brain.index.chunk import key as vector_key
from second_brain.index.embedding.protocol import Vectors
from second_brain.index.index import Index
from second_brain.index.passages import ChunkRow
from second_brain.index.rows import NoteRow
from second_brain.index.state import State
from second_brain.sync.changes import Change, ChangeType, Facets
from second_brain.sync.identity import Known, Seen, assign_ids
from second_brain.sync.link_graph import LinkGraph
from second_brain.sync.prepare import Chunking, Describe, Prepared, prepare
from second_brain.vault.files import VaultFiles
from second_brain.vault.model import Note
from second_brain.vault.rules import SyncRule

log = logging.getLogger(__name__)

SLICE = 24
"""Notes taken in at a time: what an urgent write may have to wait for is one commit of these."""

QUIET_SECONDS = 2.0
"""A note that would cease to be a memory, or become empty, must have been left alone this long:
a save in place truncates the file first, and the rest may take a while."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of some paths. `later` are to be looked at again after `QUIET_SECONDS`."""

    rows: dict[str, NoteRow]
    gone: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()


class Engine:
    """Takes in files of one vault. `clock_ms` is Unix milliseconds."""

    def __init__(
        self,
        files: VaultFiles,
        catalog: Catalog,
        state: State,
        index: Index,
        *,
        rule: SyncRule,
        describe: Describe,
        chunking: Chunking,
        clock_ms: Callable[[], int],
        on_change: Callable[[Change], None] = lambda change: None,
    ) -> None:
        self.files = files
        self.catalog = catalog
        self.index = index
        self.rule = rule
        self.on_change = on_change
        self._state = state
        self._describe = describe
        self._chunking = chunking
        self._clock_ms = clock_ms
        self._commit_lock = asyncio.Lock()
        self.links = LinkGraph(catalog)

    async def take_in(
        self,
        paths: Iterable[str],
        *,
        moved: Mapping[str, str] | None = None,
        urgent: bool = False,
    ) -> TakenIn:
        """Make catalogue and index say what these files say; paths without a file are `gone`.

        `moved` tells of some paths where the file was before, as an event reported it. Nothing is
        decided about files that are gone: see `drop`. `urgent` embeds at once and commits without
        waiting for company.
        """
        await self.index.opened()
        prepared, gone, later = await asyncio.to_thread(self._read, list(paths), urgent)
        if not prepared:
            return TakenIn({}, frozenset(gone), frozenset(later))
        vectors = await self._embed(prepared, urgent=urgent)
        async with self._commit_lock:
            current = await asyncio.to_thread(self._still_current, prepared)
            rows = await self._commit(current, vectors, moved or {}, flush=urgent)
        stale = {p.path for p in prepared} - {p.path for p in current}
        return TakenIn(rows, frozenset(gone), frozenset(later | stale))

    async def drop(self, paths: Iterable[str]) -> list[NoteRow]:
        """These files are gone: out of the index at once, kept in the catalogue for a while."""
        async with self._commit_lock:
            found = [await asyncio.to_thread(self._known_and_gone, path) for path in paths]
            rows = [row for row in found if row is not None]
            if not rows:
                return []
            await self.index.commit({}, [row.id for row in rows if row.is_memory], flush=True)
            await asyncio.to_thread(self._forget_files, rows)
        now = self._clock_ms()
        for row in rows:
            self.on_change(Change("deleted", row.id, row.path, now))
        return rows

    async def check_index(self) -> None:
        """Compare what the index holds with what the catalogue says it holds.

        LanceDB never syncs to disk: after a power cut a commit may be gone that is known here.
        What differs is marked to be indexed again; notes that nobody knows are dropped.
        """
        held = await self.index.chunk_counts()
        unembedded = await self.index.unembedded()
        memories = await asyncio.to_thread(self.catalog.memories)
        wrong = [
            row.id
            for row in memories
            if row.chunks != held.get(row.id, 0) or (row.embedded and row.id in unembedded)
        ]
        if wrong:
            await asyncio.to_thread(self.catalog.forget_index, wrong)
        strangers = held.keys() - {row.id for row in memories}
        if strangers:
            async with self._commit_lock:
                await self.index.commit({}, strangers)

    async def link_text(self, path: str) -> str | None:
        """What to write in a wiki-link so that it means this note; None if nothing can."""
        async with self._commit_lock:
            return self.links.resolver.link_text(path)

    async def embed_missing(self) -> int:
        """Embed memories that were taken in without a model; how many are left to do."""
        waiting = await asyncio.to_thread(self.catalog.memories, embedded=False, limit=SLICE)
        if not waiting or self.index.encoder.model is None or not self._model_fits():
            return 0
        await self._again([row.path for row in waiting])
        return len(waiting)

    async def build_next(self, progress: Callable[[int, int], None]) -> bool:
        """Fill the generation that is being built with every memory; whether it is complete."""
        version = self.index.version
        while True:
            left = await asyncio.to_thread(self.outdated, version)
            if not left:
                return True
            if not self.files.online():
                return False
            progress(0, len(left))
            for first in range(0, len(left), SLICE):
                await self._again(left[first : first + SLICE])
                progress(min(first + SLICE, len(left)), len(left))
            if set(await asyncio.to_thread(self.outdated, version)) == set(left):
                return False

    def outdated(self, version: str) -> list[str]:
        """Paths of memories that are not in a generation of this version."""
        return [row.path for row in self.catalog.memories() if row.index_version != version]

    def is_current(self, path: str) -> bool:
        """Whether the catalogue knows the file as it is on disk, and the index has it."""
        row = self.catalog.by_path(path)
        if row is None or row.missing_since is not None:
            return False
        stamp = self.files.stamp(path)
        return (
            stamp is not None
            and (stamp.mtime_ns, stamp.size, stamp.inode) == (row.mtime_ns, row.size, row.inode)
            and (not row.is_memory or row.index_version == self.index.version)
        )

    # Reading, in a worker thread

    def _read(
        self, paths: Sequence[str], urgent: bool, force: bool = False
    ) -> tuple[list[Prepared], set[str], set[str]]:
        prepared: list[Prepared] = []
        gone: set[str] = set()
        later: set[str] = set()
        for path in dict.fromkeys(paths):
            try:
                if not force and self.is_current(path):
                    continue
                found = self.files.read(path)
            except FileNotFoundError:
                gone.add(path)
                continue
            except NoteChanged:
                later.add(path)
                continue
            except ReadFailed as error:
                self._report_unreadable(path, str(error))
                continue
            item = prepare(
                path,
                found.data,
                found.stamp,
                rule=self.rule,
                describe=self._describe,
                chunking=self._chunking,
                exists=lambda other: self.files.stamp(other) is not None,
            )
            if not urgent and self._loses(item):
                later.add(path)
            else:
                prepared.append(item)
        return prepared, gone, later

    def _loses(self, item: Prepared) -> bool:
        """Whether a memory would be lost by a file that may be in the middle of a save."""
        row = self.catalog.by_path(item.path)
        if row is None or row.missing_since is not None or not row.is_memory:
            return False
        if item.is_memory and item.stamp.size > 0:
            return False
        age = self._clock_ms() - item.stamp.mtime_ns // 1_000_000
        return 0 <= age < QUIET_SECONDS * 1000

    def _report_unreadable(self, path: str, reason: str) -> None:
        """A file that is there but cannot be read: a known one stays as it was, with a problem."""
        row = self.catalog.by_path(path)
        now = self._clock_ms()
        if row is None or row.missing_since is not None:
            ids = assign_ids([Seen(path, "", 0, None)], self._known_at(row), self._taken)
            title = path.rpartition("/")[2].removesuffix(".md")
            row = NoteRow(path=path, id=ids[path], title=title, status="failed", modified=now)
        if row.reason != reason or row.problems != (reason,):
            self.catalog.upsert([replace(row, reason=reason, problems=(reason,))])
            self.on_change(Change("problem", row.id, path, now))

    def _still_current(self, prepared: Sequence[Prepared]) -> list[Prepared]:
        return [item for item in prepared if self.files.stamp(item.path) == item.stamp]

    # Embedding

    async def _embed(
        self, prepared: Sequence[Prepared], *, urgent: bool
    ) -> dict[str, list[Vectors | None]]:
        texts = [text for item in prepared for text in item.texts]
        made = iter(await self.index.encoder.documents(texts, urgent=urgent))
        return {item.path: [next(made) for _ in item.texts] for item in prepared}

    def _model_fits(self) -> bool:
        return self.index.building or not self.index.outdated

    async def _again(self, paths: Sequence[str]) -> None:
        """Take in files whether or not they changed."""
        prepared, gone, _ = await asyncio.to_thread(self._read, paths, True, True)
        vectors = await self._embed(prepared, urgent=False)
        async with self._commit_lock:
            current = await asyncio.to_thread(self._still_current, prepared)
            await self._commit(current, vectors, {}, flush=False, force=True)
        if gone:
            log.debug("%d notes vanished while they were being indexed", len(gone))

    # Committing, under the lock

    async def _commit(
        self,
        prepared: Sequence[Prepared],
        vectors: Mapping[str, Sequence[Vectors | None]],
        moved: Mapping[str, str],
        *,
        flush: bool,
        force: bool = False,
    ) -> dict[str, NoteRow]:
        if not prepared:
            return {}
        now = self._clock_ms()
        before = {item.path: self.catalog.by_path(item.path) for item in prepared}
        ids = await asyncio.to_thread(self._assign, prepared, before, moved)
        holders = {id: self.catalog.by_id(id, missing=True) for id in ids.values()}
        rows: dict[str, NoteRow] = {}
        chunks: dict[str, list[ChunkRow]] = {}
        delete: set[str] = set()
        for item in prepared:
            id, old = ids[item.path], before[item.path]
            holder, own = holders[id], vectors[item.path]
            row = rows[item.path] = self._row(item, id, own, now)
            if item.is_memory and (force or not _same_in_index(holder, row)):
                chunks[id] = item.rows(id, own)
            elif not item.is_memory and holder is not None and holder.is_memory:
                delete.add(id)
            if old is not None and old.id not in holders and old.is_memory:
                delete.add(old.id)
        if chunks or delete:
            await self.index.commit(chunks, delete, flush=flush)
        notes = {item.path: item.note for item in prepared}
        await asyncio.to_thread(self._store, rows, before, holders, notes, now)
        for path, row in rows.items():
            self.on_change(
                Change(_change_type(before[path], holders[row.id], row), row.id, path, now)
            )
        return rows

    def _assign(
        self,
        prepared: Sequence[Prepared],
        before: Mapping[str, NoteRow | None],
        moved: Mapping[str, str],
    ) -> dict[str, str]:
        seen = [Seen(p.path, p.digest, p.stamp.size, p.stored_id) for p in prepared]
        known: dict[str, Known] = {}
        digests = {item.path: item.digest for item in prepared}
        candidates: list[NoteRow] = [row for row in before.values() if row is not None]
        for item in prepared:
            if item.stored_id:
                row = self.catalog.by_id(item.stored_id, missing=True)
                candidates += [row] if row is not None else []
            if item.stamp.size > 0:
                candidates += self.catalog.by_hash(item.digest)
        for item in prepared:
            source = self.catalog.by_path(moved[item.path]) if item.path in moved else None
            if source is not None and self._is_vacated(source, digests.get(source.path)):
                # Whatever was edited on the way, the event says that it is the same note.
                known[source.path] = Known(source.path, source.id, item.digest, vacated=True)
        for row in candidates:
            if row.path not in known:
                known[row.path] = Known(
                    row.path, row.id, row.hash, self._is_vacated(row, digests.get(row.path))
                )
        return assign_ids(seen, known.values(), self._taken)

    def _is_vacated(self, row: NoteRow, digest: str | None) -> bool:
        """Whether a row's text is no longer at its path (`digest`: what is there, if known)."""
        if row.missing_since is not None:
            return True
        if digest is not None:
            return digest != row.hash
        return self.files.stamp(row.path) is None

    def _known_at(self, row: NoteRow | None) -> list[Known]:
        return [Known(row.path, row.id, row.hash, row.missing_since is not None)] if row else []

    def _taken(self, id: str) -> bool:
        return self.catalog.by_id(id, missing=True) is not None

    def _row(self, item: Prepared, id: str, vectors: Sequence[Vectors | None], now: int) -> NoteRow:
        model = self.index.encoder.model
        keys: tuple[str, ...] = ()
        if model is not None:
            keys = tuple(vector_key(model.fingerprint, text) for text in item.texts)
        facets: Facets = item.facets
        embedded = item.is_memory and self._model_fits() and all(v is not None for v in vectors)
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
            kind=facets.kind,
            memory_status=facets.status,
            importance=facets.importance,
            source=facets.source,
            tags=facets.tags,
            aliases=item.note.aliases,
            created=item.created,
            modified=item.stamp.mtime_ns // 1_000_000,
            indexed_at=now if item.is_memory else None,
            index_version=self.index.version if item.is_memory else "",
            problems=item.problems,
            vector_keys=keys,
            text_key=facets.text_key if item.is_memory else "",
        )

    def _store(
        self,
        rows: Mapping[str, NoteRow],
        before: Mapping[str, NoteRow | None],
        holders: Mapping[str, NoteRow | None],
        notes: Mapping[str, Note],
        now: int,
    ) -> None:
        catalog = self.catalog
        left = {h.path for id, h in holders.items() if h is not None} - rows.keys()
        renewed = {p for p, row in rows.items() if (old := before[p]) and old.id != row.id}
        with catalog.transaction():
            for path in renewed:
                old, row = before[path], rows[path]
                if old is not None and row.stored_id and not old.stored_id:
                    self._state.change_id(old.id, row.id)
            catalog.forget([*left, *renewed])
            catalog.upsert(rows.values())
            for row in rows.values():
                catalog.edges.replace(row.id, self.links.stated(row.id, notes[row.path], now))
            keys = self.links.moved(left, rows)
            keys |= self.links.keys_of(p for p in rows if p in renewed or _was_absent(before[p]))
            self.links.resolve([row.id for row in rows.values()], keys)

    def _known_and_gone(self, path: str) -> NoteRow | None:
        row = self.catalog.by_path(path)
        if row is None or row.missing_since is not None or self.files.stamp(path) is not None:
            return None
        return row

    def _forget_files(self, rows: Sequence[NoteRow]) -> None:
        with self.catalog.transaction():
            self.catalog.mark_missing([row.path for row in rows], self._clock_ms())
            keys = self.links.moved([row.path for row in rows], [])
            self.links.resolve([], keys)


def _was_absent(row: NoteRow | None) -> bool:
    return row is None or row.missing_since is not None


def _same_in_index(old: NoteRow | None, new: NoteRow) -> bool:
    """Whether the index already holds what `new` would put there (a touch, a folder moved)."""
    return (
        old is not None
        and old.missing_since is None
        and old.is_memory
        and old.embedded >= new.embedded
        and (old.hash, old.title, old.created, old.index_version)
        == (new.hash, new.title, new.created, new.index_version)
        and (old.tags, old.kind, old.memory_status) == (new.tags, new.kind, new.memory_status)
    )


def _change_type(before: NoteRow | None, holder: NoteRow | None, row: NoteRow) -> ChangeType:
    if holder is not None and holder.path != row.path:
        return "renamed"
    return "created" if _was_absent(before) else "updated"
