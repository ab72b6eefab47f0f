"""Memories in the output of commands: blocks for a person, one line each in a pipe."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import click

from second_brain.cli.plain import local_time, on_terminal, printable

_WIDTH = 96
_EXCERPT = 400


def print_entry(entry: Mapping[str, Any], *, mark: str = "", text: str | None = None) -> None:
    """One memory. `mark` stands before its title, or is the line's first column; `text` is what is
    shown of it (else its content)."""
    shown = entry.get("content", "") if text is None else text
    if not on_terminal():
        columns = [entry["id"], local_time(entry["created_at"]), entry["title"], entry["path"]]
        columns = [mark, *columns, shown] if mark else [*columns, shown]
        click.echo("\t".join(printable(column) for column in columns))
        return
    tags = " ".join(f"#{printable(tag)}" for tag in tags_of(entry))
    day = local_time(entry["created_at"])[:10]
    click.secho(f"{mark + '  ' if mark else ''}{printable(entry['title'])}", bold=True, nl=False)
    click.echo(f"  {click.style(day, dim=True)}  {click.style(tags, fg='cyan')}".rstrip())
    for line in _lines(shown):
        click.echo(f"  {line}")
    click.secho(f"  {entry['id']}  {printable(entry['path'])}", dim=True)
    click.echo()


def tags_of(entry: Mapping[str, Any]) -> Sequence[str]:
    """An entry's tags; /list gives them as JSON in a string."""
    tags = entry["tags"]
    found: Sequence[str] = json.loads(tags) if isinstance(tags, str) else tags
    return found


def _lines(text: str) -> list[str]:
    shown = text.strip()
    if len(shown) > _EXCERPT:
        shown = shown[:_EXCERPT].rstrip() + " …"
    return [
        wrapped
        for line in shown.splitlines()
        if line.strip()
        for wrapped in textwrap.wrap(printable(line), _WIDTH) or [""]
    ]
