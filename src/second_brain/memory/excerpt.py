"""Cuts what recall returns to a budget of characters, around the passage that matched. Pure."""

from __future__ import annotations

_CUT = "…"
_LEAST = 200
"""Characters below which a text says nothing: a budget too small for all goes to the best."""


def shares(lengths: list[int], budget: int) -> list[int]:
    """How many characters each text gets of `budget`, together never more.

    Short texts leave theirs to the others. A budget that cannot give each its least serves the
    first ones, which are the best, and leaves nothing to the last.
    """
    if sum(lengths) <= budget:
        return list(lengths)
    left = len(lengths)
    given = [0] * left
    if budget < _LEAST * left:
        for place, length in enumerate(lengths):
            given[place] = min(length, _LEAST, budget)
            budget -= given[place]
        return given
    for place in sorted(range(left), key=lambda place: lengths[place]):
        given[place] = min(lengths[place], budget // left)
        budget -= given[place]
        left -= 1
    return given


def excerpt(text: str, passage: str, limit: int) -> str:
    """At most `limit` characters of `text` (and two marks), with as much of `passage` as fits.

    Whole lines or words where possible; "…" stands where something was left out. `passage` that
    is not in the text (it changed meanwhile) gives the text's beginning.
    """
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    start = text.find(passage)
    if passage and start >= 0:
        inside = min(len(passage), limit)
    else:
        start, inside = 0, limit // 2
    before = (limit - inside) // 3
    left = _line_start(text, max(0, start - before), start)
    right = min(len(text), left + limit)
    right = _word_end(text, right, min(start + inside, right))
    return (
        f"{_CUT if left > 0 else ''}{text[left:right].strip()}{_CUT if right < len(text) else ''}"
    )


def _line_start(text: str, at: int, most: int) -> int:
    """The first line start from `at` on, up to `most`; a word start if there is none."""
    if at == 0:
        return 0
    for mark in ("\n", " "):
        found = text.find(mark, at - 1, most)
        if found >= 0:
            return found + 1
    return most


def _word_end(text: str, at: int, least: int) -> int:
    """The last word end up to `at`, not before `least`."""
    if at >= len(text):
        return len(text)
    for mark in ("\n", " "):
        found = text.rfind(mark, least, at + 1)
        if found > least:
            return found
    return at
