"""The runtime of models that cannot be exported: sentence-transformers itself, loaded when used."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from second_brain.index.embedding.loading import load_sentence_transformer
from second_brain.index.embedding.onnx import normalised
from second_brain.index.embedding.prepared import Meta
from second_brain.index.embedding.protocol import Similarity, Vectors
from second_brain.index.embedding.text import clean

_TEXTS_PER_BATCH = 8


class TorchEmbedder:
    """A sentence-transformers model. The first call loads it (seconds), later ones wait for that.

    Calls may come from several threads and are run one at a time: torch uses all its threads for
    each.
    """

    def __init__(self, meta: Meta, model: Any = None) -> None:
        self._meta = meta
        self._model = model
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._meta.name

    @property
    def dimension(self) -> int:
        return self._meta.dimension

    @property
    def fingerprint(self) -> str:
        return self._meta.fingerprint

    @property
    def similarity(self) -> Similarity:
        return self._meta.similarity

    @property
    def notice(self) -> str | None:
        return self._meta.notice

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """float32 (n, dimension), rows of length 1, in the order of `texts`."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return self._encode(self._meta.document_prefix, texts)

    def embed_query(self, text: str) -> Vectors:
        """float32 (dimension,), of length 1."""
        vector: Vectors = self._encode(self._meta.query_prefix, [text])[0]
        return vector

    def _encode(self, prefix: str, texts: Sequence[str]) -> Vectors:
        prepared = [prefix + clean(text, self._meta.max_tokens) for text in texts]
        with self._lock:
            if self._model is None:
                self._model = load_sentence_transformer(self._meta.location)
            vectors = self._model.encode(
                prepared,
                prompt="",
                batch_size=_TEXTS_PER_BATCH,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return normalised(np.asarray(vectors, np.float32))
