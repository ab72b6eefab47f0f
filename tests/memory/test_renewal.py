"""An older memory yields to a newer one of the same content, and to no other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from second_brain.memory.rank import Scored, Signals
from second_brain.memory.renewal import REACH, renew

DAY = 86_400_000
NOW = 2_000 * DAY


def unit(angle: float) -> NDArray[np.float32]:
    return np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)


def order(
    scores: list[float], angles: list[float], ages: list[float], **signals: object
) -> list[str]:
    ranked = [Scored(f"n{n}", score, f"n{n}#0", {}) for n, score in enumerate(scores)]
    vectors = {f"n{n}": unit(angle) for n, angle in enumerate(angles)}
    known = {f"n{n}": Signals(NOW - int(age * DAY)) for n, age in enumerate(ages)}
    known.update({id: value for id, value in signals.items() if isinstance(value, Signals)})
    return [entry.note_id for entry in renew(ranked, vectors, known, 0.95)]


def test_the_newer_of_two_alike_comes_first() -> None:
    assert order([0.9, 0.8], [0, 0.1], [400, 3]) == ["n1", "n0"]


def test_the_newest_of_many_versions_comes_first() -> None:
    assert order([0.9, 0.85, 0.8], [0, 0.1, 0.2], [400, 90, 3]) == ["n2", "n1", "n0"]


@pytest.mark.parametrize(
    ("scores", "angles", "ages"),
    [
        ([0.9, 0.9 - REACH - 0.01], [0, 0.1], [400, 3]),  # a much weaker match
        ([0.9, 0.8], [0, 0.9], [400, 3]),  # about something else
        ([0.9, 0.8], [0, 0.1], [3, 400]),  # the first is the newer one
        ([0.9, 0.8], [0, 0.1], [3.2, 3.0]),  # of the same day
    ],
)
def test_otherwise_nothing_moves(
    scores: list[float], angles: list[float], ages: list[float]
) -> None:
    assert order(scores, angles, ages) == ["n0", "n1"]


def test_a_draft_or_a_replaced_one_replaces_nothing() -> None:
    draft = Signals(NOW, status="draft")
    assert order([0.9, 0.8], [0, 0.1], [400, 3], n1=draft) == ["n0", "n1"]
    replaced = Signals(NOW, superseded=True)
    assert order([0.9, 0.8], [0, 0.1], [400, 3], n1=replaced) == ["n0", "n1"]


def test_it_says_why() -> None:
    ranked = [Scored("old", 0.9, "old#0", {}), Scored("new", 0.8, "new#0", {})]
    vectors = {"old": unit(0), "new": unit(0)}
    known = {"old": Signals(0), "new": Signals(NOW)}
    last = renew(ranked, vectors, known, 0.95)[-1]
    assert last.note_id == "old"
    assert last.parts["yields"] == pytest.approx(0.1, abs=1e-4)
    assert renew(ranked, {}, known, 0.95) == ranked
