"""The seam to LanceDB: its import, connection, schema, and conversion of rows to Arrow.

Importing this module costs nothing; `load()` imports LanceDB, which takes seconds of CPU.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from second_brain.errors import IndexUnavailable, SecondBrainError
from second_brain.imports import collector_paused, defer_package
from second_brain.index.passages import ChunkRow

if TYPE_CHECKING:
    import pyarrow as pa

RETENTION = timedelta(minutes=5)
"""How long a replaced version stays on disk: longer than any query that may still read it."""

SHORT_RETENTION = timedelta(seconds=30)
"""The same while a stream of changes piles up versions: still far longer than a query."""

_INDEX_CACHE = 64 << 20
_METADATA_CACHE = 32 << 20


def load() -> None:
    """Imports LanceDB now. Call it in a thread at start, so that no request waits for it."""
    if "lancedb.query" in sys.modules and "pyarrow" in sys.modules:
        return
    # Read once, at import; at its default each text query writes a line to stderr.
    os.environ.setdefault("LANCEDB_LOG", "error")
    # A generated REST client is half of LanceDB's import; it uses a few types of it.
    defer_package("lance_namespace_urllib3_client")
    with collector_paused():
        for name in ("lancedb", "lancedb.index", "lancedb.query", "pyarrow"):
            importlib.import_module(name)


def is_local(uri: str) -> bool:
    """Whether the address is a folder of this machine, and not `s3://`, `gs://`, `az://`, `db://`."""
    return "://" not in uri


def absolute(uri: str) -> str:
    """The address, as a whole path if it is a folder."""
    return str(Path(uri).absolute()) if is_local(uri) else uri


async def connect(uri: str) -> Any:
    """A connection with caches of its own, so that dropping it drops what they hold open."""
    await asyncio.to_thread(load)
    import lancedb  # noqa: PLC0415 - see load()

    session = lancedb.Session(
        index_cache_size_bytes=_INDEX_CACHE, metadata_cache_size_bytes=_METADATA_CACHE
    )
    # A relative folder whose name begins with "db" would be taken for an address in the cloud.
    return await lancedb.connect_async(absolute(uri), session=session)


def schema(dimension: int) -> pa.Schema:
    """The columns of the table; `vector` may be null, `id` is the key."""
    import pyarrow as pa  # noqa: PLC0415 - see load()

    # The key's mark makes concurrent upserts of one id conflict instead of both inserting.
    key = {"lance-schema:unenforced-primary-key": "true"}
    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False, metadata=key),
            pa.field("note_id", pa.string()),
            pa.field("ordinal", pa.int32()),
            pa.field("title", pa.string()),
            pa.field("heading", pa.string()),
            pa.field("text", pa.string()),
            pa.field("terms", pa.string()),
            pa.field("kind", pa.string()),
            pa.field("status", pa.string()),
            pa.field("tags", pa.list_(pa.string())),
            pa.field("created", pa.int64()),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


def to_arrow(rows: Sequence[ChunkRow], dimension: int) -> pa.Table:
    """The rows column by column; text that UTF-8 cannot say is replaced."""
    import pyarrow as pa  # noqa: PLC0415 - see load()

    vectors = np.zeros((len(rows), dimension), dtype=np.float32)
    missing = np.ones(len(rows), dtype=bool)
    for place, row in enumerate(rows):
        if row.vector is not None:
            vectors[place] = row.vector
            missing[place] = False
    table_schema = schema(dimension)
    texts = {
        name: pa.array([_sayable(getattr(row, name)) for row in rows], pa.string())
        for name in ("id", "note_id", "title", "heading", "text", "terms", "kind", "status")
    }
    columns = {
        **texts,
        "ordinal": pa.array([row.ordinal for row in rows], pa.int32()),
        "tags": pa.array([[_sayable(t) for t in row.tags] for row in rows], pa.list_(pa.string())),
        "created": pa.array([row.created for row in rows], pa.int64()),
        "vector": pa.FixedSizeListArray.from_arrays(
            pa.array(vectors.ravel()), dimension, mask=pa.array(missing)
        ),
    }
    return pa.Table.from_arrays([columns[name] for name in table_schema.names], schema=table_schema)


def from_arrow(batch: pa.RecordBatch, dimension: int) -> Iterator[ChunkRow]:
    """The rows of a batch with all columns of the table."""
    names = (
        *("note_id", "ordinal", "title", "heading", "text", "terms"),
        *("created", "tags", "kind", "status"),
    )
    columns = [batch.column(name).to_pylist() for name in names]
    vectors = batch.column("vector")
    known = iter(matrix([vectors.drop_null()], dimension))
    for values, here in zip(
        zip(*columns, strict=True), vectors.is_valid().to_pylist(), strict=True
    ):
        note_id, ordinal, title, heading, text, terms, created, tags, kind, status = values
        yield ChunkRow(
            note_id=note_id,
            ordinal=ordinal,
            title=title,
            heading=heading,
            text=text,
            terms=terms,
            created=created,
            tags=tuple(tags or ()),
            kind=kind,
            status=status,
            vector=next(known) if here else None,
        )


def matrix(arrays: Iterable[Any], dimension: int) -> NDArray[np.float32]:
    """Vectors of lists of a fixed size, none of them null, one a row."""
    parts = [array.flatten().to_numpy(zero_copy_only=False) for array in arrays]
    if not parts:
        return np.zeros((0, dimension), dtype=np.float32)
    return np.concatenate(parts).astype(np.float32, copy=False).reshape(-1, dimension)


def _sayable(text: str | None) -> str | None:
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


class IndexDamaged(IndexUnavailable):
    """What is stored cannot be read: drop the table and build it anew. A failed write is not that
    (a full disk, say): it leaves the table as it was."""


class writing:
    """Turns whatever LanceDB raises inside into IndexUnavailable; it documents no error types."""

    _error: type[IndexUnavailable] = IndexUnavailable

    def __init__(self, verb: str) -> None:
        self._verb = verb

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, SecondBrainError):
            cause = str(error).partition("\n")[0][:300]
            raise self._error(f"The index cannot be {self._verb}: {cause}") from error


class reading(writing):
    """The same for what only reads: IndexDamaged."""

    _error = IndexDamaged


def folder(uri: str, name: str) -> Path:
    """Where a local table lies."""
    return Path(absolute(uri)) / f"{name}.lance"


def folder_size(place: Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    for file in place.rglob("*"):
        try:
            total += file.stat().st_size
        except FileNotFoundError:
            continue  # cleaned up meanwhile
    return total
