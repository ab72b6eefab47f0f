"""Memories, edges and the answers of the use cases: plain values shared by REST, MCP and CLI."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["episodic", "semantic"]
Status = Literal["canonical", "draft", "deprecated"]

KINDS: tuple[Kind, ...] = ("episodic", "semantic")
STATUSES: tuple[Status, ...] = ("canonical", "draft", "deprecated")
RELATION_TYPES: tuple[str, ...] = (
    "relates_to",
    "supersedes",
    "caused_by",
    "decided",
    "about_person",
    "part_of_project",
    "follows",
)
SYMMETRIC_TYPES = frozenset({"relates_to"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: kept in the history of writes."""

    client: str = "unknown"
    tool: str = "unknown"


@dataclass(frozen=True, slots=True)
class Memory:
    """A note that is a memory. Times are Unix milliseconds. `tags` are without the sync tag."""

    id: str
    path: str
    title: str
    content: str
    tags: tuple[str, ...]
    source: str
    created_at: int
    updated_at: int
    kind: Kind | None
    status: Status | None
    importance: int | None
    chunk_ids: tuple[str, ...]
    url: str


@dataclass(frozen=True, slots=True)
class NoteName:
    """How a memory is called: its id, the name of its note, and where that lies."""

    id: str
    title: str
    path: str


@dataclass(frozen=True, slots=True)
class LooseLink:
    """A link of a memory that leads nowhere. `property` is None where it stands in the text."""

    id: str
    title: str
    path: str
    url: str
    target: str
    type: str
    property: str | None


@dataclass(frozen=True, slots=True)
class Remembered:
    """Answer of remember. `outcome` decides the shape that the contract gives it.

    `score` is 0-100 on the scale where 85 means similar and 95 the same; `match_id` names the
    memory compared with. `duplicate` stored nothing.
    """

    outcome: Literal["stored", "duplicate", "similar", "known"]
    id: str | None
    message: str
    path: str | None = None
    match_id: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Likeness:
    """A memory beside a text that is not stored: the same, similar, or worth a link.

    `score` is that of `Remembered`; None for one that is merely related. `news` says what the text
    brings beyond a similar memory.
    """

    memory: Memory
    standing: Literal["duplicate", "similar", "related"]
    score: float | None = None
    news: str = ""


@dataclass(frozen=True, slots=True)
class Appended:
    id: str
    message: str


@dataclass(frozen=True, slots=True)
class Updated:
    id: str
    chunks: int
    message: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`trashed` is the path under `.trash/`, or None when a user's own note was opted out."""

    id: str
    deleted_chunks: int
    trashed: str | None
    message: str


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """`after`/`before` are Unix milliseconds, inclusive; `max_chars` bounds all texts together."""

    query: str
    top_k: int = 5
    tag: str | None = None
    after: int | None = None
    before: int | None = None
    kind: Kind | None = None
    hops: int = 0
    max_chars: int = 20_000
    explain: bool = False
    status: Status | None = None


@dataclass(frozen=True, slots=True)
class RecallHit:
    """One memory found. `passage` is the part that matched, under `heading`; `hop` 0 is direct."""

    memory: Memory
    score: float
    passage: str
    heading: str
    content: str
    hop: int = 0
    explain: dict[str, float | int | str] | None = None


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """`notice` says why the answer may be less than it could be (model loading, vault offline)."""

    hits: tuple[RecallHit, ...]
    query_used: str
    semantic_unavailable: bool
    message: str | None = None
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """The memory at the other end of an edge; `label` reads from the asked memory's side."""

    memory: Memory
    type: str
    label: str
    weight: float
    direction: Literal["out", "in"]
    provenance: str


@dataclass(frozen=True, slots=True)
class Edge:
    source: str
    target: str
    type: str
    weight: float
    provenance: str
    created_at: int


@dataclass(frozen=True, slots=True)
class ExportedEntry:
    """A memory with its counters, for /export."""

    memory: Memory
    recall_count: int
    contradiction_wins: int
    contradiction_losses: int


@dataclass(frozen=True, slots=True)
class Graph:
    """The memories are without their texts."""

    nodes: tuple[Memory, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Stats:
    count: int
    avg_importance: float | None
    top_tags: tuple[tuple[str, int], ...]
    digest_candidates: tuple[tuple[str, int], ...]
    unvectorized: int
    unclassified: int


@dataclass(frozen=True, slots=True)
class NoteStatus:
    """One Markdown file the daemon knows of, memory or not (GET /notes)."""

    path: str
    id: str
    status: Literal["indexed", "pending", "skipped", "failed", "conflict-copy"]
    reason: str | None
    title: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    links: tuple[dict[str, str | None], ...]
    size: int
    modified: int
    indexed_at: int | None
    hash: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something the user should know of; `hint` says what to do."""

    kind: str
    path: str | None
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Health:
    vault: dict[str, object]
    index: dict[str, object]
    embedding: dict[str, object]
    problems: tuple[Problem, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class WriteRecord:
    """One write of ours in the history. `at` is Unix milliseconds."""

    n: int
    id: str
    path: str
    at: int
    client: str
    tool: str
    summary: str
    undone: bool


@dataclass(frozen=True, slots=True)
class WriteContents:
    """The whole file around a write, byte for byte; None where there was none."""

    write: WriteRecord
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A memory's file as it is now, byte for byte."""

    id: str
    path: str
    data: bytes
