"""`brain open`: a memory in Obsidian."""

from __future__ import annotations

import click

from second_brain.cli.ids import full_id
from second_brain.cli.options import with_settings
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings
from second_brain.errors import SecondBrainError


@click.command("open", epilog="Exit codes: 0 opened; 1 not opened; 2 an argument is wrong.")
@click.argument("id")
@click.option("--print", "only_print", is_flag=True, help="Print the address, open nothing.")
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON, open nothing.")
def open_(settings: Settings, id: str, only_print: bool, as_json_: bool) -> None:
    """Open the note of the memory ID in Obsidian.

    The beginning of an id is enough if no other begins so.
    """
    with reached(settings) as brain:
        found = brain.get("/entry", id=full_id(brain, id))["entry"]
    url = str(found["url"])
    if as_json_:
        click.echo(as_json({"id": found["id"], "path": found["path"], "url": url}))
    elif only_print:
        click.echo(url)
    elif click.launch(url) != 0:
        raise SecondBrainError(f"This machine does not open {url}; is Obsidian installed?")
