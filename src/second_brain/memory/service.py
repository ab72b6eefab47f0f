"""All use cases behind the one protocol that transports call (`memory.api.Memories`)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import datetime

from second_brain.errors import InvalidInput, NoteNotFound
from second_brain.index.index import Index
from second_brain.index.state import State
from second_brain.memory.capture import Capture, CaptureRules
from second_brain.memory.chronicle import Chronicle, record
from second_brain.memory.classifying import Classification, Classifying
from second_brain.memory.composing import Composing
from second_brain.memory.digestible import Digestible
from second_brain.memory.editing import Editing
from second_brain.memory.importing import Asked, Imported, ImportedEdge, Importing, Place
from second_brain.memory.link_pass import LinkPass
from second_brain.memory.links_follow import LinksFollow
from second_brain.memory.model import (
    Appended,
    Caller,
    Connection,
    Edge,
    ExportedEntry,
    Forgotten,
    Graph,
    Health,
    Likeness,
    LooseLink,
    Memory,
    NoteFile,
    NoteName,
    NoteStatus,
    RecallAnswer,
    RecallQuery,
    Remembered,
    Stats,
    Updated,
    WriteContents,
    WriteRecord,
)
from second_brain.memory.overview import Overview
from second_brain.memory.pictures import Picture, Pictures
from second_brain.memory.recalling import Recalling
from second_brain.memory.relations import Relations
from second_brain.memory.rereading import Rereading
from second_brain.memory.resolving import Resolving
from second_brain.memory.retiring import Retiring
from second_brain.memory.reviewing import Decided, Reviewing, ReviewItem
from second_brain.memory.scribe import Scribe, Settling
from second_brain.memory.shelf import Shelf
from second_brain.memory.similar import Similarities
from second_brain.memory.tending import Tending
from second_brain.memory.wellbeing import Wellbeing
from second_brain.sync.prepare import Chunking
from second_brain.sync.sync import Sync

NOBODY = Caller()


class MemoryService:
    """Implements `Memories`. `now` is local time with its zone, `new_id` makes a fresh id,
    `clock` is monotonic seconds. `tending` and `rereading` are for the daemon
    to run; `digestible`, `composing` and `link_pass` are for what is built upon memories."""

    def __init__(
        self,
        sync: Sync,
        index: Index,
        state: State,
        *,
        vault_name: str,
        chunking: Chunking,
        rules: CaptureRules,
        now: Callable[[], datetime],
        clock_ms: Callable[[], int],
        new_id: Callable[[], str],
        settling: Settling | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        engine = sync.engine
        self._catalog = engine.catalog
        self._sync = sync
        self._shelf = Shelf(engine.files, engine.catalog, vault_name)
        self._scribe = Scribe(engine.files, state, engine, clock_ms=clock_ms, settling=settling)
        similarities = Similarities(index, self._shelf, chunking)
        self._resolving = Resolving(engine, self._scribe, self._shelf, state)
        self.reviewing = Reviewing(engine, self._shelf, state, self._resolving, clock_ms=clock_ms)
        self._capture = Capture(
            engine,
            self._scribe,
            self._shelf,
            similarities,
            self.reviewing,
            rules=rules,
            now=now,
            new_id=new_id,
        )
        self._editing = Editing(self._scribe, self._shelf, now=now)
        self._classifying = Classifying(engine, self._scribe, self._shelf)
        self._pictures = Pictures(engine.files)
        self._relations = Relations(engine, self._scribe, self._shelf)
        self._importing = Importing(engine, self._scribe, state, self._relations, rules)
        self._recalling = Recalling(
            engine,
            index,
            state,
            self._shelf,
            now=now,
            clock_ms=clock_ms,
            is_read=lambda: sync.last_scan is not None,
        )
        self.digestible = Digestible(engine.catalog, state, self._shelf, clock_ms=clock_ms)
        self.composing = Composing(engine, self._scribe, rules=rules, now=now, new_id=new_id)
        self.link_pass = LinkPass(
            engine, self._scribe, self._shelf, similarities, state=state, rules=rules
        )
        self.rereading = Rereading(engine, self._shelf, similarities, self.reviewing, state)
        self._overview = Overview(engine.catalog, state, self._shelf, self.digestible)
        self._chronicle = Chronicle(engine.catalog, state, engine.files)
        retiring = Retiring(engine, self._scribe, self._shelf, folder=rules.folder)
        follow = LinksFollow(engine, self._scribe, state, clock=clock)
        self.tending = Tending(sync, follow, retiring)
        self._wellbeing = Wellbeing(sync, index, retiring)

    async def recover(self) -> None:
        """Decide on writes that a crash left unfinished; before anything else is written."""
        await asyncio.to_thread(self._scribe.recover)

    def stop_waiting(self) -> None:
        """Let writes that wait for their note to settle fail at once, with Stopping."""
        self._scribe.stop_waiting()

    async def finished(self) -> None:
        """Wait until what goes on beside the answers is stored."""
        await self._recalling.finished()

    # Writing

    async def remember(
        self,
        content: str,
        *,
        tags: Sequence[str] = (),
        source: str = "api",
        title: str | None = None,
        caller: Caller = NOBODY,
    ) -> Remembered:
        return await self._capture.remember(
            content, tags=tags, source=source, title=title, caller=caller
        )

    async def likenesses(self, content: str, title: str | None = None) -> list[Likeness]:
        return await self._capture.likenesses(content, title)

    async def append(self, id: str, addition: str, *, caller: Caller = NOBODY) -> Appended:
        appended = await self._editing.append(id, addition, caller)
        self.rereading.later(id)
        return appended

    async def update(
        self, id: str, content: str, *, base: str | None = None, caller: Caller = NOBODY
    ) -> Updated:
        updated = await self._editing.update(id, content, caller, base)
        self.rereading.later(id)
        return updated

    async def forget(self, id: str, *, caller: Caller = NOBODY) -> Forgotten:
        return await self._editing.forget(id, caller)

    async def set_status(self, id: str, status: str, *, caller: Caller = NOBODY) -> None:
        await self._editing.set_status(id, status, caller)

    async def link(
        self, source_id: str, target_id: str, type: str = "relates_to", *, caller: Caller = NOBODY
    ) -> None:
        await self._relations.link(source_id, target_id, type, caller)

    async def unlink(
        self, source_id: str, target_id: str, type: str | None = None, *, caller: Caller = NOBODY
    ) -> int:
        return await self._relations.unlink(source_id, target_id, type, caller)

    async def classify(self, id: str, given: Classification, *, caller: Caller = NOBODY) -> bool:
        return await self._classifying.classify(id, given, caller)

    async def undo(self, n: int, *, caller: Caller = NOBODY) -> WriteRecord:
        contents = await self._resolving.undo(n, caller)
        row = self._catalog.by_id(contents.row.id, missing=True)
        return record(contents.row, row.path if row is not None else None, undone=True)

    async def decide_review(
        self, n: int, decision: str, winner: str | None = None, *, caller: Caller = NOBODY
    ) -> Decided:
        return await self.reviewing.decide(n, decision, winner, caller)

    async def import_places(self, asked: Sequence[Asked]) -> list[Place]:
        return await self._importing.places(asked)

    async def import_notes(self, entries: Sequence[Imported], *, caller: Caller = NOBODY) -> int:
        return await self._importing.write(entries, caller)

    async def import_edges(self, edges: Sequence[ImportedEdge], *, caller: Caller = NOBODY) -> None:
        await self._importing.relate(edges, caller)

    # Reading

    async def recall(self, query: RecallQuery) -> RecallAnswer:
        return await self._recalling.recall(query)

    async def list_recent(
        self,
        n: int = 10,
        *,
        tag: str | None = None,
        after: int | None = None,
        before: int | None = None,
        offset: int = 0,
        kind: str | None = None,
        status: str | None = None,
    ) -> list[Memory]:
        return await self._overview.recent(
            n, tag=tag, after=after, before=before, offset=offset, kind=kind, status=status
        )

    async def named(self, text: str, n: int = 20) -> list[NoteName]:
        return await self._overview.named(text, n)

    async def get(self, id: str) -> Memory:
        return await asyncio.to_thread(self._shelf.memory, id)

    async def section(self, id: str, heading: str) -> str:
        try:
            return await asyncio.to_thread(self._shelf.section, id, heading)
        except NoteNotFound as error:
            if error.id == id:
                raise
            raise InvalidInput(
                "heading", f"There is no heading “{heading}” in this memory"
            ) from None

    async def picture(self, target: str, note: str) -> Picture:
        return await asyncio.to_thread(self._pictures.read, target, note)

    async def connections(self, id: str, type: str | None = None) -> list[Connection]:
        return await self._relations.connections(id, type)

    async def graph(self, seed: str | None = None, limit: int | None = None) -> Graph:
        return await self._relations.graph(seed, limit)

    async def reviews(self, n: int = 50) -> tuple[int, list[ReviewItem]]:
        return await self.reviewing.items(n)

    async def loose_links(self, n: int = 100) -> tuple[int, list[LooseLink]]:
        return await self._overview.loose_links(n)

    async def unclassified(self, n: int) -> list[Memory]:
        return await self._classifying.unclassified(n)

    async def count(self) -> int:
        return (await asyncio.to_thread(self._catalog.counts)).memories

    async def tags(self) -> list[str]:
        return await asyncio.to_thread(self._catalog.tags)

    async def stats(self) -> Stats:
        return await self._overview.stats()

    async def health(self) -> Health:
        return await self._wellbeing.health()

    async def export(self) -> tuple[list[ExportedEntry], list[Edge]]:
        return await self._overview.export()

    async def notes(
        self,
        *,
        path: str | None = None,
        status: str | None = None,
        n: int = 100,
        cursor: str | None = None,
    ) -> tuple[int, str | None, list[NoteStatus]]:
        return await self._overview.notes(path, status, n, cursor)

    async def history(self, id: str | None = None, n: int = 20) -> list[WriteRecord]:
        return await asyncio.to_thread(self._chronicle.history, id, n)

    async def write_contents(self, n: int) -> WriteContents:
        return await asyncio.to_thread(self._chronicle.contents, n)

    async def file(self, id: str) -> NoteFile:
        return await asyncio.to_thread(self._chronicle.file, id)

    # The index

    async def reindex(self) -> None:
        self._sync.rebuild()

    async def accept_deletions(self) -> list[str]:
        return [row.path for row in await self._sync.accept_deletions()]
