"""Asks questions with and without following links, for the same number of results."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from second_brain.cli.benches.graph.links import MOST_RELATED
from second_brain.cli.benches.recall.brain import indexed
from second_brain.cli.benches.recall.data import DataSet
from second_brain.cli.benches.recall.measure import RECALL
from second_brain.config import Settings
from second_brain.index.embedding import Embedder

RESULTS = 10
WAYS: Mapping[str, tuple[int, int]] = {
    "10 direct": (RESULTS, 0),
    "5 direct, 1 hop": (RESULTS // 2, 1),
    "5 direct, 2 hops": (RESULTS // 2, 2),
    "5 direct": (RESULTS // 2, 0),
}
"""By name: how many are asked for, and how many hops; a hop may add as many again."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Share of the relevant memories among the results, and results in the mean."""

    way: str
    part: str
    questions: int
    recall: float
    results: float


def linked(data: DataSet, model: Embedder, place: Path, settings: Settings) -> dict[str, list[str]]:
    """The links that the product itself makes in a conversation."""

    async def run() -> dict[str, list[str]]:
        async with indexed(place, data, model, settings) as bench:
            return await bench.related()

    found = asyncio.run(run())
    return {id: others[:MOST_RELATED] for id, others in found.items()}


def asked(
    data: DataSet,
    related: Mapping[str, Sequence[str]],
    model: Embedder,
    place: Path,
    settings: Settings,
) -> dict[str, dict[str, list[str]]]:
    """What each way finds for each question of a conversation."""

    async def run() -> dict[str, dict[str, list[str]]]:
        questions = {question.id: question.text for question in data.questions}
        async with indexed(place, data, model, settings, related) as bench:
            return {
                way: await bench.rankings(questions, RECALL, top_k=top_k, hops=hops)
                for way, (top_k, hops) in WAYS.items()
            }

    return asyncio.run(run())


def scores(data: Sequence[DataSet], found: Mapping[str, Mapping[str, list[str]]]) -> list[Asked]:
    """Over all questions, and over each type of them."""
    every = [question for part in data for question in part.questions if question.relevant]
    parts = {"all": every}
    for question in every:
        parts.setdefault(question.type or "other", []).append(question)
    lines = []
    for part, questions in parts.items():
        for way, rankings in found.items():
            shares = [
                len({*rankings[q.id][:RESULTS]} & {*q.relevant}) / len({*q.relevant})
                for q in questions
            ]
            shown = [len(rankings[q.id][:RESULTS]) for q in questions]
            many = len(questions)
            lines.append(Asked(way, part, many, sum(shares) / many, sum(shown) / many))
    return lines
