"""`brain review`: memories that may not both hold, and what is decided on them."""

from __future__ import annotations

import click

from second_brain.cli.options import with_settings
from second_brain.cli.plain import on_terminal, print_rows
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings

_COLUMNS = ("n", "suggested", "newer", "older", "why", "newer id", "older id")


@click.command(
    epilog="Exit codes: 0 done, or nothing waits; 1 it did not work; "
    "2 a setting or an argument is wrong."
)
@click.argument("n", type=click.IntRange(1), required=False)
@click.option("--replace", "decision", flag_value="replace",
              help="The newer one supersedes the older, which is deprecated.")  # fmt: skip
@click.option("--merge", "decision", flag_value="merge",
              help="The older one takes in what the newer says, which is deprecated.")  # fmt: skip
@click.option("--keep", "decision", flag_value="keep", help="Both stay, and are no duplicates.")
@click.option("--dismiss", "decision", flag_value="dismiss", help="Nothing is to be done.")
@click.option("--winner", metavar="ID", help="Which of the two stands after all.")
@click.option("-n", "--number", "count", type=click.IntRange(1, 200), default=50,
              show_default=True, metavar="N", help="How many to list.")  # fmt: skip
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def review(
    *,
    settings: Settings,
    n: int | None,
    decision: str | None,
    winner: str | None,
    count: int,
    as_json_: bool,
) -> None:
    """List the pairs of memories that wait for a decision, or decide pair N.

    In a pipe: one pair a line, with tabs between number, suggestion, both titles, the reason, and
    both ids. What is decided is written into the notes, and `brain undo` takes all of it back.
    """
    if (n is None) != (decision is None):
        raise click.UsageError("To decide, give a number and one of the decisions; to list, none.")
    with reached(settings) as brain:
        if n is not None:
            done = brain.post(f"/review/{n}", decision=decision, winner=winner)
        else:
            done = brain.get("/review", n=count)
    if as_json_:
        click.echo(as_json(done))
        return
    if n is not None:
        writes = done["writes"]
        back = f" Take it back with: brain undo {writes[0]}" if writes else ""
        click.echo(f"Decided: {decision}, pair {n}.{back}")
        return
    if not done["items"] and on_terminal():
        click.echo("Nothing waits for a decision.")
        return
    print_rows(
        _COLUMNS,
        [
            (
                item["id"],
                item["suggestion"],
                item["newcomer"]["title"],
                item["known"]["title"],
                item["reason"],
                item["newcomer"]["id"],
                item["known"]["id"],
            )
            for item in done["items"]
        ],
    )
