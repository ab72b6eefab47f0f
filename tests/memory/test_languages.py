"""What is made of candidates in another language than the question's."""

from __future__ import annotations

import pytest

from second_brain.memory.languages import (
    LEAST_FOREIGN,
    MOST_NEARER,
    Bridge,
    bridge,
    language,
)
from second_brain.memory.rank import fuse

FRENCH = "Le contrat est dans le tiroir de la cuisine."
ENGLISH = "The lease is in the drawer of the kitchen."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FRENCH, "fr"),
        (ENGLISH, "en"),
        ("When is the rent due?", "en"),
        ("Où est l'échelle ?", "fr"),
        ("Qu’est-ce qui grince ?", "fr"),
        ("ADR-016", None),
        ("灯台は赤い", None),
        ("", None),
    ],
)
def test_the_small_words_tell_the_language(text: str, expected: str | None) -> None:
    assert language(text) == expected


def candidates(french: int, english: int) -> tuple[dict[str, str], dict[str, float]]:
    texts = {f"f{n}": FRENCH for n in range(french)} | {f"e{n}": ENGLISH for n in range(english)}
    return texts, dict.fromkeys(texts, 0.8)


def test_only_a_mixed_vault_whose_words_were_not_met_needs_a_bridge() -> None:
    texts, dense = candidates(10, LEAST_FOREIGN)
    made = bridge("Où est le bail ?", texts, dense, 0.2)
    assert made is not None
    assert made.foreign == {f"e{n}" for n in range(LEAST_FOREIGN)}
    assert bridge("Où est le bail ?", texts, dense, 0.9) is None
    assert bridge("ADR-016", texts, dense, 0.2) is None
    texts, dense = candidates(10, LEAST_FOREIGN - 1)
    assert bridge("Où est le bail ?", texts, dense, 0.2) is None


def test_the_other_language_comes_nearer_within_a_bound() -> None:
    made = Bridge(frozenset({"e"}), 0.2)
    near = made.nearer({"e": 0.80, "f": 0.81})
    assert near == pytest.approx({"e": 0.81, "f": 0.81})
    assert made.nearer({"e": 0.5, "f": 0.81})["e"] == pytest.approx(0.5 + MOST_NEARER)
    assert made.nearer({"e": 0.9, "f": 0.81}) == {"e": 0.9, "f": 0.81}


def test_a_name_in_the_questions_language_does_not_beat_the_answer_in_the_other() -> None:
    dense = {"answer": 0.86, "name": 0.83, "f0": 0.82, "f1": 0.80}
    keyword = {"name": 6.0}
    plain = fuse(dense, keyword)
    assert plain[0].chunk_id == "name"
    across = fuse(dense, keyword, bridge=Bridge(frozenset({"answer"}), 0.25))
    assert across[0].chunk_id == "answer"
    assert all(0 <= chunk.score <= 1 for chunk in across)


def test_an_answer_in_the_questions_language_keeps_its_place() -> None:
    dense = {"answer": 0.86, "e0": 0.85, "e1": 0.84}
    keyword = {"answer": 6.0, "e0": 1.0}
    ranked = fuse(dense, keyword, bridge=Bridge(frozenset({"e0", "e1"}), 0.6))
    assert ranked[0].chunk_id == "answer"
