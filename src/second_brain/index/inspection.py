"""Looks at a vault's stores without changing, creating or locking anything, daemon or not.

Opening a store for work mends what it finds; whoever only wants to know reads it here.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from second_brain.index import lance
from second_brain.index.database import StoreDamaged
from second_brain.index.index import META, Generation
from second_brain.index.lance import reading
from second_brain.index.passages import ChunkRow
from second_brain.index.rows import (
    EDGE_COLUMNS,
    NOTE_COLUMNS,
    EdgeRow,
    NoteRow,
    edge_row,
    note_row,
)
from second_brain.index.table import ChunkTable, table_name


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A link that leads to no note: from which file, and in which property (None: the text)."""

    path: str
    target: str
    property: str | None


@dataclass(frozen=True, slots=True)
class CatalogView:
    """What a catalogue says. `chunks`: passages of each memory by id; `paths` of present notes."""

    paths: frozenset[str]
    chunks: dict[str, int]
    unresolved: tuple[Unresolved, ...]
    generation: Generation | None


def damage(database: Path) -> str | None:
    """What is wrong with a SQLite file, in SQLite's words; None if nothing is."""
    try:
        with _opened(database) as connection:
            verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except StoreDamaged as error:
        return str(error)
    return None if verdict == "ok" else str(verdict)


def read_catalog(database: Path) -> CatalogView:
    """Raises StoreDamaged, also for the catalogue of another version of this program."""
    with _opened(database) as connection:
        present = connection.execute("SELECT path FROM notes WHERE missing_since IS NULL")
        paths = frozenset(path for (path,) in present)
        memories = "SELECT id, chunks FROM notes WHERE is_memory AND missing_since IS NULL"
        chunks = {id: int(count) for id, count in connection.execute(memories)}
        lost = connection.execute(
            "SELECT DISTINCT n.path, e.target, e.property FROM edges e"
            " JOIN notes n ON n.id = e.source_id AND n.missing_since IS NULL"
            " WHERE e.target_path IS NULL AND n.is_memory ORDER BY n.path, e.target"
        )
        unresolved = tuple(Unresolved(path, target, name or None) for path, target, name in lost)
        meta = connection.execute("SELECT value FROM meta WHERE key = ?", (META,)).fetchone()
    generation = Generation(**json.loads(meta[0])) if meta else None
    return CatalogView(paths, chunks, unresolved, generation)


@dataclass(frozen=True, slots=True)
class CatalogRows:
    """Everything that a catalogue says of the notes that are there, and its cached vectors."""

    notes: tuple[NoteRow, ...]
    edges: tuple[EdgeRow, ...]
    vectors: dict[str, bytes]
    generation: Generation | None


def read_rows(database: Path) -> CatalogRows:
    """All of a catalogue, as of one moment. Raises StoreDamaged."""
    with _opened(database) as connection:
        connection.execute("BEGIN")
        notes = connection.execute(
            f"SELECT {NOTE_COLUMNS} FROM notes WHERE missing_since IS NULL ORDER BY path"
        ).fetchall()
        edges = connection.execute(f"SELECT {EDGE_COLUMNS} FROM edges").fetchall()
        vectors = dict(connection.execute("SELECT hex(key), vector FROM vectors").fetchall())
        meta = connection.execute("SELECT value FROM meta WHERE key = ?", (META,)).fetchone()
    return CatalogRows(
        tuple(note_row(values) for values in notes),
        tuple(edge_row(values) for values in edges),
        {key.lower(): vector for key, vector in vectors.items()},
        Generation(**json.loads(meta[0])) if meta else None,
    )


async def read_passages(uri: str, generation: Generation) -> list[ChunkRow]:
    """All passages of a local index, without their terms. Raises IndexUnavailable."""
    with reading("read"):
        connection: Any = await lance.connect(uri)
        name = table_name(generation.key, generation.dimension)
        table = await connection.open_table(name)
        return [
            row
            async for batch in await table.query().to_batches()
            for row in lance.from_arrow(batch, generation.dimension)
        ]


async def indexed_chunks(uri: str, generation: Generation) -> dict[str, int] | None:
    """Passages of each memory in the index, after a test that it can be read; None if there is no
    such table. Raises IndexUnavailable."""
    name = table_name(generation.key, generation.dimension)
    if lance.is_local(uri) and not await asyncio.to_thread(Path(uri).exists):
        return None  # LanceDB would make the folder.
    with reading("opened"):
        connection: Any = await lance.connect(uri)
        if name not in (await connection.list_tables()).tables:
            return None
        table = await connection.open_table(name)
    found = ChunkTable(uri, name, generation.dimension, connection, table)
    await found.read_test()
    return await found.chunk_counts()


@contextmanager
def _opened(database: Path) -> Iterator[sqlite3.Connection]:
    address = f"file:{quote(str(database))}?mode=ro"
    if not database.with_name(f"{database.name}-wal").exists():
        # Nobody has it open, and SQLite would leave files of its own beside it otherwise.
        address += "&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=5.0)) as connection:
            yield connection
    except sqlite3.DatabaseError as error:
        raise StoreDamaged(database, str(error)) from error
