"""Asks every question in every way and keeps the scores."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from second_brain.cli.benches.recall.baselines import BASELINES, Baselines
from second_brain.cli.benches.recall.brain import indexed
from second_brain.cli.benches.recall.data import DataSet, Question
from second_brain.cli.benches.recall.scoring import Scores, mean, score
from second_brain.config import Settings
from second_brain.errors import InvalidInput
from second_brain.index.embedding import Embedder
from second_brain.memory.stages import Stages

RECALL = Stages(counting=False)

WAYS: dict[str, Stages] = {
    "recall": RECALL,
    "without meaning": replace(RECALL, meaning=False),
    "without words": replace(RECALL, words=False),
    "without episodes": replace(RECALL, episodes=False),
    "without languages": replace(RECALL, languages=False),
    "without time phrases": replace(RECALL, times=False),
    "without age and standing": replace(RECALL, age=False),
    "without renewal": replace(RECALL, renewal=False),
    "without diversity": replace(RECALL, diversity=False),
    "fusion alone": Stages(
        counting=False,
        times=False,
        languages=False,
        episodes=False,
        age=False,
        renewal=False,
        diversity=False,
    ),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One way's scores on some questions of a set: `part` is all, tune, test or a type."""

    set: str
    way: str
    part: str
    questions: int
    scores: Scores

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def measure(
    data: DataSet,
    *,
    together: bool,
    model: Embedder,
    place: Path,
    settings: Settings,
    ways: Sequence[str] = (),
    say: Callable[[str], None] = lambda text: click.echo(text, err=True),
) -> list[Line]:
    """`together`: all documents in one vault, otherwise one vault a conversation. `ways`: only
    these. Raises InvalidInput for a way that there is not."""
    if unknown := sorted(set(ways) - {*WAYS, *BASELINES}):
        raise InvalidInput("way", f"{unknown[0]} is none of: {', '.join((*WAYS, *BASELINES))}")
    vaults = [data] if together else data.groups()
    asked = {question.id: question for vault in vaults for question in vault.questions}
    scored: dict[str, dict[str, Scores]] = {}
    for vault in vaults:
        say(f"{vault.name}: {len(vault.documents):,} documents, {len(vault.questions):,} questions")
        rankings = asyncio.run(_rankings(vault, model, place, settings, ways))
        for way, found in rankings.items():
            own = scored.setdefault(way, {})
            own.update((id, score(ids, asked[id].relevant)) for id, ids in found.items())
    name = data.name if len(data.groups()) == 1 else f"{data.name} {_kind(together)}"
    return [
        line for way, own in scored.items() for line in _lines(name, way, own, list(asked.values()))
    ]


async def _rankings(
    data: DataSet, model: Embedder, place: Path, settings: Settings, ways: Sequence[str]
) -> dict[str, dict[str, list[str]]]:
    questions = {question.id: question.text for question in data.questions}
    made: dict[str, dict[str, list[str]]] = {}
    async with indexed(place / data.name, data, model, settings) as bench:
        for way, stages in WAYS.items():
            if not ways or way in ways:
                made[way] = await bench.rankings(questions, stages)
    if ways and set(ways).isdisjoint(BASELINES):
        return made
    others = await asyncio.to_thread(lambda: Baselines(data, model).rank(questions))
    return made | {way: found for way, found in others.items() if not ways or way in ways}


def _lines(
    name: str, way: str, scored: dict[str, Scores], questions: Sequence[Question]
) -> list[Line]:
    parts: dict[str, list[Question]] = {"all": list(questions)}
    for question in questions:
        parts.setdefault(question.split, []).append(question)
    for question in questions:
        if question.type is not None:
            parts.setdefault(question.type, []).append(question)
    return [
        Line(name, way, part, len(own), mean(scored[question.id] for question in own))
        for part, own in parts.items()
    ]


def _kind(together: bool) -> str:
    return "global" if together else "conv"
