"""Lets a model judge a new memory beside those near to it, and does what it says where it may.

What it may is narrow. A canonical memory and one of importance 4 and over stand: the newcomer
becomes a draft. A note of the user's own is not written to. Both are put before the user instead.
A merged text counts only if it says all that both said and nothing else. Every act is a write that
one undo takes back, and what the user decided once is not judged again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from second_brain.errors import NoteNotFound
from second_brain.intelligence.maintenance import Meta
from second_brain.intelligence.prompts import Block, as_data, instructions
from second_brain.intelligence.provider import Model, Question
from second_brain.memory.describe import USER_SOURCE
from second_brain.memory.model import Caller, Memory
from second_brain.memory.novelty import says_something_new
from second_brain.memory.reviewing import Decision
from second_brain.memory.service import MemoryService

Relation = Literal["contradiction", "replace", "merge", "keep"]
RELATIONS: tuple[Relation, ...] = ("contradiction", "replace", "merge", "keep")

COMPARE = "compare"
"""The kind of job that waits for a model."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "relation": {"type": "string", "enum": list(RELATIONS)},
        "winner": {"type": "string", "enum": ["M1", "M2"]},
        "merged": {"type": "string"},
        "reason": {"type": "string"},
    },
    "required": ["relation", "winner", "merged", "reason"],
    "additionalProperties": False,
}

_PROMPT = "compare.v1"
_MOST_CHARACTERS = 6_000
_PROTECTED_FROM = 4
_LONGEST_REASON = 300
_KEY = "pairs judged"
_MOST_KEPT = 5_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """`newcomer_wins` and `merged` are of use where something is to be done."""

    relation: Relation
    newcomer_wins: bool
    merged: str
    reason: str


def _mark(one: Memory, other: Memory) -> str:
    """Of two texts whichever is newer: these need not be judged again until one is changed."""
    texts = sorted(f"{memory.id}\n{memory.content}" for memory in (one, other))
    return hashlib.sha256("\n\n".join(texts).encode()).hexdigest()[:16]


def key(newcomer: str, known: str) -> str:
    """The key of a job, of two ids."""
    return json.dumps([newcomer, known], ensure_ascii=False)


async def judge(model: Model, known: str, newcomer: str) -> Verdict:
    """How two texts stand to each other. Raises ModelFailed."""
    answer = await model.ask(
        Question(
            prompt=_PROMPT,
            instructions=instructions(_PROMPT),
            data=as_data(
                [
                    Block("M1", known[:_MOST_CHARACTERS]),
                    Block("M2", newcomer[:_MOST_CHARACTERS]),
                ]
            ),
            schema=SCHEMA,
        )
    )
    value = answer.value
    return Verdict(
        relation=value["relation"],
        newcomer_wins=value["winner"] == "M2",
        merged=value["merged"],
        reason=" ".join(str(value["reason"]).split())[:_LONGEST_REASON],
    )


def trusted_merge(merged: str, known: str, newcomer: str) -> str | None:
    """A model's text for both, if nothing is lost in it and nothing was invented."""
    if not merged.strip() or says_something_new(merged, f"{known}\n\n{newcomer}"):
        return None
    lost = says_something_new(known, merged) or says_something_new(newcomer, merged)
    return None if lost else merged


def protected(memory: Memory) -> bool:
    """Whether no newcomer may take this memory's place without the user."""
    return memory.status == "canonical" or (memory.importance or 0) >= _PROTECTED_FROM


class Comparing:
    """Works off jobs of the kind COMPARE."""

    def __init__(self, memories: MemoryService, model: Model, meta: Meta) -> None:
        self._memories = memories
        self._meta = meta
        self._model = model
        self._caller = Caller(model.name, "compare")

    async def compare(self, job: str) -> None:
        """Judge one pair and act on it. Raises ModelFailed, and errors of ours to try again."""
        newcomer_id, known_id = json.loads(job)
        try:
            newcomer = await self._memories.get(newcomer_id)
            known = await self._memories.get(known_id)
        except NoteNotFound:
            return  # One of the two is gone, and with it the question.
        if "deprecated" in (newcomer.status, known.status):
            return
        judged = await asyncio.to_thread(self._judged)
        mark = _mark(newcomer, known)
        if mark in judged:
            return
        verdict = await judge(self._model, known.content, newcomer.content)
        if verdict.relation != "keep":
            await self._act(newcomer, known, verdict)
        kept = json.dumps([*judged, mark][-_MOST_KEPT:])
        await asyncio.to_thread(self._meta.set_meta, _KEY, kept)

    def _judged(self) -> list[str]:
        try:
            found = json.loads(self._meta.get_meta(_KEY) or "[]")
        except ValueError:
            return []
        return [str(mark) for mark in found] if isinstance(found, list) else []

    async def _act(self, newcomer: Memory, known: Memory, verdict: Verdict) -> None:
        decision: Decision = "merge" if verdict.relation == "merge" else "replace"
        text = trusted_merge(verdict.merged, known.content, newcomer.content)
        n = await asyncio.to_thread(
            lambda: self._memories.reviewing.propose(
                newcomer.id,
                known.id,
                kind=verdict.relation,
                suggestion=decision,
                reason=verdict.reason,
                found_by=self._model.name,
                score=0.0,
                merged=text if decision == "merge" else None,
            )
        )
        if n is None:
            return
        whole = max(len(newcomer.content), len(known.content)) <= _MOST_CHARACTERS
        if not whole or USER_SOURCE in (newcomer.source, known.source):
            return
        if protected(known):
            if verdict.relation != "merge" and not protected(newcomer):
                await self._memories.reviewing.draft(newcomer.id, verdict.reason, self._caller)
            return
        if protected(newcomer) and not verdict.newcomer_wins and decision == "replace":
            return
        winner = newcomer.id if verdict.newcomer_wins and decision == "replace" else known.id
        if decision == "merge" and protected(newcomer):
            return
        await self._memories.decide_review(n, decision, winner, caller=self._caller)
