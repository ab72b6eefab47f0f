"""A set of documents and questions, as its two files tell it."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from second_brain.errors import InvalidInput

SETS = ("locomo", "piaf", "cranfield", "xquad_en")

_SESSIONS = "-sessions"


@dataclass(frozen=True, slots=True)
class Document:
    """`created` is Unix ms; `group` names the conversation that it is of, `session` the part of
    that. All may be unknown."""

    id: str
    text: str
    created: int | None = None
    group: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """`relevant` are the ids of the documents that answer; `split` is "tune" or "test"."""

    id: str
    text: str
    relevant: tuple[str, ...]
    split: str
    type: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class DataSet:
    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]

    def groups(self) -> list[DataSet]:
        """One set a conversation; the set itself where there are none."""
        names = dict.fromkeys(document.group for document in self.documents)
        if None in names:
            return [self]
        return [
            DataSet(
                f"{self.name}-{name}",
                tuple(d for d in self.documents if d.group == name),
                tuple(q for q in self.questions if q.group == name),
            )
            for name in names
        ]

    def by_session(self) -> DataSet:
        """Each session as one note of a user's own, a line a document."""
        found: dict[str, list[Document]] = {}
        for document in self.documents:
            found.setdefault(_session(document), []).append(document)
        notes = tuple(
            Document(id, f"# Session {own[0].session}\n\n" + _as_lines(own), group=own[0].group)
            for id, own in found.items()
        )
        where = {document.id: _session(document) for document in self.documents}
        questions = tuple(
            replace(q, relevant=tuple(dict.fromkeys(where[id] for id in q.relevant)))
            for q in self.questions
        )
        return DataSet(f"{self.name}{_SESSIONS}", notes, questions)

    def sampled(self, count: int | None) -> DataSet:
        """With at most so many of its questions, always the same ones."""
        if count is None or count >= len(self.questions):
            return self
        chosen = set(random.Random(0).sample(range(len(self.questions)), count))
        kept = tuple(q for n, q in enumerate(self.questions) if n in chosen)
        return DataSet(self.name, self.documents, kept)


def chosen_set(folder: Path, name: str) -> DataSet:
    """The set of this name, or what `NAME-global` or `NAME-sessions` makes of set NAME."""
    if name.endswith(_SESSIONS):
        return read(folder, name.removesuffix(_SESSIONS)).by_session()
    return read(folder, name.removesuffix("-global"))


def read(folder: Path, name: str) -> DataSet:
    """`folder/name/corpus.jsonl` and `queries.jsonl`. Raises InvalidInput."""
    documents = [
        Document(
            str(d["id"]),
            str(d["text"]),
            d.get("created"),
            _group(d),
            None if d.get("session") is None else str(d["session"]),
        )
        for d in _lines(folder / name / "corpus.jsonl")
    ]
    questions = [
        Question(
            id=str(q["id"]),
            text=str(q["text"]),
            relevant=tuple(q["relevant"]),
            split=str(q["split"]),
            type=q.get("type"),
            group=_group(q),
        )
        for q in _lines(folder / name / "queries.jsonl")
    ]
    return DataSet(name, tuple(documents), tuple(questions))


def _session(document: Document) -> str:
    return f"{document.group}-{document.session}"


def _as_lines(documents: Sequence[Document]) -> str:
    return "\n".join(" ".join(document.text.split()) for document in documents) + "\n"


def _group(entry: dict[str, Any]) -> str | None:
    conversation = entry.get("conversation")
    return None if conversation is None else str(conversation)


def _lines(file: Path) -> Sequence[dict[str, Any]]:
    try:
        return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line]
    except (OSError, ValueError) as error:
        raise InvalidInput("data", f"{file} cannot be read: {error}") from error
