"""Puts one value into a JSON text, and takes it out again, with every other byte left as it is.

What `with_value` and `with_item` add, `without` removes to the byte. A container that had to be
made for it begins with a line break, and one that was there and empty does not get one: by that
they are told apart when they are empty again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from second_brain.integrations.connect.jsonc import Node, parse
from second_brain.integrations.connect.refusal import CannotEdit

Path = Sequence[str | int]

_COMMENTS_OF_LINE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/))*")
_TOKEN = re.compile(r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/|,", re.DOTALL)


def value_at(text: str, path: Path) -> Any:
    """The value at `path`, or None."""
    found = _value(text)
    for step in path:
        if isinstance(step, str) and isinstance(found, dict):
            found = found.get(step)
        elif isinstance(step, int) and isinstance(found, list) and step < len(found):
            found = found[step]
        else:
            return None
    return found


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` at `path`; objects on the way are made where they are missing."""
    if value_at(text, path) == value:
        return text
    new = _set(text, path, value)
    _check(_value(new), _expected(_value(text), path, value))
    return new


def with_item(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` at the end of the list at `path`, which is made where it is missing."""
    if not _exists(text, path):
        return with_value(text, path, [value])
    there = value_at(text, path)
    node = _find(parse(text), path)
    if not isinstance(there, list):
        raise CannotEdit(f"its “{'.'.join(path)}” is not a list")
    new = _insert(text, node, None, value, made=False)
    _check(_value(new), _expected(_value(text), path, [*there, value]))
    return new


def without(text: str, path: Path) -> str:
    """`text` without what is at `path`, and without the containers that were made for it."""
    while _exists(text, path):
        text = _without_one(text, path)
        if path and isinstance(path[-1], int):
            break
    return text


def _value(text: str) -> Any:
    if not text.strip("\ufeff \t\r\n"):
        return {}
    try:
        return _STRICT.decode(text)  # Claude Code's file may be megabytes.
    except (ValueError, RecursionError):
        return parse(text).value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_STRICT = json.JSONDecoder(parse_constant=_no_constant)


def _exists(text: str, path: Path) -> bool:
    holder = value_at(text, path[:-1])
    last = path[-1]
    if isinstance(last, str):
        return isinstance(holder, dict) and last in holder
    return isinstance(holder, list) and last < len(holder)


def _expected(before: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    inner = before.get(path[0], {}) if isinstance(before, dict) else {}
    return {**(before or {}), path[0]: _expected(inner, path[1:], value)}


def _check(found: Any, expected: Any) -> None:
    if found != expected:
        raise CannotEdit("it has an unusual form; change it by hand")


def _set(text: str, path: Sequence[str], value: Any) -> str:
    if not text.strip("\ufeff \t\r\n"):
        return text + _pretty(_nested(path, value), "", "  ", _newline(text)) + _newline(text)
    node = parse(text)
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict) or node.items is None:
            raise CannotEdit(f"its “{'.'.join(path[:depth]) or 'content'}” is not an object")
        same = [item for item in node.items if item.key == key]
        if not same:
            rest = path[depth + 1 :]
            return _insert(text, node, key, _nested(rest, value), made=bool(rest))
        node = same[-1].node
    shown = _pretty(value, _indent_at(text, node.start), _unit(text), _newline(text))
    return text[: node.start] + shown + text[node.end :]


def _nested(path: Sequence[str], value: Any) -> Any:
    return {path[0]: _nested(path[1:], value)} if path else value


def _insert(text: str, node: Node, key: str | None, value: Any, *, made: bool) -> str:
    """`made`: the value brings new containers along, which are written on lines of their own."""
    unit, newline = _unit(text), _newline(text)
    label = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    made = made or isinstance(value, list)
    if not node.items:
        at = node.start + 1
        shown = _pretty(value, _indent_at(text, node.start) + unit, unit, newline)
        return text[:at] + label + shown + text[at:]
    last = node.items[-1]
    line = text.rfind("\n", 0, last.start) + 1
    indent = text[line : last.start]
    own_line = not indent.strip(" \t")
    if own_line:
        shown, gap = _pretty(value, indent, unit, newline), newline + indent
    elif made:
        shown, gap = _pretty(value, _indent_at(text, last.start), unit, newline), " "
    else:
        shown, gap = json.dumps(value, ensure_ascii=False), " "
    after = last.node.end if last.comma is None else last.comma + 1
    comments = _COMMENTS_OF_LINE.match(text, after)
    place = comments.end() if own_line and comments else after
    if last.comma is None:
        return text[:after] + "," + text[after:place] + gap + label + shown + text[place:]
    return text[:place] + gap + label + shown + "," + text[place:]


def _without_one(text: str, path: Path) -> str:
    root = parse(text)
    chain = [root]
    for step in path[:-1]:
        chain.append(_find(chain[-1], [step]))
    depth = len(path) - 1
    while depth >= 0:
        node = chain[depth]
        assert node.items is not None
        if not (len(node.items) == 1 and _was_made(text, node)):
            return _cut(text, node, _index(node, path[depth]))
        depth -= 1
    rest = text[root.end :]
    return text[: root.start] + rest.removeprefix("\r").removeprefix("\n")


def _was_made(text: str, node: Node) -> bool:
    """Whether a container with one item left holds nothing else, and begins with a line break."""
    assert node.items is not None
    (item,) = node.items
    lead, tail = text[node.start + 1 : item.start], text[item.node.end : node.end - 1]
    return "\n" in lead and not lead.strip(" \t\r\n") and not tail.strip(" \t\r\n")


def _cut(text: str, node: Node, index: int) -> str:
    assert node.items is not None
    item = node.items[index]
    previous = node.items[index - 1] if index else None
    end = item.node.end
    after = end + 1 if item.comma == end else end
    start = _gap_start(text, previous.node.end if previous else node.start + 1, item.start, after)
    if item.comma is not None:
        return text[:start] + text[end : item.comma] + text[item.comma + 1 :]
    if previous is not None and previous.comma is not None:
        return text[: previous.comma] + text[previous.comma + 1 : start] + text[end:]
    return text[:start] + text[end:]


def _gap_start(text: str, begin: int, item: int, after: int) -> int:
    """Where the white space before an item starts, unless a comment needs its line break: what
    comes next is the text from `after` on."""
    before = ""
    start = begin
    while start < item:
        token = _TOKEN.match(text, start)
        assert token is not None
        if token.end() == item and not token.group().strip():
            needed = before.startswith("//") and text[after : after + 1] not in ("\r", "\n")
            return item if needed else start
        before, start = token.group(), token.end()
    return item


def _find(node: Node, path: Path) -> Node:
    for step in path:
        assert node.items is not None
        node = node.items[_index(node, step)].node
    return node


def _index(node: Node, step: str | int) -> int:
    assert node.items is not None
    if isinstance(step, int):
        return step
    return max(place for place, item in enumerate(node.items) if item.key == step)


def _pretty(value: Any, indent: str, unit: str, newline: str) -> str:
    shown = json.dumps(value, ensure_ascii=False, indent=unit)
    return shown.replace("\n", newline + indent)


def _indent_at(text: str, position: int) -> str:
    line = text.rfind("\n", 0, position) + 1
    found = re.compile(r"[ \t]*").match(text, line)
    return found.group() if found else ""


def _unit(text: str) -> str:
    """What one level is indented by: the least indentation that a key has."""
    return min(re.findall(r"\n([ \t]+)\"", text), key=len, default="  ")


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
