"""Gives links between related memories a type where the texts state one, by a model.

A type counts only with words that stand in one of the two notes. It is written beside the link that
is there, as a property of a note of ours, and can be undone. Each pair is judged once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from second_brain.errors import EditRefused, NoteNotFound
from second_brain.intelligence.maintenance import Meta
from second_brain.intelligence.prompts import Block, as_data, instructions
from second_brain.intelligence.provider import Model, Question
from second_brain.memory.api import Memories
from second_brain.memory.model import RELATION_TYPES, Caller, Memory

PLAIN = "relates_to"
# What replaces what is another question, with more at stake.
TYPES = tuple(type for type in RELATION_TYPES if type != "supersedes")

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"relation": {"enum": list(TYPES)}, "quote": {"type": "string"}},
    "required": ["relation", "quote"],
    "additionalProperties": False,
}

_KEY = "pairs related"
_MOST_KEPT = 5_000
_MOST_A_NIGHT = 20
_MOST_CHARACTERS = 4_000
_SHORTEST_QUOTE = 12

Pairs = Callable[[], Awaitable[Sequence[tuple[str, str]]]]


class Relating:
    """`pairs` gives the links that have no type: source and target, a note of ours first."""

    def __init__(self, memories: Memories, pairs: Pairs, model: Model, meta: Meta) -> None:
        self._memories = memories
        self._pairs = pairs
        self._model = model
        self._meta = meta

    async def run(self, caller: Caller) -> int:
        """How many links got a type. Raises ModelFailed; what was done until then stays done."""
        judged = await asyncio.to_thread(self._judged)
        waiting = [pair for pair in await self._pairs() if "\n".join(pair) not in judged]
        typed = 0
        for source_id, target_id in waiting[:_MOST_A_NIGHT]:
            try:
                source = await self._memories.get(source_id)
                target = await self._memories.get(target_id)
                type_ = await self._judge(source, target)
                if type_ != PLAIN:
                    await self._memories.link(source_id, target_id, type_, caller=caller)
                    typed += 1
            except (NoteNotFound, EditRefused):
                pass
            judged.append(f"{source_id}\n{target_id}")
            kept = json.dumps(judged[-_MOST_KEPT:])
            await asyncio.to_thread(self._meta.set_meta, _KEY, kept)
        return typed

    async def _judge(self, source: Memory, target: Memory) -> str:
        texts = [_text(source), _text(target)]
        data = as_data([Block("M1", texts[0]), Block("M2", texts[1])])
        question = Question("relate.v1", instructions("relate.v1"), data, SCHEMA, max_tokens=200)
        value = (await self._model.ask(question)).value
        return accepted(value["relation"], value["quote"], texts)

    def _judged(self) -> list[str]:
        try:
            found = json.loads(self._meta.get_meta(_KEY) or "[]")
        except ValueError:
            return []
        return [str(pair) for pair in found] if isinstance(found, list) else []


def accepted(relation: str, quote: str, texts: Sequence[str]) -> str:
    """The relation if its quote stands in one of the texts, else the plain one."""
    words = _folded(quote)
    there = len(words) >= _SHORTEST_QUOTE and any(words in _folded(text) for text in texts)
    return relation if there and relation in TYPES else PLAIN


def _text(memory: Memory) -> str:
    return f"{memory.title}\n\n{memory.content[:_MOST_CHARACTERS]}"


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
