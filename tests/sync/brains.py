"""The daemon's real graph on a vault in a folder, in this process, and what its index holds.

Only the model is a small one of this module, so that hundreds of notes are embedded in an instant
and every text that is embedded can be counted.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from second_brain.config import Settings
from second_brain.config.settings import IndexSettings, SyncSettings
from second_brain.daemon import Daemon, clock_ms
from second_brain.errors import ModelUnavailable
from second_brain.index.embedding import Embedder, Similarity, Vectors
from second_brain.index.encoder import Encoder
from second_brain.index.index import Generation
from second_brain.index.rows import NoteRow
from second_brain.instance import make_private_folder, vault_folder
from second_brain.memory.model import RecallQuery
from second_brain.memory.scribe import Settling
from second_brain.report import Silent
from second_brain.sync.changes import Change
from second_brain.vault.files import FileStamp
from second_brain.vault.scan import scan

PATIENCE = 60.0


class WordEmbedder:
    """Texts that share words are near each other. Counts the texts that it embeds."""

    similarity = Similarity(unrelated=0.1, related=0.5, similar=0.8, same=0.95)
    notice = None

    def __init__(self, name: str = "words", dimension: int = 32) -> None:
        self.name = name
        self.dimension = dimension
        self.fingerprint = f"{name}-{dimension}"
        self.texts: list[str] = []
        self.refuses: Callable[[str], bool] = lambda text: False
        self.pause = 0.0

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        time.sleep(self.pause * len(texts))
        for text in texts:
            if self.refuses(text):
                raise RuntimeError(f"cannot embed {text!r}")
        self.texts += texts
        return np.stack([self._embed(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        return self._embed(text)

    def _embed(self, text: str) -> Vectors:
        total = np.zeros(self.dimension, dtype=np.float32)
        for word in re.findall(r"\w+", text.casefold()) or ["nothing"]:
            seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
            total += np.random.default_rng(seed).normal(size=self.dimension).astype(np.float32)
        return (total / np.linalg.norm(total)).astype(np.float32)


class _Graph(Daemon):
    """The daemon, with models of the test's. None: there is no such model."""

    def __init__(self, models: dict[str, Embedder], *args: Any, **options: Any) -> None:
        self._models = models
        super().__init__(*args, **options)

    def _encoder(self, model: str) -> Encoder:
        def load() -> Embedder:
            found = self._models.get(model)
            if found is None:
                raise ModelUnavailable(f"There is no model {model}.")
            return found

        return Encoder(load, self.catalog.vectors, clock_ms)

    def _expected(self) -> Generation | None:
        found = self._models.get(self.settings.embedding.model)
        if found is None:
            return None
        return Generation(found.name, found.fingerprint, found.dimension, self.index.layout)


@dataclass
class Brain:
    """One vault and its data directory; the daemon may be started on it again and again."""

    vault: Path
    data: Path
    embedder: Embedder = field(default_factory=WordEmbedder)
    models: dict[str, Embedder] = field(default_factory=dict)
    model: str = ""
    watch: bool = False
    sync: SyncSettings = field(default_factory=SyncSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    settling: Settling = field(default_factory=lambda: Settling(user=0.0, own=0.0, patience=5.0))
    daemon: Daemon = field(init=False)
    changes: list[Change] = field(default_factory=list)
    _running: AsyncExitStack | None = None

    def __post_init__(self) -> None:
        self.vault.mkdir(parents=True, exist_ok=True)
        self.model = self.model or self.embedder.name
        self.models.setdefault(self.embedder.name, self.embedder)

    @property
    def settings(self) -> Settings:
        base = Settings(vault=self.vault, data_dir=self.data, model_dir=self.data / "models")
        embedding = replace(base.embedding, model=self.model)
        return replace(base, sync=self.sync, index=self.index, embedding=embedding)

    async def start(self) -> None:
        folder = vault_folder(self.settings)
        make_private_folder(folder.path)
        self.daemon = _Graph(
            self.models,
            self.settings,
            folder,
            report=Silent(),
            settling=self.settling,
            watch=self.watch,
        )
        self.changes = []
        self.daemon.engine.on_change = self.changes.append
        running = AsyncExitStack()
        await running.enter_async_context(self.daemon.running())
        self._running = running

    async def stop(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running.aclose()

    @property
    def is_running(self) -> bool:
        return self._running is not None

    async def restart(self) -> None:
        await self.stop()
        await self.start()
        await self.settle()

    # The vault

    def write(self, path: str, text: str | bytes, *, at: float | None = None) -> Path:
        target = self.vault / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def note(self, path: str, body: str = "", *, tags: str = "brain", **properties: str) -> Path:
        lines = [f"tags: [{tags}]", *(f"{key}: {value}" for key, value in properties.items())]
        return self.write(path, "\n".join(["---", *lines, "---", body or f"About {path}.", ""]))

    def bytes_of_vault(self) -> dict[str, tuple[bytes, int]]:
        return {
            str(file.relative_to(self.vault)): (file.read_bytes(), file.stat().st_mtime_ns)
            for file in sorted(self.vault.rglob("*"))
            if file.is_file()
        }

    # Waiting

    async def settle(self) -> None:
        """Until catalogue and index follow the files as they are now (or the vault is held)."""
        await eventually(self.has_come_up)
        if not self.watch:
            self.daemon.sync.rescan_soon()
        await eventually(self.is_settled)

    def has_come_up(self) -> bool:
        encoder, sync = self.daemon.index.encoder, self.daemon.sync
        return (
            encoder.state != "loading"
            and sync.last_scan is not None
            and not self.daemon.index.outdated
            and (sync.watching or not self.watch)
        )

    def is_settled(self) -> bool:
        daemon = self.daemon
        if not daemon.sync._idle.is_set() or daemon.index.building:
            return False
        rule, version = daemon.rule, daemon.index.version
        found = scan(self.vault, rule.path_reason, folder_reason=rule.folder_reason)
        there = {file.path: file.stamp for file in found.found}
        rows = self.rows()
        return there.keys() == rows.keys() and all(
            there[path] == FileStamp(row.mtime_ns, row.size, row.inode)
            and (not row.is_memory or row.index_version == version)
            and (row.embedded or not row.is_memory or daemon.index.encoder.model is None)
            for path, row in rows.items()
        )

    # What is known

    def rows(self) -> dict[str, NoteRow]:
        catalog = self.daemon.catalog
        rows = [catalog.by_path(path) for path in catalog.paths()]
        return {row.path: row for row in rows if row is not None}

    def ids(self) -> dict[str, str]:
        return {path: row.id for path, row in self.rows().items()}

    def memories(self) -> set[str]:
        return {path for path, row in self.rows().items() if row.is_memory}

    def edges(self) -> set[tuple[str, str, str, str | None]]:
        """(source path, type, target as written, target path) of every edge of a present note."""
        catalog = self.daemon.catalog
        return {
            (row.path, edge.type, edge.target, edge.target_path)
            for row in self.rows().values()
            for edge in catalog.edges.stated_by(row.id)
        }

    async def recall(self, words: str) -> list[str]:
        answer = await self.daemon.memories.recall(RecallQuery(words, top_k=20))
        return [hit.memory.path for hit in answer.hits]

    async def passages(self) -> dict[str, list[dict[str, Any]]]:
        """What the index holds of each note, by path; notes that nobody knows by their id."""
        table = self.daemon.index._opened().table
        found = (await table._table.query().to_arrow()).to_pylist()
        paths = {row.id: row.path for row in self.rows().values()}
        passages: dict[str, list[dict[str, Any]]] = {}
        for row in sorted(found, key=lambda row: row["ordinal"]):
            name = paths.get(row.pop("note_id"), row.pop("id"))
            row.pop("id", None)
            passages.setdefault(name, []).append(row)
        return passages

    async def snapshot(self) -> dict[str, Any]:
        """All that depends on the vault and not on its past, comparable between two indices."""
        rows, ids = self.rows(), set(self.ids().values())
        assert len(ids) == len(rows), "two notes have one id"
        catalog = self.daemon.catalog
        return {
            "notes": {
                path: {
                    name: getattr(row, name)
                    for name in (
                        "title", "hash", "size", "mtime_ns", "status", "reason", "is_memory",
                        "embedded", "chunks", "kind", "memory_status", "importance", "source",
                        "tags", "aliases", "created", "modified", "problems", "vector_keys",
                        "text_key", "index_version",
                    )
                }
                for path, row in rows.items()
            },
            "edges": sorted(
                (row.path, e.type, e.target, e.property or "", e.target_path or "", e.provenance,
                 catalog.by_ids([e.target_id])[e.target_id].path if e.target_id else "")
                for row in rows.values()
                for e in catalog.edges.stated_by(row.id)
            ),
            "tags": catalog.tag_counts(),
            "passages": await self.passages(),
        }  # fmt: skip


async def eventually(check: Callable[[], object], within: float = PATIENCE) -> None:
    """Wait until `check` is true; fails with what it last was."""
    deadline = time.monotonic() + within
    while not (last := check()):
        assert time.monotonic() < deadline, f"not within {within} s: {last!r}"
        await asyncio.sleep(0.01)


@asynccontextmanager
async def running(brain: Brain) -> AsyncIterator[Brain]:
    """The brain started and settled; stopped at the end."""
    await brain.start()
    try:
        await brain.settle()
        yield brain
    finally:
        await brain.stop()


async def assert_like_fresh(brain: Brain, data: Path) -> None:
    """Invariant 6: the same state as a fresh index of the same vault."""
    fresh = Brain(brain.vault, data, sync=brain.sync, index=brain.index)
    async with running(fresh):
        expected = await fresh.snapshot()
    found = await brain.snapshot()
    assert found["notes"] == expected["notes"]
    assert found["edges"] == expected["edges"]
    assert found["tags"] == expected["tags"]
    assert found["passages"].keys() == expected["passages"].keys()
    for path, passages in found["passages"].items():
        assert passages == expected["passages"][path], path


def embedded_since(brain: Brain, before: int) -> Counter[str]:
    """The texts that the model was given after the first `before` ones."""
    assert isinstance(brain.embedder, WordEmbedder)
    return Counter(brain.embedder.texts[before:])
