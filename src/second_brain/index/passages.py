"""What goes into the index and comes out of it: rows, hits, and the filter of a search."""

from __future__ import annotations

from dataclasses import dataclass, field

from second_brain.index.vectors import Vector


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """One passage as the index holds it.

    `terms` come from `analyze.terms` (of title, heading and text); `tags` are folded and contain
    the tags above them; `created` is Unix ms; `vector` is None while it waits to be embedded: such
    a row is found by its text alone.
    """

    note_id: str
    ordinal: int
    title: str
    heading: str
    text: str
    terms: str
    created: int
    tags: tuple[str, ...] = ()
    kind: str | None = None
    status: str | None = None
    vector: Vector | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        return f"{self.note_id}#{self.ordinal}"

    def without_vector_and_terms(self) -> ChunkRow:
        """What `SearchFilter.admits` asks about, without what takes most of the room."""
        return ChunkRow(
            note_id=self.note_id,
            ordinal=self.ordinal,
            title=self.title,
            heading=self.heading,
            text=self.text,
            terms="",
            created=self.created,
            tags=self.tags,
            kind=self.kind,
            status=self.status,
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found. `score` is the cosine similarity (-1 to 1) of a vector search, the BM25
    weight (0 and up) of a text search. `vector` is the passage's own, None if it has none yet."""

    id: str
    note_id: str
    ordinal: int
    title: str
    heading: str
    text: str
    score: float
    vector: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Which passages a search may return; the default is all.

    `tag` is folded and includes the tags below it; `after` and `before` are Unix ms, inclusive;
    `note_ids`, if not None, are the only notes looked at.
    """

    tag: str | None = None
    after: int | None = None
    before: int | None = None
    kind: str | None = None
    status: str | None = None
    exclude_deprecated: bool = False
    note_ids: frozenset[str] | None = None
    exclude_note_ids: frozenset[str] = frozenset()

    def admits(self, row: ChunkRow) -> bool:
        """Whether the passage may be returned: says the same as `sql`."""
        return (
            (self.tag is None or self.tag in row.tags)
            and (self.after is None or row.created >= self.after)
            and (self.before is None or row.created <= self.before)
            and (self.kind is None or row.kind == self.kind)
            and (self.status is None or row.status == self.status)
            and not (self.exclude_deprecated and row.status == "deprecated")
            and (self.note_ids is None or row.note_id in self.note_ids)
            and row.note_id not in self.exclude_note_ids
        )

    def sql(self) -> str | None:
        """The predicate over the index's columns; None when everything may be returned."""
        conditions: list[str] = []
        if self.tag is not None:
            conditions.append(f"array_has(tags, {quote(self.tag)})")
        if self.after is not None:
            conditions.append(f"created >= {int(self.after)}")
        if self.before is not None:
            conditions.append(f"created <= {int(self.before)}")
        if self.kind is not None:
            conditions.append(f"kind = {quote(self.kind)}")
        if self.status is not None:
            conditions.append(f"status = {quote(self.status)}")
        if self.exclude_deprecated:
            conditions.append("(status IS NULL OR status <> 'deprecated')")
        if self.note_ids is not None:
            conditions.append(among("note_id", self.note_ids) if self.note_ids else "false")
        if self.exclude_note_ids:
            conditions.append(f"NOT {among('note_id', self.exclude_note_ids)}")
        return " AND ".join(conditions) or None


def quote(value: str) -> str:
    """A string literal of the index's SQL; the only way that a value gets into a predicate."""
    return "'" + value.replace("\x00", "").replace("'", "''") + "'"


def among(column: str, values: frozenset[str] | set[str] | list[str]) -> str:
    """`column IN (...)`; there must be a value."""
    return f"({column} IN ({', '.join(quote(value) for value in sorted(values))}))"
