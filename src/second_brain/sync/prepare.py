"""From a file's bytes to what the index needs of it: parsed, judged by the sync rule, chunked.

Pure and heavy on the processor: the engine runs it in a worker thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from second_brain.index.analyze import terms
from second_brain.index.chunk import MAX_CHARS, OVERLAP, Chunk, chunks, embedded_text, left_out
from second_brain.index.embedding.protocol import Vectors
from second_brain.index.passages import ChunkRow
from second_brain.index.rows import NoteState, tag_keys
from second_brain.sync.changes import Facets
from second_brain.vault.files import FileStamp, digest
from second_brain.vault.model import Note
from second_brain.vault.note import is_binary, note_created, note_id, parse_note
from second_brain.vault.rules import SyncRule

Describe = Callable[[Note, SyncRule], Facets]


@dataclass(frozen=True, slots=True)
class Chunking:
    """How notes are cut: the longest passage and the overlap, both in characters."""

    max_chars: int = MAX_CHARS
    overlap: int = OVERLAP

    @property
    def layout(self) -> str:
        """Changes whenever notes would be cut or analysed otherwise than before."""
        return f"3-{self.max_chars}-{self.overlap}"


@dataclass(frozen=True, slots=True)
class Prepared:
    """One file as it was at `stamp`. `chunks` is empty for a note that is no memory.

    `state` is "indexed" for a memory (it will be, once its passages are committed); for any other
    file it says, with `reason`, why it is none. `created` is Unix milliseconds.
    """

    path: str
    stamp: FileStamp
    digest: str
    note: Note
    stored_id: str | None
    state: NoteState
    reason: str | None
    facets: Facets
    created: int
    problems: tuple[str, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    texts: tuple[str, ...] = field(default=(), repr=False)

    @property
    def is_memory(self) -> bool:
        return self.state == "indexed"

    def rows(self, id: str, vectors: Sequence[Vectors | None]) -> list[ChunkRow]:
        """The passages as the index holds them; `vectors` in the order of `texts`."""
        tags = tuple(tag_keys(self.facets.tags))
        return [
            ChunkRow(
                note_id=id,
                ordinal=chunk.ordinal,
                title=self.note.title,
                heading=chunk.heading,
                text=chunk.text,
                terms=terms(text),
                created=self.created,
                tags=tags,
                kind=self.facets.kind,
                status=self.facets.status,
                vector=vector,
            )
            for chunk, text, vector in zip(self.chunks, self.texts, vectors, strict=True)
        ]


def prepare(
    path: str,
    data: bytes,
    stamp: FileStamp,
    *,
    rule: SyncRule,
    describe: Describe,
    chunking: Chunking,
    is_conflict_copy: bool = False,
) -> Prepared:
    """Parse and judge one file; whether it is a conflict copy only its neighbours tell.

    Never raises for what a file holds: an unreadable one is "failed", with the reason.
    """
    note = parse_note(path, data)
    state, reason = _judge(note, rule, is_conflict_copy=is_conflict_copy)
    problems = note.problems
    cut: list[Chunk] = []
    if state == "indexed":
        cut = chunks(
            note.title,
            note.body,
            note.headings,
            max_chars=chunking.max_chars,
            overlap=chunking.overlap,
        )
        if rest := left_out(note.body, cut):
            problems = (*problems, f"The last {rest} characters of this note are not searchable.")
    return Prepared(
        path=path,
        stamp=stamp,
        digest=digest(data),
        note=note,
        stored_id=note_id(note),
        state=state,
        reason=reason,
        facets=describe(note, rule),
        created=created_ms(note, stamp),
        problems=problems,
        chunks=tuple(cut),
        texts=tuple(embedded_text(note.title, chunk) for chunk in cut),
    )


def not_understood(path: str, hash: str, stamp: FileStamp, error: Exception) -> Prepared:
    """A file that no memory can be made of, through a fault of this program."""
    title = path.rpartition("/")[2]
    title = title[:-3] if title[-3:].casefold() == ".md" else title
    reason = f"It could not be understood ({type(error).__name__}); the log tells more."
    return Prepared(
        path=path,
        stamp=stamp,
        digest=hash,
        note=Note(path, title, "", problems=(reason,)),
        stored_id=None,
        state="failed",
        reason=reason,
        facets=Facets(),
        created=stamp.mtime_ns // 1_000_000,
        problems=(reason,),
    )


def created_ms(note: Note, stamp: FileStamp) -> int:
    """When the note was made: its `created` property, else the file's modification time.

    Depends on the file alone, so that a fresh index agrees with one that watched it for years.
    """
    moment = note_created(note)
    if moment is None:
        return stamp.mtime_ns // 1_000_000
    return int(moment.timestamp() * 1000)


def _judge(note: Note, rule: SyncRule, *, is_conflict_copy: bool) -> tuple[NoteState, str | None]:
    outside = rule.path_reason(note.path)
    if outside is not None:
        return "skipped", outside
    if is_conflict_copy:
        return (
            "conflict-copy",
            "A sync client's conflict copy; merge it into the note, or delete it.",
        )
    reason = rule.note_reason(note)
    if reason is None:
        return "indexed", None
    return ("failed" if is_binary(note) else "skipped"), reason
