"""Frontmatter: where it begins and ends, and what its properties are.

`split` owns the boundary by Obsidian's rule and is the one place that decides whether a note has
frontmatter at all, so reading and editing agree. `read_properties` owns the typing: YAML 1.2 (what
Obsidian reads) over PyYAML's parser, whose own YAML 1.1 typing would turn `10:00` into 600 and
`no` into false. `ObsidianHandler` gives python-frontmatter both rules.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

import yaml
from frontmatter.default_handlers import BaseHandler
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.resolver import BaseResolver

from second_brain.vault.model import PropertyValue

try:
    from yaml.cyaml import CBaseLoader as _BaseLoader
except ImportError:  # a PyYAML that was built without libyaml
    from yaml import BaseLoader as _BaseLoader  # type: ignore[assignment]

MAX_YAML = 256 * 1024
"""Bytes of a block that are read as properties; a longer one is no hand-made frontmatter."""

_BOM = b"\xef\xbb\xbf"
_EOL = re.compile(rb"\r\n|\n|\r")
_OPENING = re.compile(rb"---[ \t]*(?:\r\n|\n|\r)")
_RULE = re.compile(rb"---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSING = re.compile(rb"(?<=[\r\n])---[ \t]*(?:\r\n|\n|\r|\Z)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
# A first line of this form makes the block a mapping, or a mapping somebody got wrong.
_PLAIN_KEY = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`][^:#\r\n]*:(?=[ \t\r\n]|\Z)")
_TOP_KEY = re.compile(
    r"(?P<quote>['\"]?)(?P<key>[^\s:#'\"\[\]{},&*!|>%@`-][^:\r\n]*?)(?P=quote)[ \t]*:"
    r"(?=[ \t\r\n]|\Z)(?P<value>[^\r\n]*)"
)
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,14})\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUES = frozenset({"true", "True", "TRUE"})
_FALSES = frozenset({"false", "False", "FALSE"})
_PLAIN = "plain"  # our tag of a plain scalar without an explicit tag
_RETYPED = frozenset(
    {_PLAIN, *(f"tag:yaml.org,2002:{t}" for t in ("int", "float", "bool", "null"))}
)
_MAX_VALUES = 10_000
_MAX_DEPTH = 20


@dataclass(frozen=True, slots=True)
class Parts:
    """A note's bytes, cut: `bom + opening + yaml + closing + body` is always the whole file.

    `opening` is the `---` line with its line ending, b"" when the note has no frontmatter; `yaml`
    what stands between the fences, last line ending included; `closing` the other fence; `eol` the
    ending of the file's first line, b"\\n" if it has none. `unclosed` tells that the note begins
    with `---` and no closing fence follows: then all is body.
    """

    bom: bytes
    opening: bytes
    yaml: bytes
    closing: bytes
    body: bytes
    eol: bytes
    unclosed: bool


def split(data: bytes) -> Parts:
    """Cut `data` at its frontmatter fences; never raises.

    A block that is no mapping (a paragraph, a list, one word) between two rules is text of the
    note, not frontmatter. A block that was meant as properties but is invalid YAML still is.
    """
    bom = _BOM if data.startswith(_BOM) else b""
    start = len(bom)
    ending = _EOL.search(data)
    eol = ending.group() if ending else b"\n"
    nothing = Parts(bom, b"", b"", b"", data[start:], eol, unclosed=False)
    opening = _OPENING.match(data, start)
    if opening is None:
        return nothing
    closing = _CLOSING.search(data, opening.end())
    if closing is None:
        return Parts(bom, b"", b"", b"", data[start:], eol, unclosed=True)
    block = data[opening.end() : closing.start()]
    if not _is_properties(block):
        return nothing
    return Parts(
        bom, opening.group(), block, closing.group(), data[closing.end() :], eol, unclosed=False
    )


def begins_with_rule(data: bytes) -> bool:
    """Whether the first line (after a BOM) is `---`, frontmatter or not."""
    return _RULE.match(data, len(_BOM) if data.startswith(_BOM) else 0) is not None


def read_properties(text: str) -> tuple[dict[str, PropertyValue], tuple[str, ...]]:
    """The properties in the YAML `text` between the fences, and sentences on what is wrong.

    Never raises; where the YAML is invalid, every property that can be read by itself is. Values
    are strictly JSON: dates and times stay text, an unquoted `[[link]]` and `{{template}}` are
    the text they look like, keys are text. Line numbers count the opening fence as line 1.
    """
    if len(text) > MAX_YAML:
        return {}, ("The properties are too long to be read.",)
    try:
        node = _compose(text)
    except yaml.YAMLError as error:
        problem = (
            f"The properties are not valid YAML: {_where(error)}. They were read line by line."
        )
        reader = _Reader(text)
        return reader.lines(), (problem, *reader.problems)
    if node is None or (isinstance(node, ScalarNode) and node.value in _NULLS):
        return {}, ()
    if not isinstance(node, MappingNode):
        return {}, ("The properties are not a list of names and values.",)
    reader = _Reader(text)
    return reader.mapping(node, 0), tuple(reader.problems)


class ObsidianHandler(BaseHandler):  # type: ignore[misc]
    """python-frontmatter's handler for Obsidian's rules: `frontmatter.parse(text, handler=…)`.

    `problems` holds what the last `load` found wrong. It does not export: notes are edited in
    place, never dumped.
    """

    FM_BOUNDARY = re.compile(r"^---[ \t]*$", re.MULTILINE)
    START_DELIMITER = END_DELIMITER = "---"

    def __init__(self) -> None:
        super().__init__()
        self.problems: tuple[str, ...] = ()

    def detect(self, text: str) -> bool:
        return bool(split(_encode(text)).opening)

    def split(self, text: str) -> tuple[str, str]:
        """YAML and body; ValueError when `text` has no frontmatter."""
        parts = split(_encode(text))
        if not parts.opening:
            raise ValueError("no frontmatter")
        return parts.yaml.decode("utf-8", "replace"), parts.body.decode("utf-8", "replace")

    def load(self, fm: str) -> dict[str, Any]:
        properties, self.problems = read_properties(fm)
        return dict(properties)


class _Loader(_BaseLoader):
    """Composes nodes only, and tells plain scalars from quoted and from tagged ones."""

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        if kind is ScalarNode and implicit[0]:
            return _PLAIN
        return str(BaseResolver.resolve(self, kind, value, implicit))  # type: ignore[no-untyped-call]


def _compose(text: str) -> Node | None:
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    except RecursionError:
        raise yaml.YAMLError("too deeply nested") from None
    finally:
        loader.dispose()


def _is_properties(block: bytes) -> bool:
    text = block.decode("utf-8", "replace")
    for line in _LINE.findall(text):
        if line.strip() and not line.lstrip().startswith("#"):
            # A block that begins with a plain key can only be a mapping or an invalid one.
            if _PLAIN_KEY.match(line):
                return True
            break
    else:
        return True  # empty, or comments only
    if len(block) > MAX_YAML:
        return False
    try:
        node = _compose(text)
    except yaml.YAMLError:
        return False
    return isinstance(node, MappingNode) or (
        isinstance(node, ScalarNode) and node.tag == _PLAIN and node.value in _NULLS
    )


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _where(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    if mark is None:
        return str(what)
    return f"line {mark.line + 2}, {what}"


class _Reader:
    """Turns nodes of one block into JSON values, within a budget, collecting problems."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[str] = []
        self._left = _MAX_VALUES
        self._open: set[int] = set()

    def mapping(self, node: MappingNode, depth: int) -> dict[str, PropertyValue]:
        found: dict[str, PropertyValue] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, depth)
            if key in found:
                self._problem(f'The property "{key}" occurs twice; its first value counts.')
                continue
            found[key] = self._value(value_node, depth + 1)
        return found

    def lines(self) -> dict[str, PropertyValue]:
        """Each top-level property read by itself; the raw text where that is not YAML either."""
        found: dict[str, PropertyValue] = {}
        whole = self.text
        for group in _groups(whole):
            match = _TOP_KEY.match(group)
            if match is None:
                continue
            self.text = group
            try:
                node = _compose(group)
            except yaml.YAMLError:
                node = None
            if isinstance(node, MappingNode):
                for key, value in self.mapping(node, 0).items():
                    found.setdefault(key, value)
            else:
                found.setdefault(match["key"].strip(), _raw_value(match["value"], group))
        self.text = whole
        return found

    def _value(self, node: Node, depth: int) -> PropertyValue:
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH or id(node) in self._open:
            self._problem("A property is nested too deeply or too large; part of it was left out.")
            return None
        if isinstance(node, ScalarNode):
            return _scalar(node)
        as_text = self._bracketed(node)
        if as_text is not None:
            return as_text
        self._open.add(id(node))
        try:
            if isinstance(node, SequenceNode):
                values: list[PropertyValue] = []
                for item in node.value:
                    if self._left <= 0:
                        self._value(item, depth + 1)
                        break
                    values.append(self._value(item, depth + 1))
                return values
            if isinstance(node, MappingNode):
                return dict(self.mapping(node, depth))
        finally:
            self._open.discard(id(node))
        return None

    def _key(self, node: Node, depth: int) -> str:
        if isinstance(node, ScalarNode):
            return str(node.value)
        value = self._value(node, depth + 1)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def _bracketed(self, node: Node) -> str | None:
        """`[[link]]` and `{{template}}` written without quotes: YAML nests, the user meant text."""
        if not (isinstance(node, SequenceNode | MappingNode) and len(node.value) == 1):
            return None
        raw = self.text[node.start_mark.index : node.end_mark.index]
        inner = raw[2:-2]
        for opening, closing in (("[[", "]]"), ("{{", "}}")):
            if (
                raw.startswith(opening)
                and raw.endswith(closing)
                and not any(c in inner for c in "[]{}\r\n")
            ):
                return raw
        return None

    def _problem(self, sentence: str) -> None:
        if sentence not in self.problems:
            self.problems.append(sentence)


def _scalar(node: ScalarNode) -> PropertyValue:
    text = str(node.value)
    if node.tag not in _RETYPED:
        return text
    if text in _NULLS:
        return None
    if text in _TRUES:
        return True
    if text in _FALSES:
        return False
    if _INT.match(text):
        return int(text)
    if _FLOAT.match(text) and len(text) <= 32 and not text.lstrip("+-").isdigit():
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def _groups(text: str) -> list[str]:
    """The block's top-level entries: a line at the margin and what is indented or listed below."""
    groups: list[str] = []
    for line in _LINE.findall(text):
        continues = not line.strip() or line[0] in " \t#-" or line.startswith("#")
        if groups and continues:
            groups[-1] += line
        elif line.strip() and not continues:
            groups.append(line)
    return groups


def _raw_value(first: str, group: str) -> PropertyValue:
    value = first.strip()
    if value.startswith("[") and not value.startswith("[["):
        return [_unquoted(item) for item in value.strip("[]").split(",")]
    if value:
        return _unquoted(value)
    items: list[PropertyValue] = []
    for line in _LINE.findall(group)[1:]:
        stripped = line.strip()
        if stripped.startswith("- ") and (item := stripped[2:].strip()) and item[0] != "#":
            items.append(_unquoted(item))
    return items or None


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text
