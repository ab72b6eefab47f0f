"""The index alone, without model, ranking and HTTP, beside looking at every vector with numpy."""

from __future__ import annotations

import asyncio
import statistics
import time

import numpy as np
from numpy.typing import NDArray

from second_brain.cli.benches.latency import WARM_UP
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Bed
from second_brain.index.analyze import parse_query
from second_brain.index.database import chunked
from second_brain.index.embedding import DEFAULT_MODEL, load_model
from second_brain.index.index import Generation
from second_brain.index.passages import SearchFilter
from second_brain.index.table import ChunkTable
from second_brain.index.vectors import Vector
from second_brain.memory.recalling import CANDIDATES
from second_brain.sync.prepare import Chunking

_TIMES_NUMPY = 3.0
_TIMES_NUMPY_UP_TO = 10_000
"""Passages: beyond that, looking at all of them is no measure."""
_SEARCH_MS = 15.0
_FOUND = 98.0


def measure(table: Table, bed: Bed, count: int, queries: int) -> None:
    """On the index that a daemon left in `bed`, which none uses now: `queries` questions by meaning
    and by words, as recall asks, in turns with the exact search."""
    asyncio.run(_measure(table, bed, count, queries))


async def _measure(table: Table, bed: Bed, count: int, queries: int) -> None:
    model = load_model(DEFAULT_MODEL, bed.model_dir)
    (uri,) = {folder.parent for folder in bed.data.glob("vaults/*/index/*.lance")}
    made = Generation(model.name, model.fingerprint, model.dimension, Chunking().layout)
    opened = await ChunkTable.open(str(uri), made.key, made.dimension)
    await opened.read_test()
    counts = await opened.chunk_counts()
    vectors: dict[str, Vector] = {}
    for some in chunked(f"{id}#{n}" for id, own in counts.items() for n in range(own)):
        vectors |= await opened.vectors(some)
    ids, matrix = list(vectors), np.stack(list(vectors.values()))
    step = max(1, len(bed.made) // (queries + WARM_UP))
    asked = [note.question for note in bed.made[::step]][: queries + WARM_UP]
    scans, by_meaning, both, found = [], [], [], []
    for number, question in enumerate(asked):
        vector, words = model.embed_query(question), parse_query(question)
        began = time.perf_counter()
        exact = _scan(matrix, vector)
        scanned = time.perf_counter()
        hits = await opened.vector_search(vector, SearchFilter(), CANDIDATES)
        searched = time.perf_counter()
        await asyncio.gather(
            opened.vector_search(vector, SearchFilter(), CANDIDATES),
            opened.text_search(words, SearchFilter(), CANDIDATES),
        )
        ended = time.perf_counter()
        if number < WARM_UP and len(asked) > WARM_UP:
            continue
        scans.append(scanned - began)
        by_meaning.append(searched - scanned)
        both.append(ended - searched)
        nearest = {ids[place] for place in exact.tolist()}
        found.append(100 * len(nearest & {hit.id for hit in hits}) / len(nearest))
    name = f"{count:,} notes"
    table.add_times(f"numpy scan of {len(ids):,} vectors, {name}", scans, ms=True)
    table.add_times(f"search by meaning, {name}", by_meaning, ms=True)
    times = statistics.median(by_meaning) / statistics.median(scans)
    limit = _TIMES_NUMPY if len(ids) <= _TIMES_NUMPY_UP_TO else None
    table.add(f"search by meaning in times of numpy, {name}", times, "", limit)
    table.add_times(f"search by meaning and words, {name}", both, _SEARCH_MS, ms=True)
    share = statistics.fmean(found)
    label = f"of the {CANDIDATES} nearest found, {name}"
    table.add(label, share, "%", _FOUND, bound="at least")


def _scan(matrix: NDArray[np.float32], vector: Vector) -> NDArray[np.intp]:
    """The places of the nearest, best first."""
    scores = np.einsum("ij,j->i", matrix, vector)
    most = min(CANDIDATES, len(scores))
    best = np.argpartition(-scores, most - 1)[:most]
    return best[np.argsort(-scores[best])]
