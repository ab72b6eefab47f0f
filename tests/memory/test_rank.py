"""Ranking: what fuses, what moves and what must never move; every step on plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from second_brain.memory.rank import (
    COLLAPSE_BONUS,
    MAX_EDGES,
    MAX_NODES,
    REORDER_MARGIN,
    TIE,
    FusedChunk,
    Neighbour,
    Scored,
    Signals,
    adjust,
    collapse,
    contenders,
    coverage,
    diversify,
    evidence,
    expand,
    fuse,
    percent,
    recency,
    standing,
)

DAY = 86_400_000
NOW = 2_000 * DAY

UNIT = st.floats(0, 1)
SIGNALS = st.builds(
    Signals,
    created_at=st.integers(0, NOW),
    tags=st.lists(st.sampled_from(["task", "work", "context", "boat", "work/x"])).map(tuple),
    status=st.sampled_from(["canonical", "draft", "deprecated", None]),
    importance=st.sampled_from([1, 2, 3, 4, 5, None]),
    recalls=st.integers(0, 10_000),
    superseded=st.booleans(),
)


def scored(*scores: float) -> list[Scored]:
    return [Scored(f"n{i}", score, f"n{i}#0", {}) for i, score in enumerate(scores)]


def ids(entries: Sequence[Scored]) -> list[str]:
    return [entry.note_id for entry in entries]


# --- fuse ----------------------------------------------------------------------------------------


def test_both_searches_share_by_weight() -> None:
    fused = fuse({"a": 0.90, "b": 0.85, "c": 0.80}, {"b": 12.0, "d": 6.0})
    scores = {chunk.chunk_id: chunk.score for chunk in fused}
    assert scores == pytest.approx({"a": 0.4, "b": 0.4 * 0.5 + 0.6, "c": 0.0, "d": 0.3})
    assert [chunk.chunk_id for chunk in fused] == ["b", "a", "d", "c"]
    best = fused[0]
    assert (best.dense, best.keyword) == pytest.approx((0.5, 1.0))


@pytest.mark.parametrize("absent", [None, {}])
def test_one_search_alone_has_all_the_weight(absent: dict[str, float] | None) -> None:
    assert [c.score for c in fuse({"a": 0.9, "b": 0.8}, absent)] == [1.0, 0.0]
    assert [c.score for c in fuse(absent, {"a": 9.0, "b": 3.0})] == pytest.approx([1.0, 1 / 3])
    assert fuse(absent, absent) == []


def test_equal_scores_are_all_the_best_and_ordered_by_id() -> None:
    fused = fuse({"b": 0.8, "a": 0.8}, None)
    assert [(chunk.chunk_id, chunk.score) for chunk in fused] == [("a", 1.0), ("b", 1.0)]


def test_keyword_scores_of_zero_are_no_match() -> None:
    assert [c.score for c in fuse({"a": 0.9}, {"b": 0.0})] == [1.0]


@given(
    st.dictionaries(st.text(max_size=3), st.floats(-1, 1), max_size=12),
    st.dictionaries(st.text(max_size=3), st.floats(0, 60), max_size=12),
)
def test_fused_scores_lie_between_0_and_1(dense: dict[str, float], bm25: dict[str, float]) -> None:
    fused = fuse(dense, bm25)
    assert all(0 <= chunk.score <= 1 + 1e-9 for chunk in fused)
    assert [c.score for c in fused] == sorted((c.score for c in fused), reverse=True)


# --- collapse ------------------------------------------------------------------------------------


def chunk(id: str, score: float) -> FusedChunk:
    return FusedChunk(id, score, score, score)


def note(chunk_id: str) -> str:
    return chunk_id.partition("#")[0]


def test_a_memory_is_its_best_chunk_and_a_little_more() -> None:
    memories = collapse([chunk("a#3", 0.8), chunk("b#0", 0.8), chunk("a#0", 0.4)], note)
    assert ids(memories) == ["a", "b"]
    assert memories[0].best_chunk == "a#3"
    assert memories[0].score == pytest.approx(0.8 + 0.05 * 0.8 * (1 - 1 / 1.5))
    assert memories[1].score == 0.8
    assert memories[0].parts["chunks"] == 2


def test_many_weak_chunks_never_beat_a_better_one() -> None:
    many = [chunk(f"a#{n}", 0.7) for n in range(500)]
    assert ids(collapse([chunk("b#0", 0.75), *many], note)) == ["b", "a"]


@given(st.lists(st.tuples(st.sampled_from("abc"), UNIT), max_size=30))
def test_the_bonus_is_bounded(pairs: list[tuple[str, float]]) -> None:
    best_first = sorted(pairs, key=lambda pair: -pair[1])
    chunks = [chunk(f"{id}#{n}", score) for n, (id, score) in enumerate(best_first)]
    for memory in collapse(chunks, note):
        best = max(c.score for c in chunks if note(c.chunk_id) == memory.note_id)
        assert best <= memory.score <= best * (1 + COLLAPSE_BONUS) + 1e-12


# --- recency, standing, adjust -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signals", "half_life", "floor"),
    [
        (Signals(0), 30, 0.60),
        (Signals(0, tags=("work",)), 90, 0.60),
        (Signals(0, tags=("work/harbour",)), 90, 0.60),
        (Signals(0, tags=("Context",)), 180, 0.60),
        (Signals(0, tags=("task",)), 7, 0.15),
        (Signals(0, tags=("#tasks",)), 7, 0.15),
        (Signals(0, status="canonical"), 30, 0.90),
        (Signals(0, importance=4), 30, 0.90),
        (Signals(0, importance=3), 30, 0.60),
    ],
)
def test_half_lives_and_floors(signals: Signals, half_life: int, floor: float) -> None:
    assert recency(signals, 0) == 1
    assert recency(signals, half_life * DAY) == pytest.approx((1 + floor) / 2)
    assert recency(signals, 100_000 * DAY) == pytest.approx(floor)


def test_a_date_in_the_future_is_new() -> None:
    assert recency(Signals(created_at=10 * DAY), 0) == 1


def test_standing_rises_with_importance_status_and_use_within_bounds() -> None:
    assert standing(Signals(0)) == pytest.approx(0.475 + 0.025)
    best = Signals(0, status="canonical", importance=5, recalls=10**9)
    worst = Signals(0, status="deprecated", importance=1)
    assert standing(best) == pytest.approx(1)
    assert standing(worst) == pytest.approx(0.05)
    assert standing(Signals(0, recalls=3)) > standing(Signals(0))


def test_among_equal_matches_the_newer_comes_first() -> None:
    ages = {"n0": Signals(NOW - 400 * DAY), "n1": Signals(NOW - DAY)}
    assert ids(adjust(scored(0.80, 0.79), ages, NOW)) == ["n1", "n0"]


def test_what_is_superseded_yields_to_what_replaced_it() -> None:
    known = {"n0": Signals(NOW, superseded=True), "n1": Signals(NOW - 300 * DAY)}
    assert ids(adjust(scored(0.80, 0.79), known, NOW)) == ["n1", "n0"]


def test_an_old_task_yields_but_not_to_a_much_weaker_match() -> None:
    old = {"n0": Signals(0, tags=("task",)), "n1": Signals(NOW)}
    assert ids(adjust(scored(0.80, 0.75), old, NOW)) == ["n1", "n0"]
    assert ids(adjust(scored(0.80, 0.68), old, NOW)) == ["n0", "n1"]


def test_every_number_is_explained() -> None:
    entry = adjust(scored(0.8), {"n0": Signals(NOW - 30 * DAY)}, NOW)[0]
    parts = entry.parts
    assert parts["recency"] == pytest.approx(0.8)
    assert entry.score == pytest.approx(
        parts["relevance"] - parts["age_loss"] - parts["standing_loss"]
    )


def test_an_unknown_memory_is_left_as_it_is() -> None:
    assert adjust(scored(0.8), {}, NOW) == scored(0.8)


@given(UNIT, UNIT, SIGNALS, SIGNALS)
def test_a_clearly_better_match_is_never_buried(
    one: float, other: float, first: Signals, second: Signals
) -> None:
    better, worse = max(one, other), min(one, other)
    if better - worse <= REORDER_MARGIN + 1e-9:
        return
    ranked = adjust(scored(worse, better), {"n0": first, "n1": second}, NOW)
    assert ids(ranked) == ["n1", "n0"]


# --- diversify -----------------------------------------------------------------------------------


def vector(*values: float) -> NDArray[np.float32]:
    array = np.array(values, dtype=np.float32)
    return array / np.linalg.norm(array)


def test_of_near_ties_the_one_that_adds_something_comes_first() -> None:
    vectors = {"n0": vector(1, 0), "n1": vector(1, 0.01), "n2": vector(0, 1)}
    assert ids(diversify(scored(0.90, 0.89, 0.87), vectors, 3)) == ["n0", "n2", "n1"]


def test_a_clearly_better_match_keeps_its_place_even_if_it_repeats() -> None:
    vectors = {"n0": vector(1, 0), "n1": vector(1, 0), "n2": vector(0, 1)}
    assert ids(diversify(scored(0.90, 0.89, 0.80), vectors, 3)) == ["n0", "n1", "n2"]


def test_memories_without_a_vector_are_ranked_as_they_are() -> None:
    assert ids(diversify(scored(0.9, 0.89, 0.88), {}, 2)) == ["n0", "n1"]


def test_two_of_one_subject_stay_where_they_are() -> None:
    def at(degrees: float) -> NDArray[np.float32]:
        angle = math.radians(degrees)
        return np.array([math.cos(angle), math.sin(angle)], dtype=np.float32)

    vectors = {"n0": at(0), "n1": at(30), "n2": at(80)}
    assert ids(diversify(scored(0.90, 0.89, 0.87), vectors, 3)) == ["n0", "n2", "n1"]
    assert ids(diversify(scored(0.90, 0.89, 0.87), vectors, 3, alike=0.9)) == ["n0", "n1", "n2"]
    vectors["n1"] = at(5)
    assert ids(diversify(scored(0.90, 0.89, 0.87), vectors, 3, alike=0.9)) == ["n0", "n2", "n1"]


def test_of_nothing_nothing_is_chosen() -> None:
    assert diversify([], {}, 5) == []
    assert diversify(scored(0.9), {}, 0) == []


@given(st.lists(UNIT, min_size=1, max_size=12), st.randoms(), st.integers(1, 15))
def test_diversity_only_reorders_near_ties(scores: list[float], random: object, limit: int) -> None:
    ranked = scored(*sorted(scores, reverse=True))
    rng = np.random.default_rng(len(scores))
    vectors = {entry.note_id: vector(*rng.normal(size=4)) for entry in ranked}
    result = diversify(ranked, vectors, limit)
    assert result[0] == ranked[0]
    assert len(result) == min(limit, len(ranked))
    assert len(set(ids(result))) == len(result)
    for place, entry in enumerate(result):
        left = [e.score for e in ranked if e not in result[:place]]
        assert entry.score >= max(left) - TIE


# --- expand --------------------------------------------------------------------------------------


def test_each_hop_passes_on_a_share() -> None:
    graph = {"a": [Neighbour("b"), Neighbour("c", 0.5)], "b": [Neighbour("d"), Neighbour("a")]}
    reached = expand({"a": 0.5}, lambda id: graph.get(id, []), 2)
    assert [(r.note_id, r.hop, r.via) for r in reached] == [
        ("b", 1, "a"),
        ("d", 2, "b"),
        ("c", 1, "a"),
    ]
    assert [r.score for r in reached] == pytest.approx([0.3, 0.18, 0.15])


def test_no_hops_reach_nothing_and_three_are_the_most() -> None:
    chain = {str(n): [Neighbour(str(n + 1))] for n in range(9)}
    assert expand({"0": 1.0}, lambda id: chain.get(id, []), 0) == []
    assert [r.note_id for r in expand({"0": 1.0}, lambda id: chain.get(id, []), 9)] == list("123")


def test_a_linked_memory_never_stands_above_a_direct_match() -> None:
    reached = expand({"a": 0.9, "z": 0.2}, lambda id: [Neighbour("b", 3.0)], 1)
    assert [r.score for r in reached] == [0.2]


def test_the_heaviest_edges_and_fifty_memories_are_the_most() -> None:
    def wide(id: str) -> list[Neighbour]:
        return [Neighbour(f"{id}.{n}", n / 20) for n in range(20)]

    first = expand({"a": 1.0}, wide, 1)
    assert len(first) == MAX_EDGES
    assert {r.note_id for r in first} == {f"a.{n}" for n in range(12, 20)}
    assert len(expand({"a": 1.0}, wide, 3)) == MAX_NODES


@given(
    st.dictionaries(st.sampled_from("abcdef"), UNIT, max_size=4),
    st.dictionaries(
        st.sampled_from("abcdef"),
        st.lists(st.builds(Neighbour, st.sampled_from("abcdef"), st.floats(-1, 2)), max_size=5),
    ),
    st.integers(-1, 5),
)
def test_expansion_is_bounded(
    direct: dict[str, float], graph: dict[str, list[Neighbour]], hops: int
) -> None:
    reached = expand(direct, lambda id: graph.get(id, []), hops)
    assert not {r.note_id for r in reached} & set(direct)
    assert len({r.note_id for r in reached}) == len(reached)
    for r in reached:
        assert 1 <= r.hop <= max(0, min(hops, 3))
        assert 0 <= r.score <= min(direct.values())


# --- scale ---------------------------------------------------------------------------------------


def test_coverage_counts_distinct_terms() -> None:
    assert coverage(["boat", "oil", "boat"], ["oil", "sand"]) == 0.5
    assert coverage([], ["oil"]) == 0


def test_only_meaning_and_words_together_reach_one() -> None:
    assert evidence(100, 1) == 1
    assert evidence(100, 0) == pytest.approx(0.9)
    assert evidence(None, 1) == pytest.approx(0.9)
    assert evidence(85, None) == pytest.approx(0.765)
    assert evidence(60, 0.5) == pytest.approx(0.54)
    assert evidence(None, None) == 0
    assert evidence(140, 2) == 1


def test_the_best_stands_for_its_own_evidence_and_the_rest_for_their_share() -> None:
    assert percent([1.04, 0.52, 0.0], 0.8) == [80.0, 40.0, 0.0]
    assert percent([0.5], 1.0) == [100.0]
    assert percent([0.0, 0.0], 1.0) == [0.0, 0.0]
    assert percent([], 1.0) == []
    assert percent([5e-324, 0.0], 1.0) == [100.0, 0.0]


@given(st.lists(st.floats(0, 1.05), max_size=20), UNIT)
def test_percent_keeps_the_order_within_the_scale(scores: list[float], best: float) -> None:
    ordered = sorted(scores, reverse=True)
    shown = percent(ordered, best)
    assert shown == sorted(shown, reverse=True)
    assert all(0 <= score <= 100 for score in shown)


@given(
    st.lists(st.floats(0, 1), max_size=30),
    st.integers(1, 8),
    st.data(),
)
def test_who_is_no_contender_would_not_have_got_a_place(
    relevances: list[float], places: int, data: st.DataObject
) -> None:
    ordered = sorted(relevances, reverse=True)
    scored = [Scored(f"n{n:02}", score, f"n{n:02}#0", {}) for n, score in enumerate(ordered)]
    signals = {
        entry.note_id: Signals(
            created_at=data.draw(st.integers(0, 10**12)), superseded=data.draw(st.booleans())
        )
        for entry in scored
    }
    few = contenders(scored, places)
    of_all = adjust(scored, signals, 10**12)[:places]
    assert adjust(few, signals, 10**12)[:places] == of_all
