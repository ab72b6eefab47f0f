"""What an edit leaves behind, as others read it: Obsidian's YAML library and python-frontmatter.

Where a reader could read the note before, it reads the edited property as it was asked for and
everything else as it did; and no byte changed but within that property's lines.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from edits import PROPERTY_EDITS, RELATIONS, TEXT_EDITS, Edit, added, set_to
from hypothesis import assume, example, given, note
from hypothesis import strategies as st
from written_notes import KEYS, LINKS, NEW_TAGS, OWN, TEXTS, VALUES, notes, odd_notes
from yaml_readers import Obsidian, Reading, Told, read_by_python_frontmatter, told

from second_brain.errors import EditRefused
from second_brain.vault.edit import new_note, remove_from_list
from second_brain.vault.frontmatter import read_properties, split
from second_brain.vault.merge import without_change
from second_brain.vault.model import PropertyValue

NOTES = st.one_of(notes(), odd_notes())


@given(NOTES, PROPERTY_EDITS)
def test_an_edited_property_reads_back_and_no_other_byte_changed(
    obsidian_yaml: Obsidian, data: bytes, edit: Edit
) -> None:
    note(f"{data!r}, to {edit}")
    try:
        edited = edit.change(data)
    except EditRefused as refused:
        assert_clear(refused)
        return
    note(f"gave {edited!r}")
    assert edit.change(edited) == edited
    before, after = split(data), split(edited)
    assert (before.bom, before.body) == (after.bom, after.body)
    had, has = obsidian_yaml.read(before.yaml.decode(), after.yaml.decode())
    if had is not None:
        assert has is not None, "Obsidian cannot read it any more"
        assert_only_lines_of(edit, data, edited, had)
        assert_same_for_obsidian(edit, had, has)
    assert_same_for_python_frontmatter(edit, data, edited)


@given(st.dictionaries(st.one_of(OWN, st.sampled_from(KEYS)), VALUES, max_size=4), TEXTS)
def test_a_new_note_reads_as_it_was_meant(
    obsidian_yaml: Obsidian, properties: dict[str, PropertyValue], text: str
) -> None:
    try:
        data = new_note(properties, text)
    except EditRefused as refused:
        assert_clear(refused)
        assert not properties
        return
    note(repr(data))
    (read,) = obsidian_yaml.read(split(data).yaml.decode())
    assert read is not None
    assert list(read.values) == list(properties)
    python = read_by_python_frontmatter(data)
    assert python is not None
    for key, value in properties.items():
        edit = set_to(key, value)
        assert same(read.values[key], told(meant(edit)))
        assert is_in_python(python[key], meant(edit))


@given(NOTES, TEXT_EDITS)
def test_properties_read_the_same_when_the_text_is_edited(data: bytes, edit: Edit) -> None:
    note(f"{data!r}, to {edit}")
    try:
        edited = edit.change(data)
    except EditRefused as refused:
        assert_clear(refused)
        return
    before, after = split(data), split(edited)
    head = before.bom + before.opening + before.yaml + before.closing
    assert edited.startswith(head)
    assert (before.opening, before.yaml) == (after.opening, after.yaml)
    if edit.name.startswith("append"):
        assert edited.startswith(data)


@given(NOTES, st.one_of(PROPERTY_EDITS, TEXT_EDITS), st.sampled_from([b"", b"\n\nmore of mine\n"]))
def test_every_edit_can_be_taken_back_beside_what_came_later(
    data: bytes, edit: Edit, later: bytes
) -> None:
    try:
        edited = edit.change(data)
    except EditRefused:
        return
    note(f"{data!r}, to {edit}, gave {edited!r}")
    back = without_change(data, edited, edited + later)
    assert back in (data + later, None)
    assert back is not None or later


@given(
    NOTES,
    st.one_of(
        st.builds(added, RELATIONS, LINKS),
        st.builds(added, st.just("tags"), NEW_TAGS),
    ),
)
@example(b"---\ntags:\n  - a\n  - - b\n---\n", added("tags", ["new"]))
@example(b"---\ntags:\n  - - b\n    - - c\n  - d: e\n    f: g\n---\n", added("tags", ["new"]))
def test_what_was_added_to_a_list_can_be_taken_out_again(data: bytes, edit: Edit) -> None:
    assert edit.key is not None
    try:
        edited = edit.change(data)
    except EditRefused:
        return
    note(f"{data!r}, to {edit}, gave {edited!r}")
    before = split(data)
    values, _ = read_properties(before.yaml.decode())
    name = find(values, edit.key)
    present = values[name] if name is not None else []
    assume(isinstance(present, list))
    assert isinstance(present, list)
    held = {str(item).lstrip("#").casefold() for item in present}
    assume(not held & {item.casefold() for item in edit.items})
    back = remove_from_list(edited, edit.key, list(edit.items))
    if before.opening and not before.yaml:
        # The last property takes its fences along, unless the text would be properties then.
        assert back in (before.bom + before.body, data)
    elif name is None or present:
        assert back == data


def assert_clear(refused: EditRefused) -> None:
    """A refusal is a sentence for people, without the inside of a program."""
    said = str(refused)
    assert "not" in said or "never" in said or "twice" in said or "would" in said, said
    assert not any(sign in said for sign in ("yaml.", "Error", "object at", "\n")), said


def find(names: Iterable[str], key: str) -> str | None:
    """The name of the property that is meant by `key`: as it is, else without regard to case."""
    alike = [name for name in names if name.casefold() == key.casefold()]
    return key if key in alike else alike[0] if alike else None


def assert_only_lines_of(edit: Edit, data: bytes, edited: bytes, had: Reading) -> None:
    assert edit.key is not None
    before = split(data)
    start = len(before.bom + before.opening)
    name = find(had.values, edit.key)
    if name is None:
        low = high = start + len(before.yaml)  # It is added as the last property.
    else:
        first, last = (start + place for place in had.places[name])
        low = max(data.rfind(b"\n", 0, first), data.rfind(b"\r", 0, first)) + 1
        high = last
        if not data[:high].endswith((b"\n", b"\r")):
            ends = [at for at in (data.find(b"\r", high), data.find(b"\n", high)) if at >= 0]
            high = min(ends) + len(b"\r\n" if data[min(ends) :].startswith(b"\r\n") else b"\n")
    if not before.opening or not split(edited).opening:
        low, high = len(before.bom), start + len(before.yaml) + len(before.closing)
    assert edited.startswith(data[:low])
    assert edited.endswith(data[high:])
    assert len(edited) >= low + len(data) - high


def assert_same_for_obsidian(edit: Edit, had: Reading, has: Reading) -> None:
    assert edit.key is not None
    old, new = find(had.values, edit.key), find(has.values, edit.key)
    assert {k: v for k, v in had.values.items() if k != old} == {
        k: v for k, v in has.values.items() if k != new
    }
    if edit.items:
        assert new is not None
        assert has.values[new][0] == "list"
        texts = texts_of(has.values[new])
        assert all(item.casefold() in texts for item in edit.items)
        was = had.values[old] if old is not None else ["null"]
        assert isinstance(was[-1], list) or was[0] != "list"
        # A link without quotes is a list in a list to YAML; it is quoted when one joins it.
        if isinstance(was[-1], list) and all(item[0] != "list" for item in was[-1]):
            assert isinstance(has.values[new][1], list)
            assert has.values[new][1][: len(was[-1])] == was[-1]
    elif edit.gone:
        assert new is None or not set(texts_of(has.values[new])) & {
            gone.casefold() for gone in edit.gone
        }
    elif edit.value is None:
        assert new is None
    else:
        assert new is not None
        assert same(has.values[new], told(meant(edit)))


def meant(edit: Edit) -> PropertyValue:
    if edit.key == "tags" and isinstance(edit.value, list):
        return [v.strip().lstrip("#") if isinstance(v, str) else v for v in edit.value]
    return edit.value


def same(read: object, asked: object) -> bool:
    """Equal; numbers by what they are."""
    match read, asked:
        case ["list", list(items)], ["list", list(others)]:
            return len(items) == len(others) and all(map(same, items, others))
        case ["float", str(one)], ["float", str(other)]:
            return float(one) == float(other)
        case _:
            return read == asked


def texts_of(value: Told) -> list[str]:
    if value[0] == "list":
        assert isinstance(value[1], list)
        return [str(item[-1]).lstrip("#").casefold() for item in value[1]]
    return [str(value[-1]).casefold()]


def assert_same_for_python_frontmatter(edit: Edit, data: bytes, edited: bytes) -> None:
    assert edit.key is not None
    values, _ = read_properties(split(data).yaml.decode())
    had, has = read_by_python_frontmatter(data), read_by_python_frontmatter(edited)
    if had is None or bool(had) != bool(values):
        return  # It sees properties where there are none, or the other way round.
    assert has is not None, "python-frontmatter cannot read it any more"
    old, new = find(had, edit.key), find(has, edit.key)
    assert repr({k: v for k, v in had.items() if k != old}) == repr(
        {k: v for k, v in has.items() if k != new}
    )
    if edit.value is not None:
        assert new is not None
        assert is_in_python(has[new], meant(edit))


def is_in_python(read: object, asked: PropertyValue) -> bool:
    if isinstance(read, list) and isinstance(asked, list):
        return len(read) == len(asked) and all(map(same_in_python, read, asked))
    return same_in_python(read, asked)


def same_in_python(read: object, asked: object) -> bool:
    if isinstance(read, dt.date):
        return isinstance(asked, str)  # YAML 1.1 has dates where Obsidian has text.
    return type(read) is type(asked) and read == asked
