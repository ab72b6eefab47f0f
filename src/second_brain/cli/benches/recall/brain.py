"""A scratch vault of documents, read and searched by the daemon's own parts."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from second_brain.cli.benches.recall.data import DataSet, Document
from second_brain.cli.benches.recall.scoring import DEPTH
from second_brain.config import Settings
from second_brain.daemon import Daemon
from second_brain.index.embedding import Embedder
from second_brain.instance import make_private_folder, vault_folder
from second_brain.memory.model import RecallQuery
from second_brain.memory.recalling import Recalling
from second_brain.memory.shelf import Shelf
from second_brain.memory.similar import Similarities
from second_brain.memory.stages import Stages
from second_brain.report import Silent
from second_brain.sync.prepare import Chunking
from second_brain.vault.edit import new_note
from second_brain.vault.links import RELATED_KEY
from second_brain.vault.model import PropertyValue
from second_brain.vault.names import safe_name, title_of
from second_brain.vault.note import CREATED_KEY, ID_KEY, SOURCE_KEY

_PATIENCE_SECONDS = 3 * 3600.0
_NO_DATE = 1_700_000_000_000
_DAY_MS = 86_400_000


Related = Mapping[str, Sequence[str]]
"""Ids of documents by that of the one which is linked to them."""


def write_vault(vault: Path, data: DataSet, related: Related | None = None) -> None:
    """One note a document, named as `remember` names it. Those with a date are memories that a
    client stored then, one client a conversation; the others are the user's own notes."""
    if vault.exists() and sum(1 for _ in vault.glob("*/*.md")) == len(data.documents):
        return
    shutil.rmtree(vault, ignore_errors=True)
    names = {d.id: f"{d.id}/{safe_name(title_of(d.text))}" for d in data.documents}
    for document in data.documents:
        file = vault / f"{names[document.id]}.md"
        file.parent.mkdir(parents=True)
        file.write_bytes(
            _note(document, [names[id] for id in (related or {}).get(document.id, ())])
        )


def _note(document: Document, linked: Sequence[str] = ()) -> bytes:
    created = datetime.fromtimestamp((document.created or _NO_DATE) / 1000, UTC)
    properties: dict[str, PropertyValue] = {
        "tags": ["brain"],
        CREATED_KEY: created.strftime("%Y-%m-%dT%H:%M:%S+00:00"),
        ID_KEY: document.id,
    }
    if document.created is not None:
        properties[SOURCE_KEY] = f"client-{document.group}"
    if linked:
        properties[RELATED_KEY] = [f"[[{name}]]" for name in linked]
    return new_note(properties, document.text)


class Bench:
    """A vault that has been indexed."""

    def __init__(self, daemon: Daemon, data: DataSet) -> None:
        self._daemon = daemon
        self._data = data
        dated = [d.created for d in data.documents if d.created is not None]
        self._now_ms = max(dated, default=_NO_DATE) + _DAY_MS

    async def related(self) -> dict[str, list[str]]:
        """The ids that remember would link each document to, were all the others there."""
        daemon, found = self._daemon, {}
        shelf = Shelf(daemon.files, daemon.catalog, "bench")
        index = daemon.settings.index
        chunking = Chunking(index.chunk_size, index.chunk_overlap)
        similarities = Similarities(daemon.index, shelf, chunking)
        for document in self._data.documents:
            near = await similarities.related(title_of(document.text), document.text)
            found[document.id] = [id for id in near if id != document.id]
        return found

    async def rankings(
        self, questions: Mapping[str, str], stages: Stages, *, top_k: int = DEPTH, hops: int = 0
    ) -> dict[str, list[str]]:
        """The ids found for each question, best first, with these stages of recall. It is asked
        a day after the latest document, and no recall counts for the next one."""
        daemon = self._daemon
        now = datetime.fromtimestamp(self._now_ms / 1000, UTC)
        recalling = Recalling(
            daemon.engine,
            daemon.index,
            daemon.state,
            Shelf(daemon.files, daemon.catalog, "bench"),
            now=lambda: now,
            clock_ms=lambda: self._now_ms,
            stages=stages,
        )
        found: dict[str, list[str]] = {}
        for id, text in questions.items():
            answer = await recalling.recall(RecallQuery(text, top_k=top_k, hops=hops))
            found[id] = [hit.memory.id for hit in answer.hits]
        return found


@asynccontextmanager
async def indexed(
    place: Path,
    data: DataSet,
    model: Embedder,
    settings: Settings,
    related: Related | None = None,
) -> AsyncIterator[Bench]:
    """The documents in a vault in `place`, indexed; what is there already is used."""
    vault = place / "vault"
    await asyncio.to_thread(write_vault, vault, data, related)
    own = Settings(
        vault=vault,
        data_dir=place / "data",
        model_dir=settings.model_dir,
        index=settings.index,
    )
    folder = vault_folder(own)
    make_private_folder(folder.path)
    daemon = Daemon(own, folder, report=Silent(), watch=False, load=lambda name: model)
    async with daemon.running():
        await _ready(daemon, len(data.documents))
        yield Bench(daemon, data)


async def _ready(daemon: Daemon, documents: int) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        counts = daemon.catalog.counts()
        if (
            daemon.index.encoder.state == "ready"
            and daemon.sync.last_scan is not None
            and counts.memories == documents
            and counts.unembedded == 0
            and not daemon.index.building
            and not daemon.index.outdated
        ):
            return
        await asyncio.sleep(0.1)
    raise TimeoutError(f"{documents} documents were not indexed in time")
