"""Rows and tables for the tests of the index in LanceDB."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np

from second_brain.index.analyze import parse_query, terms
from second_brain.index.passages import ChunkRow, SearchFilter
from second_brain.index.table import ChunkTable
from second_brain.index.vectors import Vector

DIMENSION = 16
ALL = SearchFilter()


def vector(seed: int) -> Vector:
    values = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return values / np.float32(np.linalg.norm(values))


def row(note_id: str, ordinal: int = 0, text: str = "", **fields: Any) -> ChunkRow:
    text = text or f"text of {note_id}"
    defaults: dict[str, Any] = {
        "created": 1_000,
        "vector": vector(hash((note_id, ordinal)) % 2**32),
    }
    return ChunkRow(
        note_id=note_id,
        ordinal=ordinal,
        title=note_id,
        heading="",
        text=text,
        terms=terms(text),
        **{**defaults, **fields},
    )


def note(note_id: str, *texts: str, **fields: Any) -> dict[str, list[ChunkRow]]:
    return {note_id: [row(note_id, n, text, **fields) for n, text in enumerate(texts or ("",))]}


def with_table(tmp_path: Path, test: Callable[[ChunkTable], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        await test(await ChunkTable.open(str(tmp_path / "index"), "model", DIMENSION))

    asyncio.run(run())


async def found(table: ChunkTable, query: str, filter: SearchFilter = ALL) -> set[str]:
    return {hit.id for hit in await table.text_search(parse_query(query), filter, 100)}
