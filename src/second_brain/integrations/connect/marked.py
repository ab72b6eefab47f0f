"""A block of text between markers in a file that is the user's: put in, kept up, taken out.

Taking it out again leaves the bytes that were there before.
"""

from __future__ import annotations

import re

from second_brain.integrations.connect.refusal import CannotEdit

START = "<!-- second-brain: start. Kept by `brain connect`; changes up to “end” are lost. -->"
END = "<!-- second-brain: end -->"

_END = re.compile(r"^<!-- second-brain: end\b[^\r\n]*?-->", re.MULTILINE)


def with_block(text: str, content: str) -> str:
    """`text` with `content` between the markers: where they are, else at its end."""
    place = _place(text)
    newline = _newline(text, place)
    block = f"{START}\n{content.strip()}\n{END}".replace("\n", newline)
    if place is not None:
        return text[: place[0]] + block + text[place[1] :]
    if not text:
        return block + newline
    # What had no line break at its end has none afterwards: by that it can be put back.
    if text.endswith("\n"):
        return text + newline + block + newline
    return text + newline + newline + block


def without_block(text: str) -> str:
    """`text` without the markers and what is between them."""
    place = _place(text)
    if place is None:
        return text
    newline = _newline(text, place)
    before, after = text[: place[0]], text[place[1] :]
    if after:
        return before.removesuffix(newline) + after.removeprefix(newline)
    return before.removesuffix(newline).removesuffix(newline)


def has_block(text: str) -> bool:
    return _place(text) is not None


def _place(text: str) -> tuple[int, int] | None:
    starts = [found.start() for found in re.finditer(r"^<!-- second-brain: start\b", text, re.M)]
    ends = [found.end() for found in _END.finditer(text)]
    if not starts and not ends:
        return None
    if len(starts) != 1 or len(ends) != 1 or starts[0] > ends[0]:
        raise CannotEdit(
            "its markers “second-brain: start” and “second-brain: end” are not one pair; "
            "delete what is between them, and them, by hand"
        )
    return starts[0], ends[0]


def _newline(text: str, place: tuple[int, int] | None) -> str:
    """The line ends of the block, or of the text where there is none yet."""
    start, end = place or (0, len(text))
    return "\r\n" if "\r\n" in text[start:end] else "\n"
