"""The full-text index in memory weighs as BM25 over exactly the passages that it holds."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lance_tables import row, with_table

from second_brain.index.analyze import parse_query
from second_brain.index.passages import ChunkRow, SearchFilter
from second_brain.index.postings import (
    FEW,
    K1,
    NEAR,
    PAIR,
    B,
    Postings,
)
from second_brain.index.table import ChunkTable

WORDS = ["a", "b", "c", "d"]
passages = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=12),
    # Long ones, of which only some words are asked for.
    st.lists(st.sampled_from([*WORDS, *["other"] * 30]), min_size=70, max_size=110),
)
changes = st.lists(st.tuples(st.integers(0, 300), passages), max_size=25)


SPELLED = st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=3, unique=True)
ASKED = st.sets(SPELLED.map(tuple))


def expected(texts: dict[int, list[str]], asked: list[tuple[str, ...]], place: int) -> float:
    own = texts.get(place, [])
    mean = sum(map(len, texts.values())) / len(texts)

    def value(often: int, holding: int) -> float:
        if not often:
            return 0.0
        idf = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        length = (len(own) + FEW) / (mean + FEW)
        return idf * often * (K1 + 1) / (often + K1 * (1 - B + B * length))

    def worth(term: str) -> float:
        return value(own.count(term), sum(term in text for text in texts.values()))

    def pair(first: tuple[str, ...], second: tuple[str, ...], within: int) -> float:
        # Which of the two is the rarer is told by all passages together.
        every = sum(sum(term in first for term in text) for text in texts.values())
        other = sum(sum(term in second for term in text) for text in texts.values())
        if set(first) & set(second) or not every or not other:
            return 0.0
        rare, common = (first, second) if every <= other else (second, first)

        def often(text: list[str]) -> int:
            beside = [n for n, term in enumerate(text) if term in common]
            return sum(
                any(abs(n - m) <= within for m in beside)
                for n, term in enumerate(text)
                if term in rare
            )

        return PAIR * value(often(own), sum(often(text) > 0 for text in texts.values()))

    beside = sum(pair(first, second, NEAR) for first, second in pairwise(asked))
    words = sum(max(worth(term) for term in word) for word in asked)
    return words + beside


@given(changes, ASKED)
def test_the_weights_are_those_of_what_was_put_last(
    made: list[tuple[int, list[str]]], asked: set[tuple[str, ...]]
) -> None:
    postings, texts = Postings(), dict[int, list[str]]()
    for place, words in made:
        if words:
            # Beside another passage, as a note's are put together.
            postings.put({place: " ".join(words), 302 + place % 3: "a b"})
            texts |= {place: words, 302 + place % 3: ["a", "b"]}
        else:
            postings.remove(place)
            texts.pop(place, None)
    weights = postings.weigh(sorted(asked), 305)
    assert len(postings) == len(texts)
    for place in range(305):
        wanted = expected(texts, sorted(asked), place) if texts else 0.0
        assert weights[place] == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_nothing_is_left_of_what_was_removed() -> None:
    postings = Postings()
    postings.put({0: "one two two"})
    postings.put({1: "two"})
    postings.put({0: "three"})
    postings.remove(1)
    postings.remove(0)
    postings.remove(99_999)
    assert len(postings) == 0
    assert not np.any(postings.weigh([("one", "two"), ("three",)], 2))
    assert postings._terms == {}


def test_passages_share_the_strings_of_their_terms() -> None:
    postings = Postings()
    for place in range(2):
        postings.put({place: "".join(["har", "bour ", "ferr", "y"])})
    for one, other in zip(postings._held[0], postings._held[1], strict=True):
        assert one is other


def test_a_term_that_fills_a_passage_is_counted_to_the_end() -> None:
    postings = Postings()
    postings.put({70_000: "x " * 70_000})
    assert postings.weigh([("x",)], 70_001)[70_000] > 0


def test_real_sentences_are_found_as_in_the_table(tmp_path: Path) -> None:
    dice = random.Random(5)
    vocabulary = ["harbour", "ferry", "budget", "café", "été", "v1.9", "#149", "sails", "東京"]
    texts = [" ".join(dice.choices(vocabulary, k=dice.randint(1, 60))) for _ in range(60)]
    rows: dict[str, list[ChunkRow]] = {
        f"n{n}": [row(f"n{n}", text=text)] for n, text in enumerate(texts)
    }

    async def test(table: ChunkTable) -> None:
        await table.replace_notes(rows)
        await table.optimize()
        assert table._resident is not None
        for question in ("the budget for the roof", "v1.9", "été à Tokyo 東京", "sail"):
            asked = parse_query(question)
            in_memory = await table.text_search(asked, SearchFilter(), 100)
            resident, table._resident = table._resident, None
            from_disk = await table.text_search(asked, SearchFilter(), 100)
            table._resident = resident
            assert from_disk
            assert {hit.id for hit in in_memory} == {hit.id for hit in from_disk}

    with_table(tmp_path, test)


def test_the_spellings_of_one_word_count_once() -> None:
    postings = Postings()
    postings.put({0: "nation national nationaux"})
    postings.put({1: "nation museum"})
    once = postings.weigh([("nation", "national", "nationaux")], 2)
    added = postings.weigh([("nation",), ("national",), ("nationaux",)], 2)
    assert 0 < once[0] < added[0]
    assert once[1] > 0


def test_a_piece_of_an_identifier_said_often_is_less_than_all_of_it_said_once() -> None:
    postings = Postings()
    postings.put({0: "adr016 adr 016 16 and some text about it", 1: "entri 16 " * 12})
    postings.put({place: f"entri {place} of something else" for place in range(2, 60)})
    asked = parse_query("ADR-016")
    weights = postings.weigh(asked.words, 60, asked.parts)
    assert weights[0] > weights[1] > 0


def test_a_word_said_in_passing_is_no_better_match_than_the_same_words_in_a_sentence() -> None:
    postings = Postings()
    postings.put({0: "harbour yes"})
    postings.put({1: "the harbour of the island opens its ferry budget today for all of us"})
    for place in range(2, 30):
        postings.put({place: "something else that is of some length and speaks of no such thing"})
    short, long = postings.weigh([("harbour",)], 2)
    assert short < 1.2 * long
