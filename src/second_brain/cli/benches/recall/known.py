"""The model with a memory: a text that was embedded in an earlier run is not embedded again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np

from second_brain.index.chunk import key
from second_brain.index.database import Database
from second_brain.index.embedding import Embedder, Similarity, Vectors
from second_brain.index.vectors import SCHEMA, VectorCache


class KnownVectors:
    """An `Embedder` over another one and a file."""

    def __init__(self, model: Embedder, file: Path) -> None:
        self._model = model
        self._db = Database(file, schema=SCHEMA, version=1, synchronous="NORMAL")
        self._cache = VectorCache(self._db)
        self._questions: dict[str, Vectors] = {}
        self.name = model.name
        self.dimension = model.dimension
        self.fingerprint = model.fingerprint

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    @property
    def similarity(self) -> Similarity:
        return self._model.similarity

    @property
    def notice(self) -> str | None:
        return self._model.notice

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        keys = [key(self.fingerprint, text) for text in texts]
        now = time.time_ns() // 1_000_000
        known = self._cache.get(keys, now)
        new = {k: text for k, text in zip(keys, texts, strict=True) if k not in known}
        if new:
            made = dict(zip(new, self._model.embed_documents(list(new.values())), strict=True))
            self._cache.put(made, now)
            known.update(made)
        return np.stack([known[k] for k in keys])

    def embed_query(self, text: str) -> Vectors:
        if (own := self._questions.get(text)) is not None:
            return own
        name = key(f"{self.fingerprint} question", text)
        now = time.time_ns() // 1_000_000
        found = self._cache.get([name], now).get(name)
        if found is None:
            found = self._model.embed_query(text)
            self._cache.put({name: found}, now)
        self._questions[text] = found
        return found
