"""Text for terminals and pipes: tables on the one, one line a row on the other, nothing harmful."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime

import click


def on_terminal() -> bool:
    """Whether standard output is read by a person."""
    return sys.stdout.isatty()


def printable(text: object) -> str:
    """One line without control characters: names and summaries come from whoever wrote them."""
    return "".join(
        " " if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") else char
        for char in str(text)
    )


def local_time(ms: int) -> str:
    """Unix milliseconds in the reader's zone, to the second."""
    return datetime.fromtimestamp(ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table with headings on a terminal; tabs between the columns, and no headings, in a pipe."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if not on_terminal():
        for row in cells:
            click.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    Console().print(table)
