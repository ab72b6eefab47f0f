"""JSON, with comments and trailing commas, read so that every value knows where it stands."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from second_brain.integrations.connect.refusal import CannotEdit

_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*+", re.DOTALL)
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Node:
    """A value from `start` to `end`; `items` are what an object or a list holds, else None."""

    start: int
    end: int
    value: Any
    items: tuple[Item, ...] | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in an object (with a key) or a list; `comma` is where the comma after it stands."""

    key: str | None
    start: int
    node: Node
    comma: int | None


def parse(text: str) -> Node:
    """The one value of `text`. Raises `CannotEdit`, naming the line, where it is no JSON."""
    return _Reader(text).document()


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_SCALARS = json.JSONDecoder(parse_constant=_no_constant)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def document(self) -> Node:
        start = 1 if self._text.startswith("\ufeff") else 0
        node = self._value(self._skip(start), 0)
        end = self._skip(node.end)
        if end != len(self._text):
            raise self._broken(end, "there is something after its end")
        return node

    def _skip(self, at: int) -> int:
        found = _TRIVIA.match(self._text, at)
        return found.end() if found else at

    def _value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self._broken(at, "it is nested too deeply")
        opening = self._text[at : at + 1]
        if opening == "{":
            return self._object(at, depth)
        if opening == "[":
            return self._list(at, depth)
        value, end = self._scalar(at)
        return Node(at, end, value)

    def _object(self, at: int, depth: int) -> Node:
        items: list[Item] = []
        here = self._skip(at + 1)
        while self._text[here : here + 1] != "}":
            if items and items[-1].comma is None:
                raise self._broken(here, "a comma is missing")
            key, end = self._scalar(here)
            if not isinstance(key, str):
                raise self._broken(here, "a key is not in quotes")
            colon = self._skip(end)
            if self._text[colon : colon + 1] != ":":
                raise self._broken(colon, "a colon is missing")
            item = self._item(key, here, self._value(self._skip(colon + 1), depth + 1))
            items.append(item)
            here = self._skip(item.node.end if item.comma is None else item.comma + 1)
        found = {item.key: item.node.value for item in items}
        return Node(at, here + 1, found, tuple(items))

    def _list(self, at: int, depth: int) -> Node:
        items: list[Item] = []
        here = self._skip(at + 1)
        while self._text[here : here + 1] != "]":
            if items and items[-1].comma is None:
                raise self._broken(here, "a comma is missing")
            item = self._item(None, here, self._value(here, depth + 1))
            items.append(item)
            here = self._skip(item.node.end if item.comma is None else item.comma + 1)
        return Node(at, here + 1, [item.node.value for item in items], tuple(items))

    def _item(self, key: str | None, start: int, node: Node) -> Item:
        comma = self._skip(node.end)
        return Item(key, start, node, comma if self._text[comma : comma + 1] == "," else None)

    def _scalar(self, at: int) -> tuple[Any, int]:
        if self._text[at : at + 1] in ("", "{", "[", "}", "]", ","):
            raise self._broken(at, "a value is missing")
        try:
            return _SCALARS.raw_decode(self._text, at)
        except ValueError as error:
            where = error.pos if isinstance(error, json.JSONDecodeError) else at
            raise self._broken(where, str(error).partition(":")[0]) from error

    def _broken(self, at: int, why: str) -> CannotEdit:
        return CannotEdit(f"it is not valid JSON (line {line_of(self._text, at)}: {why})")
