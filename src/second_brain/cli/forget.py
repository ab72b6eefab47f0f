"""`brain forget`: a memory goes."""

from __future__ import annotations

import sys

import click

from second_brain.cli.ids import full_id
from second_brain.cli.options import with_settings
from second_brain.cli.plain import printable
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings


@click.command(epilog="Exit codes: 0 forgotten; 1 not forgotten; 2 an argument is wrong.")
@click.argument("id")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def forget(settings: Settings, id: str, yes: bool, as_json_: bool) -> None:
    """Forget the memory ID.

    A note that an agent made goes to the vault's .trash; one that you wrote stays where it is and
    is kept out of memory from now on. The beginning of an id is enough if no other begins so.
    `brain undo` takes it back.
    """
    with reached(settings) as brain:
        found = brain.get("/get", id=full_id(brain, id))
        if not yes and sys.stdin.isatty():
            click.confirm(f"Forget {printable(found['path'])}?", abort=True)
        done = brain.post("/forget", id=found["id"])
    click.echo(as_json(done) if as_json_ else printable(done.get("message") or done["id"]))
