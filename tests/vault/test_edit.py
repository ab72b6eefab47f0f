"""Surgical edits: what was not asked to change stays, byte by byte."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st
from written_notes import (
    HOSTILE,
    KEYS,
    NEW_TAGS,
    OWN,
    TAGS,
    VALUES,
    notes,
)

from profiles import examples
from second_brain.errors import EditRefused
from second_brain.vault.edit import (
    add_to_list,
    append_text,
    new_note,
    remove_from_list,
    replace_body,
    replace_items,
    set_properties,
)
from second_brain.vault.frontmatter import read_properties, split
from second_brain.vault.model import PropertyValue
from second_brain.vault.yaml_text import written

ID = {"second-brain-id": "m-1"}


def values(data: bytes) -> dict[str, PropertyValue]:
    return read_properties(split(data).yaml.decode())[0]


def is_insertion(before: bytes, after: bytes) -> bool:
    """Whether `after` is `before` with one run of bytes put in."""
    head = 0
    while head < len(before) and before[head] == after[head]:
        head += 1
    tail = len(before) - head
    return len(after) >= len(before) and before[head:] == after[len(after) - tail :]


@given(notes(), OWN, VALUES)
def test_a_new_property_is_one_insertion_that_reads_back_and_can_be_undone(
    data: bytes, key: str, value: PropertyValue
) -> None:
    edited = set_properties(data, {key: value})
    assert is_insertion(data, edited)
    assert values(edited)[key] == value
    assert {k: v for k, v in values(edited).items() if k != key} == values(data)
    before, after = split(data), split(edited)
    assert (after.body, after.bom) == (before.body, before.bom)
    assert set_properties(edited, {key: value}) == edited
    if before.yaml or not before.opening:
        assert set_properties(edited, {key: None}) == data


@st.composite
def notes_and_keys(draw: st.DrawFn) -> tuple[bytes, str]:
    """A note and one of its properties."""
    data = draw(notes())
    keys = [key for key in KEYS if key in values(data)]
    assume(keys)
    return data, draw(st.sampled_from(keys))


@given(notes_and_keys(), VALUES)
def test_a_replaced_property_leaves_all_other_lines_alone(
    note: tuple[bytes, str], value: PropertyValue
) -> None:
    data, key = note
    try:
        edited = set_properties(data, {key: value})
    except EditRefused:
        assert key == "tags"
        return
    expected = (
        [v.lstrip("#").strip() if isinstance(v, str) else v for v in value]
        if key == "tags" and isinstance(value, list)
        else value
    )
    assert values(edited)[key] == expected
    old, new = split(data), split(edited)
    assert (old.bom, old.opening, old.closing, old.body) == (
        new.bom,
        new.opening,
        new.closing,
        new.body,
    )
    assert {k: v for k, v in values(edited).items() if k != key} == {
        k: v for k, v in values(data).items() if k != key
    }
    for line in (b"# a comment of its own", b"  # a comment behind", b"    # after"):
        assert edited.count(line) == data.count(line)
    assert set_properties(edited, {key: value}) == edited


@given(notes_and_keys())
@example((b"---\ntext: |\n  a\nfolded: b\n  # behind\n---\n", "folded"))
def test_a_removed_property_takes_only_its_own_lines(note: tuple[bytes, str]) -> None:
    data, key = note
    try:
        edited = set_properties(data, {key: None})
    except EditRefused:
        # What stays behind the property would join a text in front of it.
        assert any(mark in split(data).yaml for mark in (b": |", b": >"))
        return
    assert {k: v for k, v in values(data).items() if k != key} == values(edited)
    assert split(edited).body == split(data).body
    lines = split(data).yaml.splitlines(keepends=True)
    left = split(edited).yaml.splitlines(keepends=True)
    rest = iter(lines)
    assert all(line in rest for line in left)


LISTS = st.sampled_from([each for each in TAGS if each])


@given(notes(LISTS), NEW_TAGS)
def test_items_are_added_to_a_list_as_it_is_written_and_taken_out_again(
    data: bytes, items: list[str]
) -> None:
    edited = add_to_list(data, "tags", items)
    assert is_insertion(data, edited)
    (key,) = [k for k in values(data) if k.casefold() == "tags"]
    old = values(data)[key]
    assert isinstance(old, list)
    assert values(edited) == values(data) | {key: [*old, *items]}
    assert add_to_list(edited, "tags", [item.upper() for item in items]) == edited
    assert remove_from_list(edited, "tags", items) == data
    assert split(edited).body == split(data).body


@given(notes(st.just("")), NEW_TAGS)
def test_a_list_that_was_not_there_comes_and_goes(data: bytes, items: list[str]) -> None:
    edited = add_to_list(data, "tags", [f"#{item}" for item in items])
    assert values(edited)["tags"] == items
    if split(data).yaml or not split(data).opening:
        assert remove_from_list(edited, "tags", items) == data


@given(notes(LISTS))
def test_a_tag_that_a_user_wrote_can_be_taken_out(data: bytes) -> None:
    edited = remove_from_list(data, "tags", ["BRAIN", "absent"])
    left = [v for k, v in values(edited).items() if k.casefold() == "tags"]
    assert "brain" not in str(left)
    others = {k: v for k, v in values(data).items() if k.casefold() != "tags"}
    assert {k: v for k, v in values(edited).items() if k.casefold() != "tags"} == others
    assert split(edited).body == split(data).body
    assert edited.count(b"#") >= data.count(b"#") - 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tags: brain", "tags:\n  - brain\n  - new"),
        ("tags: brain, boat # why", "tags: # why\n  - brain\n  - boat\n  - new"),
        ("tags: '#brain boat'", "tags:\n  - brain\n  - boat\n  - new"),
        ("tags:", "tags:\n  - new"),
        ("tags: # soon", "tags: # soon\n  - new"),
        ("tags: []", "tags: [new]"),
        ("tags: [a,b,]", "tags: [a,b, new,]"),
        ("Tags: [a]", "Tags: [a, new]"),
        ("tags:\n- a\n-   b", "tags:\n- a\n-   b\n- new"),
        ("tags: [brain, NEW]", "tags: [brain, NEW]"),
    ],
)
def test_adding_a_tag(before: str, after: str) -> None:
    data = f"---\n{before}\nz: 1\n---\nx".encode()
    assert add_to_list(data, "tags", ["#new"]) == f"---\n{after}\nz: 1\n---\nx".encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tags: gone\n", ""),
        ("tags: gone, b\n", "tags:\n  - b\n"),
        ("tags: [gone]\n", "tags: []\n"),
        ("tags: [gone, b]\n", "tags: [b]\n"),
        ("tags: [a, Gone, b, gone]\n", "tags: [a, b]\n"),
        ("tags:\n  - gone # why\n  # b is next\n  - b\n", "tags:\n  # b is next\n  - b\n"),
        ("tags:\n  - gone\n", ""),
        ("tags:\n  -\n  - gone\n", "tags:\n  -\n"),
        ("tags: [other]\n", "tags: [other]\n"),
        ("", ""),
    ],
)
def test_removing_a_tag(before: str, after: str) -> None:
    data = f"---\n{before}z: 1\n---\nx".encode()
    assert remove_from_list(data, "tags", ["gone"]) == f"---\n{after}z: 1\n---\nx".encode()


def test_relations_are_quoted_links_and_compared_as_they_are() -> None:
    data = set_properties(b"text\n", {"supersedes": ["[[Old plan]]"]})
    assert data == b'---\nsupersedes:\n  - "[[Old plan]]"\n---\ntext\n'
    more = add_to_list(data, "supersedes", ["[[old plan]]", "[[Old plan]]"])
    assert values(more)["supersedes"] == ["[[Old plan]]", "[[old plan]]"]
    single = b'---\nsupersedes: "[[A]]"\nup: [[B]]\n---\n'
    assert values(add_to_list(single, "supersedes", ["[[C]]"]))["supersedes"] == ["[[A]]", "[[C]]"]
    assert values(add_to_list(single, "up", ["[[C]]"]))["up"] == ["[[B]]", "[[C]]"]


def test_a_value_on_one_line_keeps_its_comment_and_its_spacing() -> None:
    data = b"---\nsecond-brain-status:   draft   # of mine\nz: 1\n---\n"
    assert set_properties(data, {"second-brain-status": "canonical"}) == (
        b"---\nsecond-brain-status:   canonical   # of mine\nz: 1\n---\n"
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"---\ntitle: Harbour: phase two\ntags:\n  - brain\n---\nx\n", "not valid YAML"),
        (b"---\na: 1\na: 2\n---\nx", "twice"),
        (b"---\n{a: 1, b: 2}\n---\nx", "one a line"),
        (b'---\n{"a": 1}\n---\nx', "one a line"),
        (b"---\na: 1\n", "never closed"),
        (b"---\na: 1\n...\n---\nx", "document marker"),
        (b"---\na:\n\t- b\n---\nx", "not valid YAML"),
        (b"---\nup: [[A]], [[B]]\n---\nx", "not valid YAML"),
        (b"---\ntags: [memory]\n---\ncaf. \xe9 end\n", "UTF-8"),
        ("# memory".encode("utf-16"), "not"),
        (b"a\0b", "not a text file"),
        (b"---\n? [a, b]\n: c\n---\nx", "one a line"),
        (b"---\ra: 1\r---\rx", "Obsidian cannot read"),
        (b"---\na: 1\rb: 2\n---\nx", "Obsidian cannot read"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(EditRefused, match=why):
        set_properties(data, ID)
    with pytest.raises(EditRefused):
        add_to_list(data, "tags", ["new"])


def test_what_is_a_guess_is_no_reason_to_do_nothing() -> None:
    # U+2028 ends a line for one version of YAML and not for the other, where the tag is there.
    data = "---\nof: &t [a]\ntags: *t\nx\u2028y: z\u2028b\n---\n".encode()
    with pytest.raises(EditRefused):
        remove_from_list(data, "tags", ["a"])
    with pytest.raises(EditRefused):
        replace_items(data, "tags", {"a": "b"})


def test_a_property_that_others_refer_to_is_not_taken_away() -> None:
    data = b"---\na: &x [1]\nb: *x\n---\n"
    with pytest.raises(EditRefused):
        set_properties(data, {"a": None})
    assert set_properties(data, ID).startswith(
        b"---\na: &x [1]\nb: *x\nsecond-brain-id: m-1\n---\n"
    )


def test_an_edit_that_would_change_another_value_is_refused() -> None:
    # Without b, the blank line behind it would join the text of the property before.
    with pytest.raises(EditRefused, match="other properties"):
        set_properties(b"---\nkept: |+\n  text\nb: 1\n\nc: 2\n---\n", {"b": None})


@pytest.mark.parametrize("value", [{"a": 1}, [["a"]], float("nan"), "half \ud83d", [None]])
def test_values_that_a_property_cannot_hold_are_refused(value: PropertyValue) -> None:
    with pytest.raises(EditRefused):
        set_properties(b"x", {"second-brain-id": value})


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nParagraph\n\n---\n\nSecond\n",
        "---\nOnly prose\n---\nBody\n",
        "---\n- a\n---\nx",
        "----\nx: y\n---\n",
        "\n---\na: 1\n---\n",
    ],
)
def test_rules_are_not_frontmatter_and_stay_as_the_tail(text: str) -> None:
    edited = set_properties(text.encode(), ID)
    assert edited == b"---\nsecond-brain-id: m-1\n---\n" + text.encode()
    assert set_properties(edited, ID) == edited
    assert set_properties(edited, {"second-brain-id": None}) == text.encode()


def test_fences_stay_where_the_text_would_become_properties() -> None:
    data = b"---\na: 1\n---\n---\nb: 2\n---\nx"
    assert set_properties(data, {"a": None}) == b"---\n---\n---\nb: 2\n---\nx"


def test_a_bom_and_windows_line_ends_are_kept() -> None:
    edited = set_properties(b"\xef\xbb\xbfline\r\nline", {"second-brain-related": ["[[A]]"]})
    assert edited == (
        b'\xef\xbb\xbf---\r\nsecond-brain-related:\r\n  - "[[A]]"\r\n---\r\nline\r\nline'
    )


def test_properties_of_a_note_with_bare_carriage_returns_are_lines_to_everyone() -> None:
    assert set_properties(b"one\rtwo", ID) == b"---\nsecond-brain-id: m-1\n---\none\rtwo"


@example("0?")
@example("What next? All of it")
@given(
    st.one_of(
        st.text(max_size=30),
        st.from_regex(r"[-+]?[0-9a-fox_:.eE-]{1,9}"),
        st.sampled_from(
            [
                "y",
                "N",
                "Yes",
                "on",
                "Null",
                "NaN",
                ".inf",
                "0o7",
                "1e3",
                "=",
                "<<",
                "12:30:45",
                "?",
                "? a",
                "a\x85b",
                "\u2028",
                "\ufeff",
            ]
        ),
    )
)
def test_any_text_means_itself_in_both_versions_of_yaml(text: str) -> None:
    for template in ("k: {}\n", "k:\n  - {}\n", "k: [{}, z]\n"):
        block = template.format(written(text))
        expected = {"k: {}\n": text, "k:\n  - {}\n": [text]}.get(template, [text, "z"])
        assert read_properties(block) == ({"k": expected}, ())
        read = yaml.safe_load(block)["k"]
        if isinstance(read, list):
            assert isinstance(expected, list)
            read, expected = read[0], expected[0]
        assert read == expected or isinstance(read, dt.date)


def test_plain_where_it_is_safe_and_dates_as_obsidian_writes_them() -> None:
    assert written("Claude Code") == "Claude Code"
    assert written("été/日本語") == "été/日本語"
    assert written("2026-03-16T10:30:00Z") == "2026-03-16T10:30:00Z"
    assert written("🚀") == '"🚀"'
    assert written("no") == '"no"'
    assert written("[[A]]") == '"[[A]]"'


@pytest.mark.parametrize(
    "text", ["2026-02-30", "0000-01-01", "2026-03-16T24:00:00", "2026-03-16T10:30:00+99:59"]
)
def test_what_is_no_day_or_time_is_quoted_lest_readers_fail_at_it(text: str) -> None:
    assert yaml.safe_load(f"k: {written(text)}") == {"k": text}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_that_number_in_both_versions_of_yaml(number: float) -> None:
    block = f"k: {written(number)}\n"
    assert yaml.safe_load(block) == read_properties(block)[0] == {"k": number}
    assert isinstance(yaml.safe_load(block)["k"], float)


@pytest.mark.parametrize(
    ("data", "addition", "result"),
    [
        ("", "new", "new"),
        ("text", "new", "text\n\nnew"),
        ("text\n", "new\n", "text\n\nnew\n"),
        ("text\n\n", "new", "text\n\nnew"),
        ("text\n\n\n", "new", "text\n\n\nnew"),
        ("text\n  ", "new", "text\n  \nnew"),
        ("---\na: 1\n---\n", "new", "---\na: 1\n---\nnew"),
        ("---\na: 1\n---", "new", "---\na: 1\n---\nnew"),
        ("---\na: 1\n---\n\n", "new", "---\na: 1\n---\n\nnew"),
        ("a\r\nb", "one\ntwo\n", "a\r\nb\r\n\r\none\r\ntwo\r\n"),
        ("a\n", "  keeps  \n\tits #spaces ", "a\n\n  keeps  \n\tits #spaces "),
        ("", "---\na: 1\n---\n", "\n---\na: 1\n---\n"),
        ("---\nProse\n---\n", "x", "---\nProse\n---\n\nx"),
    ],
)
def test_appended_text_stands_alone(data: str, addition: str, result: str) -> None:
    assert append_text(data.encode(), addition) == result.encode()


@given(notes(), st.text(st.characters(codec="utf-8"), max_size=40))
def test_appending_only_adds_at_the_end(data: bytes, addition: str) -> None:
    edited = append_text(data, addition)
    assert edited.startswith(data)
    assert split(edited).yaml == split(data).yaml
    added = edited[len(data) :].decode()
    assert (
        added.lstrip("\r\n").replace("\r\n", "\n")
        == addition.replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")
        or "\r" in added
    )


def test_an_addition_that_would_close_an_open_fence_is_refused() -> None:
    with pytest.raises(EditRefused):
        append_text(b"---\na: 1\n", "b: 2\n\n---\n")
    with pytest.raises(EditRefused):
        append_text(b"caf\xe9", "x")


@given(notes(), st.sampled_from(["", "new\n", "a\r\nb", "---\n\nrule\n\n---\n", "\n\n  x"]))
def test_a_replaced_body_is_exact_and_the_frontmatter_stays(data: bytes, body: str) -> None:
    edited = replace_body(data, body)
    before, after = split(data), split(edited)
    assert after.body == body.encode()
    assert (after.bom, after.opening, after.yaml) == (before.bom, before.opening, before.yaml)
    assert replace_body(edited, body) == edited


def test_a_body_that_would_become_properties_is_refused() -> None:
    with pytest.raises(EditRefused):
        replace_body(b"plain", "---\na: 1\n---\nx")
    assert replace_body(b"---\nb: 2\n---\nx", "---\na: 1\n---\n").endswith(b"---\n---\na: 1\n---\n")


def test_a_new_note_is_a_block_and_the_body_as_given() -> None:
    body = "Our palette uses #1a1a2e\r\n\n  exactly\n\n"
    data = new_note(
        {
            "second-brain-id": "m-1",
            "created": "2026-03-16T10:30:00",
            "tags": ["#brain", "two-words"],
            "second-brain-status": None,
            "second-brain-importance": 3,
            "supersedes": ["[[Old: plan]]"],
        },
        body,
    )
    assert data.decode() == (
        "---\nsecond-brain-id: m-1\ncreated: 2026-03-16T10:30:00\ntags:\n  - brain\n  - two-words\n"
        'second-brain-importance: 3\nsupersedes:\n  - "[[Old: plan]]"\n---\n' + body
    )


@given(st.dictionaries(OWN, VALUES), st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_new_note_reads_back(properties: dict[str, PropertyValue], body: str) -> None:
    assume("\0" not in body)
    data = new_note(properties or ID, body)
    assert split(data).body == body.encode()
    assert values(data) == (properties or ID)


def test_new_text_that_looks_like_properties_is_text_when_there_are_some() -> None:
    assert split(new_note(ID, "---\na: 1\n---\n")).body == b"---\na: 1\n---\n"
    with pytest.raises(EditRefused):
        new_note({}, "---\na: 1\n---\n")


# Real and hostile notes: refusing is always allowed, damage never.


def survives(data: bytes) -> None:
    edits: list[Callable[[bytes], bytes]] = [
        lambda d: set_properties(d, ID),
        lambda d: set_properties(d, {"a": "new"}),
        lambda d: set_properties(d, {"a": None}),
        lambda d: add_to_list(d, "tags", ["new"]),
        lambda d: remove_from_list(d, "tags", ["a"]),
    ]
    for edit in edits:
        try:
            edited = edit(data)
        except EditRefused:
            continue
        assert split(edited).body == split(data).body
        touched = {"second-brain-id", "a", "tags"}
        assert {k: v for k, v in values(edited).items() if k.casefold() not in touched} == {
            k: v for k, v in values(data).items() if k.casefold() not in touched
        }
        assert edit(edited) == edited


@examples(400)
@given(HOSTILE)
def test_hostile_blocks_are_edited_rightly_or_refused(block: str) -> None:
    survives(f"---\n{block}\n---\nbody\n".encode())


def test_the_notes_of_reported_bugs_keep_their_bytes() -> None:
    path = Path(__file__).parent / "bug_notes.json"
    for text in json.loads(path.read_text(encoding="utf-8")):
        survives(text.encode())
