"""YAML as text: where each property of a block stands, and how a value is written.

Positions are character offsets into the text between the fences. Nothing here changes text.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.resolver import Resolver

from second_brain.vault.model import PropertyValue

try:
    from yaml.cyaml import CBaseLoader as _BaseLoader
except ImportError:  # a PyYAML that was built without libyaml
    from yaml import BaseLoader as _BaseLoader  # type: ignore[assignment]

LINE_END = re.compile(r"\r\n|\n|\r")
_DOCUMENT_END = re.compile(r"(?:^|[\r\n])(?:\.\.\.|---)(?:[ \t\r\n]|\Z)")
_BLANK_OR_COMMENT = re.compile(r"[ \t]*(?:#.*)?\Z")


class Unsupported(Exception):
    """The block, or a value, is of a kind that is not edited; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One property of the block.

    `start` to `end` are its lines: from its name to the last line of its value, without comments
    and blank lines that follow. `after_colon` is where its value may begin.
    """

    key: str
    value: Node
    start: int
    after_colon: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """A block mapping: its properties in order, and the indentation of their names."""

    text: str
    entries: tuple[Entry, ...]
    indent: str

    def find(self, key: str) -> Entry | None:
        """The property `key`; one that differs in case only if there is no other."""
        folded = [each for each in self.entries if each.key.casefold() == key.casefold()]
        return next((each for each in folded if each.key == key), folded[0] if folded else None)

    def structure(self, without: set[str]) -> list[object]:
        """Names and values of all properties but `without`, to be compared by `==`."""
        return [
            (each.key, _structure(each.value, {}))
            for each in self.entries
            if each.key not in without
        ]


def read_block(text: str) -> Block:
    """The properties of `text`; raises Unsupported for what is no plain block mapping."""
    if _DOCUMENT_END.search(text):
        raise Unsupported("its properties hold a YAML document marker")
    try:
        node = yaml.compose(text, Loader=_BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 2})" if mark else ""
        raise Unsupported(f"its properties are not valid YAML{line}") from error
    except RecursionError as error:
        raise Unsupported("its properties are nested too deeply") from error
    if node is None:
        return Block(text, (), "")
    if not isinstance(node, MappingNode) or node.flow_style:
        raise Unsupported("its properties are not written one a line")
    return _block(text, node)


def _block(text: str, node: MappingNode) -> Block:
    starts = [_line_start(text, key.start_mark.index) for key, _ in node.value]
    indents = {
        text[s : key.start_mark.index] for s, (key, _) in zip(starts, node.value, strict=True)
    }
    if len(indents) != 1 or (indent := indents.pop()).strip(" ") or starts != sorted(set(starts)):
        raise Unsupported("its properties are not written one a line")
    entries: list[Entry] = []
    for (key, value), start, after in zip(
        node.value, starts, [*starts[1:], len(text)], strict=True
    ):
        colon = re.compile(r"[ \t]*:").match(text, key.end_mark.index)
        if colon is None or colon.end() > after or LINE_END.search(text, start, colon.end()):
            raise Unsupported("the name of one of its properties is written in an unusual way")
        name = (
            key.value if isinstance(key, ScalarNode) else text[key.start_mark.index : colon.start()]
        )
        entries.append(
            Entry(name, value, start, colon.end(), value_end(text, value, colon.end(), after))
        )
    names = [each.key for each in entries]
    if len(set(names)) != len(names):
        raise Unsupported("one of its properties occurs twice")
    return Block(text, tuple(entries), indent)


def value_end(text: str, value: Node, begin: int, after: int) -> int:
    """Where the lines of a value end that begins at `begin`; what comes next is at `after`."""
    block_scalar = isinstance(value, ScalarNode) and value.style in ("|", ">")
    least = value.end_mark.index if block_scalar else begin
    end = after
    while end > least:
        before = _line_start(text, end - 1 - text[:end].endswith("\r\n"))
        line = LINE_END.sub("", text[before:end])
        if before < begin or (not block_scalar and not _BLANK_OR_COMMENT.match(line)):
            break
        if block_scalar and before < least and line.strip():
            break
        end = before
    return end


def _line_start(text: str, index: int) -> int:
    return max(text.rfind("\n", 0, index), text.rfind("\r", 0, index)) + 1


def line_end(text: str, index: int) -> int:
    """Where the line that holds `index` ends, before its line ending."""
    found = LINE_END.search(text, index)
    return found.start() if found else len(text)


def _structure(node: Node, seen: dict[int, int]) -> object:
    if id(node) in seen:
        return seen[id(node)]
    seen[id(node)] = len(seen)
    if isinstance(node, MappingNode):
        return node.tag, [(_structure(k, seen), _structure(v, seen)) for k, v in node.value]
    if isinstance(node, SequenceNode):
        return node.tag, [_structure(item, seen) for item in node.value]
    return node.tag, getattr(node, "style", None), node.value


# Writing values.

_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"])
# No question mark: PyYAML ends a word there that stands in brackets.
_PLAIN = re.compile(r"[^\W_](?:[\w \-/.()'+&;!@=]*[\w)!'+])?")
_NUMBER = re.compile(r"[0-9][0-9_.]*(?:[eE][-+]?[0-9]+)?|0[xXoObB][0-9a-fA-F_]+")
_DATE = re.compile(
    r"\d{4}-[01]\d-[0-3]\d(?:T[0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[-+]\d\d:\d\d)?)?"
)
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_RESOLVER = Resolver()


def written(value: PropertyValue) -> str:
    """A single value as YAML that means the same in 1.1 and 1.2; dates plain, as Obsidian has them.

    Raises Unsupported for a list, a mapping, null and numbers that YAML cannot hold.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return _written_float(value)
        case str():
            return _written_text(value)
        case _:
            raise Unsupported(f"{value!r:.80} cannot be written as a property's value")


def written_list(items: list[PropertyValue], indent: str, eol: str) -> str:
    """A block list, one item a line, each line with its ending."""
    return "".join(f"{indent}- {written(item)}{eol}" for item in items)


def _written_float(value: float) -> str:
    """With a point, without which YAML 1.1 takes `1e+16` for text."""
    digits, e, exponent = repr(value).partition("e")
    return repr(value) if "." in digits else f"{digits}.0{e}{exponent}"


def _written_text(text: str) -> str:
    if (_DATE.fullmatch(text) and _is_on_the_calendar(text)) or (
        _PLAIN.fullmatch(text) and _is_text_everywhere(text)
    ):
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Unsupported("a value holds half a character") from error
    quoted = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _is_on_the_calendar(text: str) -> bool:
    """Whether readers that make dates of dates can make one of it: of `2026-02-30` they cannot."""
    try:
        yaml.safe_load(text)
    except (ValueError, OverflowError):
        return False
    return True


def _is_text_everywhere(text: str) -> bool:
    if text.casefold() in _WORDS or _NUMBER.fullmatch(text):
        return False
    tag: Any = _RESOLVER.resolve(ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return bool(tag == "tag:yaml.org,2002:str")
