"""The engine of sync: takes files in until catalogue and index say what the vault says.

Whatever says that a file may have changed (an event, a scan, a write of ours) ends in `take_in`:
read, prepare and embed outside any lock, then one short commit that decides on identity, writes
the index, and only then the catalogue. A crash in between is mended by the next scan.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from second_brain.errors import SecondBrainError
from second_brain.index.catalog import Catalog
from second_brain.index.embedding.protocol import Vectors
from second_brain.index.index import Index
from second_brain.index.passages import ChunkRow
from second_brain.index.rows import NoteRow
from second_brain.index.state import State
from second_brain.sync.changes import Change, ChangeType
from second_brain.sync.ledger import Ledger, row_of, was_absent
from second_brain.sync.link_graph import LinkGraph
from second_brain.sync.prepare import Chunking, Describe, Prepared, not_understood
from second_brain.sync.reading import Reader
from second_brain.vault.files import VaultFiles
from second_brain.vault.rules import SyncRule

log = logging.getLogger(__name__)

T = TypeVar("T")

SLICE = 96
"""Notes taken in at a time: what an urgent write may have to wait for is one commit of these."""

_COMPANY = 24
"""So many notes are committed at once: the writer need not wait for more of them."""


@dataclass(frozen=True, slots=True)
class Held:
    """What the index holds: how many passages of each note, and which notes lack a vector."""

    chunks: Mapping[str, int]
    unembedded: AbstractSet[str]


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of some paths. `later` are to be looked at again in a moment."""

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
        self.state = state
        self.index = index
        self.on_change = on_change
        self.commits = 0
        """How often something was taken in or dropped: who compares needs not look twice."""
        self._clock_ms = clock_ms
        self._commit_lock = asyncio.Lock()
        self._reader = Reader(
            files, catalog, rule=rule, describe=describe, chunking=chunking, clock_ms=clock_ms
        )
        self._ledger = Ledger(catalog, state, self._reader, clock_ms)

    async def take_in(
        self,
        paths: Iterable[str],
        *,
        moved: Mapping[str, str] | None = None,
        urgent: bool = False,
        finished: bool = False,
    ) -> TakenIn:
        """Make catalogue and index say what these files say; paths without a file are `gone`.

        `moved` tells of some paths where the file was before, as an event reported it. Nothing is
        decided about files that are gone: see `drop`. `urgent` embeds at once and commits without
        waiting for company; `finished` files are not in the middle of a save, whatever they hold.
        """
        await self.index.opened()
        version = self.index.version
        read = await asyncio.to_thread(
            self._reader.read, list(paths), version=version, finished=finished
        )
        rows: dict[str, NoteRow] = {}
        if read.unreadable:
            async with self._commit_lock:
                await _whole(self._note_unreadable(read.unreadable))
        if read.prepared:
            vectors = await self._embed(read.prepared, urgent=urgent)
            async with self._commit_lock:
                rows = await _whole(
                    self._commit(
                        read.prepared,
                        vectors,
                        moved or {},
                        flush=urgent or len(read.prepared) >= _COMPANY,
                        force=False,
                    )
                )
        stale = {item.path for item in read.prepared} - rows.keys()
        return TakenIn(rows, frozenset(read.gone), frozenset(read.later | stale))

    async def drop(self, paths: Iterable[str], *, left_out: bool = False) -> list[NoteRow]:
        """These files are gone: out of the index at once, kept in the catalogue for a while.

        Those that are there after all stay, unless they are `left_out`: there, but no longer for
        this program to read.
        """
        async with self._commit_lock:
            rows = await _whole(self._drop(list(paths), left_out))
        now = self._clock_ms()
        for row in rows:
            self.on_change(Change("deleted", row.id, row.path, now))
        return rows

    def mend(self) -> None:
        """Begin stores that turned out damaged anew; blocking. `begin_anew` if it was the
        catalogue."""
        self.catalog.mend()
        self.state.mend()

    async def begin_anew(self) -> None:
        """The catalogue was damaged and is empty now: forget what was known by it."""
        async with self._commit_lock:
            await asyncio.to_thread(self._ledger.begin_anew)
            await asyncio.to_thread(self.index.remember)

    async def compare_index(self, differences: Callable[[Held], Iterable[str]]) -> None:
        """Mark the memories in whose passages there are `differences` to be indexed again, and
        drop the passages of notes that nobody knows."""
        async with self._commit_lock:
            held = Held(await self.index.chunk_counts(), await self.index.unembedded())
            await asyncio.to_thread(
                lambda: self.catalog.forget_index(differences(held)),
            )
            known = {row.id for row in await asyncio.to_thread(self.catalog.memories)}
            if strangers := held.chunks.keys() - known:
                await self.index.commit({}, strangers, flush=True)

    @property
    def rule(self) -> SyncRule:
        """What is a memory; who sets another one compares everything with the vault."""
        return self._reader.rule

    @rule.setter
    def rule(self, rule: SyncRule) -> None:
        self._reader.rule = rule

    @property
    def links(self) -> LinkGraph:
        """What links mean; belongs to whoever holds the commit lock."""
        return self._ledger.links

    def exists(self, path: str) -> bool:
        """Whether there is a file; blocking. Raises VaultOffline."""
        return self._reader.exists(path)

    async def link_text(self, path: str) -> str | None:
        """What to write in a wiki-link so that it means this note; None if nothing can."""
        async with self._commit_lock:
            return self.links.resolver.link_text(path)

    async def bequeath(self) -> None:
        """Give the stored id of a note that is gone to a copy in which it stands, too."""
        heirs = await asyncio.to_thread(self._heirs)
        if heirs:
            await self.again(heirs)

    def _heirs(self) -> list[str]:
        found: dict[str, str] = {}
        for row in self.catalog.claimants():
            id = row.claimed_id
            if id and row.status != "conflict-copy" and self.catalog.by_id(id) is None:
                found.setdefault(id, row.path)
        return list(found.values())

    async def again(self, paths: Sequence[str], *, moved: Mapping[str, str] | None = None) -> None:
        """Take in files whether or not they changed; those in the middle of a save wait.

        `moved` as in `take_in`.
        """
        read = await asyncio.to_thread(self._reader.read, paths, version=None)
        vectors = await self._embed(read.prepared, urgent=False)
        async with self._commit_lock:
            await _whole(self._commit(read.prepared, vectors, moved or {}, flush=True, force=True))

    async def finish_next(self, still_left: Callable[[], bool]) -> bool:
        """Put the generation that was built in force, unless something is `still_left` for it."""
        async with self._commit_lock:
            if await asyncio.to_thread(still_left):
                return False
            await _whole(self.index.finish_next())
            return True

    # Embedding

    async def _embed(
        self, prepared: Sequence[Prepared], *, urgent: bool
    ) -> dict[str, list[Vectors | None]]:
        """Vectors for all texts; None for those of a note that the model cannot embed."""
        try:
            return await self._embed_all(prepared, urgent=urgent)
        except SecondBrainError:
            raise
        except Exception:
            log.exception("Some of %d notes could not be embedded", len(prepared))
        found: dict[str, list[Vectors | None]] = {}
        for item in prepared:
            try:
                found |= await self._embed_all([item], urgent=urgent)
            except SecondBrainError:
                raise
            except Exception as error:  # noqa: BLE001 - told with its trace above
                log.error("%s could not be embedded: %s", item.path, error)
                found[item.path] = [None] * len(item.texts)
        return found

    async def _embed_all(
        self, prepared: Sequence[Prepared], *, urgent: bool
    ) -> dict[str, list[Vectors | None]]:
        texts = [text for item in prepared for text in item.texts]
        made = iter(await self.index.encoder.documents(texts, urgent=urgent))
        return {item.path: [_usable(next(made)) for _ in item.texts] for item in prepared}

    # Committing, under the lock

    async def _commit(
        self,
        prepared: Sequence[Prepared],
        vectors: Mapping[str, Sequence[Vectors | None]],
        moved: Mapping[str, str],
        *,
        flush: bool,
        force: bool,
    ) -> dict[str, NoteRow]:
        """Commit those that are still as they were read; a note that cannot be is left out."""

        def unchanged() -> list[Prepared]:
            return [item for item in prepared if self._reader.unchanged(item)]

        current = await asyncio.to_thread(unchanged)
        try:
            return await self._commit_all(current, vectors, moved, flush=flush, force=force)
        except (SecondBrainError, OSError):
            raise
        except Exception:
            log.exception("%d notes could not be indexed together", len(current))
        rows: dict[str, NoteRow] = {}
        for item in current:
            try:
                rows |= await self._commit_all([item], vectors, moved, flush=flush, force=force)
            except (SecondBrainError, OSError):
                raise
            except Exception as error:
                log.exception("%s could not be indexed; it is left out", item.path)
                faulty = not_understood(item.path, item.digest, item.stamp, error)
                rows |= await self._commit_all([faulty], {}, moved, flush=flush, force=force)
        return rows

    async def _commit_all(
        self,
        prepared: Sequence[Prepared],
        vectors: Mapping[str, Sequence[Vectors | None]],
        moved: Mapping[str, str],
        *,
        flush: bool,
        force: bool,
    ) -> dict[str, NoteRow]:
        if not prepared:
            return {}
        now = self._clock_ms()
        before = {item.path: self.catalog.by_path(item.path) for item in prepared}
        ids = await asyncio.to_thread(self._ledger.assign, prepared, before, moved)
        holders = {id: self.catalog.by_id(id, missing=True) for id in ids.values()}
        rows: dict[str, NoteRow] = {}
        chunks: dict[str, list[ChunkRow]] = {}
        delete: set[str] = set()
        model = self.index.encoder.model
        for item in prepared:
            id, old = ids[item.path], before[item.path]
            holder, own = holders[id], vectors.get(item.path, ())
            fits = item.is_memory and self.index.takes_vectors
            row = rows[item.path] = row_of(
                item,
                id,
                embedded=fits and all(vector is not None for vector in own),
                fingerprint=model.fingerprint if model is not None else None,
                version=self.index.version,
                now=now,
            )
            if item.is_memory and (force or not _same_in_index(holder, row)):
                chunks[id] = item.rows(id, own)
            elif item.state == "failed" or (
                not item.is_memory and holder is not None and holder.is_memory
            ):
                delete.add(id)
            if old is not None and old.id not in holders and old.is_memory:
                delete.add(old.id)
        if chunks or delete:
            await self.index.commit(chunks, delete, flush=flush)
        notes = {item.path: item.note for item in prepared}
        await asyncio.to_thread(self._ledger.store, rows, before, holders, notes, now)
        self.commits += 1
        for path, row in rows.items():
            type = _change_type(before[path], holders[row.id], row)
            self.on_change(Change(type, row.id, path, now))
        return rows

    async def _note_unreadable(self, reasons: Mapping[str, str]) -> None:
        """Files that are there but cannot be read: a known one stays as it was, with a problem."""
        rows = await asyncio.to_thread(self._ledger.store_unreadable, reasons)
        for row in rows:
            self.on_change(Change("problem", row.id, row.path, self._clock_ms()))

    async def _drop(self, paths: Sequence[str], left_out: bool) -> list[NoteRow]:
        def known() -> list[NoteRow]:
            return [
                row
                for path in paths
                if (row := self.catalog.by_path(path)) is not None
                and row.missing_since is None
                and (left_out or not self._reader.exists(row.path))
            ]

        rows = await asyncio.to_thread(known)
        if rows:
            await self.index.commit({}, [row.id for row in rows if row.is_memory], flush=True)
            await asyncio.to_thread(self._ledger.mark_missing, rows)
            self.commits += 1
        return rows


async def _whole(work: Coroutine[Any, Any, T]) -> T:
    """Do it to its end, even if the caller is cancelled meanwhile: index and catalogue agree."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                continue
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("A write that was cancelled failed: %s", error)
        raise


def _usable(vector: Vectors | None) -> Vectors | None:
    """A vector that the index can hold; what a model makes of an odd text may be none."""
    if vector is None:
        return None
    length = float(np.dot(vector, vector))
    return vector if np.isfinite(length) and length > 0 else None


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
    return "created" if was_absent(before) else "updated"
