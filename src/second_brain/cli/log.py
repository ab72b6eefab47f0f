"""`brain log`: what was written into the vault, by whom."""

from __future__ import annotations

import click

from second_brain.cli.options import with_settings
from second_brain.cli.plain import local_time, on_terminal, print_rows
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings

_COLUMNS = ("n", "when", "who", "tool", "what", "note", "id", "")


@click.command(epilog="Exit codes: 0 done; 1 it did not work; 2 a setting or an argument is wrong.")
@click.argument("id", required=False)
@click.option("-n", "count", type=click.IntRange(1, 1000), default=20, show_default=True,
              metavar="N", help="How many writes.")  # fmt: skip
@with_settings("vault", "data_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def log(settings: Settings, id: str | None, count: int, as_json_: bool) -> None:
    """Show the last writes of agents and clients, newest first: of the memory ID, or of all.

    The beginning of an id is enough if no other begins so. In a pipe: one write a line, with tabs
    between number, time, client, tool, summary, path, id, and `undone`. See a text with
    `brain show`, take a write back with `brain undo`.
    """
    with reached(settings, current=False) as brain:
        writes = brain.get("/history", id=id, n=count)["writes"]
    if as_json_:
        click.echo(as_json({"writes": writes}))
        return
    if not writes and on_terminal():
        click.echo("Nothing was written" + (f" to {id}." if id else " yet."))
        return
    print_rows(
        _COLUMNS,
        [
            (
                write["n"],
                local_time(write["at"]),
                write["client"],
                write["tool"],
                write["summary"],
                write["path"],
                write["id"],
                "undone" if write["undone"] else "",
            )
            for write in writes
        ],
    )
