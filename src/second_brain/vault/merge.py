"""Takes one change out of a file that was changed again since: a merge that never guesses.

Pure, bytes to bytes. Lines are compared whole, with their endings. Two changes that touch, or that
could lie in more than one place, are no business of ours: None is the answer then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from second_brain.vault.frontmatter import Parts, read_properties, split
from second_brain.vault.model import PropertyValue

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_EOL = re.compile(rb"\r\n|\n|\r")

MAX_LINES = 2_000
"""Lines between the first and the last difference: comparing takes the square of it."""


@dataclass(frozen=True, slots=True)
class _Hunk:
    """The lines `start` to `end` of the base are `lines` instead."""

    start: int
    end: int
    lines: list[bytes]


def without_change(before: bytes, after: bytes, now: bytes) -> bytes | None:
    """`now` without the change that made `before` into `after`, and with all others.

    None if that cannot be told for sure: what was changed since touches the same lines or the same
    property, the lines could be others, or the note's properties would not be what they should.
    """
    if now == after:
        return before
    before, after = _with_endings_of(before, now), _with_endings_of(after, now)
    base, ours, theirs = _lines(after), _lines(before), _lines(now)
    merged = _merged(base, ours, theirs)
    # Where lines repeat, a change may lie in several places. Compared from the end, the last of
    # them is found instead of the first.
    if merged is None or merged != _from_the_end(base, ours, theirs):
        return None
    if any(not line.endswith((b"\n", b"\r")) for line in merged[:-1]):
        return None
    result = b"".join(merged)
    return result if _is_sound(split(before), split(after), split(now), split(result)) else None


def _from_the_end(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> list[bytes] | None:
    found = _merged(base[::-1], ours[::-1], theirs[::-1])
    return None if found is None else found[::-1]


def _merged(
    base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]
) -> list[bytes] | None:
    """`base` with both changes; None if they touch or are too many to compare."""
    one, other = _hunks(base, ours), _hunks(base, theirs)
    if one is None or other is None or any(_touch(a, b) for a in one for b in other):
        return None
    result: list[bytes] = []
    place = 0
    for hunk in sorted([*one, *other], key=lambda hunk: hunk.start):
        result += base[place : hunk.start]
        result += hunk.lines
        place = hunk.end
    return result + list(base[place:])


def _touch(one: _Hunk, other: _Hunk) -> bool:
    """Whether no untouched line lies between two changes."""
    return one.start <= other.end and other.start <= one.end


def _hunks(base: Sequence[bytes], changed: Sequence[bytes]) -> list[_Hunk] | None:
    """How `changed` differs from `base`; None if there is too much between the differences."""
    start = 0
    shorter = min(len(base), len(changed))
    while start < shorter and base[start] == changed[start]:
        start += 1
    tail = 0
    while tail < shorter - start and base[-1 - tail] == changed[-1 - tail]:
        tail += 1
    middle, instead = base[start : len(base) - tail], changed[start : len(changed) - tail]
    if max(len(middle), len(instead)) > MAX_LINES:
        return None
    matcher = SequenceMatcher(None, middle, instead, autojunk=False)
    return [
        _Hunk(start + i, start + j, list(instead[k:m]))
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag != "equal"
    ]


def _lines(data: bytes) -> list[bytes]:
    return _LINE.findall(data)


def _with_endings_of(data: bytes, model: bytes) -> bytes:
    """`data` as a program leaves it that turned all line endings into those of `model`."""
    kinds = set(_EOL.findall(model))
    if len(kinds) != 1 or len(set(_EOL.findall(data))) != 1:
        return data
    eol = kinds.pop()
    return _EOL.sub(lambda _: eol, data)


# The properties


def _is_sound(before: Parts, after: Parts, now: Parts, result: Parts) -> bool:
    """Whether the result's frontmatter says what two changes that are apart make it say."""
    if result.unclosed and not now.unclosed:
        return False
    if before.body == after.body and result.body != now.body:
        return False
    if now.body == after.body and result.body != before.body:
        return False
    (was, _), (made, _), (has, old), (gets, new) = map(_read, (before, after, now, result))
    return set(new) <= set(old) and all(
        _chosen(key, was, made, has, gets) for key in {*was, *made, *has, *gets}
    )


def _chosen(key: str, *sides: dict[str, PropertyValue]) -> bool:
    """Whether a property that one side changed is that side's; one that both did is in doubt."""
    was, made, has, gets = (side.get(key, _ABSENT) for side in sides)
    if was == made:
        return gets == has
    return has == made and gets == was


_ABSENT: PropertyValue = "\0absent"


def _read(parts: Parts) -> tuple[dict[str, PropertyValue], tuple[str, ...]]:
    return read_properties(parts.yaml.decode("utf-8", "replace"))
