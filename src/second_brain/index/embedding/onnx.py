"""The runtime of prepared models: onnxruntime alone, neither torch nor transformers.

Every text is run alone. An int8 graph scales its activations by the largest value in the whole
batch, so a text's vector would depend on its neighbours: measured against running alone, batches
of 1,024 tokens moved vectors to a cosine of 0.997 (multilingual-e5-small, worst 0.992) and 0.989
(all-minilm-l6-v2, worst 0.975), and took as much CPU time a text. Alone, a text always has the
same vector, nothing is padded, and memory is bounded by the longest text. Several texts at once
are a matter of threads: a run holds no lock and uses one core.

A question is waited for, so on a quiet machine it is run on several cores at once: 4.4 ms instead
of 7 on two (multilingual-e5-small, 20 tokens). On a busy one that would take twice as long as on
a single core, for every step waits for the thread that was not given its turn. The vector is the
same.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from second_brain.errors import ModelUnavailable
from second_brain.index.embedding.other_load import OtherLoad
from second_brain.index.embedding.prepared import MODEL_FILE, TOKENIZER_FILE, Meta
from second_brain.index.embedding.protocol import Similarity, Vectors
from second_brain.index.embedding.text import clean

log = logging.getLogger(__name__)

_WIDEST = 4
"""Cores for one question; a sentence has too few tokens for more."""
_QUIET = 0.3
"""Threads of other programs, per core, below which a machine is quiet."""


class _Tokenizer(Protocol):
    def encode(self, text: str, max_tokens: int) -> list[int]: ...


class OnnxEmbedder:
    """A prepared model. `threads` bounds the cores that all `embed_documents` use together."""

    def __init__(self, folder: Path, meta: Meta, threads: int | None = None) -> None:
        self._meta = meta
        self._threads = threads or default_threads()
        self._folder = folder
        self._session = _open_session(folder)
        self._wide_session: Any = None
        self._opening_wide: threading.Thread | None = None
        self._tokenizer = _open_tokenizer(folder, meta)
        self._pool: ThreadPoolExecutor | None = None
        self._pool_lock = threading.Lock()
        self._others = OtherLoad()
        self._running = 0

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
        run = self._run_document
        with self._indexing():
            many = self._threads > 1 < len(texts)
            found = self._workers().map(run, texts) if many else map(run, texts)
            for row, vector in enumerate(found):
                vectors[row] = vector
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """float32 (dimension,), of length 1."""
        session = self._wide() if self._quiet() else None
        return self._run(self._meta.query_prefix, text, session)

    def _run_document(self, text: str) -> Vectors:
        return self._run(self._meta.document_prefix, text)

    def _run(self, prefix: str, text: str, session: Any = None) -> Vectors:
        limit = self._meta.max_tokens
        row = self._tokenizer.encode(prefix + clean(text, limit), limit)
        ids = np.array([row], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        try:
            vectors = (session or self._session).run(None, inputs)[0]
        except runtime_errors() as error:
            raise ModelUnavailable(f"The model {self.name} failed on a text: {error}") from error
        vector: Vectors = normalised(vectors)[0]
        return vector

    def _wide(self) -> Any:
        """The session of several cores; None until it has been opened, which nobody waits for."""
        with self._pool_lock:
            if self._opening_wide is None:
                # Never a daemon thread: one that is cut off at the end of the process, within the
                # runtime's own code, aborts it.
                self._opening_wide = threading.Thread(
                    target=self._open_wide, name="embed-wide", daemon=False
                )
                self._opening_wide.start()
        return self._wide_session

    def _open_wide(self) -> None:
        try:
            self._wide_session = _open_session(self._folder, min(_WIDEST, os.cpu_count() or 1))
        except ModelUnavailable as error:
            log.warning("Questions are embedded on one core: %s", error)

    @contextmanager
    def _indexing(self) -> Iterator[None]:
        with self._pool_lock:
            self._running += 1
        try:
            yield
        finally:
            with self._pool_lock:
                self._running -= 1

    def _quiet(self) -> bool:
        """Whether other programs, and documents being embedded, leave a core to spare."""
        others, cores = self._others.threads(), os.cpu_count() or 1
        return cores > 1 and not self._running and others is not None and others < _QUIET * cores

    def _workers(self) -> ThreadPoolExecutor:
        with self._pool_lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embed")
            return self._pool


def default_threads() -> int:
    """Half the cores: the machine is the user's, and the rest of the daemon answers meanwhile."""
    return max(1, (os.cpu_count() or 2) // 2)


def normalised(vectors: NDArray[Any]) -> Vectors:
    """Rows scaled to length 1; a row of zeros stays what it is."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return result


@cache
def runtime_errors() -> tuple[type[Exception], ...]:
    """What onnxruntime raises: its exceptions have no base of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state  # noqa: PLC0415 - as below

    own = (kind for kind in vars(state).values() if isinstance(kind, type))
    return (RuntimeError, ValueError, OSError, *(k for k in own if issubclass(k, Exception)))


def _open_session(folder: Path, threads: int = 1) -> Any:
    import onnxruntime  # noqa: PLC0415 - 50 ms, paid only when a model is loaded

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # a pattern is kept per input shape, and shapes vary
    # Threads wait for each other's next step without sleeping, but never beyond the end of a run.
    spinning = "1" if threads > 1 else "0"
    options.add_session_config_entry("session.intra_op.allow_spinning", spinning)
    options.add_session_config_entry("session.force_spinning_stop", spinning)
    provider = ("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})
    try:
        return onnxruntime.InferenceSession(str(folder / MODEL_FILE), options, providers=[provider])
    except runtime_errors() as error:
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
