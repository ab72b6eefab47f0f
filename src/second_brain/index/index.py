"""The index as one thing: the table in force, its writer and the model, over all their changes.

A generation is a table made with one model and one way of chunking. When either changes, the next
generation is built beside the one in force, which goes on answering, and takes its place when it
is complete. What cannot be read is dropped and built again from the vault.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from second_brain.errors import IndexUnavailable
from second_brain.index.analyze import Query
from second_brain.index.catalog import Catalog
from second_brain.index.embedding.protocol import Vectors
from second_brain.index.encoder import Encoder
from second_brain.index.lance import IndexDamaged, is_local
from second_brain.index.passages import ChunkRow, Hit, SearchFilter
from second_brain.index.table import ChunkTable, drop_table
from second_brain.index.writer import IndexWriter

log = logging.getLogger(__name__)

T = TypeVar("T")

META = "generation"
"""Under which key the catalogue keeps the generation in force."""

NO_MODEL = "none"
_NO_MODEL_DIMENSION = 384
_OPENING_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Generation:
    """What a table was made with. `layout` names the way in which notes are cut."""

    model: str
    fingerprint: str
    dimension: int
    layout: str

    @property
    def key(self) -> str:
        """What tells its table from the tables of others of the same dimension."""
        return f"{self.fingerprint}:{self.layout}"

    @property
    def version(self) -> str:
        """What the catalogue keeps with each note that is in such a table."""
        return f"{self.key}:{self.dimension}"


@dataclass(slots=True)
class _Open:
    generation: Generation
    table: ChunkTable
    writer: IndexWriter


class Index:
    """One vault's index. `start` opens it; searches and commits may then run side by side."""

    def __init__(
        self,
        uri: str,
        catalog: Catalog,
        encoder: Encoder,
        *,
        layout: str,
        on_damage: Callable[[], None] = lambda: None,
    ) -> None:
        self.uri = uri
        self.encoder = encoder
        self.layout = layout
        self.on_damage = on_damage
        self._catalog = catalog
        self._current: _Open | None = None
        self._next: _Open | None = None
        self._old_encoder: Encoder | None = None
        self._is_open = asyncio.Event()
        self.last_error: str | None = None

    # Life

    async def start(self, expected: Generation | None = None) -> bool:
        """Open the generation in force, or a new one; False when it starts empty.

        `expected` is what the configured model will turn out to be, if that is known already: a
        new index is made for it. A table that cannot be read is dropped and begun anew.
        """
        known = self._in_force()
        generation = known or expected or self._for_model()
        self._catalog.set_meta(META, json.dumps(asdict(generation)))
        try:
            self._current = await self._open(generation)
            await self._current.table.read_test()
        except IndexUnavailable as error:
            log.warning("%s It is built anew from the vault.", error)
            self.last_error = str(error)
            await self._close(self._current)
            await drop_table(self.uri, generation.key, generation.dimension)
            self._current = await self._open(generation)
            self._is_open.set()
            return False
        self._is_open.set()
        if is_local(self.uri):
            # A build that was broken off left its table; elsewhere they may be another vault's.
            with suppress(IndexUnavailable):
                await self._current.table.drop_others()
        return known is not None and await self._current.table.count() > 0

    async def reset(self) -> None:
        """Drop the table in force, whatever state it is in, and begin an empty one.

        A generation that is being built is begun anew too. Who comes meanwhile waits.
        """
        opened, building, self._next = self._opened(), self._next, None
        self._is_open.clear()
        try:
            for each in (building, opened):
                await self._close(each)
            generation = opened.generation
            await drop_table(self.uri, generation.key, generation.dimension)
            self._current = await self._open(generation)
            if building is not None:
                await self._begin(building.generation)
        finally:
            self._is_open.set()

    def remember(self) -> None:
        """Have the catalogue, which may be a new one, know the generation in force; blocking."""
        generation = self._opened().generation
        self._catalog.set_meta(META, json.dumps(asdict(generation)))

    async def is_readable(self) -> bool:
        """Whether everything in the table in force can be read."""
        try:
            await self._opened().table.read_test()
        except IndexUnavailable as error:
            self.last_error = str(error)
            return False
        return True

    async def opened(self) -> None:
        """Wait until there is a table; IndexUnavailable if that takes too long."""
        await self._ready()

    async def close(self) -> None:
        """Commit what waits and let go."""
        for opened in (self._current, self._next):
            await self._close(opened)
        self._current = self._next = None
        for encoder in (self.encoder, self._old_encoder):
            if encoder is not None:
                await asyncio.to_thread(encoder.close)

    # What is in force

    @property
    def version(self) -> str:
        """The version that notes committed now have in the catalogue."""
        return (self._next or self._opened()).generation.version

    @property
    def outdated(self) -> bool:
        """Whether the generation in force is not what model and layout ask for."""
        if self._current is None:
            return False
        generation = self._current.generation
        if generation.layout != self.layout:
            return True
        model = self.encoder.model
        return model is not None and model.fingerprint != generation.fingerprint

    @property
    def semantic(self) -> bool:
        """Whether questions can be answered by meaning at this moment."""
        return self._query_encoder() is not None

    @property
    def takes_vectors(self) -> bool:
        """Whether the model's vectors are for the generation that notes are committed to."""
        return self.building or not self.outdated

    @property
    def building(self) -> bool:
        return self._next is not None

    # Searching

    async def query_vector(self, text: str) -> Vectors | None:
        """The question's vector for the table in force; None when there is no model for it."""
        encoder = self._query_encoder()
        return await encoder.query(text) if encoder else None

    async def vector_search(self, vector: Vectors, filter: SearchFilter, limit: int) -> list[Hit]:
        return await self._ask(lambda table: table.vector_search(vector, filter, limit))

    async def text_search(self, query: Query, filter: SearchFilter, limit: int) -> list[Hit]:
        return await self._ask(lambda table: table.text_search(query, filter, limit))

    async def vectors(self, chunk_ids: Iterable[str]) -> dict[str, Vectors]:
        wanted = list(chunk_ids)
        return await self._ask(lambda table: table.vectors(wanted))

    async def chunk_counts(self) -> dict[str, int]:
        return await self._ask(lambda table: table.chunk_counts())

    async def unembedded(self) -> set[str]:
        return await self._ask(lambda table: table.unembedded())

    # Writing

    async def commit(
        self,
        rows: Mapping[str, Sequence[ChunkRow]],
        delete: Iterable[str] = (),
        *,
        flush: bool = False,
    ) -> None:
        """These notes have exactly these passages, the deleted ones none; returns when it is so.

        While the next generation is built, the vectors are for it, and the one in force gets the
        passages without: they are found by their words until the change.
        """
        gone = list(delete)
        current, building = await self._ready(), self._next
        if building is not None:
            with self._watching(building):
                await building.writer.submit(rows, gone, flush=flush)
        if building is not None or not self._fits(current):
            rows = {id: [replace(r, vector=None) for r in own] for id, own in rows.items()}
        with self._watching(current):
            await current.writer.submit(rows, gone, flush=flush)

    async def optimize(self) -> None:
        """Upkeep of the table in force now, rather than when it is due."""
        await (await self._ready()).writer.optimize()

    async def begin_next(self, load_old: Callable[[str], Encoder] | None = None) -> None:
        """Open the generation that model and layout ask for, beside the one in force.

        `load_old` makes an encoder of the model in force by its name, so that questions are
        answered by meaning until the change, if that model can still be loaded.
        """
        if self._next is not None:
            return
        wanted = self._for_model()
        current = self._opened().generation
        old_model = current.fingerprint not in (NO_MODEL, wanted.fingerprint)
        if load_old is not None and old_model and self._old_encoder is None:
            encoder = load_old(current.model)
            await encoder.start()
            loaded = encoder.model
            if loaded is not None and loaded.fingerprint == current.fingerprint:
                self._old_encoder = encoder
            else:
                await asyncio.to_thread(encoder.close)
        await self._begin(wanted)

    async def finish_next(self) -> None:
        """The generation that was built is complete: it is the one in force from now on."""
        if self._next is None:
            return
        old, self._current, self._next = self._opened(), self._next, None
        self._catalog.set_meta(META, json.dumps(asdict(self._current.generation)))
        await self._close(old)
        await old.table.drop()
        if self._old_encoder is not None:
            await asyncio.to_thread(self._old_encoder.close)
            self._old_encoder = None

    # Health

    async def stats(self) -> dict[str, Any]:
        """Sizes and error counts, for the health report; `error` if they cannot be had."""
        if self._current is None:
            return {"state": "opening"}
        try:
            table = await self._current.table.stats()
        except IndexUnavailable as error:
            return {"state": "unavailable", "error": str(error)}
        return {
            "state": "building" if self._next else "ready",
            "table": self._current.table.name,
            "model": self._current.generation.model,
            "dimension": self._current.generation.dimension,
            **asdict(table),
            "writer": asdict(self._current.writer.stats()),
            "last_error": self.last_error,
        }

    # Inside

    async def _ask(self, question: Callable[[ChunkTable], Awaitable[T]]) -> T:
        """The answer of the table in force, or of the one that took its place meanwhile."""
        while True:
            opened = await self._ready()
            with self._watching(opened):
                try:
                    return await question(opened.table)
                except IndexUnavailable:
                    if self._current is opened and self._is_open.is_set():
                        raise

    @contextmanager
    def _watching(self, opened: _Open) -> Iterator[None]:
        """Notes an IndexUnavailable that passes; a damaged table is told to whoever mends it.

        A write that the disk refused is no damage: dropping the table would help nobody. Nor is
        what becomes of a table that is no longer in use.
        """
        try:
            yield
        except IndexUnavailable as error:
            in_use = opened is self._current or opened is self._next
            if in_use and self._is_open.is_set():
                self.last_error = str(error)
                if isinstance(error, IndexDamaged):
                    self.on_damage()
            raise

    async def _begin(self, generation: Generation) -> None:
        """Open a generation to be built, empty."""
        await drop_table(self.uri, generation.key, generation.dimension)
        await asyncio.to_thread(self._catalog.forget_version, generation.version)
        self._next = await self._open(generation)

    def _opened(self) -> _Open:
        if self._current is None:
            raise IndexUnavailable("The index is being opened; try again in a moment.")
        return self._current

    async def _ready(self) -> _Open:
        """The table in force. Who comes while it is being opened waits for it a while."""
        try:
            async with asyncio.timeout(_OPENING_SECONDS):
                await self._is_open.wait()
        except TimeoutError:
            pass
        return self._opened()

    def _in_force(self) -> Generation | None:
        text = self._catalog.get_meta(META)
        return Generation(**json.loads(text)) if text else None

    def _for_model(self) -> Generation:
        model = self.encoder.model
        if model is None:
            return Generation(NO_MODEL, NO_MODEL, _NO_MODEL_DIMENSION, self.layout)
        return Generation(model.name, model.fingerprint, model.dimension, self.layout)

    def _fits(self, opened: _Open) -> bool:
        model = self.encoder.model
        return model is not None and model.fingerprint == opened.generation.fingerprint

    def _query_encoder(self) -> Encoder | None:
        if self._current is None:
            return None
        if self._fits(self._current):
            return self.encoder
        return self._old_encoder

    async def _open(self, generation: Generation) -> _Open:
        table = await ChunkTable.open(self.uri, generation.key, generation.dimension)
        writer = IndexWriter(table)
        writer.start()
        return _Open(generation, table, writer)

    async def _close(self, opened: _Open | None) -> None:
        if opened is not None:
            await opened.writer.close()
