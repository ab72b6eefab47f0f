"""Scores what rules, or a model, say of texts and pairs of which the truth is known."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from second_brain.cli.benches.capture.pairs import KINDS, Pair
from second_brain.cli.benches.capture.pairs import Kind as PairKind
from second_brain.errors import InvalidInput
from second_brain.intelligence.classify import by_model
from second_brain.intelligence.comparing import judge, trusted_merge
from second_brain.intelligence.provider import Model, ModelFailed
from second_brain.memory.conflicts import conflict_of
from second_brain.memory.marks import ORDINARY, marks_of
from second_brain.memory.model import Memory
from second_brain.memory.novelty import says_something_new
from second_brain.memory.resolving import merged_text

RULED: Mapping[PairKind, str] = {
    "updated": "value",
    "contradicted": "denial",
    "elaborated": "contained",
}
"""What rules may prove of a kind of pair; anything of another kind is a mistake."""

JUDGED: Mapping[PairKind, frozenset[str]] = {
    "restated": frozenset(["merge"]),
    "reworded": frozenset(["merge"]),
    "updated": frozenset(["replace", "contradiction"]),
    "contradicted": frozenset(["contradiction", "replace"]),
    "elaborated": frozenset(["merge", "replace"]),
    "sibling": frozenset(["keep"]),
    "unrelated": frozenset(["keep"]),
}
"""What a model may say of it."""


@dataclass(frozen=True, slots=True)
class Case:
    """A text with its true kind, the importances that are right for it, and its standing."""

    language: str
    text: str
    kind: str
    importance: tuple[int, int]
    canonical: bool


@dataclass(frozen=True, slots=True)
class Score:
    """`silent`: nothing was claimed, which for most kinds of pairs is what is right."""

    what: str
    asked: int
    right: int
    wrong: int
    silent: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def cases(file: Path) -> list[Case]:
    """Raises InvalidInput."""
    try:
        rows = json.loads(file.read_text("utf-8"))
        return [
            Case(
                row["language"],
                row["text"],
                row["kind"],
                (row["importance"][0], row["importance"][1]),
                row["canonical"],
            )
            for row in rows
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput("texts", f"{file} holds no classified texts: {error!r}") from error


def rules(pairs: Sequence[Pair], texts: Sequence[Case]) -> list[Score]:
    """What the rules say of all of them."""
    told = [marks_of(case.text) for case in texts]
    scores = _classified(texts, [(m.kind, m.importance or ORDINARY, m.canonical) for m in told])
    for kind in KINDS:
        own = [pair for pair in pairs if pair.kind == kind]
        said = [conflict_of(pair.new, pair.known) for pair in own]
        right = sum(c is not None and c.kind == RULED.get(kind) for c in said)
        silent = sum(c is None for c in said)
        scores.append(Score(f"pairs: {kind}", len(own), right, len(own) - right - silent, silent))
    return [*scores, _merged(pairs)]


async def model(pairs: Sequence[Pair], texts: Sequence[Case], model: Model) -> list[Score]:
    """The same of a model; what it fails to answer counts as silent."""
    answers: list[tuple[str | None, int, bool]] = []
    for case in texts:
        try:
            given = await by_model(as_memory(case.text), model)
            answers.append((given.kind, given.importance, given.canonical))
        except ModelFailed:
            answers.append((None, 0, False))
    scores = _classified(texts, answers)
    merges: Counter[str] = Counter()
    for kind in KINDS:
        own, count = [pair for pair in pairs if pair.kind == kind], Counter[str]()
        for pair in own:
            try:
                verdict = await judge(model, pair.known, pair.new)
            except ModelFailed:
                count["silent"] += 1
                continue
            count["right" if verdict.relation in JUDGED[kind] else "wrong"] += 1
            if verdict.relation == "merge":
                trusted = trusted_merge(verdict.merged, pair.known, pair.new) is not None
                merges["right" if trusted else "wrong"] += 1
        scores.append(
            Score(f"pairs: {kind}", len(own), count["right"], count["wrong"], count["silent"])
        )
    asked = merges["right"] + merges["wrong"]
    return [*scores, Score("merged without loss", asked, merges["right"], merges["wrong"], 0)]


def _classified(
    texts: Sequence[Case], answers: Sequence[tuple[str | None, int, bool]]
) -> list[Score]:
    both = list(zip(texts, answers, strict=True))
    kinds = Counter(
        "silent" if kind is None else "right" if kind == case.kind else "wrong"
        for case, (kind, _, _) in both
    )
    weights = sum(
        case.importance[0] <= weight <= case.importance[1] for case, (_, weight, _) in both
    )
    standing = sum(case.canonical == canonical for case, (_, _, canonical) in both)
    many = len(texts)
    return [
        Score("kind", many, kinds["right"], kinds["wrong"], kinds["silent"]),
        Score("importance", many, weights, many - weights, 0),
        Score("canonical", many, standing, many - standing, 0),
    ]


def _merged(pairs: Sequence[Pair]) -> Score:
    """Texts joined by rules hold all that both said and nothing else."""
    own = [pair for pair in pairs if pair.kind in ("elaborated", "sibling", "unrelated")]
    right = sum(is_whole(pair.known, pair.new) for pair in own)
    return Score("merged without loss", len(own), right, len(own) - right, 0)


def is_whole(known: str, new: str) -> bool:
    """Whether rules join two texts to all that both say and nothing else."""
    whole = merged_text(known, new) or known
    lost = says_something_new(known, whole) or says_something_new(new, whole)
    return not lost and not says_something_new(whole, f"{known}\n\n{new}")


def as_memory(text: str) -> Memory:
    return Memory(
        id="bench",
        path="bench.md",
        title=text[:60],
        content=text,
        tags=(),
        source="bench",
        created_at=0,
        updated_at=0,
        kind=None,
        status=None,
        importance=None,
        chunk_ids=(),
        url="",
    )
