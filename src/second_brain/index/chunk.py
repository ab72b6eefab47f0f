"""Cuts a note's body into the passages that are embedded and searched.

Offsets are characters (code points) of the body, and `body[chunk.start:chunk.end] == chunk.text`
always: a hit can be shown in place. Every character that is not blank lies in some chunk.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from second_brain.vault.model import Heading

MAX_CHUNKS = 2_000
"""A note of many megabytes (a pasted log) must not crowd out the vault; see `left_out`."""

MAX_CHARS, OVERLAP = 800, 100
"""The longest passage and what neighbours share, if nothing else is said: see "How long a passage
is" in README.md."""

_TINY = 200
"""A section shorter than this says too little to be found by meaning on its own."""

_UNEVEN = 8
"""A piece may exceed its even share by this part of the longest, to end where one should."""

_HEADING_CHARS = 120

_INK = re.compile(r"\S")
_PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n\s*")
_SENTENCE = re.compile(r"(?:[.!?…][\"'”’»)\]*_]*\s+|[。！？｡]+[」』”）]*\s*|\r?\n\s*)")
_WORD = re.compile(r"\s+")
_LETTERS = re.compile(r"[^\W_]+")
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f\u20e3")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage. `heading` is the path of headings over it, `A > B`; empty above the first."""

    ordinal: int
    text: str
    heading: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Section:
    """A stretch of the body under one heading; `bare` when it holds nothing but the heading."""

    start: int
    end: int
    path: tuple[str, ...]
    bare: bool


def chunks(
    title: str,
    body: str,
    headings: Sequence[Heading],
    *,
    max_chars: int = MAX_CHARS,
    overlap: int = OVERLAP,
) -> list[Chunk]:
    """The passages of a note in order, at most `MAX_CHUNKS`.

    A section is a passage; a tiny one joins the next of the same parent (or its own first
    subsection). What is longer than `max_chars` is cut at the end of a paragraph, else of a
    sentence or line, else of a word, and the next piece begins up to `overlap` characters earlier,
    at the start of a sentence or word. A blank body under a title gives one empty passage, so that
    the note can be found by its title. Raises ValueError unless `0 <= overlap <= max_chars / 2`.
    """
    if max_chars < 2 or not 0 <= overlap <= max_chars // 2:
        raise ValueError(f"overlap must lie between 0 and half of max_chars, not {overlap}")
    found: list[Chunk] = []
    for group in _groups(_sections(body, headings), max_chars):
        start, end = _trim(body, group[0].start, group[-1].end)
        for left, right in _pieces(body, start, end, max_chars, overlap):
            if len(found) == MAX_CHUNKS:
                return found
            path = _path_over(group, left, right)
            found.append(Chunk(len(found), body[left:right], " > ".join(path), left, right))
    if not found and title.strip():
        return [Chunk(0, "", "", 0, 0)]
    return found


def left_out(body: str, cut: Sequence[Chunk]) -> int:
    """How many characters at the end of `body` lie in no chunk: 0 unless `MAX_CHUNKS` was hit."""
    end = cut[-1].end if cut else 0
    return len(body[end:].strip())


def embedded_text(title: str, chunk: Chunk) -> str:
    """What is embedded for a chunk: title and heading path on one line, then the passage.

    A heading that repeats the title, or that the passage itself begins with, is said once; so is
    the title of a memory without one, which is how its text begins.
    """
    names: list[str] = []
    own = "" if not chunk.heading and _begins_with(chunk.text, title) else title.strip()
    for name in (own, *filter(None, chunk.heading.split(" > "))):
        if name and (not names or names[-1].casefold() != name.casefold()):
            names.append(name)
    text = chunk.text
    first, _, rest = text.partition("\n")
    if names and first.startswith("#") and first.strip("# \t\r") == names[-1]:
        text = rest.lstrip()
    return "\n".join(part for part in (" > ".join(names), text) if part)


def _begins_with(text: str, title: str) -> bool:
    """Whether a text begins with the words of this title, whatever stands between them."""
    said = _LETTERS.findall(title.casefold())
    start = _LETTERS.findall(text[: 4 * len(title) + 80].casefold())
    return bool(said) and start[: len(said)] == said


def key(fingerprint: str, text: str) -> str:
    """The vector cache's key: equal exactly when the same model embeds the same text (32 hex)."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(fingerprint.encode("utf-8", "surrogatepass"))
    digest.update(b"\x00")
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _sections(body: str, headings: Sequence[Heading]) -> Iterable[_Section]:
    marks = sorted((h for h in headings if 0 <= h.start < len(body)), key=lambda h: h.start)
    first = marks[0].start if marks else len(body)
    if _INK.search(body, 0, first):
        yield _Section(0, first, (), bare=False)
    open_headings: list[Heading] = []
    for number, mark in enumerate(marks):
        end = marks[number + 1].start if number + 1 < len(marks) else len(body)
        while open_headings and open_headings[-1].level >= mark.level:
            open_headings.pop()
        open_headings.append(mark)
        path = tuple(name for h in open_headings if (name := _short(h.text)))
        yield _Section(mark.start, end, path, bare=_is_bare(body, mark, end))


def _short(text: str) -> str:
    return " ".join(text.split())[:_HEADING_CHARS]


def _is_bare(body: str, mark: Heading, end: int) -> bool:
    if end - mark.start > 1_000:
        return False
    lines = [line.strip() for line in body[mark.start : end].splitlines() if line.strip()][1:]
    # A setext heading has its underline on a second line.
    if lines and not lines[0].strip("=-"):
        lines = lines[1:]
    return not lines


def _groups(sections: Iterable[_Section], max_chars: int) -> Iterable[list[_Section]]:
    group: list[_Section] = []
    for section in sections:
        if group and _joins(group, section, max_chars):
            group.append(section)
            continue
        if group:
            yield group
        group = [section]
    if group:
        yield group


def _joins(group: list[_Section], section: _Section, max_chars: int) -> bool:
    last = group[-1]
    related = section.path[: len(last.path)] == last.path or section.path[:-1] == last.path[:-1]
    if not related:
        return False
    if all(part.bare for part in group) and section.path[: len(last.path)] == last.path:
        return True
    size = last.end - group[0].start
    return size < _TINY and section.end - group[0].start <= max_chars


def _path_over(group: list[_Section], left: int, right: int) -> tuple[str, ...]:
    """The headings that are true of all text between the two offsets."""
    over = [s for s in group if s.start < right and s.end > left]
    paths = [s.path for s in over if not s.bare] or [s.path for s in over]
    common = paths[0]
    for path in paths[1:]:
        length = 0
        while length < min(len(common), len(path)) and common[length] == path[length]:
            length += 1
        common = common[:length]
    return common


def _pieces(
    body: str, start: int, end: int, max_chars: int, overlap: int
) -> Iterable[tuple[int, int]]:
    while end - start > max_chars:
        cut = _cut(body, start, start + _even(end - start, max_chars, overlap))
        left, right = _trim(body, start, cut)
        if left < right:
            yield left, right
        # Blanks that trimming takes off must not make the next piece begin where this one did.
        ink = _INK.search(body, _resume(body, start, cut, overlap), end)
        start = ink.start() if ink else end
    left, right = _trim(body, start, end)
    if left < right:
        yield left, right


def _even(rest: int, max_chars: int, overlap: int) -> int:
    """How long the next piece may be, so that of about equal ones none is left with a scrap."""
    pieces = math.ceil((rest - overlap) / (max_chars - overlap))
    return min(max_chars, math.ceil(rest / pieces) + overlap + max_chars // _UNEVEN)


def _cut(body: str, start: int, limit: int) -> int:
    """Where the piece from `start` ends: in the second half of what may be taken."""
    half = start + (limit - start + 1) // 2
    for boundary in (_PARAGRAPH, _SENTENCE, _WORD):
        found = [m.end() for m in boundary.finditer(body, half, limit)]
        if found:
            return found[-1]
    return _whole_character(body, limit, half)


def _resume(body: str, start: int, cut: int, overlap: int) -> int:
    """Where the next piece begins: at most `overlap` before `cut`, at a sentence or a word."""
    for boundary in (_SENTENCE, _WORD):
        match = boundary.search(body, cut - overlap, cut)
        if match and match.end() < cut:
            return match.end()
    return _whole_character(body, cut - overlap, max(start, cut - overlap - 20))


def _whole_character(body: str, at: int, least: int) -> int:
    """`at`, moved back (not below `least`) so that no visible character is split."""
    place = at
    while place > max(least, 1) and place < len(body) and _continues(body, place):
        place -= 1
    return place if place > least else at


def _continues(body: str, place: int) -> bool:
    before, after = body[place - 1], body[place]
    if before == "\r" and after == "\n":
        return True
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    return (
        before == "\u200d"
        or after in _JOINERS
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or unicodedata.combining(after) != 0
        or unicodedata.category(after) in ("Mn", "Mc", "Me")
        or _halves_flag(body, place)
    )


def _halves_flag(body: str, place: int) -> bool:
    """Flags are pairs of letters: a cut is inside one after an odd number of them."""
    if not _is_flag_letter(body[place]):
        return False
    first = place
    while first > 0 and _is_flag_letter(body[first - 1]):
        first -= 1
    return (place - first) % 2 == 1


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _trim(body: str, start: int, end: int) -> tuple[int, int]:
    ink = _INK.search(body, start, end)
    if ink is None:
        return end, end
    return ink.start(), ink.start() + len(body[ink.start() : end].rstrip())
