"""Turns of real talk whose truth follows from questions about them, scored by rules or a model.

The labels are the data's own. A turn that answers a question of the type `temporal`, and alone,
tells of something that happened: it is episodic. Two turns that one question needs both hold both:
neither denies nor replaces the other, and joined nothing of them may be lost.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from second_brain.cli.benches.intelligence.measure import Score, as_memory, is_whole
from second_brain.errors import InvalidInput
from second_brain.intelligence.classify import by_model
from second_brain.intelligence.comparing import judge
from second_brain.intelligence.provider import Model, ModelFailed
from second_brain.memory.conflicts import conflict_of
from second_brain.memory.marks import marks_of

EVENT, BOTH, MERGED = "talk: an event", "talk: both hold", "talk: merged"


@dataclass(frozen=True, slots=True)
class Talk:
    """`both`: the earlier turn and the later."""

    events: Sequence[str]
    both: Sequence[tuple[str, str]]


def read_talk(folder: Path) -> Talk:
    """Of a folder with corpus.jsonl and queries.jsonl. Raises InvalidInput."""
    try:
        turns = {row["id"]: row["text"] for row in _rows(folder / "corpus.jsonl")}
        events: dict[str, None] = {}
        both: dict[tuple[str, str], None] = {}
        for question in _rows(folder / "queries.jsonl"):
            texts = [turns[id] for id in question["relevant"]]
            if question.get("type") == "temporal" and len(texts) == 1:
                events[texts[0]] = None
            both.update(dict.fromkeys(pairwise(texts)))
        return Talk([*events], [*both])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput("talk", f"{folder} holds no questions on talk: {error!r}") from error


def rules_on(talk: Talk) -> list[Score]:
    kinds = [marks_of(text).kind for text in talk.events]
    proofs = [conflict_of(new, known) for known, new in talk.both]
    merged = sum(is_whole(known, new) for known, new in talk.both)
    many = len(talk.both)
    wrong = sum(proof is not None and proof.kind != "contained" for proof in proofs)
    return [
        _kinds(kinds),
        Score(BOTH, many, 0, wrong, many - wrong),
        Score(MERGED, many, merged, many - merged, 0),
    ]


async def model_on(talk: Talk, model: Model, every: int = 1) -> list[Score]:
    """The same of a model; what it fails to answer is silent."""
    kinds: list[str | None] = []
    for text in talk.events[::every]:
        try:
            kinds.append((await by_model(as_memory(text), model)).kind)
        except ModelFailed:
            kinds.append(None)
    count = Counter[str]()
    pairs = talk.both[::every]
    for known, new in pairs:
        try:
            relation = (await judge(model, known, new)).relation
        except ModelFailed:
            count["silent"] += 1
        else:
            count["right" if relation in ("keep", "merge") else "wrong"] += 1
    return [
        _kinds(kinds),
        Score(BOTH, len(pairs), count["right"], count["wrong"], count["silent"]),
    ]


def _kinds(kinds: Sequence[str | None]) -> Score:
    right, silent = kinds.count("episodic"), kinds.count(None)
    return Score(EVENT, len(kinds), right, len(kinds) - right - silent, silent)


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line]
