"""A text that a command is given: as arguments, through a pipe, or written in an editor."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click


def given_text(words: Sequence[str], *, template: str = "") -> str:
    """The words joined by spaces; all of standard input for `-` or in a pipe; else what is written
    in $EDITOR, which starts with `template`. Raises UsageError where that leaves nothing."""
    if words and tuple(words) != ("-",):
        text = " ".join(words)
    elif words or _piped():
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    else:
        text = click.edit(template, extension=".md", require_save=False) or ""
    if not text.strip():
        raise click.UsageError(
            "There is no text. Give it as an argument, through a pipe, or write it in $EDITOR."
        )
    return text


def _piped() -> bool:
    return not sys.stdin.isatty()
