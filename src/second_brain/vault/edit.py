"""Edits a note's bytes surgically: every byte that was not asked to change stays.

Pure, bytes to bytes. A block of properties is never loaded and dumped: lines are put in, taken out
or replaced in its text. Each result is parsed again and must say what was asked, say the same as
before about everything else, and hold the same body; otherwise EditRefused is raised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from second_brain.errors import EditRefused
from second_brain.vault.block_edit import (
    equal,
    is_block,
    is_list,
    set_property,
    with_items,
    with_replaced,
    without_items,
)
from second_brain.vault.frontmatter import Parts, read_properties, split
from second_brain.vault.model import PropertyValue
from second_brain.vault.yaml_text import LINE_END, Block, Entry, Unsupported, read_block

_TAG_SEPARATOR = re.compile(r"[\s,]+")
_LONE_CR = re.compile(rb"\r(?!\n)")


def set_properties(data: bytes, changes: Mapping[str, PropertyValue]) -> bytes:
    """`data` with these properties; None removes one. Lists are written one item a line.

    A note without frontmatter gets a block at its top; one whose last property goes loses it. A
    property that has its value already stays as it is written.
    """
    wanted = {key: _cleaned(key, value) for key, value in changes.items()}

    def change(text: str, eol: str) -> str:
        for key, value in wanted.items():
            text = set_property(text, key, value, eol)
        return text

    return _edited(data, change, wanted)


def add_to_list(data: bytes, key: str, items: Sequence[str]) -> bytes:
    """`data` with `items` in the list `key`, those that it lacks at its end, in the list's style.

    A single value, or tags in one text (`a, b`), become a list. Tags are compared without case.
    """
    present = _current(data, key)
    same = _comparison(key)
    have = {same(str(value)) for value in present}
    new: list[PropertyValue] = []
    for item in items:
        if same(item) and same(item) not in have:
            have.add(same(item))
            new.append(_clean_tag(item) if _is_tags(key) else item)
    if not new:
        return data

    def change(text: str, eol: str) -> str:
        entry = read_block(text).find(key)
        if entry is None or not is_list(text, entry):
            return set_property(text, key, [*present, *new], eol)
        return with_items(text, entry, new, eol)

    return _edited(data, change, {key: [*_raw(data, key, present), *new]})


def remove_from_list(data: bytes, key: str, items: Sequence[str]) -> bytes:
    """`data` without `items` in the list `key`; the property goes with its last item.

    An empty list in brackets stays. Undoes `add_to_list` byte by byte if the value was a list.
    """
    present = _current(data, key)
    same = _comparison(key)
    gone = {same(item) for item in items}
    if not any(same(str(value)) in gone for value in present):
        return data

    def keep(value: PropertyValue) -> bool:
        return value is None or same(str(value)) not in gone

    values = _raw(data, key, present)
    left: list[PropertyValue] = [value for value in values if keep(value)]
    entry = _entry(data, key)
    listed = entry is not None and is_list(_yaml(data), entry)
    stays_empty = listed and entry is not None and not is_block(entry.value)

    def change(text: str, eol: str) -> str:
        if entry is not None and listed:
            return without_items(text, entry, values, keep)
        return set_property(text, key, left or None, eol)

    return _edited(data, change, {key: left if left or stays_empty else None})


def replace_items(data: bytes, key: str, changes: Mapping[str, str]) -> bytes:
    """`data` with texts in the list `key`, or its only value, replaced, each in its quotes.

    One whose replacement stands there already is taken out.
    """
    texts = {str(value) for value in _current(data, key) if isinstance(value, str)}
    new = {old: to for old, to in changes.items() if old in texts and old != to}
    doubles = [old for old, to in new.items() if to in texts and to not in new]
    data = remove_from_list(data, key, doubles) if doubles else data
    new = {old: to for old, to in new.items() if old not in doubles}
    entry = _entry(data, key)
    if entry is None or not new:
        return data
    listed = is_list(_yaml(data), entry)
    values = _raw(data, key, _current(data, key))
    after = [new.get(value, value) if isinstance(value, str) else value for value in values]

    def change(text: str, eol: str) -> str:
        if listed:
            return with_replaced(text, entry, new)
        return set_property(text, key, after[0], eol)

    return _edited(data, change, {key: after if listed else after[0]})


def append_text(data: bytes, addition: str) -> bytes:
    """`data` with `addition` after its text, one blank line between; the file's line endings."""
    parts = _readable(data)
    eol = parts.eol.decode()
    added = LINE_END.sub(lambda _: eol, addition)
    separator = ""
    lines = LINE_END.split(parts.body.decode("utf-8"))
    if parts.body.strip():
        if lines[-1].strip():
            separator = eol * 2
        elif lines[-1] or lines[-2].strip():
            separator = eol
    elif lines[-1] or (parts.closing and not parts.body and not _ends_line(parts.closing)):
        separator = eol
    result = data + _encoded(separator + added)
    if _is_same_start(parts, split(result)):
        return result
    if not parts.opening and not parts.body:
        return data + _encoded(eol + added)  # Text that begins like frontmatter is still text.
    raise EditRefused("", "the addition would be read as its properties")


def replace_body(data: bytes, body: str) -> bytes:
    """`data` with `body`, exactly, as its text; the frontmatter's bytes stay."""
    parts = _readable(data)
    head = parts.bom + parts.opening + parts.yaml + parts.closing
    if parts.closing and not _ends_line(parts.closing):
        head += parts.eol
    text = _encoded(body)
    after = split(head + text)
    if after.body != text or after.yaml != parts.yaml:
        raise EditRefused("", "the new text would be read as its properties")
    return head + text


def new_note(properties: Mapping[str, PropertyValue], body: str) -> bytes:
    """A note: a block of the properties that are not None, then `body`, exactly."""
    text = _encoded(body)
    given = {key: value for key, value in properties.items() if value is not None}
    if not given and split(text).opening:
        raise EditRefused("", "its text would be read as its properties")
    # The block is made on its own: the body's first line must not choose the line endings.
    return set_properties(b"", given) + text


# The frame of every edit of properties: take apart, change, put together, check.


def _edited(
    data: bytes,
    change: Callable[[str, str], str],
    wanted: Mapping[str, PropertyValue],
) -> bytes:
    parts = _readable(data)
    if parts.unclosed:
        raise EditRefused("", "the --- at its beginning is never closed")
    if _LONE_CR.search(parts.opening + parts.yaml + parts.closing):
        raise EditRefused("", "its properties end their lines in a way that Obsidian cannot read")
    before = parts.yaml.decode("utf-8")
    try:
        old = read_block(before)
        text = change(before, _eol_of_block(parts).decode())
        if text == before:
            return data
        new = read_block(text)
        touched = {each.key for key in wanted for b in (old, new) if (each := b.find(key))}
        if old.structure(touched) != new.structure(touched):
            raise Unsupported("its other properties would not stay the same")
    except Unsupported as error:
        raise EditRefused("", str(error)) from error
    _require_values(text, new, wanted)
    return _put_together(parts, text)


def _eol_of_block(parts: Parts) -> bytes:
    """The file's line ending; of a lone CR Obsidian's YAML knows nothing."""
    return b"\n" if parts.eol == b"\r" else parts.eol


def _put_together(parts: Parts, text: str) -> bytes:
    opening = parts.opening or b"---" + _eol_of_block(parts)
    closing = parts.closing or b"---" + _eol_of_block(parts)
    whole = parts.bom + opening + text.encode("utf-8") + closing + parts.body
    bare = parts.bom + parts.body
    if not text and split(bare).body == parts.body:
        return bare
    after = split(whole)
    if (after.yaml, after.body) != (text.encode("utf-8"), parts.body):
        raise EditRefused("", "its text would not stay the same")
    return whole


def _require_values(text: str, block: Block, wanted: Mapping[str, PropertyValue]) -> None:
    values, _ = read_properties(text)
    for key, value in wanted.items():
        entry = block.find(key)
        if value is None and entry is None:
            continue
        if entry is None or value is None or not equal(values.get(entry.key), value):
            raise EditRefused("", f"the property {key} could not be set safely")


def _readable(data: bytes) -> Parts:
    if b"\0" in data:
        raise EditRefused("", "it is not a text file")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditRefused("", "it is not valid UTF-8") from error
    return split(data)


def _yaml(data: bytes) -> str:
    return _readable(data).yaml.decode("utf-8")


def _entry(data: bytes, key: str) -> Entry | None:
    try:
        return read_block(_yaml(data)).find(key)
    except Unsupported as error:
        raise EditRefused("", str(error)) from error


def _ends_line(data: bytes) -> bool:
    return data.endswith((b"\n", b"\r"))


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise EditRefused("", "the new text holds half a character") from error


def _is_same_start(before: Parts, after: Parts) -> bool:
    head = (before.opening, before.yaml) == (after.opening, after.yaml)
    return head and after.body.startswith(before.body)


# Lists and tags.


def _current(data: bytes, key: str) -> list[PropertyValue]:
    """The values of the list `key` as they are meant: a single value is a list of one.

    Refused where the block cannot be edited: what is read there line by line is a guess, and from
    a guess nobody may conclude that there is nothing to do.
    """
    _entry(data, key)
    values, _ = read_properties(_yaml(data))
    name = next((k for k in values if k == key), None) or next(
        (k for k in values if k.casefold() == key.casefold()), None
    )
    value = values.get(name) if name is not None else None
    if value is None:
        return []
    if isinstance(value, list):
        return [item for item in value if item is not None]
    if isinstance(value, str) and _is_tags(key):
        return [_clean_tag(tag) for tag in _TAG_SEPARATOR.split(value) if tag.strip("#")]
    return [value]


def _raw(data: bytes, key: str, present: list[PropertyValue]) -> list[PropertyValue]:
    """The list `key` with its empty items, `present` if it is no list."""
    values, _ = read_properties(_yaml(data))
    for name in (key, *(k for k in values if k.casefold() == key.casefold())):
        value = values.get(name)
        if isinstance(value, list):
            return value
    return present


def _is_tags(key: str) -> bool:
    return key.casefold() in ("tags", "tag")


def _clean_tag(tag: str) -> str:
    return tag.strip().lstrip("#")


def _comparison(key: str) -> Callable[[str], str]:
    return (lambda text: _clean_tag(text).casefold()) if _is_tags(key) else str


def _cleaned(key: str, value: PropertyValue) -> PropertyValue:
    if _is_tags(key) and isinstance(value, list):
        return [_clean_tag(item) if isinstance(item, str) else item for item in value]
    return value
