"""A sentence stays only with a memory that supports it, however the text is cut into pieces."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from second_brain.intelligence.citations import CitationFilter, check, checked
from second_brain.intelligence.sentences import SentenceReader, sentences
from second_brain.intelligence.sources import Source, Sources

BOAT = Source(
    "M1",
    "id-boat",
    "Mooring is on pontoon C",
    "2026-09-28",
    "The berth of Pétrel is on pontoon C, place 31, no longer on pontoon B. It costs 3,500 euros. "
    "See https://port.example/plan.",
)
TEA = Source("M2", "id-tea", "Thé", "2026-10-02", "Salomé préfère le thé vert au café, dit-elle.")
SOURCES = Sources([BOAT, TEA])


@pytest.mark.parametrize(
    "sentence",
    [
        "The berth is on pontoon C, place 31 [M1].",
        "The berth is on pontoon C. [M1]",
        "- **Berth:** pontoon C [m1]",
        "It costs 3500 euros [M1].",
        "Since 28/09/2026 the mooring is on pontoon C [M1].",
        "Salomé préfère le thé vert [M2].",
        "The berth of Pétrel is on pontoon C, and Salomé préfère le thé [M1, M2].",
        "The plan of the pontoon is at https://port.example/plan [M1].",
    ],
)
def test_what_is_supported_stays(sentence: str) -> None:
    kept = check(sentence, SOURCES)
    assert kept is not None
    assert "[" not in kept.text


@pytest.mark.parametrize(
    "sentence",
    [
        "The berth is on pontoon C, place 31.",
        "The berth is on pontoon C, place 31 [M7].",
        "The berth is on pontoon C, place 31 [M1, M7].",
        "The berth is on pontoon C, place 32 [M1].",
        "The berth is on pontoon C [M2].",
        "Your account is locked, call the bank at once [M1].",
        "The berth on pontoon C is paid at https://evil.example/pay [M1].",
        "The berth on pontoon C is paid at evil.com [M1].",
        "The berth is on pontoon C ![x](data) [M1].",
        "The berth is on pontoon C `$= dv.pages()` [M1].",
        "[M1]",
        "Yes [M1].",
        "The berth is on pontoon C [id-boat].",
    ],
)
def test_what_is_not_supported_goes(sentence: str) -> None:
    assert check(sentence, SOURCES) is None


def test_citations_become_ids() -> None:
    (kept,) = checked("The berth is on pontoon C, place 31 [M1].", SOURCES)
    assert kept.marked() == "The berth is on pontoon C, place 31 [id-boat]."


def test_sentences_end_where_a_reader_ends_them() -> None:
    text = (
        "Dr. Smith came at 10.30 [M1]. It rained. [M2] He left, e.g. by boat [M1]!\n"
        "- A point [M2]\n<think>Hmm. Well.</think>« Oui. » Then [M1] it ended"
    )
    assert [sentence.strip() for sentence in sentences(text)] == [
        "Dr. Smith came at 10.30 [M1].",
        "It rained. [M2]",
        "He left, e.g. by boat [M1]!",
        "- A point [M2]",
        "« Oui. »",
        "Then [M1] it ended",
    ]


WORDS = st.sampled_from(
    re.split(
        " ",
        "The berth is on pontoon C place 31 . ! ? \n [M1] [M2] [M9] [ ] M1 thé Salomé <think>"
        " </think> < 3,500 Dr. evil.com e.g. « » … [m1,2] costs euros",
    )
)
TEXTS = st.lists(WORDS, max_size=60).map(" ".join) | st.text(max_size=200)


@given(TEXTS, st.lists(st.integers(1, 9), min_size=1, max_size=20))
@example("The [M1] . » The", [1])
def test_pieces_make_no_difference(text: str, sizes: list[int]) -> None:
    whole, pieces = CitationFilter(SOURCES), CitationFilter(SOURCES)
    whole.feed(text), whole.finish()
    place, turn = 0, 0
    while place < len(text):
        size = sizes[turn % len(sizes)]
        pieces.feed(text[place : place + size])
        place, turn = place + size, turn + 1
    pieces.finish()
    assert [c.marked() for c in pieces.kept] == [c.marked() for c in whole.kept]
    assert pieces.dropped == whole.dropped


@given(TEXTS)
def test_reading_loses_nothing_but_thoughts(text: str) -> None:
    if "<think" in text.casefold() or "</think" in text.casefold():
        return
    reader = SentenceReader()
    found = [*reader.feed(text), *reader.finish()]
    assert re.sub(r"\s", "", "".join(found)) == re.sub(r"\s", "", text)


@given(TEXTS)
def test_nothing_is_cited_that_was_not_given(text: str) -> None:
    for kept in checked(text, SOURCES):
        assert kept.sources
        assert {source.id for source in kept.sources} <= {"id-boat", "id-tea"}
        assert not re.search(r"\[\s*[mM]\d", kept.text)
        assert "evil" not in kept.text
        numbers = set(re.findall(r"\d+", kept.text.replace("3,500", "")))
        assert numbers <= {"31", "2026", "9", "09", "28", "10", "2", "3", "500"}


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz ", min_size=20, max_size=80))
def test_words_from_elsewhere_are_no_support(words: str) -> None:
    kept = check(f"{words} [M1].", SOURCES)
    if kept is not None:
        here = set(BOAT.all_text.casefold().replace(",", " ").replace(".", " ").split())
        assert any(word[:3] == other[:3] for word in words.split() for other in here)
