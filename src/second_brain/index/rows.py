"""The rows of the catalogue as values, and how they stand in SQLite. Times are Unix ms."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, cast

from second_brain.index.database import Value
from second_brain.vault.model import Provenance

NoteState = Literal["indexed", "pending", "skipped", "failed", "conflict-copy"]


class Stamp(NamedTuple):
    """What tells without reading it that a file is as it was; `hash` is of its bytes."""

    mtime_ns: int
    size: int
    inode: int
    hash: str


class Standing(NamedTuple):
    """What a ranking weighs of a memory; the fields of the same names of its `NoteRow`."""

    created: int
    tags: tuple[str, ...]
    memory_status: str | None
    importance: int | None


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One Markdown file that the daemon knows of, memory or not.

    `stored_id`: the id stands in the frontmatter. `status` is about indexing, `memory_status` is
    the memory's own. `embedded`: every chunk has its vector in the index. `chunks` is how many rows
    the index holds for it, `vector_keys` their keys in the vector cache in order. `tags` are
    without the sync tag. `text_key` is equal for two notes that say the same in the same words.
    `missing_since`: when the file was found gone; kept a while to pair a
    rename or a restore, and invisible to every query that does not ask for missing notes.
    `claimed_id`: the id that stands in the frontmatter while another note has it (a copy's).
    """

    path: str
    id: str
    stored_id: bool = False
    title: str = ""
    hash: str = ""
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    status: NoteState = "pending"
    reason: str | None = None
    is_memory: bool = False
    embedded: bool = False
    chunks: int = 0
    kind: str | None = None
    memory_status: str | None = None
    importance: int | None = None
    source: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created: int = 0
    modified: int = 0
    indexed_at: int | None = None
    index_version: str = ""
    missing_since: int | None = None
    problems: tuple[str, ...] = ()
    vector_keys: tuple[str, ...] = ()
    text_key: str = ""
    claimed_id: str | None = None

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        """The ids of its rows in the index."""
        return tuple(f"{self.id}#{ordinal}" for ordinal in range(self.chunks))


NOTE_COLUMNS = (
    "path, id, stored_id, title, hash, size, mtime_ns, inode, status, reason, is_memory, embedded,"
    " chunks, kind, memory_status, importance, source, tags, aliases, created, modified,"
    " indexed_at, index_version, missing_since, problems, vector_keys, text_key, claimed_id"
)


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """A relation as the note `source_id` states it.

    `target` is as written, `target_key` from `link_key`. `target_path` and `target_id` are None
    while no note answers to it; `target_id` alone is None for a file that is not a known note.
    `markdown`: written as `[text](target)`, which resolves otherwise than `[[target]]`.
    `meant_id`: the note that a property's link meant before it came to mean nothing, or another.
    """

    source_id: str
    target: str
    target_key: str
    type: str = "relates_to"
    property: str | None = None
    provenance: Provenance = "explicit"
    weight: float = 1.0
    created: int = 0
    target_path: str | None = None
    target_id: str | None = None
    markdown: bool = False
    meant_id: str | None = None


EDGE_COLUMNS = (
    "source_id, target, target_key, type, property, provenance, weight, created, target_path,"
    " target_id, markdown, meant_id"
)


def path_key(path: str) -> str:
    """Equal for two spellings that one file may have: Unicode form and case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def link_key(target: str) -> str:
    """Equal for a link's target and the notes that it may mean: the folded base name without .md.

    >>> link_key("Projects/Apollo.md") == link_key("apollo")
    True
    """
    return path_key(target.rstrip("/").rpartition("/")[2]).removesuffix(".md")


def tag_keys(tags: Iterable[str]) -> list[str]:
    """The folded tags with the tags above them: `Work/Plan` gives `work` and `work/plan`."""
    found: dict[str, None] = {}
    for tag in tags:
        parts = path_key(tag.removeprefix("#")).strip("/").split("/")
        found.update(dict.fromkeys("/".join(parts[: n + 1]) for n in range(len(parts))))
    found.pop("", None)
    return list(found)


def note_values(note: NoteRow) -> tuple[Value, ...]:
    """In the order of NOTE_COLUMNS."""
    return (
        note.path,
        note.id,
        note.stored_id,
        note.title,
        note.hash,
        note.size,
        note.mtime_ns,
        note.inode,
        note.status,
        note.reason,
        note.is_memory,
        note.embedded,
        note.chunks,
        note.kind,
        note.memory_status,
        note.importance,
        note.source,
        _dump(note.tags),
        _dump(note.aliases),
        note.created,
        note.modified,
        note.indexed_at,
        note.index_version,
        note.missing_since,
        _dump(note.problems),
        bytes.fromhex("".join(note.vector_keys)),
        note.text_key,
        note.claimed_id,
    )


def note_row(values: Sequence[Value]) -> NoteRow:
    """From a row in the order of NOTE_COLUMNS."""
    row = list(values)
    for place in (2, 10, 11):
        row[place] = bool(row[place])
    fields = cast("list[object]", row)
    for place in (17, 18, 24):
        fields[place] = _load(cast(str, row[place]))
    fields[25] = split_keys(cast(bytes, row[25]))
    return NoteRow(*fields)  # type: ignore[arg-type]


def split_keys(blob: bytes) -> tuple[str, ...]:
    """The 16-byte keys of the vector cache that stand one after another, in hex."""
    text = blob.hex()
    return tuple(text[place : place + 32] for place in range(0, len(text), 32))


def edge_values(edge: EdgeRow) -> tuple[Value, ...]:
    """In the order of EDGE_COLUMNS; `property` None is stored as an empty string."""
    return (
        edge.source_id,
        edge.target,
        edge.target_key,
        edge.type,
        edge.property or "",
        edge.provenance,
        edge.weight,
        edge.created,
        edge.target_path,
        edge.target_id,
        edge.markdown,
        edge.meant_id,
    )


def edge_row(values: Sequence[Value]) -> EdgeRow:
    """From a row in the order of EDGE_COLUMNS."""
    fields = list(values)
    fields[4] = fields[4] or None
    fields[10] = bool(fields[10])
    return EdgeRow(*fields)  # type: ignore[arg-type]


def _dump(values: Sequence[str]) -> str:
    return json.dumps(values, ensure_ascii=False) if values else "[]"


def string_list(text: Value) -> tuple[str, ...]:
    """What a column that holds a list of texts says."""
    return _load(cast(str, text))


# A ranking reads the tags of dozens of notes, and few vaults have thousands of different sets.
@lru_cache(maxsize=4_096)
def _load(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text != "[]" else ()
