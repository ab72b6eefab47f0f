"""Compares what a daemon's stores say with what a fresh index of the same vault says.

Only what depends on the vault counts, not its past: ids are compared by the notes they belong to.
"""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from second_brain.config import Settings
from second_brain.daemon import Daemon
from second_brain.index.embedding import Similarity, Vectors
from second_brain.index.index import Generation
from second_brain.index.inspection import CatalogRows, read_passages, read_rows
from second_brain.index.passages import ChunkRow
from second_brain.instance import make_private_folder, vault_folder
from second_brain.report import Silent

_OF_A_NOTE = (
    "title", "hash", "size", "mtime_ns", "status", "reason", "is_memory", "embedded", "chunks",
    "kind", "memory_status", "importance", "source", "tags", "aliases", "created", "modified",
    "problems", "vector_keys", "text_key", "index_version",
)  # fmt: skip
_OF_A_PASSAGE = ("ordinal", "title", "heading", "text", "created", "tags", "kind", "status")
_MOST_TOLD = 20


@dataclass(frozen=True, slots=True)
class Stores:
    """One vault's catalogue and index."""

    rows: CatalogRows
    passages: Sequence[ChunkRow]


async def read_stores(settings: Settings) -> Stores:
    """What stands in a vault's stores, daemon or not. Raises StoreDamaged, IndexUnavailable."""
    folder = vault_folder(settings)
    rows = read_rows(folder.catalog)
    if rows.generation is None:
        return Stores(rows, ())
    return Stores(rows, await read_passages(str(folder.index), rows.generation))


async def differences_from_fresh(settings: Settings) -> list[str]:
    """Where a vault's stores differ from a fresh index of it, in words; empty if nowhere."""
    found = await read_stores(settings)
    if found.rows.generation is None:
        return ["the catalogue knows of no index"]
    fresh = await _fresh(settings, found.rows.generation)
    return [*differences(found, fresh), *_vector_faults(found)][:_MOST_TOLD]


def differences(found: Stores, fresh: Stores) -> Iterator[str]:
    """In words, one a thing."""
    yield from _unequal("notes", _notes(found), _notes(fresh))
    yield from _unequal("links", _edges(found), _edges(fresh))
    yield from _unequal("passages", _passages(found), _passages(fresh))
    ids = [row.id for row in found.rows.notes]
    yield from (f"two notes have the id {id}" for id in {id for id in ids if ids.count(id) > 1})


async def _fresh(settings: Settings, generation: Generation) -> Stores:
    """A new index of the vault in a folder that goes away; its vectors are made up."""
    with tempfile.TemporaryDirectory(prefix="fresh-index-") as data:
        fresh = dataclasses.replace(settings, data_dir=Path(data))
        folder = vault_folder(fresh)
        make_private_folder(folder.path)
        daemon = Daemon(
            fresh, folder, report=Silent(), watch=False, load=lambda name: _MadeUp(generation)
        )
        try:
            await daemon.index.encoder.start()
            await daemon.index.start()
            await daemon.sync.scan()
        finally:
            await daemon.index.close()
            daemon.close()
        stores = await read_stores(fresh)
        shutil.rmtree(folder.path, ignore_errors=True)
        return stores


class _MadeUp:
    """Stands for a model whose vectors are not looked at."""

    similarity = Similarity(unrelated=0.1, related=0.5, similar=0.8, same=0.95)
    notice = None

    def __init__(self, generation: Generation) -> None:
        self.name = generation.model
        self.dimension = generation.dimension
        self.fingerprint = generation.fingerprint

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.full((len(texts), self.dimension), self.dimension**-0.5, dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        del text
        return np.full(self.dimension, self.dimension**-0.5, dtype=np.float32)


def _notes(stores: Stores) -> dict[str, dict[str, Any]]:
    return {
        row.path: {name: getattr(row, name) for name in _OF_A_NOTE} for row in stores.rows.notes
    }


def _edges(stores: Stores) -> dict[str, dict[str, Any]]:
    paths = {row.id: row.path for row in stores.rows.notes}
    return {
        f"{paths[e.source_id]} -{e.type}/{e.property}-> {e.target}": {
            "path": e.target_path,
            "note": paths.get(e.target_id, "no note") if e.target_id else None,
            "provenance": e.provenance,
        }
        for e in stores.rows.edges
        if e.source_id in paths
    }


def _passages(stores: Stores) -> dict[str, dict[str, Any]]:
    paths = {row.id: row.path for row in stores.rows.notes}
    return {
        f"{paths.get(row.note_id, f'nobody ({row.note_id})')} [{row.ordinal}]": {
            "vector": row.vector is not None,
            **{name: getattr(row, name) for name in _OF_A_PASSAGE},
        }
        for row in stores.passages
    }


def _unequal(
    what: str, found: dict[str, dict[str, Any]], fresh: dict[str, dict[str, Any]]
) -> Iterator[str]:
    for name in sorted(found.keys() | fresh.keys()):
        here, there = found.get(name), fresh.get(name)
        if here is None or there is None:
            yield f"{what}: {name} is only in the {'fresh index' if here is None else 'index'}"
        elif here != there:
            keys = [key for key in here if here[key] != there[key]]
            told = ", ".join(f"{key} {here[key]!r}, fresh {there[key]!r}" for key in keys)
            yield f"{what}: {name}: {told}"


def _vector_faults(stores: Stores) -> Iterator[str]:
    """Passages twice in the index, or with another vector than their text was embedded to."""
    keys = {row.id: row.vector_keys for row in stores.rows.notes}
    seen: set[str] = set()
    for row in stores.passages:
        if row.id in seen:
            yield f"passages: {row.id} is in the index twice"
        seen.add(row.id)
        own = keys.get(row.note_id, ())
        if row.vector is None or row.ordinal >= len(own):
            continue  # told of as a difference
        cached = stores.rows.vectors.get(own[row.ordinal])
        if cached is None or not np.array_equal(np.frombuffer(cached, "<f4"), row.vector):
            yield f"passages: {row.id} has another vector than its text"
