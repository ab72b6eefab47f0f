"""`brain list`: the newest memories."""

from __future__ import annotations

import click

from second_brain.cli.entries import print_entry
from second_brain.cli.moments import between
from second_brain.cli.options import with_settings
from second_brain.cli.plain import on_terminal
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings


@click.command("list", epilog="Exit codes: 0 done; 1 it did not work; 2 a setting is wrong.")
@click.option("-n", "count", type=click.IntRange(1, 100), default=20, show_default=True,
              metavar="N", help="How many memories.")  # fmt: skip
@click.option("-t", "--tag", metavar="TAG", help="Only with this tag, or one below it.")
@between
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def list_(
    *,
    settings: Settings,
    count: int,
    tag: str | None,
    after: int | None,
    before: int | None,
    as_json_: bool,
) -> None:
    """Show the newest memories.

    In a pipe: one memory a line, with tabs between id, time, title, path, and text.
    """
    with reached(settings) as brain:
        found = brain.get("/list", n=count, tag=tag, after=after, before=before)
    if as_json_:
        click.echo(as_json(found))
        return
    for entry in found:
        print_entry(entry)
    if not found and on_terminal():
        click.echo("There is no such memory." if tag or after or before else "No memories yet.")
