"""`brain show`: the text of a note, now or around a write."""

from __future__ import annotations

import base64
import sys
from collections.abc import Mapping

import click

from second_brain.cli.options import with_settings
from second_brain.cli.plain import on_terminal
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings
from second_brain.errors import SecondBrainError


@click.command(
    epilog="Exit codes: 0 done; 1 there is no such text; 2 a setting or an argument is wrong."
)
@click.argument("id")
@click.option("--at", "n", type=click.IntRange(1), metavar="N", help="The write, see `brain log`.")
@click.option("--after", is_flag=True, help="With --at: the text after the write, not before it.")
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON, with the note's path.")
def show(settings: Settings, id: str, n: int | None, after: bool, as_json_: bool) -> None:
    """Print the note of the memory ID, properties and all: as it is now, or before write N.

    In a pipe these are the file's bytes, so that `brain show ID --at N > old.md` restores an old
    text. The beginning of an id is enough if no other begins so.
    """
    if after and n is None:
        raise click.UsageError("--after says on which side of a write; name it with --at N.")
    side = ("after" if after else "before") if n is not None else None
    with reached(settings, current=n is None) as brain:
        found = brain.get("/history/content", id=id, n=n, side=side)
    if as_json_:
        click.echo(as_json({name: value for name, value in found.items() if name != "ok"}))
        return
    data = content(found)
    if data is None:
        made = "made the note" if side == "before" else "took the note away"
        raise SecondBrainError(f"There is no text {side} write {n}: it {made}.")
    if on_terminal():
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        click.echo(text, nl=not text.endswith("\n"))
    else:
        sys.stdout.buffer.write(data)


def content(found: Mapping[str, str | None]) -> bytes | None:
    """The bytes in an answer of GET /history/content."""
    text = found["content"]
    if text is None:
        return None
    return base64.b64decode(text) if found["encoding"] == "base64" else text.encode()
