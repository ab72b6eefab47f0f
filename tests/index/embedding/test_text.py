from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from second_brain.index.embedding.text import clean


@given(st.text(st.characters()))
def test_the_result_can_be_encoded_and_holds_no_nul(text: str) -> None:
    found = clean(text, 512)
    assert "\0" not in found
    found.encode("utf-8")


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert clean("caf\ud83d et", 8) == "caf� et"


def test_a_split_surrogate_pair_is_joined() -> None:
    assert clean("a \ud83d\ude00 b", 8) == "a 😀 b"


def test_ordinary_text_is_only_stripped() -> None:
    assert clean("\n  Été à Paris — 12 €.\n", 512) == "Été à Paris — 12 €."


def test_a_huge_text_is_cut() -> None:
    assert len(clean("word " * 4_000_000, 512)) < 20_000


def test_leading_blank_lines_do_not_use_up_the_room() -> None:
    assert clean("\n" * 100 + "text", 8) == "text"
