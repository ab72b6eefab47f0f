"""An in-memory `Memories` for tests of the transport: status codes, shapes, who called.

It finds by substring and knows nothing of files; what remembering means is tested elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from second_brain.errors import (
    InvalidInput,
    NoteNotFound,
    ReviewNotFound,
    SecondBrainError,
    WriteNotFound,
)
from second_brain.memory.classifying import Classification
from second_brain.memory.importing import Asked, Imported, ImportedEdge, Place
from second_brain.memory.model import (
    RELATION_TYPES,
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
    Problem,
    RecallAnswer,
    RecallHit,
    RecallQuery,
    Remembered,
    Stats,
    Updated,
    WriteContents,
    WriteRecord,
)
from second_brain.memory.pictures import Picture
from second_brain.memory.reviewing import Decided, ReviewItem
from second_brain.server.body import Limits

NOW = 1_767_225_600_000  # 2026-01-01T00:00:00Z
TOKEN = "correct-horse-battery"
NOBODY = Caller()
SMALL = Limits(body_bytes=20_000, body_seconds=1.0)

# Every path of the contract, with parameters that are right.
POSTS = {
    "/capture": {"content": "x"},
    "/append": {"id": "m1", "addition": "x"},
    "/update": {"id": "m1", "content": "x"},
    "/similar": {"content": "x"},
    "/forget": {"id": "m1"},
    "/link": {"source_id": "m1", "target_id": "m2"},
    "/unlink": {"source_id": "m1", "target_id": "m2"},
    "/status": {"id": "m1", "status": "draft"},
    "/undo": {"n": 1},
    "/reindex": {"accept_deletions": True},
    "/chat": {"query": "x", "memories": "y"},
    "/review/{id}": {"decision": "keep"},
    "/patterns/resolve": {"id": "m1", "action": "confirm"},
}
GETS = [
    "/list",
    "/recall?query=x",
    "/connections?id=m1",
    "/entry?id=m1",
    "/get?id=m1",
    "/graph",
    "/count",
    "/tags",
    "/stats",
    "/health",
    "/export",
    "/review",
    "/unresolved",
    "/notes",
    "/history",
    "/history/content?id=m1",
    "/metrics",
    "/digest?tag=work",
    "/insight?query=x",
    "/integrations",
]

_HEALTH = Health(
    vault={"ok": True, "path": "vault"},
    index={"ok": True, "name": "chunks_1"},
    embedding={"ok": True, "dimension": 384, "model": "small"},
    problems=(Problem("frontmatter", "a.md", "broken YAML", "fix line 2"),),
)


class FakeMemories:
    def __init__(self) -> None:
        self.stored: dict[str, Memory] = {}
        self.edges: list[Edge] = []
        self.writes: list[WriteRecord] = []
        self.callers: list[Caller] = []
        self.queries: list[RecallQuery] = []
        self.asked: list[dict[str, object]] = []
        self.answers: list[Remembered] = []
        self.unvectorized: list[int] = [0]
        self.health_now = _HEALTH
        self.fails: BaseException | None = None
        self.sides: tuple[bytes | None, bytes | None] = (None, b"")

    async def import_places(self, asked: Sequence[Asked]) -> list[Place]:
        return [
            Place(entry.id, f"Notes/{entry.name}.md", entry.id in self.stored) for entry in asked
        ]

    async def import_notes(self, entries: Sequence[Imported], *, caller: Caller = NOBODY) -> int:
        self.callers.append(caller)
        return len(entries)

    async def import_edges(self, edges: Sequence[ImportedEdge], *, caller: Caller = NOBODY) -> None:
        self.callers.append(caller)

    def add(self, content: str, *, tags: Sequence[str] = (), source: str = "api") -> Memory:
        id_ = f"m{len(self.stored) + 1}"
        memory = Memory(
            id=id_,
            path=f"Notes/{id_}.md",
            title=content.splitlines()[0][:40],
            content=content,
            tags=tuple(tags),
            source=source,
            created_at=NOW + len(self.stored) * 1000,
            updated_at=NOW + 5000,
            kind="semantic",
            status=None,
            importance=3,
            chunk_ids=(f"{id_}#0", f"{id_}#1"),
            url=f"obsidian://open?vault=vault&file=Notes%2F{id_}",
        )
        self.stored[id_] = memory
        return memory

    def _called(self, caller: Caller) -> None:
        self._check()
        self.callers.append(caller)

    def _check(self) -> None:
        if self.fails is not None:
            raise self.fails

    def _find(self, id: str) -> Memory:
        self._check()
        if id not in self.stored:
            raise NoteNotFound(id)
        return self.stored[id]

    async def remember(
        self,
        content: str,
        *,
        tags: Sequence[str] = (),
        source: str = "api",
        title: str | None = None,
        caller: Caller = NOBODY,
    ) -> Remembered:
        self._called(caller)
        self.asked.append({"title": title})
        if self.answers:
            return self.answers.pop(0)
        memory = self.add(content, tags=tags, source=source)
        record = WriteRecord(
            n=len(self.writes) + 1,
            id=memory.id,
            path=memory.path,
            at=NOW,
            client=caller.client,
            tool=caller.tool,
            summary="created",
            undone=False,
        )
        self.writes.insert(0, record)
        return Remembered("stored", memory.id, "Stored.", path=memory.path)

    async def likenesses(self, content: str, title: str | None = None) -> list[Likeness]:
        self._check()
        self.asked.append({"title": title})
        same = [m for m in self.stored.values() if m.content == content]
        return [Likeness(m, "similar", 87.345, "numbers: 4") for m in same]

    async def append(self, id: str, addition: str, *, caller: Caller = NOBODY) -> Appended:
        memory = self._find(id)
        self._called(caller)
        self.stored[id] = replace(memory, content=f"{memory.content}\n\n{addition}")
        return Appended(id, "Appended.")

    async def update(
        self, id: str, content: str, *, base: str | None = None, caller: Caller = NOBODY
    ) -> Updated:
        memory = self._find(id)
        self.asked.append({"base": base})
        self._called(caller)
        self.stored[id] = replace(memory, content=content)
        return Updated(id, 2, "Updated.")

    async def forget(self, id: str, *, caller: Caller = NOBODY) -> Forgotten:
        self._find(id)
        self._called(caller)
        del self.stored[id]
        return Forgotten(id, 2, f".trash/{id}.md", "Moved to the trash.")

    async def recall(self, query: RecallQuery) -> RecallAnswer:
        self._check()
        self.queries.append(query)
        found = [m for m in self.stored.values() if query.query.lower() in m.content.lower()]
        hits = tuple(
            RecallHit(
                memory=memory,
                score=87.345,
                passage=memory.content[:60],
                heading="Plan > Next",
                content=memory.content,
                hop=0,
                explain={"vector": 0.87} if query.explain else None,
            )
            for memory in found[: query.top_k]
        )
        return RecallAnswer(hits, query.query, semantic_unavailable=False)

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
        self._check()
        self.asked.append({"n": n, "tag": tag, "after": after, "before": before})
        return list(reversed(self.stored.values()))[offset : offset + n]

    async def named(self, text: str, n: int = 20) -> list[NoteName]:
        self._check()
        found = [m for m in self.stored.values() if text.casefold() in m.path.casefold()]
        return [NoteName(m.id, m.title, m.path) for m in found][:n]

    async def get(self, id: str) -> Memory:
        return self._find(id)

    async def section(self, id: str, heading: str) -> str:
        if heading not in self._find(id).content:
            raise InvalidInput("heading", f"'heading' {heading} is not in this note")
        return f"section {heading}"

    async def picture(self, target: str, note: str) -> Picture:
        self._check()
        return Picture(target, "image/png", b"png")

    async def link(
        self,
        source_id: str,
        target_id: str,
        type: str = "relates_to",
        *,
        caller: Caller = NOBODY,
    ) -> None:
        if type not in RELATION_TYPES:
            raise InvalidInput("type", f"'type' must be one of: {', '.join(RELATION_TYPES)}")
        if source_id == target_id:
            raise InvalidInput("target_id", "a memory cannot be linked to itself")
        self._find(source_id)
        self._find(target_id)
        self._called(caller)
        self.edges.append(Edge(source_id, target_id, type, 1.0, "explicit", NOW))

    async def unlink(
        self,
        source_id: str,
        target_id: str,
        type: str | None = None,
        *,
        caller: Caller = NOBODY,
    ) -> int:
        self._called(caller)
        gone = [edge for edge in self.edges if type is None or edge.type == type]
        self.edges = [edge for edge in self.edges if edge not in gone]
        return len(gone)

    async def connections(self, id: str, type: str | None = None) -> list[Connection]:
        self._find(id)
        return [
            Connection(self.stored[edge.target], edge.type, edge.type, 1.0, "out", "explicit")
            for edge in self.edges
            if edge.source == id and type in {None, edge.type}
        ]

    async def graph(self, seed: str | None = None, limit: int | None = None) -> Graph:
        self._check()
        self.asked.append({"seed": seed, "limit": limit})
        nodes = tuple(self.stored.values())[:limit]
        return Graph(nodes, tuple(self.edges))

    async def set_status(self, id: str, status: str, *, caller: Caller = NOBODY) -> None:
        memory = self._find(id)
        self._called(caller)
        self.stored[id] = replace(memory, status=status)  # type: ignore[arg-type]

    async def reviews(self, n: int = 50) -> tuple[int, list[ReviewItem]]:
        self._check()
        if len(self.stored) < 2:
            return 0, []
        newcomer, known, *_ = self.stored.values()
        item = ReviewItem(7, "value", "replace", "3 became 4", "rules", 91.5, NOW, newcomer, known,
                          None)  # fmt: skip
        return 1, [item]

    async def loose_links(self, n: int = 100) -> tuple[int, list[LooseLink]]:
        self._check()
        return 1, [LooseLink("m1", "One", "One.md", "obsidian://open", "Gone", "relates_to", None)]

    async def decide_review(
        self, n: int, decision: str, winner: str | None = None, *, caller: Caller = NOBODY
    ) -> Decided:
        self._called(caller)
        if n != 7:
            raise ReviewNotFound(n)
        return Decided(n, "keep", winner, (1,))

    async def unclassified(self, n: int) -> list[Memory]:
        return []

    async def classify(self, id: str, given: Classification, *, caller: Caller = NOBODY) -> bool:
        self._called(caller)
        return False

    async def count(self) -> int:
        return len(self.stored)

    async def tags(self) -> list[str]:
        return list({tag for memory in self.stored.values() for tag in memory.tags})

    async def stats(self) -> Stats:
        waiting = self.unvectorized.pop(0) if len(self.unvectorized) > 1 else self.unvectorized[0]
        return Stats(
            count=len(self.stored),
            avg_importance=2.96,
            top_tags=tuple((f"t{n}", 10 - n) for n in range(7)),
            digest_candidates=(("work", 12),),
            unvectorized=waiting,
            unclassified=1,
        )

    async def health(self) -> Health:
        return self.health_now

    async def export(self) -> tuple[list[ExportedEntry], list[Edge]]:
        return [ExportedEntry(m, 4, 1, 0) for m in self.stored.values()], self.edges

    async def notes(
        self,
        *,
        path: str | None = None,
        status: str | None = None,
        n: int = 100,
        cursor: str | None = None,
    ) -> tuple[int, str | None, list[NoteStatus]]:
        self.asked.append({"path": path, "status": status, "n": n, "cursor": cursor})
        note = NoteStatus(
            path="a\udce9.md",
            id="m1",
            status="skipped",
            reason="no sync tag",
            title="a",
            tags=("x",),
            aliases=(),
            links=(
                {
                    "target": "b",
                    "path": None,
                    "type": "relates_to",
                    "property": None,
                    "provenance": "explicit",
                },
            ),
            size=10,
            modified=NOW,
            indexed_at=None,
            hash="00",
        )
        return 7, "next", [note]

    async def history(self, id: str | None = None, n: int = 20) -> list[WriteRecord]:
        return [record for record in self.writes if id in {None, record.id}][:n]

    async def write_contents(self, n: int) -> WriteContents:
        for record in self.writes:
            if record.n == n:
                return WriteContents(record, *self.sides)
        raise WriteNotFound(n)

    async def file(self, id: str) -> NoteFile:
        memory = self._find(id)
        return NoteFile(memory.id, memory.path, memory.content.encode())

    async def reindex(self) -> None:
        self._check()
        self.asked.append({"reindex": True})

    async def accept_deletions(self) -> list[str]:
        self._check()
        return ["gone.md"]

    async def undo(self, n: int, *, caller: Caller = NOBODY) -> WriteRecord:
        self._called(caller)
        for record in self.writes:
            if record.n == n:
                return replace(record, undone=True)
        raise WriteNotFound(n)


class Unexpected(SecondBrainError):
    """An error of ours that the transport has no status for."""
