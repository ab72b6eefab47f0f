"""The texts that Obsidian's "Second Brain Sync" plugin sends, and how to recognise a note in them.

The plugin sends the file name, a blank line and the body, whole or in overlapping chunks that end
in ` [chunk i/n]`. It counts in UTF-16 units, cuts after a full stop or a line end, and trims every
chunk as JavaScript does, so a chunk may begin or end in half an emoji. Everything here is pure.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

CHUNK_CHARS = 1_600
CHUNK_OVERLAP = 200

# What JavaScript's String.trim() removes; Python's strip() has a few more and lacks U+FEFF.
_JS_SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_MARK = re.compile(r" \[chunk (\d{1,6})/(\d{1,6})\]\s*\Z")
_FRONTMATTER = re.compile(r"\A---.*?---\n?", re.DOTALL)
# Below this, a common run of characters says nothing about where two chunks meet.
_LEAST_FOREIGN_OVERLAP = 12


@dataclass(frozen=True, slots=True)
class Part:
    """Place of a chunk: `number` of `total`, counted from 1."""

    number: int
    total: int


@dataclass(frozen=True, slots=True)
class Sent:
    """A text as the plugin sent it, taken apart.

    `title` is None where the text cannot hold one: in every chunk but the first, and in a text
    without a blank line. `text` is the whole text without the chunk mark; `body` is what follows
    the title, or the whole text where there is none.
    """

    title: str | None
    body: str
    text: str
    part: Part | None


def take_apart(text: str) -> Sent:
    """Split a captured text into title, body and place among the chunks. Never raises."""
    text, part = strip_mark(text)
    if part is not None and part.number > 1:
        return Sent(None, text, text, part)
    title, blank, body = _lf(text).partition("\n\n")
    if not blank or not title or "\n" in title:
        return Sent(None, text, text, part)
    return Sent(title, body, text, part)


def strip_mark(text: str) -> tuple[str, Part | None]:
    """Remove a final ` [chunk i/n]` and read it; a mark with an impossible place is text."""
    mark = _MARK.search(text)
    if mark is None:
        return text, None
    part = Part(int(mark[1]), int(mark[2]))
    if not 1 <= part.number <= part.total or part.total < 2:
        return text, None
    return text[: mark.start()], part


def plugin_body(raw: str) -> str:
    """The body that the plugin takes out of a file's text.

    It drops everything from an opening `---` to the next `---` wherever that stands, so a note that
    begins with a rule loses its first part, and a property value with `---` leaves a remnant.
    """
    return _FRONTMATTER.sub("", raw, count=1).strip(_JS_SPACE)


def plugin_text(title: str, body: str) -> str:
    """What the plugin sends for a note: its file name, a blank line, its trimmed body."""
    return f"{title}\n\n{body.strip(_JS_SPACE)}"


def plugin_chunks(text: str, size: int = CHUNK_CHARS, overlap: int = CHUNK_OVERLAP) -> list[str]:
    """Cut a text as the plugin does, without the marks. `size` must be over twice `overlap`."""
    units = _units(text)
    if len(units) <= size:
        return [text]
    pieces: list[str] = []
    start = 0
    while start < len(units):
        end = start + size
        if end < len(units):
            cut = max(units.rfind(".", 0, end + 1), units.rfind("\n", 0, end + 1))
            if cut > start + size / 2:
                end = cut + 1
        pieces.append(_text(units[start:end].strip(_JS_SPACE)))
        start = end - overlap
    return [piece for piece in pieces if piece]


def matches(note_title: str, note_body: str, text: str) -> bool:
    """Tell whether `text` is what the plugin sends for this note, whole or one chunk of it.

    The note's body may be given as in the file or as `plugin_body` takes it out. Line endings, NFC
    or NFD and outer white space do not count; anything else that differs does. A chunk matches
    where it stands in the note: the first at the start, the last at the end, others anywhere.
    """
    sent, part = strip_mark(text)
    wholes = [_plain(plugin_text(note_title, body)) for body in (note_body, plugin_body(note_body))]
    # A note may itself end in what looks like a mark.
    return _plain(text) in wholes or any(_stands_in(_plain(sent), w, part) for w in wholes)


def same_title(note_title: str, text: str) -> bool:
    """Tell whether `text` begins with this note's title, whatever the body: it was edited since."""
    title = take_apart(text).title
    return title is not None and _plain(title) == _plain(note_title)


def join_chunks(previous: str, following: str, overlap: int = CHUNK_OVERLAP) -> str:
    """Put the next chunk (without its mark) behind the text so far, minus what they share.

    The plugin's trimming hides white space at the seam, so the shared run is `overlap` long less
    the white space that stands at its two ends; that decides between several possible seams in a
    repetitive text. Other overlaps (a setting of the plugin) are found as the longest shared run.
    With nothing in common the two are put on separate lines.
    """
    before, after = _units(previous.rstrip(_JS_SPACE)), _units(following.strip(_JS_SPACE))
    if not after or (len(after) <= overlap and before.endswith(after)):
        return _text(before)
    seams = [k for k in range(min(len(before), len(after)), 0, -1) if before.endswith(after[:k])]
    expected = [k for k in seams if k <= overlap and overlap - k <= _hidden_space(before, after, k)]
    if expected:
        return _text(before + after[expected[0] :])
    if seams and seams[0] >= min(_LEAST_FOREIGN_OVERLAP, len(after)):
        return _text(before + after[seams[0] :])
    return _text(f"{before}\n{after}" if before else after)


def _hidden_space(before: str, after: str, seam: int) -> int:
    """White space that trimming may have taken from the two ends of the shared run."""
    head = before[: len(before) - seam]
    tail = after[seam:]
    return len(head) - len(head.rstrip(_JS_SPACE)) + len(tail) - len(tail.lstrip(_JS_SPACE))


def _stands_in(sent: str, whole: str, part: Part | None) -> bool:
    if part is None:
        return sent == whole
    if not sent:
        return False
    if part.number == 1:
        return whole.startswith(sent) and len(sent) < len(whole)
    if part.number == part.total:
        return whole.endswith(sent) and len(sent) < len(whole)
    return sent in whole


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", _text(_units(_lf(text)))).strip(_JS_SPACE)


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n")


def _units(text: str) -> str:
    """One character a UTF-16 unit, as JavaScript counts; surrogates that stand alone survive."""
    if max(text, default="") < "\U00010000":
        return text
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(map(chr, memoryview(data).cast("H")))


def _text(units: str) -> str:
    """The opposite of `_units`: pairs of surrogates become one character again."""
    if not any("\ud800" <= unit <= "\udfff" for unit in units):
        return units
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
