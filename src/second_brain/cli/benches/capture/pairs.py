"""Pairs of a known memory and a new text, made from a file of templates.

A template is one fact in one language: what is known, the same retyped and in other words, an
update of it, its denial, the fact with something added, and the same attribute of another subject.
Each is filled in twice. What is unrelated is the known text of the next templates.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from second_brain.errors import InvalidInput

Kind = Literal[
    "restated", "reworded", "updated", "contradicted", "elaborated", "sibling", "unrelated"
]
KINDS: tuple[Kind, ...] = (
    "restated",
    "reworded",
    "updated",
    "contradicted",
    "elaborated",
    "sibling",
    "unrelated",
)
WITH_NEWS: tuple[Kind, ...] = ("updated", "contradicted", "elaborated", "sibling", "unrelated")
"""In these the new text says something that the known one does not."""

_APART = 5
"""The unrelated text is that many templates on, in the same language."""


@dataclass(frozen=True, slots=True)
class Pair:
    """`value` is what an update changes: number, date, name or word. Both halves (`tune`, `test`)
    have templates of their own."""

    kind: Kind
    language: str
    value: str
    half: Literal["tune", "test"]
    known: str
    new: str


def read(file: Path) -> list[Pair]:
    """The pairs of a file of templates. Raises InvalidInput."""
    try:
        return made(json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput("pairs", f"{file} is no file of templates: {error!r}") from error


def made(templates: Sequence[dict[str, object]]) -> list[Pair]:
    """Every pair of these templates."""
    pairs: list[Pair] = []
    for language in dict.fromkeys(str(template["language"]) for template in templates):
        own = [template for template in templates if template["language"] == language]
        for place, template in enumerate(own):
            other = own[(place + _APART) % len(own)]
            for number in range(len(_fills(template))):
                texts = _filled(template, number)
                texts["unrelated"] = _filled(other, number % len(_fills(other)))["known"]
                pairs += [
                    Pair(
                        kind=kind,
                        language=language,
                        value=str(template["value"]),
                        half="tune" if place % 2 == 0 else "test",
                        known=texts["known"],
                        new=texts[kind],
                    )
                    for kind in KINDS
                ]
    return pairs


def _filled(template: dict[str, object], number: int) -> dict[str, str]:
    fill = _fills(template)[number]
    kinds: Iterable[str] = ("known", *(kind for kind in KINDS if kind != "unrelated"))
    return {kind: str(template[kind]).format_map(fill) for kind in kinds}


def _fills(template: dict[str, object]) -> list[dict[str, str]]:
    fills = template["fills"]
    if not isinstance(fills, list) or not fills:
        raise ValueError("a template without fills")
    return fills
