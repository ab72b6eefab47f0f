"""The questions to the example vault find their notes, in English and French and across them."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from live import Brain

from second_brain.index.embedding import Embedder

TESTS = Path(__file__).parents[1]
QUESTIONS: list[Mapping[str, str]] = json.loads(
    (TESTS / "example_questions.json").read_text("utf-8")
)


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Brain]:
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(TESTS.parent / "examples" / "vault", folder / "vault")
    brain = Brain(folder / "vault", folder / "data", lambda name: embedder)
    # What a checkout leaves as the files' times must not decide anything.
    for file in brain.vault.rglob("*.md"):
        os.utime(file, (time.time(), time.time()))
    with brain:
        yield brain


@pytest.fixture(scope="module")
def places(vault: Brain) -> Mapping[str, int]:
    """For each question where its note stands among the first ten, 99 if it does not."""
    found: dict[str, int] = {}
    for question in QUESTIONS:
        paths = vault.found(question["question"], top_k=10)
        place = paths.index(question["path"]) + 1 if question["path"] in paths else 99
        found[question["question"]] = place
    return found


def share(places: Mapping[str, int], *, across: bool, within: int) -> float:
    asked = [q["question"] for q in QUESTIONS if (q["language"] != q["note_language"]) is across]
    return sum(places[question] <= within for question in asked) / len(asked)


def test_the_right_note_is_among_the_first_three(places: Mapping[str, int]) -> None:
    assert share(places, across=False, within=3) >= 0.95, places


def test_the_right_note_is_mostly_the_first(places: Mapping[str, int]) -> None:
    assert share(places, across=False, within=1) >= 0.9, places


def test_a_question_in_the_other_language_finds_its_note(places: Mapping[str, int]) -> None:
    assert share(places, across=True, within=5) >= 0.8, places


def test_the_answer_stands_in_what_is_returned(vault: Brain) -> None:
    missing = []
    for question in QUESTIONS:
        hits = vault.recall(question["question"], top_k=5, max_chars=6_000).hits
        texts = [" ".join(hit.content.split()) for hit in hits]
        if not any(question["answer"] in text for text in texts):
            missing.append(question["question"])
    assert len(missing) <= 3, missing


def test_notes_that_are_no_memories_never_show(vault: Brain) -> None:
    for query in ("wifi password", "salaries", "insurance of the boat", "shopping list"):
        for path in vault.found(query, top_k=20):
            assert path not in (
                "House/Wifi and codes.md",
                "Work/Salaries.md",
                "Boat/Insurance.md",
                "Templates/Daily.md",
            )
