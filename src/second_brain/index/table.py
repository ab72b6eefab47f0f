"""The table of passages in LanceDB: upserts, vector and text search, upkeep.

One table per schema version, model and dimension, which are all in its name: a table of another
model is another table. Only `writer.IndexWriter` may call what writes (`replace_notes`,
`optimize`): two writers at once cost duplicates or wasted work. Whatever fails inside LanceDB is
raised as IndexUnavailable; if it was in reading, as IndexDamaged, and the answer to that is to drop
the table and rebuild it from the vault.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from second_brain.index import lance
from second_brain.index.analyze import Query
from second_brain.index.lance import reading, writing
from second_brain.index.passages import ChunkRow, Hit, SearchFilter, among
from second_brain.index.resident import Resident
from second_brain.index.vectors import Vector

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 1

RESIDENT_UP_TO = 30_000
"""Rows up to which a local table is searched in memory (`resident`), but for phrases."""

VECTOR_INDEX_FROM = 10_000
"""Rows from which an approximate index is cheaper in LanceDB than looking at every vector."""

_FILLED_AT_ONCE = 1_000
"""Notes that are put into memory in one step, which for a moment takes a multiple of their room."""

_MAX_SEGMENTS = 10
_NPROBES = 20
_NPROBES_FILTERED = 50
# Without it IVF_SQ answers with twice the cosine distance, which neither compares with rows that
# are not indexed yet nor means anything to the thresholds of similarity.
_REFINE = 2
_FLAT_BELOW = 5_000
"""A filter that leaves fewer rows than this is answered exactly."""

_BLOAT = 4
_BLOAT_FLOOR = 32 << 20

_COLUMNS = ["id", "note_id", "ordinal", "title", "heading", "text"]
# Taking the vectors along costs next to nothing, asking for them afterwards a second search.
_SELECTED = [*_COLUMNS, "vector"]
_VECTOR_INDEX = "vector_ivf_"
_TABLE_PREFIX = "chunks_v"


@dataclass(frozen=True, slots=True)
class TableStats:
    """`unindexed`: rows that text search reads one by one until the next optimize. `bytes` is the
    live data, `disk_bytes` what the folder takes with old versions (None when not local)."""

    rows: int
    fragments: int
    unindexed: int
    vector_index: bool
    bytes: int
    disk_bytes: int | None


class ChunkTable:
    """An open table. Queries may run at any time and beside each other."""

    def __init__(self, uri: str, name: str, dimension: int, connection: Any, table: Any) -> None:
        self.uri = uri
        self.name = name
        self.dimension = dimension
        self._connection = connection
        self._table = table
        self._vector_index: str | None = None
        self._resident: Resident | None = None

    @classmethod
    async def open(cls, uri: str, fingerprint: str, dimension: int) -> ChunkTable:
        """Opens the table of this model, creating it empty. `uri`: a folder, or `s3://`, `gs://`,
        `az://`, `db://`. Raises IndexUnavailable."""
        name = table_name(fingerprint, dimension)
        with reading("opened"):
            connection = await lance.connect(uri)
            table = await connection.create_table(
                name, schema=lance.schema(dimension), exist_ok=True
            )
            opened = cls(uri, name, dimension, connection, table)
            await opened._complete()
            if lance.is_local(uri) and await table.count_rows() == 0:
                opened._resident = Resident(dimension)
            return opened

    async def _complete(self) -> None:
        """Adds the text index that a crash during creation may have left out."""
        from lancedb.index import FTS  # noqa: PLC0415 - see lance.load()

        indices = [index.name for index in await self._table.list_indices()]
        self._vector_index = next((n for n in indices if n.startswith(_VECTOR_INDEX)), None)
        if not any(name.startswith("terms") for name in indices):
            # `analyze` has done all that a tokenizer could do; positions are for phrases.
            config = FTS(
                base_tokenizer="whitespace",
                with_position=True,
                stem=False,
                remove_stop_words=False,
                ascii_folding=False,
                lower_case=False,
                max_token_length=400,
            )
            await self._table.create_index("terms", config=config)

    # Searching

    async def vector_search(self, vector: Vector, filter: SearchFilter, limit: int) -> list[Hit]:
        """The passages nearest to a vector, best first. Raises ValueError for a vector that no
        passage can be compared with."""
        self._check_vector(vector)
        if self._resident is not None:
            return self._resident.search(vector, filter, limit)
        predicate = filter.sql()
        with reading("searched"):
            query = self._table.query().nearest_to(vector).distance_type("cosine").limit(limit)
            if predicate is not None:
                query = query.where(predicate)
            if self._vector_index is not None:
                if predicate is not None and await self._few(predicate):
                    query = query.bypass_vector_index()
                else:
                    probes = _NPROBES if predicate is None else _NPROBES_FILTERED
                    query = query.nprobes(probes).refine_factor(_REFINE)
            found = await query.select([*_SELECTED, "_distance"]).to_arrow()
            scores = [1.0 - distance for distance in found["_distance"].to_pylist()]
            return _hits(found, scores, self.dimension)

    async def text_search(self, query: Query, filter: SearchFilter, limit: int) -> list[Hit]:
        """The passages with the most telling terms of a query, best first.

        Phrases must occur; if none does, their terms alone are searched for.
        """
        if not query.terms:
            return []
        if self._resident is not None and not query.phrases:
            return self._resident.search_text(query, filter, limit)
        found = await self._text_search(query.terms, query.phrases, filter, limit)
        if not found and query.phrases:
            found = await self._text_search(query.terms, (), filter, limit)
        return found

    async def _text_search(
        self, terms: Sequence[str], phrases: Sequence[str], filter: SearchFilter, limit: int
    ) -> list[Hit]:
        with reading("searched"):
            query = self._table.query().nearest_to_text(_text_query(terms, phrases)).limit(limit)
            if (predicate := filter.sql()) is not None:
                query = query.where(predicate)
            resident = self._resident
            columns = _SELECTED if resident is None else ["id"]
            found = await query.select([*columns, "_score"]).to_arrow()
            scores = found["_score"].to_pylist()
            if resident is not None:
                return resident.hits(zip(found["id"].to_pylist(), scores, strict=True))
            return _hits(found, scores, self.dimension)

    async def vectors(self, ids: Iterable[str]) -> dict[str, Vector]:
        """The vectors of those chunks that have one, by chunk id."""
        wanted = list(ids)
        if not wanted:
            return {}
        with reading("read"):
            query = self._table.query().where(f"{among('id', wanted)} AND vector IS NOT NULL")
            found = (await query.select(["id", "vector"]).to_arrow()).combine_chunks()
            matrix = lance.matrix(found["vector"].chunks, self.dimension)
            return dict(zip(found["id"].to_pylist(), matrix, strict=True))

    async def count(self, filter: SearchFilter | None = None) -> int:
        """How many passages there are."""
        with reading("read"):
            return int(await self._table.count_rows(filter.sql() if filter else None))

    async def chunk_counts(self) -> dict[str, int]:
        """How many passages each note has: what the index holds, for comparing with the vault."""
        with reading("read"):
            found = (await self._table.query().select(["note_id"]).to_arrow())["note_id"]
            counts = found.value_counts().to_pylist()
            return {str(pair["values"]): int(pair["counts"]) for pair in counts}

    async def unembedded(self) -> set[str]:
        """The ids of the notes with a passage that has no vector."""
        with reading("read"):
            query = self._table.query().where("vector IS NULL").select(["note_id"])
            return set((await query.to_arrow())["note_id"].to_pylist())

    async def read_test(self) -> None:
        """Reads every column of every row once, and the text index; keeps a small table's passages
        in memory. Raises IndexUnavailable."""
        from lancedb.query import MatchQuery  # noqa: PLC0415 - see lance.load()

        with reading("read"):
            count = await self._table.count_rows()
            small = lance.is_local(self.uri) and count <= RESIDENT_UP_TO
            rows: dict[str, list[ChunkRow]] = {}
            async for batch in await self._table.query().to_batches():
                if small:
                    for row in lance.from_arrow(batch, self.dimension):
                        rows.setdefault(row.note_id, []).append(row)
            if small:
                self._resident = await asyncio.to_thread(_in_memory, rows, self.dimension)
            query = self._table.query().nearest_to_text(MatchQuery("a", "terms"))
            await query.select(["id", "_score"]).limit(1).to_arrow()

    async def stats(self) -> TableStats:
        """Sizes, for the health report."""
        with reading("read"):
            stats = await self._table.stats()
            text = await self._table.index_stats("terms_idx")
            disk = None
            if lance.is_local(self.uri):
                disk = await asyncio.to_thread(lance.folder_size, lance.folder(self.uri, self.name))
            return TableStats(
                rows=stats["num_rows"],
                fragments=stats["fragment_stats"]["num_fragments"],
                unindexed=text.num_unindexed_rows if text else stats["num_rows"],
                vector_index=self._vector_index is not None,
                bytes=stats["total_bytes"],
                disk_bytes=disk,
            )

    # Writing: the writer only

    def check(self, rows: Mapping[str, Sequence[ChunkRow]]) -> None:
        """Raises ValueError for rows that the index must not hold: of another note than they are
        filed under, or with a vector that is not finite, all zero or of another dimension."""
        for note_id, note_rows in rows.items():
            for row in note_rows:
                if row.note_id != note_id:
                    raise ValueError(f"a row of {row.note_id} among those of {note_id}")
                if row.vector is not None:
                    self._check_vector(row.vector)

    async def replace_notes(
        self, rows: Mapping[str, Sequence[ChunkRow]], delete: Iterable[str] = ()
    ) -> None:
        """These notes have exactly these passages now, the deleted ones none: one commit."""
        self.check(rows)
        unique = {row.id: row for note_rows in rows.values() for row in note_rows}
        touched = {*rows, *delete}
        if not touched:
            return
        theirs = among("note_id", touched)
        with writing("written"):
            if unique:
                merge = (
                    self._table.merge_insert("id")
                    .when_matched_update_all()
                    .when_not_matched_insert_all()
                    .when_not_matched_by_source_delete(theirs)
                )
                batch = lance.to_arrow(list(unique.values()), self.dimension)
                # The vectors were checked: what this can make null are the nulls meant as such.
                await merge.execute(batch, on_bad_vectors="null")
            else:
                await self._table.delete(theirs)
        if self._resident is not None:
            self._resident.replace(rows, touched)
            if len(self._resident) > RESIDENT_UP_TO:
                self._resident = None

    async def optimize(self, *, unverified: bool = False) -> None:
        """Compacts, indexes what is new, drops old versions, and opens a fresh connection.

        `unverified` also removes the remains of killed processes: only while nobody else writes.
        The cost grows with the table, not with the change.
        """
        with writing("optimized"):
            await self._table.optimize(
                cleanup_older_than=lance.RETENTION, delete_unverified=unverified
            )
            await self._tend_vector_index()
            if await self._bloated():
                await self._table.optimize(cleanup_older_than=lance.SHORT_RETENTION)
            # The old session's caches hold deleted files open; queries under way keep it alive.
            self._connection = await lance.connect(self.uri)
            self._table = await self._connection.open_table(self.name)

    async def _tend_vector_index(self) -> None:
        """Builds the vector index when there are rows enough, anew when they have doubled; drops it
        where the table is searched in memory."""
        from lancedb.index import IvfSq  # noqa: PLC0415 - see lance.load()

        old = self._vector_index
        if self._resident is not None:
            if old is not None:
                await self._table.drop_index(old)
                self._vector_index = None
            return
        rows = await self._table.count_rows("vector IS NOT NULL")
        if rows < VECTOR_INDEX_FROM:
            return
        if old is not None:
            stats = await self._table.index_stats(old)
            grown = rows >= 2 * int(old.removeprefix(_VECTOR_INDEX))
            if stats is not None and stats.num_indices <= _MAX_SEGMENTS and not grown:
                return
        name = f"{_VECTOR_INDEX}{rows}"
        await self._table.create_index("vector", config=IvfSq(distance_type="cosine"), name=name)
        self._vector_index = name
        if old is not None and old != name:
            await self._table.drop_index(old)

    async def _bloated(self) -> bool:
        """Whether old versions take several times the room of what is alive."""
        if not lance.is_local(self.uri):
            return False
        live: int = (await self._table.stats())["total_bytes"]
        disk = await asyncio.to_thread(lance.folder_size, lance.folder(self.uri, self.name))
        return disk > max(_BLOAT * live, _BLOAT_FLOOR)

    async def drop(self) -> None:
        """Deletes the table; this object is of no use afterwards."""
        self._table.close()
        await _drop(self.uri, self._connection, self.name)

    async def drop_others(self) -> list[str]:
        """Deletes the tables of other models and versions; their names."""
        with writing("tidied"):
            names = (await self._connection.list_tables()).tables
            others = [n for n in names if n.startswith(_TABLE_PREFIX) and n != self.name]
            for name in others:
                await _drop(self.uri, self._connection, name)
            return others

    async def _few(self, predicate: str) -> bool:
        return int(await self._table.count_rows(predicate)) < _FLAT_BELOW

    def _check_vector(self, vector: Vector) -> None:
        if vector.shape != (self.dimension,):
            raise ValueError(f"a vector of shape {vector.shape}, not ({self.dimension},)")
        # A sum is finite only if every part is, and zero squares only if every part is zero.
        norm = float(np.dot(vector, vector))
        if not np.isfinite(norm) or norm == 0.0:
            raise ValueError("a vector that is zero or not finite")


def _in_memory(rows: Mapping[str, Sequence[ChunkRow]], dimension: int) -> Resident:
    resident = Resident(dimension, room=sum(map(len, rows.values())) + _FILLED_AT_ONCE)
    names = list(rows)
    for start in range(0, len(names), _FILLED_AT_ONCE):
        resident.replace({name: rows[name] for name in names[start : start + _FILLED_AT_ONCE]})
    return resident


def table_name(fingerprint: str, dimension: int) -> str:
    """The name that a model's table has."""
    digest = hashlib.blake2b(fingerprint.encode(), digest_size=6).hexdigest()
    return f"{_TABLE_PREFIX}{SCHEMA_VERSION}_{digest}_{dimension}"


async def drop_table(uri: str, fingerprint: str, dimension: int) -> None:
    """Deletes a table that cannot even be opened. Raises IndexUnavailable."""
    with writing("dropped"):
        await _drop(uri, await lance.connect(uri), table_name(fingerprint, dimension))


async def _drop(uri: str, connection: Any, name: str) -> None:
    with writing("dropped"):
        await connection.drop_table(name, ignore_missing=True)
        if lance.is_local(uri):
            await asyncio.to_thread(shutil.rmtree, lance.folder(uri, name), ignore_errors=True)


def _text_query(terms: Sequence[str], phrases: Sequence[str]) -> Any:
    from lancedb.query import BooleanQuery, MatchQuery, Occur, PhraseQuery  # noqa: PLC0415

    match = MatchQuery(" ".join(terms), "terms")
    if not phrases:
        return match
    required = [(Occur.MUST, PhraseQuery(phrase, "terms")) for phrase in phrases]
    return BooleanQuery([*required, (Occur.SHOULD, match)])


def _hits(found: pa.Table, scores: Sequence[float], dimension: int) -> list[Hit]:
    columns = [found[name].to_pylist() for name in _COLUMNS]
    present = found["vector"].is_valid().to_pylist()
    known = iter(lance.matrix(found["vector"].drop_null().chunks, dimension))
    vectors = [next(known) if here else None for here in present]
    return [Hit(*values) for values in zip(*columns, scores, vectors, strict=True)]
