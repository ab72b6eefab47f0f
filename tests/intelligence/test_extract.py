"""Without a model the answer is what the memories say, word for word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from second_brain.intelligence.extract import first_sentence, quotes
from second_brain.intelligence.sources import Source, Sources


def source(text: str, n: int = 1) -> Source:
    return Source(f"M{n}", f"id{n}", "Title", "2026-12-01", text)


def test_the_sentences_that_meet_the_question_in_their_order() -> None:
    text = (
        "# Boat\n\n- [ ] Paint the hull.\n- The berth is on pontoon C. It rained.\n"
        "1. Pay the berth before May!\n```\nberth = 1\n```\n"
    )
    (quote,) = quotes("Which berth, on which pontoon?", Sources([source(text)]))
    assert quote.text == "The berth is on pontoon C. … Pay the berth before May!"
    assert quote.line() == f"> {quote.text} [id1]"


def test_found_by_meaning_it_is_the_beginning() -> None:
    (quote,) = quotes(
        "Où est mon bateau ?", Sources([source("# A\n\nThe berth is full. It rained.")])
    )
    assert quote.text == "The berth is full."
    assert first_sentence("---\n\n# Only a heading\n") == ""


def test_three_memories_at_most() -> None:
    many = Sources(source(f"Berth {n} is free.", n) for n in range(1, 9))
    assert [quote.source.id for quote in quotes("berth", many)] == ["id1", "id2", "id3"]


@given(st.text(max_size=300), st.text(max_size=40))
def test_every_word_stands_in_the_memory(text: str, query: str) -> None:
    for quote in quotes(query, Sources([source(text)])):
        for part in quote.text.split(" … "):
            assert part in text
