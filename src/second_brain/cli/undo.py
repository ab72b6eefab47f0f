"""`brain undo`: take a write back."""

from __future__ import annotations

import click

from second_brain.cli.options import with_settings
from second_brain.cli.plain import printable
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings


@click.command(
    epilog="Exit codes: 0 undone; 1 not undone, and nothing was changed; "
    "2 a setting or an argument is wrong."
)
@click.argument("n", type=click.IntRange(1))
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def undo(settings: Settings, n: int, as_json_: bool) -> None:
    """Take back write N, as `brain log` numbers them, wherever its note is now.

    What was changed in the note since stays: if it is in the same place as the write, nothing is
    undone. The undoing is a write too, and can be undone.
    """
    with reached(settings) as brain:
        done = brain.post("/undo", n=n)
    if as_json_:
        click.echo(as_json(done))
    else:
        click.echo(f"Undone: write {n} of {printable(done['path'])}.")
