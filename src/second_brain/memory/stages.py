"""The steps of recall that can be left out, to measure what each is worth."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stages:
    """Which steps of recall are taken: all, but for who measures what each is worth."""

    meaning: bool = True
    words: bool = True
    times: bool = True
    languages: bool = True
    episodes: bool = True
    age: bool = True
    renewal: bool = True
    diversity: bool = True
    counting: bool = True


ALL_STAGES = Stages()
