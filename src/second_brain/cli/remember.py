"""`brain remember`: a text becomes a note."""

from __future__ import annotations

import click

from second_brain.cli.options import with_settings
from second_brain.cli.plain import printable
from second_brain.cli.reach import as_json, reached
from second_brain.cli.texts import given_text
from second_brain.config import Settings


@click.command(
    epilog="Exit codes: 0 stored; 1 not stored, such as a duplicate; "
    "2 a setting or an argument is wrong."
)
@click.argument("text", nargs=-1)
@click.option("-t", "--tag", "tags", multiple=True, metavar="TAG", help="A tag; may be repeated.")
@click.option("--title", metavar="TEXT", help="The note's name; else made from the text.")
@click.option("--source", default="cli", show_default=True, metavar="NAME",
              help="Where the text comes from.")  # fmt: skip
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
@click.pass_context
def remember(
    ctx: click.Context,
    *,
    settings: Settings,
    text: tuple[str, ...],
    tags: tuple[str, ...],
    title: str | None,
    source: str,
    as_json_: bool,
) -> None:
    """Store TEXT as a memory: a note in the vault, found by every tool from now on.

    Without TEXT it is read from a pipe, or written in $EDITOR. Prints the id.
    """
    content = given_text(text)
    given = {"content": content, "tags": list(tags), "source": source}
    with reached(settings) as brain:
        done = brain.post("/capture", **given, **({"title": title} if title else {}))
    if as_json_:
        click.echo(as_json(done))
    elif not done["ok"]:
        click.echo(f"Not stored: {printable(done['message'])} (id {done['matchId']})", err=True)
    else:
        click.echo(done["id"])
        click.echo(printable(done.get("message") or done.get("path") or ""), err=True)
    ctx.exit(0 if done["ok"] else 1)
