"""Which characters of a note are prose, and where its headings are."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.vault.markdown import MASK, MAX_SCANNED, mask, scan

MARKUP = st.text(alphabet="ab #`$%<!->[](){}|\\\n\r\t~=:/é.1", max_size=80)


def visible(text: str) -> str:
    """The prose that is left, with single spaces."""
    return " ".join(scan(text).text.replace(MASK, " ").split())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a `x` b", "a b"),
        ("a ``x ` y`` b", "a b"),
        ("a ` b", "a ` b"),
        ("- a ` b\n- c ` d", "- a ` b - c ` d"),
        ("```\nx\n```\nb", "b"),
        ("~~~py\nx\n~~~\nb", "b"),
        ("> ```\n> x\n> ```\n> b", "> b"),
        ("- a\n  ```\n  x\n  ```\n- b", "- a - b"),
        ("```\nunclosed\n\nx", ""),
        ("a\n\n    x\n\nb", "a b"),
        ("- a\n\n    continued", "- a continued"),
        ("a %% x %% b", "a b"),
        ("a\n\n%%\nx\n\nx\n%%\n\nb", "a b"),
        ("100 %% of a", "100 %% of a"),
        ("a <!-- x --> b", "a b"),
        ("<!-- x\n\nx -->\nb", "b"),
        ("a <!-- b\n\nc --> d", "a <!-- b c --> d"),
        ("<div>\nx\n</div>\n\nb", "b"),
        ("a $x$ b", "a b"),
        ("a\n$$\nx\n\nx\n$$\nb", "a b"),
        ("it cost $5 and then $6 more", "it cost $5 and then $6 more"),
        ("a \\$5$ b", "a 5$ b"),
        ("see https://e.org/x#y, b", "see b"),
        ("see <https://e.org/#y> b", "see < > b"),
        ('a <span title="x">b</span> c', "a b c"),
        ("a < b and c > d", "a < b and c > d"),
        ("[[A$1]] and [[B$2]]", "[[A$1]] and [[B$2]]"),
        ("[a](<My Note.md>)", "[a](<My Note.md>)"),
        ("`[[x]]` [[y]]", "[[y]]"),
        ("\\[[x]] [[y]]", "[x]] [[y]]"),
        ("| [[a\\|b]] |\n|---|", "| [[a\\|b]] | |---|"),
        ("[^1]: see [[x]]", "[^1]: see [[x]]"),
        ("a \\` b ` c", "a b ` c"),
    ],
)
def test_only_prose_is_left(text: str, left: str) -> None:
    assert visible(text) == left


@given(st.one_of(MARKUP, st.text(max_size=80)))
def test_masking_keeps_length_and_lines(text: str) -> None:
    masked = scan(text).text
    assert len(masked) == len(text)
    assert all(m in (c, MASK) for m, c in zip(masked, text, strict=True))
    assert [i for i, c in enumerate(masked) if c in "\r\n"] == [
        i for i, c in enumerate(text) if c in "\r\n"
    ]


def test_mask_blanks_spans_but_not_line_ends() -> None:
    assert mask("ab\r\ncd", [(1, 5)]) == f"a{MASK}\r\n{MASK}d"


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_headings_have_level_text_and_offset(eol: str) -> None:
    text = eol.join(
        ["# One #", "", "text", "", "Two", "words", "---", "```", "# no", "```", "> ### Three #t"]
    )
    headings = scan(text).headings
    assert [(h.level, h.text) for h in headings] == [(1, "One"), (2, "Two words"), (3, "Three #t")]
    assert [text[h.start :].split(eol)[0] for h in headings] == ["# One #", "Two", "> ### Three #t"]


def test_a_tag_is_no_heading() -> None:
    assert scan("#tag\n####### seven\n").headings == ()


def test_only_the_beginning_of_a_huge_text_is_scanned() -> None:
    line = "word " * 20 + "\n"
    scanned = scan("# First\n" + line * 10_000 + "# Last\n")
    assert scanned.cut
    assert MAX_SCANNED - len(line) <= len(scanned.text) <= MAX_SCANNED
    assert scanned.text.endswith("\n")
    assert [h.text for h in scanned.headings] == ["First"]
    assert not scan("short").cut


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "[a](b " * 40_000,
        "[a](" + "(" * 200_000,
        " ".join("`" * (n % 700 + 1) for n in range(700)),
        "$a " * 80_000,
        "%" * 199_999,
        "<a " * 80_000,
        "<a" + " a=1" * 60_000,
        '<a b="' * 40_000,
        "<!-- " * 50_000,
        "a $$ b " * 40_000,
        "\\" * 250_000,
        "> " * 5_000 + "x",
        "x" * 500_000,
    ],
    ids=lambda text: text[:8],
)
def test_no_text_takes_quadratic_time(text: str) -> None:
    begun = time.process_time()
    scan(text)
    assert time.process_time() - begun < 5
