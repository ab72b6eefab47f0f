"""The memories that a model is shown: each under a label that only this question knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from second_brain.intelligence.prompts import Block
from second_brain.memory.model import Memory, RecallHit

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_EACH = 2_400

MOST_CHARS = 24_000
"""Of the memories before one question: more makes an answer later, not better."""

# Kept free of memories: the orders, the marks, the answer.
_KEPT_TOKENS = 2_000
_CHARS_A_TOKEN = 3


def room(context_tokens: int) -> int:
    """How many characters of memories go into one question to a model that reads so much."""
    return min(MOST_CHARS, max(1, context_tokens - _KEPT_TOKENS) * _CHARS_A_TOKEN)


@dataclass(frozen=True, slots=True)
class Source:
    """One memory, or the part of it that counts. `date` is ISO 8601, or empty."""

    label: str
    id: str
    title: str
    date: str
    text: str

    @property
    def block(self) -> Block:
        """As it is put before a model."""
        about = f"title: {self.title}\ndate: {self.date}\n" if self.date else ""
        return Block(self.label, f"{about}{self.text}")

    @property
    def all_text(self) -> str:
        """Everything that a sentence may rest on."""
        return f"{self.title}\n{self.date}\n{self.text}"


class Sources:
    """A list of sources by their labels."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._by_label = {source.label: source for source in sources}

    def __iter__(self) -> Iterator[Source]:
        return iter(self._by_label.values())

    def __len__(self) -> int:
        return len(self._by_label)

    def get(self, label: str) -> Source | None:
        return self._by_label.get(label.upper())

    @property
    def blocks(self) -> list[Block]:
        return [source.block for source in self]


def of_hits(hits: Sequence[RecallHit], *, max_chars: int) -> Sources:
    """The passages that a recall found, the best first, within a budget of characters."""
    found: list[Source] = []
    for hit in hits:
        text = (hit.content if len(hit.content) <= _MOST_EACH else hit.passage)[:_MOST_EACH]
        if not text.strip() or max_chars < len(text):
            continue
        max_chars -= len(text)
        found.append(_source(len(found) + 1, hit.memory, text))
    return Sources(found)


def of_shown(memories: Sequence[Mapping[str, Any]]) -> Sources:
    """Memories as the tools of agents show them; an empty one keeps its place and label."""
    return Sources(
        Source(f"M{n}", m["id"], m["title"], m["date"][:10], m["content"][:_MOST_EACH])
        for n, m in enumerate(memories, 1)
        if m
    )


def of_memories(memories: Sequence[Memory], *, max_chars: int) -> Sources:
    """Whole memories, each cut where it would take the room of the others."""
    each = max(200, max_chars // max(1, len(memories)))
    return Sources(
        _source(n, memory, memory.content[:each]) for n, memory in enumerate(memories, 1)
    )


def _source(number: int, memory: Memory, text: str) -> Source:
    return Source(f"M{number}", memory.id, memory.title, _date(memory.created_at), text)


def _date(milliseconds: int) -> str:
    try:
        return (_EPOCH + timedelta(milliseconds=milliseconds)).strftime("%Y-%m-%d")
    except OverflowError:
        return ""
