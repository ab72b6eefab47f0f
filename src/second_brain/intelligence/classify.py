"""Classifies memories that wait for it, in bounded batches: by a model, or by rules without one."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from second_brain.errors import SecondBrainError
from second_brain.intelligence.provider import Model, ModelFailed, Question
from second_brain.memory.classifying import Classification, by_rules
from second_brain.memory.model import KINDS, Caller, Memory, Stats

log = logging.getLogger(__name__)

BATCH = 25
BATCH_SECONDS = 5.0
_PROMPT = "classify.v1"
_RULES = Caller("second-brain", "classify")
_MOST_CHARACTERS = 4_000

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": list(KINDS)},
        "importance": {"type": "integer", "minimum": 1, "maximum": 5},
        "canonical": {"type": "boolean"},
    },
    "required": ["kind", "importance", "canonical"],
    "additionalProperties": False,
}


class Classifiable(Protocol):
    """What is needed of the memories."""

    async def unclassified(self, n: int) -> list[Memory]: ...

    async def classify(self, id: str, given: Classification, *, caller: Caller = ...) -> bool: ...

    async def stats(self) -> Stats: ...


@dataclass(frozen=True, slots=True)
class Batch:
    """`remaining` wait for the next batch; `message` says why `failed` ones could not be done."""

    processed: int
    failed: int
    remaining: int
    message: str | None = None


async def classify_pending(
    memories: Classifiable,
    model: Model | None = None,
    *,
    most: int = BATCH,
    seconds: float = BATCH_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Batch:
    """One batch, cut short after so many seconds: a note touched just now is waited for.

    A model that fails ends it: what waits counts as failed for now, so that a caller who loops
    until nothing remains comes to an end, and it is still there the next time.
    """
    waiting = await memories.unclassified(most)
    processed, failed, message = 0, 0, None
    begun = clock()
    for memory in waiting:
        if processed and clock() - begun > seconds:
            break
        try:
            given = by_rules(memory) if model is None else await by_model(memory, model)
            await memories.classify(memory.id, given, caller=_caller(model))
        except ModelFailed as error:
            left = (await memories.stats()).unclassified
            return Batch(processed, left, 0, str(error))
        except SecondBrainError as error:
            log.info("“%s” is classified later: %s", memory.title, error)
            failed, message = failed + 1, str(error)
        else:
            processed += 1
    remaining = max(0, (await memories.stats()).unclassified - failed)
    return Batch(processed, failed, remaining if processed else 0, message)


async def by_model(memory: Memory, model: Model) -> Classification:
    """What a model says; raises ModelFailed."""
    # Without a model nobody needs the prompts.
    from second_brain.intelligence.prompts import Block, as_data, instructions  # noqa: PLC0415

    question = Question(
        prompt=_PROMPT,
        instructions=instructions(_PROMPT),
        data=as_data([Block("M1", _text(memory))]),
        schema=SCHEMA,
        max_tokens=100,
    )
    return read((await model.ask(question)).value, memory)


def read(value: Any, memory: Memory) -> Classification:
    """A model's answer, which its schema has checked already. Only the words of a text make it
    canonical: a text that talks a model into it would be protected from every other."""
    ruled = by_rules(memory)
    return Classification(
        kind=value["kind"],
        importance=max(1, min(5, int(value["importance"]))),
        canonical=bool(value["canonical"]) and ruled.canonical,
    )


def _text(memory: Memory) -> str:
    return f"{memory.title}\n\n{memory.content[:_MOST_CHARACTERS]}"


def _caller(model: Model | None) -> Caller:
    return _RULES if model is None else Caller(model.name, "classify")
