"""Texts to vectors for the daemon: the model loaded in the background, and a cache before it.

Documents of an indexing run and urgent texts (a query, a memory being written) have a thread
each, so that a request never waits behind an indexing run. While there is no model every answer
is None, and recall goes by keywords.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from second_brain.errors import ModelUnavailable
from second_brain.index.chunk import key
from second_brain.index.embedding import Embedder, Similarity
from second_brain.index.embedding.protocol import Vectors
from second_brain.index.vectors import VectorCache

log = logging.getLogger(__name__)

EncoderState = Literal["loading", "ready", "unavailable"]

BULK = 8
"""Texts of one call to the model in an indexing run; between two calls a stop takes effect. More
would not be faster: each text is run alone."""


class Encoder:
    """Loads one model and embeds with it. `load` is called once, in a worker thread."""

    def __init__(
        self, load: Callable[[], Embedder], cache: VectorCache, clock_ms: Callable[[], int]
    ) -> None:
        self._load = load
        self._cache = cache
        self._clock_ms = clock_ms
        self._urgent = ThreadPoolExecutor(1, thread_name_prefix="embed-urgent")
        self._bulk = ThreadPoolExecutor(1, thread_name_prefix="embed-bulk")
        self.model: Embedder | None = None
        self.state: EncoderState = "loading"
        self.notice: str | None = "The embedding model is being loaded; recall goes by keywords."

    @property
    def similarity(self) -> Similarity | None:
        return self.model.similarity if self.model else None

    async def start(self) -> bool:
        """Load the model; whether it can be used now. Never raises for a missing model."""
        loop = asyncio.get_running_loop()
        try:
            self.model = await loop.run_in_executor(self._bulk, self._load)
        except ModelUnavailable as error:
            log.warning("%s", error)
            return self._without(str(error))
        except Exception as error:
            log.exception("The embedding model cannot be loaded")
            return self._without(
                f"The embedding model cannot be loaded ({type(error).__name__}: {error})."
            )
        self.state = "ready"
        self.notice = self.model.notice
        return True

    def _without(self, reason: str) -> bool:
        self.state = "unavailable"
        self.notice = f"{reason} Recall goes by keywords until then."
        return False

    async def documents(
        self, texts: Sequence[str], *, urgent: bool = False
    ) -> list[Vectors | None]:
        """One vector a text, from the cache where it was embedded before; None without a model."""
        model = self.model
        if model is None or not texts:
            return [None] * len(texts)
        keys = [key(model.fingerprint, text) for text in texts]
        now = self._clock_ms()
        known = dict(await asyncio.to_thread(self._cache.get, keys, now))
        missing: dict[str, str] = {
            k: text for k, text in zip(keys, texts, strict=True) if k not in known
        }
        loop = asyncio.get_running_loop()
        executor = self._urgent if urgent else self._bulk
        names = list(missing)
        for first in range(0, len(names), BULK):
            part = names[first : first + BULK]
            made = await loop.run_in_executor(
                executor, model.embed_documents, [missing[name] for name in part]
            )
            fresh = dict(zip(part, made, strict=True))
            known.update(fresh)
            await asyncio.to_thread(self._cache.put, fresh, now)
        return [known[k] for k in keys]

    async def query(self, text: str) -> Vectors | None:
        """The vector of a question; None without a model."""
        model = self.model
        if model is None:
            return None
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._urgent, model.embed_query, text)

    def close(self) -> None:
        """Ends the threads; what is being embedded is finished first."""
        self._urgent.shutdown(wait=True, cancel_futures=True)
        self._bulk.shutdown(wait=True, cancel_futures=True)
