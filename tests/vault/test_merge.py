"""Taking one change out of a file that was changed again since."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.vault import merge
from second_brain.vault.edit import append_text, replace_body, set_properties
from second_brain.vault.frontmatter import read_properties, split
from second_brain.vault.merge import without_change

NOTE = (
    b"---\ntags: [brain]\ndue: 2026-05-01 # firm\nowner: Ana\n---\n# Plan\n\nOne.\nTwo.\nThree.\n"
)


def test_without_a_later_change_it_is_the_file_before() -> None:
    after = append_text(NOTE, "Four.")
    assert without_change(NOTE, after, after) == NOTE


def test_a_change_elsewhere_stays() -> None:
    after = append_text(NOTE, "Four.")
    now = after.replace(b"# Plan", b"# The plan").replace(b"Ana", b"Zoe")
    expected = NOTE.replace(b"# Plan", b"# The plan").replace(b"Ana", b"Zoe")
    assert without_change(NOTE, after, now) == expected


def test_a_property_goes_and_the_text_written_since_stays() -> None:
    after = set_properties(NOTE, {"second-brain-status": "draft"})
    now = append_text(after, "Four.")
    assert without_change(NOTE, after, now) == append_text(NOTE, "Four.")


def test_frontmatter_that_the_write_made_goes_as_a_whole() -> None:
    before = b"First.\nSecond.\nThird.\n"
    after = set_properties(before, {"second-brain-status": "draft"})
    now = after.replace(b"Third", b"3rd")
    assert without_change(before, after, now) == b"First.\nSecond.\n3rd.\n"


@pytest.mark.parametrize(
    ("before", "after", "now"),
    [
        pytest.param(b"a\nb\nc\n", b"a\nB\nc\n", b"a\nBB\nc\n", id="the same line"),
        pytest.param(b"a\nb\nc\n", b"a\nB\nc\n", b"a\nB\nC\n", id="the next line"),
        pytest.param(b"a\nb\nc\n", b"a\nB\nc\n", b"A\nB\nc\n", id="the line before"),
        pytest.param(b"a\n", b"a\nadded\n", b"a\nadded\nmine\n", id="written right below"),
        pytest.param(b"a\nb\nc\n", b"a\nc\n", b"a\nx\nc\n", id="written where a line went"),
        pytest.param(b"a\nb\n", b"a\nB\n", b"", id="emptied"),
        pytest.param(b"x\n", b"x\nx\n", b"x\n", id="one of two equal lines went"),
        pytest.param(
            b"a\nx\nb\n", b"a\nx\nx\nb\n", b"a\nx\nx\nc\nb\n", id="the line could be either"
        ),
    ],
)
def test_what_touches_or_is_in_doubt_is_left_alone(before: bytes, after: bytes, now: bytes) -> None:
    assert without_change(before, after, now) is None


def test_one_property_that_both_changed_is_in_doubt() -> None:
    before = b"---\ntags:\n  - a\n  - b\n  - c\n  - d\n---\nText.\n"
    after = before.replace(b"  - a\n", b"")
    now = after.replace(b"  - d\n", b"")
    assert without_change(before, after, now) is None


def test_a_result_whose_properties_cannot_be_read_is_refused() -> None:
    before = b"---\na: [1,\n  2]\nb: 1\nc: 1\n---\nText.\n"
    after = before.replace(b"a: [1,\n  2]", b"a: 1")
    now = b"---\nz: 3\nb: 1\na: 9\n---\nText.\n"
    assert without_change(before, after, now) is None


def test_a_program_that_changed_all_line_endings_is_followed() -> None:
    after = append_text(NOTE, "Four.")
    now = after.replace(b"# Plan", b"# The plan").replace(b"\n", b"\r\n")
    expected = NOTE.replace(b"# Plan", b"# The plan").replace(b"\n", b"\r\n")
    assert without_change(NOTE, after, now) == expected


def test_mixed_line_endings_stay() -> None:
    before = b"one\r\ntwo\nthree\rfour\nfive\n"
    after = before.replace(b"five", b"5")
    now = after.replace(b"one", b"1")
    assert without_change(before, after, now) == b"1\r\ntwo\nthree\rfour\nfive\n"


def test_a_line_without_its_ending_never_lands_inside() -> None:
    before, after = b"a\nb", b"a\nb\nc\nd\n"
    assert without_change(before, after, b"a\nb\nc\nd\ne\n") is None


def test_changes_that_are_too_long_to_compare_are_refused() -> None:
    lines = [b"line %d\n" % n for n in range(merge.MAX_LINES + 50)]
    before = b"".join(lines)
    after = b"".join([b"new\n", *lines[1:]])
    now = after + b"end\n"
    assert without_change(before, after, now) == before + b"end\n", "only the middle counts"
    rewritten = b"".join(b"x" + line for line in lines)
    assert without_change(before, rewritten, rewritten + b"end\n") is None


LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "", "x y"]), max_size=8)


@given(around=st.tuples(LINES, LINES), change=st.tuples(LINES, LINES), mine=LINES)
def test_two_changes_with_text_between_them_come_apart(
    around: tuple[list[str], list[str]], change: tuple[list[str], list[str]], mine: list[str]
) -> None:
    """The lines around them occur once, so nothing is in doubt, whatever the changes are."""

    def note(middle: list[str], end: list[str]) -> bytes:
        lines = [*around[0], "- 1 -", *middle, "- 2 -", *around[1], "- 3 -", "end", *end]
        return "".join(f"{line}\r\n" for line in lines).encode()

    before, after = (note(text, []) for text in change)
    wanted, now = (note(text, ["- 4 -", *mine]) for text in change)
    assert without_change(before, after, now) == wanted


@given(before=LINES, after=LINES, now=LINES)
def test_whatever_it_answers_no_line_is_made_up(
    before: list[str], after: list[str], now: list[str]
) -> None:
    files = ["".join(f"{line}\n" for line in lines).encode() for lines in (before, after, now)]
    result = without_change(*files)
    if result is None:
        return
    known = {*files[0].splitlines(), *files[2].splitlines()}
    assert set(result.splitlines()) <= known
    if files[1] == files[2]:
        assert result == files[0]
    if files[0] == files[1]:
        assert result == files[2]


KEYS = st.dictionaries(
    st.sampled_from(["due", "owner", "mood", "list"]),
    st.one_of(st.text("abc 1", max_size=6), st.lists(st.text("ab", min_size=1, max_size=3))),
    max_size=3,
)


@given(first=KEYS, ours=KEYS, theirs=KEYS, body=st.sampled_from(["Other text.\n", None]))
def test_properties_of_others_are_never_lost(
    first: dict[str, object], ours: dict[str, object], theirs: dict[str, object], body: str | None
) -> None:
    before = set_properties(NOTE, first)  # type: ignore[arg-type]
    after = set_properties(before, ours)  # type: ignore[arg-type]
    now = set_properties(after, theirs)  # type: ignore[arg-type]
    now = now if body is None else replace_body(now, body)
    result = without_change(before, after, now)
    if result is None:
        return
    was, made, has, gets = (
        read_properties(split(data).yaml.decode())[0] for data in (before, after, now, result)
    )
    for key in {*was, *made, *has}:
        assert gets.get(key) == (has.get(key) if was.get(key) == made.get(key) else was.get(key))
    assert split(result).body == split(now).body
