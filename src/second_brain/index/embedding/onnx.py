"""The runtime of prepared models: onnxruntime alone, neither torch nor transformers.

Memory stays flat by three rules: a batch holds a bounded number of tokens, texts of like length
share a batch, and the runtime's arena grows by what is asked and no more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from second_brain.errors import ModelUnavailable
from second_brain.index.embedding.prepared import MODEL_FILE, TOKENIZER_FILE, Meta
from second_brain.index.embedding.protocol import Similarity, Vectors
from second_brain.index.embedding.text import clean

_TOKENS_PER_BATCH = 1024
"""Padding included. Larger batches of long texts are slower on a CPU, and hold more memory."""
_TEXTS_PER_WINDOW = 256
"""So many texts are tokenised and sorted at a time; bounds the ids that are held."""


class _Tokenizer(Protocol):
    def encode(self, text: str, max_tokens: int) -> list[int]: ...


class OnnxEmbedder:
    """A prepared model. `threads` bounds the cores that one call uses."""

    def __init__(self, folder: Path, meta: Meta, threads: int | None = None) -> None:
        self._meta = meta
        self._session = _open_session(folder, threads or default_threads())
        self._tokenizer = _open_tokenizer(folder, meta)

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
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for first in range(0, len(texts), _TEXTS_PER_WINDOW):
            window = texts[first : first + _TEXTS_PER_WINDOW]
            ids = [self._ids(self._meta.document_prefix, text) for text in window]
            for batch in batches([len(row) for row in ids], _TOKENS_PER_BATCH):
                rows = [first + n for n in batch]
                vectors[rows] = self._run([ids[n] for n in batch])
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """float32 (dimension,), of length 1."""
        vector: Vectors = self._run([self._ids(self._meta.query_prefix, text)])[0]
        return vector

    def _ids(self, prefix: str, text: str) -> list[int]:
        limit = self._meta.max_tokens
        return self._tokenizer.encode(prefix + clean(text, limit), limit)

    def _run(self, rows: list[list[int]]) -> Vectors:
        shape = (len(rows), max(map(len, rows)))
        ids: NDArray[np.int64] = np.full(shape, self._meta.pad, np.int64)
        mask: NDArray[np.int64] = np.zeros(shape, np.int64)
        for n, row in enumerate(rows):
            ids[n, : len(row)] = row
            mask[n, : len(row)] = 1
        found = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return normalised(found)


def default_threads() -> int:
    """Half the cores: the machine is the user's, and the rest of the daemon answers meanwhile."""
    return max(1, (os.cpu_count() or 2) // 2)


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices of `lengths`, shortest first, in groups whose padded size stays within `budget`.

    A single longer text is a group of its own.
    """
    group: list[int] = []
    for n in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and (len(group) + 1) * lengths[n] > budget:
            yield group
            group = []
        group.append(n)
    if group:
        yield group


def normalised(vectors: NDArray[Any]) -> Vectors:
    """Rows scaled to length 1; a row of zeros stays what it is."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return result


def _open_session(folder: Path, threads: int) -> Any:
    import onnxruntime  # noqa: PLC0415 - 50 ms, paid only when a model is loaded

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # patterns are kept per input shape, and shapes vary
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    provider = ("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})
    try:
        return onnxruntime.InferenceSession(str(folder / MODEL_FILE), options, providers=[provider])
    except (RuntimeError, ValueError, OSError) as error:
        raise ModelUnavailable(
            f"The prepared model in {folder} cannot be loaded ({error}). "
            "Delete that folder and run `brain model prepare`."
        ) from error


def _open_tokenizer(folder: Path, meta: Meta) -> _Tokenizer:
    try:
        if meta.tokenizer == "unigram":
            from second_brain.index.embedding.unigram import (  # noqa: PLC0415 - as below
                UnigramTokenizer,
            )

            return UnigramTokenizer(folder, bos=0, eos=2, unknown=3, special=4)
        return _LibraryTokenizer(folder / TOKENIZER_FILE, meta.max_tokens)
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"The tokenizer in {folder} cannot be read ({error}). "
            "Delete that folder and run `brain model prepare`."
        ) from error


class _LibraryTokenizer:
    """Any other model's tokenizer.json, run by the tokenizers library (which is thread safe)."""

    def __init__(self, file: Path, max_tokens: int) -> None:
        from tokenizers import Tokenizer  # noqa: PLC0415 - only models other than the default

        self._tokenizer = Tokenizer.from_str(file.read_text(encoding="utf-8"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        # A note may well contain "[SEP]" or "</s>"; it is text there.
        self._tokenizer.encode_special_tokens = True

    def encode(self, text: str, max_tokens: int) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text).ids[:max_tokens]
        return ids
