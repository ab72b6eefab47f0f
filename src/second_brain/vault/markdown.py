"""The block structure of a note's text, and which of its characters are prose.

markdown-it-py finds fences, indented code, HTML blocks and headings; it knows nothing of `[[x]]`,
`%%` and `$`, and it would split or swallow them, so it is used for blocks only. `scan` returns the
raw text with everything that is no prose masked, character for character, and the grammars of tags
and links run on that.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from markdown_it import MarkdownIt

from second_brain.vault.model import Heading

MAX_SCANNED = 512 * 1024
"""Characters of a note in which headings, tags and links are looked for."""

MASK = "\u2063"
"""Stands for a masked character: neither white space nor allowed in a tag, a link or a URL."""

WIKI_LINK = re.compile(r"\[\[([^\[\]\r\n]+)\]\]")
LINK_TARGET = re.compile(
    r"\]\([ \t]*(?P<target><[^<>\r\n]*>|[^\s()<>]*+(?:\([^\s()<>]*+\)[^\s()<>]*+)*+)"
    r"(?P<title>[ \t]+(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|\([^()\r\n]*\)))?[ \t]*\)"
)
"""From the `]` of a Markdown link's text to its end."""

_LINE_END = re.compile(r"\r\n|\n|\r")
_TEXT = re.compile(r"[^\r\n]+")
_TICKS = re.compile(r"`+")
_DOLLAR_END = re.compile(r"(?<![\s\\$])\$(?![\d$])")
_OPENER = re.compile(
    r"(?P<escape>\\[^\w\s])"
    r"|(?P<code>`+)"
    r"|(?P<wiki>\[\[)"
    r"|(?P<target>\]\()"
    r"|(?P<comment>%%)"
    r"|(?P<html><!--)"
    r"|(?P<block>\$\$)"
    r"|(?P<math>\$(?=[^\s$]))"
    r"|(?P<url>(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{1,30}://[^\s<>\[\]()`]*)"
    r"|(?P<tag></?[A-Za-z][A-Za-z0-9-]*+"
    r"(?:\s++[A-Za-z_:][A-Za-z0-9_:.\-]*+(?:\s*+=\s*+(?:\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]++))?+)*+\s*+/?>)"
)
_OPAQUE = frozenset({"fence", "code_block", "html_block"})


@dataclass(frozen=True, slots=True)
class Scanned:
    """`text` is as long as the scanned part of the body; `cut` tells that the body goes on."""

    text: str
    headings: tuple[Heading, ...]
    cut: bool


def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    # Inline parsing is most of the time and none of the result; a link definition would swallow
    # its line (`[^1]: #tag`).
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.disable("reference")
    return parser


_PARSER = _block_parser()


def scan(body: str) -> Scanned:
    """Headings of `body` and its text with code, HTML, comments, math and URLs masked."""
    text = body
    cut = len(body) > MAX_SCANNED
    if cut:
        end = max(body.rfind("\n", 0, MAX_SCANNED), body.rfind("\r", 0, MAX_SCANNED)) + 1
        text = body[: end or MAX_SCANNED]
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    starts.append(len(text))

    headings: list[Heading] = []
    opaque: list[tuple[int, int]] = []
    leaves: list[tuple[int, int]] = []
    level = 0
    for token in _PARSER.parse(text):
        if token.map is None:
            continue
        first, last = (starts[min(line, len(starts) - 1)] for line in token.map)
        if token.type in _OPAQUE:
            opaque.append((first, last))
        elif token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "inline":
            leaves.append((first, last))
            if level:
                headings.append(Heading(level, " ".join(token.content.split()), first))
                level = 0
    return Scanned(_mask_inline(_mask_blocks(text, opaque), leaves), tuple(headings), cut)


def mask(text: str, spans: list[tuple[int, int]]) -> str:
    """`text` with the characters of the sorted, disjoint `spans` masked, line ends kept."""
    if not spans:
        return text
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += (text[at:start], _TEXT.sub(_masked, text[start:end]))
        at = end
    parts.append(text[at:])
    return "".join(parts)


def _masked(match: re.Match[str]) -> str:
    return MASK * (match.end() - match.start())


def _mask_blocks(text: str, spans: list[tuple[int, int]]) -> str:
    disjoint: list[tuple[int, int]] = []
    at = 0
    for start, end in spans:
        if end > max(start, at):
            disjoint.append((max(start, at), end))
            at = end
    return mask(text, disjoint)


def _mask_inline(text: str, leaves: list[tuple[int, int]]) -> str:
    """Mask code spans, comments, inline HTML, math, URLs and escapes, whichever opens first."""
    closers = _Closers(text, leaves)
    spans: list[tuple[int, int]] = []
    at = 0
    while match := _OPENER.search(text, at):
        start, at = match.span()
        kind = match.lastgroup
        if kind in {"escape", "url", "tag"}:
            # An escaped pipe belongs to a link in a table.
            if match.group() != "\\|":
                spans.append((start, at))
            continue
        if kind == "wiki":
            if link := WIKI_LINK.match(text, start):
                at = link.end()
            continue
        if kind == "target":
            if target := LINK_TARGET.match(text, start):
                at = target.end()
            continue
        end = closers.end(kind or "", match)
        if end > 0:
            spans.append((start, end))
            at = end
    return mask(text, spans)


class _Closers:
    """Finds where what opened ends, in time that no text can make quadratic."""

    def __init__(self, text: str, leaves: list[tuple[int, int]]) -> None:
        self._text = text
        self._leaves = leaves
        self._leaf_starts = [start for start, _ in leaves]
        self._ticks: dict[int, list[int]] | None = None
        self._dollars: list[int] | None = None
        self._absent: dict[str, int] = {}

    def end(self, kind: str, opener: re.Match[str]) -> int:
        """The offset after the closer, or 0 when what opened is just text."""
        after = opener.end()
        if kind == "code":
            return self._code_end(opener)
        if kind == "math":
            return self._math_end(after)
        if kind == "comment":
            return self._find("%%", after, len(self._text))
        if kind == "html":
            return self._find("-->", after, self._leaf_end(after))
        limit = len(self._text) if self._begins_line(opener.start()) else self._leaf_end(after)
        return self._find("$$", after, limit)

    def _find(self, closer: str, after: int, limit: int) -> int:
        if self._absent.get(closer, 0) >= limit:
            return 0
        found = self._text.find(closer, after, limit)
        if found < 0:
            self._absent[closer] = limit
            return 0
        return found + len(closer)

    def _code_end(self, opener: re.Match[str]) -> int:
        if self._ticks is None:
            self._ticks = {}
            for run in _TICKS.finditer(self._text):
                self._ticks.setdefault(run.end() - run.start(), []).append(run.start())
        length = opener.end() - opener.start()
        found = _next(self._ticks.get(length, []), opener.end())
        return found + length if 0 <= found < self._leaf_end(opener.end()) else 0

    def _math_end(self, after: int) -> int:
        if self._dollars is None:
            self._dollars = [match.start() for match in _DOLLAR_END.finditer(self._text)]
        found = _next(self._dollars, after)
        return found + 1 if 0 <= found < self._leaf_end(after) else 0

    def _leaf_end(self, position: int) -> int:
        """End of the paragraph or heading that holds `position`: inline markup cannot leave it."""
        index = bisect_right(self._leaf_starts, position) - 1
        if index < 0 or self._leaves[index][1] < position:
            return position
        return self._leaves[index][1]

    def _begins_line(self, position: int) -> bool:
        line = self._text[max(0, position - 200) : position]
        return not line[max(line.rfind("\n"), line.rfind("\r")) + 1 :].strip(" \t>")


def _next(positions: list[int], after: int) -> int:
    """The first of the sorted `positions` greater than or equal to `after`, or -1."""
    index = bisect_right(positions, after - 1)
    return positions[index] if index < len(positions) else -1
