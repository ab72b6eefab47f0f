"""Memories of one episode lend each other relevance, within bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.index.episodes import Around
from second_brain.memory.lending import (
    LENDERS,
    LENDS_ABOVE,
    LENT_MOST,
    TO_EARLIER,
    TO_LATER,
    TRUSTED_FROM,
    lend,
    lenders,
)
from second_brain.memory.rank import Scored

SCORES = st.lists(st.floats(0, 1.05), min_size=1, max_size=12)


def scored(*scores: float) -> list[Scored]:
    return [Scored(f"n{i}", score, f"n{i}#0", {}) for i, score in enumerate(scores)]


def test_what_follows_a_good_match_is_lent_most() -> None:
    around = {"n0": Around(before=("b1", "b2"), after=("a1", "a2"))}
    lent = {entry.note_id: entry for entry in lend(scored(1.0), around)}
    assert lent["n0"].score == 1.0
    assert lent["a1"].score > lent["a2"].score > 0
    assert lent["a1"].score > lent["b1"].score > lent["b2"].score > 0
    assert lent["a1"].best_chunk == ""
    assert lent["a1"].parts["episode_bonus"] == lent["a1"].score


def test_of_equal_matches_the_one_amid_others_comes_first() -> None:
    around = {"n1": Around(before=("n2",)), "n2": Around(after=("n1",))}
    ranked = lend(scored(0.6, 0.6, 0.5), around)
    assert [entry.note_id for entry in ranked] == ["n1", "n2", "n0"]
    assert ranked[0].parts["episode_bonus"] == pytest.approx(TO_LATER[0] * 0.2, rel=0.3)


def test_who_has_no_neighbours_is_left_as_it_is() -> None:
    entries = scored(0.9, 0.4)
    assert lend(entries, {}) == entries


def test_what_is_middling_lends_nothing() -> None:
    entries = scored(LENDS_ABOVE)
    assert lend(entries, {"n0": Around(after=("x",))}) == entries


def test_matches_that_hold_none_of_the_words_lend_nothing() -> None:
    around = {"n0": Around(after=("x",))}
    full = {e.note_id: e.score for e in lend(scored(1.0), around, TRUSTED_FROM)}
    half = {e.note_id: e.score for e in lend(scored(1.0), around, TRUSTED_FROM / 2)}
    assert 0 < half["x"] < full["x"]
    assert [e.note_id for e in lend(scored(1.0), around, 0.0) if e.score] == ["n0"]


def test_only_the_best_lend() -> None:
    entries = scored(*([0.9] * (LENDERS + 5)), 0.1)
    assert lenders(entries) == entries[:LENDERS]
    assert lenders(entries[-1:]) == []


@given(SCORES)
def test_nobody_is_lent_more_than_the_most(scores: list[float]) -> None:
    entries = scored(*sorted(scores, reverse=True))
    ids = [entry.note_id for entry in entries]
    around = {
        id: Around(before=tuple(ids[max(0, n - 4) : n][::-1]), after=tuple(ids[n + 1 : n + 5]))
        for n, id in enumerate(ids)
    }
    before = {entry.note_id: entry.score for entry in entries}
    ranked = lend(entries, around)
    assert [entry.score for entry in ranked] == sorted((e.score for e in ranked), reverse=True)
    for entry in ranked:
        assert before[entry.note_id] <= entry.score <= before[entry.note_id] + LENT_MOST


def test_shares_fall_with_the_distance() -> None:
    for shares in (TO_LATER, TO_EARLIER):
        assert list(shares) == sorted(shares, reverse=True)
    assert all(later >= earlier for later, earlier in zip(TO_LATER, TO_EARLIER, strict=True))
