from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.index.embedding import unigram
from second_brain.index.embedding.unigram import UnigramTokenizer

PIECES = [
    ("<s>", 0.0),
    ("<pad>", 0.0),
    ("</s>", 0.0),
    ("<unk>", 0.0),
    ("▁", -3.0),
    ("a", -4.0),
    ("b", -4.0),
    ("ab", -5.0),
    ("▁ab", -6.0),
    ("▁a", -5.0),
    ("c", -9.0),
]


@pytest.fixture
def small(tmp_path: Path) -> UnigramTokenizer:
    unigram.save(tmp_path, PIECES)
    return UnigramTokenizer(tmp_path, bos=0, eos=2, unknown=3, special=4)


@pytest.fixture(scope="module")
def both(unpacked: Path) -> tuple[UnigramTokenizer, Any]:
    """The tokenizer of ours and the library's on the default model's vocabulary."""
    from tokenizers import Tokenizer

    library = Tokenizer.from_file(str(unpacked / "tokenizer.json"))
    library.enable_truncation(512)
    return UnigramTokenizer(unpacked, bos=0, eos=2, unknown=3, special=4), library


def words(tokenizer: UnigramTokenizer, text: str, limit: int = 512) -> list[str]:
    return [PIECES[n][0] for n in tokenizer.encode(text, limit)]


def test_takes_the_likeliest_segmentation(small: UnigramTokenizer) -> None:
    assert words(small, "ab") == ["<s>", "▁ab", "</s>"]
    assert words(small, "abab") == ["<s>", "▁ab", "ab", "</s>"]


def test_neighbouring_unknown_characters_are_one_token(small: UnigramTokenizer) -> None:
    assert words(small, "axyzb") == ["<s>", "▁a", "<unk>", "b", "</s>"]


def test_white_space_counts_once(small: UnigramTokenizer) -> None:
    assert words(small, "ab \n\t ab") == ["<s>", "▁ab", "▁ab", "</s>"]


def test_special_tokens_in_a_text_are_text(small: UnigramTokenizer) -> None:
    assert words(small, "</s>") == ["<s>", "▁", "<unk>", "</s>"]


def test_empty_text_is_the_mark_alone(small: UnigramTokenizer) -> None:
    assert words(small, "") == ["<s>", "▁", "</s>"]


def test_cuts_at_the_limit_and_still_ends_well(small: UnigramTokenizer) -> None:
    assert words(small, "ab " * 50, limit=5) == ["<s>", "▁ab", "▁ab", "▁ab", "</s>"]


def test_a_piece_with_a_line_break_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line break"):
        unigram.save(tmp_path, [("a\nb", 0.0)])


@pytest.mark.parametrize(
    "text",
    [
        "passage: Dentist on Thursday at 15:30, bring the X-rays.",
        "passage: Le mot de passe du wifi de l'atelier est collé sur le frigo.",
        "passage: # Réunion\r\n\r\n- [ ] relancer Paul\n- [x] envoyer le devis (#149)",
        "query: 東京への旅行は四月の第二週に決まりました。",
        "passage: ﬁn de l’année ½ Ⅻ ｆｕｌｌ e\u0301te\u0301",
        "passage: zero\u200bwidth\u00a0and\u00adsoft\x07bell 👩‍👩‍👧 🇫🇷",
        "passage: " + "A" * 300,
        "passage: " + "lorem ipsum dolor " * 400,
        "passage: ",
    ],
)
def test_agrees_with_the_library(both: tuple[UnigramTokenizer, Any], text: str) -> None:
    ours, library = both
    assert ours.encode(text, 512) == library.encode(text).ids


# Characters since Unicode 14 are left out: the library's tables and Python's may differ on them.
@given(st.text(st.characters(codec="utf-8", max_codepoint=0x2FFF, exclude_categories=["Cn"])))
def test_agrees_with_the_library_on_any_text(both: tuple[UnigramTokenizer, Any], text: str) -> None:
    ours, library = both
    assert ours.encode("passage: " + text, 512) == library.encode("passage: " + text).ids
