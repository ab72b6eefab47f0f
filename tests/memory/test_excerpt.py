"""Cutting texts to a budget."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from second_brain.memory.excerpt import excerpt, shares

LEAST = 200


@given(st.lists(st.integers(0, 50_000), max_size=40), st.integers(0, 100_000))
def test_nobody_gets_more_than_it_has_and_all_together_keep_to_the_budget(
    lengths: list[int], budget: int
) -> None:
    given_ = shares(lengths, budget)
    assert len(given_) == len(lengths)
    assert all(0 <= got <= length for length, got in zip(lengths, given_, strict=True))
    assert sum(given_) <= budget
    if budget >= LEAST * len(lengths):
        assert all(got >= min(length, LEAST) for length, got in zip(lengths, given_, strict=True))


def test_a_small_budget_serves_the_best_first() -> None:
    assert shares([1_000, 90, 1_000, 1_000], 400) == [200, 90, 110, 0]


@given(st.lists(st.integers(0, 5_000), min_size=1, max_size=20), st.integers(0, 100_000))
@example([0, 201], 201)
def test_what_fits_is_not_cut_and_a_rest_is_used(lengths: list[int], budget: int) -> None:
    given_ = shares(lengths, budget)
    if sum(lengths) <= budget:
        assert given_ == lengths
    elif budget >= LEAST * len(lengths):
        assert budget - sum(given_) < len(lengths)


def test_short_texts_leave_their_share_to_the_long_ones() -> None:
    assert shares([10_000, 100, 100], 5_200) == [5_000, 100, 100]
    assert shares([], 100) == []


TEXTS = st.text(st.sampled_from("ab c\n日é👩"), max_size=400)


@given(TEXTS, st.data())
def test_an_excerpt_is_a_part_of_the_text_and_no_longer_than_asked(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    passage = text[start : data.draw(st.integers(start, len(text)))]
    limit = data.draw(st.integers(1, 500))
    cut = excerpt(text, passage, limit)
    assert len(cut) <= limit + 2
    if len(text) <= limit:
        assert cut == text
    else:
        assert cut.removeprefix("…").removesuffix("…") in text


@given(TEXTS, TEXTS, TEXTS)
def test_a_passage_that_fits_is_in_the_excerpt(before: str, passage: str, after: str) -> None:
    text = before + passage + after
    cut = excerpt(text, passage, max(1, 2 * len(passage)))
    assert passage.strip() in cut


def test_words_and_lines_stay_whole_and_gaps_are_marked() -> None:
    text = "first line here\nsecond line there\nthird line where"
    assert excerpt(text, "second line", 18) == "…second line there…"
    assert excerpt("one two three four", "", 9) == "one two…"
    assert excerpt("short", "", 9) == "short"
    assert excerpt("the text changed since", "not in it", 8).startswith("the text")
