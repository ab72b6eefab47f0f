"""Changes one property in the text of a block: sets, adds or removes it, or items of its list.

Text to text, in the style that is there. Whether the result says what it should is for the caller
to check; what cannot be located with certainty raises Unsupported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from yaml.nodes import CollectionNode, Node, ScalarNode, SequenceNode

from second_brain.vault.frontmatter import read_properties
from second_brain.vault.model import PropertyValue
from second_brain.vault.yaml_text import (
    Entry,
    Unsupported,
    line_end,
    read_block,
    value_end,
    written,
    written_list,
)

_ITEM_INDENT = "  "


def set_property(text: str, key: str, value: PropertyValue, eol: str) -> str:
    """`text` with the property `key`, None removes it; as it is if it has that value."""
    block = read_block(text)
    entry = block.find(key)
    if entry is None:
        return text if value is None else text + _lines(block.indent, written(key), value, eol)
    if value is None:
        return text[: entry.start] + text[entry.end :]
    values, _ = read_properties(text)
    if equal(values.get(entry.key), value):
        return text
    name = text[entry.start : entry.after_colon].strip().removesuffix(":").rstrip()
    old, first = entry.value, line_end(text, entry.after_colon)
    on_one_line = _begins_after(old, entry) and old.end_mark.index <= first and not is_block(old)
    tail = text[old.end_mark.index if on_one_line else entry.after_colon : first]
    if on_one_line and not isinstance(value, list):
        gap = "" if text[old.start_mark.index - 1] in " \t" else " "
        return text[: old.start_mark.index] + gap + written(value) + text[old.end_mark.index :]
    comment = tail.rstrip() if tail.lstrip().startswith("#") else ""
    lines = _lines(block.indent, name, value, eol, comment)
    return text[: entry.start] + lines + text[entry.end :]


def _lines(indent: str, name: str, value: PropertyValue, eol: str, comment: str = "") -> str:
    if comment and not comment.startswith((" ", "\t")):
        comment = f" {comment}"
    if isinstance(value, list) and value:
        items = written_list(value, indent + _ITEM_INDENT, eol)
        return f"{indent}{name}:{comment}{eol}{items}"
    text = "[]" if isinstance(value, list) else written(value)
    return f"{indent}{name}: {text}{comment}{eol}"


def with_items(text: str, entry: Entry, items: list[PropertyValue], eol: str) -> str:
    """`text` with `items` at the end of the list `entry`, which `is_list`."""
    node = entry.value
    assert isinstance(node, SequenceNode)
    if node.flow_style:
        inside = ", ".join(written(item) for item in items)
        where = node.end_mark.index - 1
        if node.value:
            where = _positions(text, entry)[-1][1]
            inside = f", {inside}"
        return text[:where] + inside + text[where:]
    lines = written_list(items, " " * node.start_mark.column, eol)
    return text[: entry.end] + lines + text[entry.end :]


def with_replaced(text: str, entry: Entry, changes: Mapping[str, str]) -> str:
    """`text` with items of the list `entry` replaced, each in the quotes that it has."""
    node = entry.value
    assert isinstance(node, SequenceNode)
    _positions(text, entry)
    for item in reversed(node.value):
        if not isinstance(item, ScalarNode) or item.value not in changes:
            continue
        if item.style in ("|", ">"):
            raise Unsupported("one of its lists is written in an unusual way")
        new = changes[item.value]
        shown = "'" + new.replace("'", "''") + "'" if item.style == "'" else written(new)
        text = text[: item.start_mark.index] + shown + text[item.end_mark.index :]
    return text


def without_items(
    text: str, entry: Entry, values: list[PropertyValue], keep: Callable[[PropertyValue], bool]
) -> str:
    """`text` with those items of the list `entry` that are to be kept; `values` are all of them.

    Without any item left, a list in brackets stays empty, and a block list goes with its name.
    """
    node = entry.value
    assert isinstance(node, SequenceNode)
    positions = _positions(text, entry)
    kept = [keep(value) for value in values]
    nested = [not isinstance(item, ScalarNode) for item in node.value]
    if len(kept) != len(positions) or any(
        deep and not stays for deep, stays in zip(nested, kept, strict=True)
    ):
        raise Unsupported("one of its lists is written in an unusual way")
    if node.flow_style:
        if not any(kept):
            rest = text[node.start_mark.index + 1 : positions[0][0]]
            return text[: node.start_mark.index + 1] + rest + text[node.end_mark.index - 1 :]
        return _without_flow_items(text, positions, kept)
    if not any(kept):
        return text[: entry.start] + text[entry.end :]
    for (start, end), stays in reversed(list(zip(positions, kept, strict=True))):
        if not stays:
            text = text[:start] + text[end:]
    return text


def _without_flow_items(text: str, positions: list[tuple[int, int]], kept: list[bool]) -> str:
    for number in reversed(range(len(kept))):
        if kept[number]:
            continue
        start, end = positions[number]
        if number and any(kept[:number]):
            start = positions[number - 1][1]  # With the comma before it.
        elif number + 1 < len(positions) and any(kept[number + 1 :]):
            end = positions[number + 1][0]  # With the comma behind it.
        text = text[:start] + text[end:]
    return text


def _positions(text: str, entry: Entry) -> list[tuple[int, int]]:
    """Start and end of each item: of its value in a flow list, of its lines in a block list."""
    node = entry.value
    assert isinstance(node, SequenceNode)
    spans = [(item.start_mark.index, item.end_mark.index) for item in node.value]
    if spans != sorted(spans) or any(not entry.start < s <= e <= entry.end for s, e in spans):
        raise Unsupported("one of its lists holds an alias")  # It carries the anchor's position.
    if node.flow_style:
        return spans
    dashes = re.compile(rf"^[ ]{{{node.start_mark.column}}}-(?=[ \t\r\n]|\Z)", re.M)
    starts: list[tuple[int, int]] = []
    for begin, _ in spans:
        found = [each.span() for each in dashes.finditer(text, entry.start, begin)]
        if not found or found[-1] in starts:
            raise Unsupported("one of its lists is written in an unusual way")
        starts.append(found[-1])
    ends = [*(start for start, _ in starts[1:]), entry.end]
    return [
        (start, value_end(text, item, after_dash, end))
        for item, (start, after_dash), end in zip(node.value, starts, ends, strict=True)
    ]


def _begins_after(node: Node, entry: Entry) -> bool:
    return bool(entry.after_colon <= node.start_mark.index)


def is_block(node: Node) -> bool:
    """Whether a value is written over lines of its own."""
    if isinstance(node, ScalarNode):
        return node.style in ("|", ">")
    return isinstance(node, CollectionNode) and not node.flow_style


def is_list(text: str, entry: Entry) -> bool:
    """Whether a property is a list by our reading: `up: [[Home]]` without quotes is a link."""
    values, _ = read_properties(text)
    return isinstance(values.get(entry.key), list) and isinstance(entry.value, SequenceNode)


def equal(one: PropertyValue, other: PropertyValue) -> bool:
    """Equal in value and type: 1, 1.0 and true are three things in YAML."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return type(one) is type(other) and one == other
