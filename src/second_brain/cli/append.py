"""`brain append`: a text is added to a memory."""

from __future__ import annotations

import click

from second_brain.cli.ids import full_id
from second_brain.cli.options import with_settings
from second_brain.cli.plain import printable
from second_brain.cli.reach import as_json, reached
from second_brain.cli.texts import given_text
from second_brain.config import Settings


@click.command(epilog="Exit codes: 0 added; 1 not added; 2 a setting or an argument is wrong.")
@click.argument("id")
@click.argument("text", nargs=-1)
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def append(settings: Settings, id: str, text: tuple[str, ...], as_json_: bool) -> None:
    """Add TEXT below the memory ID, with today's date.

    Without TEXT it is read from a pipe, or written in $EDITOR. The beginning of an id is enough if
    no other begins so.
    """
    addition = given_text(text)
    with reached(settings) as brain:
        done = brain.post("/append", id=full_id(brain, id), addition=addition)
    click.echo(as_json(done) if as_json_ else printable(done["message"]))
