"""Patterns: what at least three memories show together, kept as drafts until the user decides.

A pattern is a note of status `draft`; confirming makes it canonical, dismissing deprecates it, and
what was dismissed is not found again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from second_brain.intelligence.citations import shares, supported
from second_brain.intelligence.prompts import Block, as_data, instructions
from second_brain.intelligence.provider import Model, Question
from second_brain.intelligence.sources import MOST_CHARS, Source, Sources, of_memories
from second_brain.memory.api import Memories
from second_brain.memory.composing import PATTERN_TAG, SOURCE, Composing, Part
from second_brain.memory.digestible import DIGEST_TAG
from second_brain.memory.model import Caller

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "patterns": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "sentence": {"type": "string"},
                    "evidence": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["sentence", "evidence"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["patterns"],
    "additionalProperties": False,
}

_LEAST_MEMORIES = 10
_LEAST_EVIDENCE = 3
_READ = 60
_MOST_PATTERNS = 3
_LEAST_EACH = 250
_KNOWN = 50
_LONGEST = 400
_TITLE_CHARS = 60
_SAME = 0.8


class Patterns:
    """Looks at the newest memories that people and agents wrote."""

    def __init__(
        self,
        memories: Memories,
        composing: Composing,
        model: Model | None,
        *,
        chars: int = MOST_CHARS,
    ) -> None:
        self._memories = memories
        self._composing = composing
        self._model = model
        self._chars = chars

    async def find(self, caller: Caller) -> list[str]:
        """The ids of the patterns that were found. Raises ModelFailed."""
        if self._model is None:
            return []
        newest = await self._memories.list_recent(min(_READ, self._chars // _LEAST_EACH))
        read = [
            m for m in newest if m.source != SOURCE and not {PATTERN_TAG, DIGEST_TAG} & {*m.tags}
        ]
        if len(read) < _LEAST_MEMORIES:
            return []
        known = [m.content for m in await self._memories.list_recent(_KNOWN, tag=PATTERN_TAG)]
        sources = of_memories(read, max_chars=self._chars)
        blocks = [*sources.blocks, *([Block("known", "\n".join(known))] if known else [])]
        question = Question("patterns.v1", instructions("patterns.v1"), as_data(blocks), SCHEMA)
        answer = await self._model.ask(question)
        made = []
        for sentence, evidence in accepted(answer.value["patterns"], sources, known):
            parts = [Part(sentence, tuple(source.id for source in evidence))]
            id, _ = await self._composing.compose(
                sentence[:_TITLE_CHARS], parts, tags=[PATTERN_TAG], status="draft", caller=caller
            )
            made.append(id)
        return made


def accepted(
    proposed: Sequence[Mapping[str, Any]], sources: Sources, known: Sequence[str]
) -> list[tuple[str, list[Source]]]:
    """Of what a model proposes, what cites enough memories, is supported by them, and is new."""
    found: list[tuple[str, list[Source]]] = []
    seen = list(known)
    for pattern in proposed[:_MOST_PATTERNS]:
        sentence = " ".join(str(pattern["sentence"]).split())
        labels = dict.fromkeys(str(label).strip("[] ").upper() for label in pattern["evidence"])
        evidence = [source for label in labels if (source := sources.get(label)) is not None]
        if len(evidence) < max(_LEAST_EVIDENCE, len(labels)) or len(sentence) > _LONGEST:
            continue
        if any(shares(sentence, source.all_text)[0] == 0 for source in evidence):
            continue
        if not supported(sentence, "\n".join(source.all_text for source in evidence)):
            continue
        if any(_says_the_same(sentence, other) for other in seen):
            continue
        seen.append(sentence)
        found.append((sentence, evidence))
    return found


def _says_the_same(one: str, other: str) -> bool:
    shared, words = shares(one, other)
    return words == 0 or shared / words >= _SAME
