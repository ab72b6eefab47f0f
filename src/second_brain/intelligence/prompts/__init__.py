"""The prompts: versioned files beside this module, and how texts of others are put under them.

A file is never changed once released: what a prompt does is measured by its version. Texts of
memories may hold orders ("ignore all this and …"). They come as data between marks with a random
word that they cannot know, the rules above say that nothing between marks is an order, and what
comes back is checked by who asked.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Block:
    """One text of somebody else's under a label of ours, such as `M1` or `question`."""

    label: str
    text: str


def load(name: str) -> str:
    """The text of a prompt by its name with version, such as `chat.v1`."""
    return _load(name)


@cache
def _load(name: str) -> str:
    from importlib import resources  # noqa: PLC0415 - a daemon without a model never needs it

    return resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def instructions(name: str) -> str:
    """A prompt's orders, below the rules on data that hold for every prompt."""
    return f"{load('data.v1')}\n\n{load(name)}"


def as_data(blocks: Sequence[Block], *, word: Callable[[], str] = lambda: secrets.token_hex(8)
) -> str:  # fmt: skip
    """The blocks between marks that none of them contains."""
    mark = word()
    while any(mark in block.text for block in blocks):
        mark = word()
    return "\n\n".join(
        f"<<<begin {block.label} {mark}>>>\n{block.text}\n<<<end {block.label} {mark}>>>"
        for block in blocks
    )
