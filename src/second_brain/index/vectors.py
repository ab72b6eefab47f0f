"""The embedding cache: a text that a model has embedded once is never embedded again.

It outlives the index: tags taken off and put back, deleted and restored notes, and a rebuilt index
find their vectors here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from second_brain.index.database import Database, chunked, marks
from second_brain.index.rows import split_keys

SCHEMA = """
CREATE TABLE vectors (key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL, last_used INTEGER NOT NULL)
"""

Vector = NDArray[np.float32]

_TOUCH_MS = 86_400_000
"""`last_used` is kept to the day, so that a start that reads every vector writes none."""


class VectorCache:
    """Keys come from `chunk.key`, which contains the model's fingerprint. Times are Unix ms."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, keys: Iterable[str], now: int) -> dict[str, Vector]:
        """The vectors that are known, read-only float32."""
        found: dict[str, Vector] = {}
        stale: list[tuple[int, bytes]] = []
        for batch in chunked(keys):
            rows = self._db.rows(
                f"SELECT key, vector, last_used FROM vectors WHERE key IN ({marks(batch)})",
                [bytes.fromhex(key) for key in batch],
            )
            for row in rows:
                key, blob, used = cast("tuple[bytes, bytes, int]", row)
                found[key.hex()] = np.frombuffer(blob, dtype="<f4")
                if now - used >= _TOUCH_MS:
                    stale.append((now, key))
        if stale:
            with self._db.transaction():
                self._db.run_many("UPDATE vectors SET last_used = ? WHERE key = ?", stale)
        return found

    def put(self, vectors: Mapping[str, Vector], now: int) -> None:
        """Stores vectors, in one transaction."""
        with self._db.transaction():
            self._db.run_many(
                "INSERT INTO vectors (key, vector, last_used) VALUES (?, ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET vector = excluded.vector,"
                " last_used = excluded.last_used",
                (
                    (bytes.fromhex(key), np.ascontiguousarray(vector, dtype="<f4").tobytes(), now)
                    for key, vector in vectors.items()
                ),
            )

    def prune(self, older_than: int) -> int:
        """Drops what no note refers to and was last used before `older_than`; how many."""
        with self._db.transaction():
            needed = {
                bytes.fromhex(key)
                for (blob,) in self._db.rows("SELECT vector_keys FROM notes")
                for key in split_keys(cast(bytes, blob))
            }
            old = self._db.rows("SELECT key FROM vectors WHERE last_used < ?", (older_than,))
            unused = [(key,) for (key,) in old if key not in needed]
            self._db.run_many("DELETE FROM vectors WHERE key = ?", unused)
        if unused:
            self._db.shrink()
        return len(unused)

    def count(self) -> int:
        return self._db.number("SELECT count(*) FROM vectors")
