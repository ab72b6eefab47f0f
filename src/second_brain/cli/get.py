"""`brain get`: one memory whole."""

from __future__ import annotations

import click

from second_brain.cli.ids import full_id
from second_brain.cli.options import with_settings
from second_brain.cli.plain import local_time, on_terminal, printable
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings


@click.command(epilog="Exit codes: 0 done; 1 there is none; 2 a setting or an argument is wrong.")
@click.argument("id")
@click.option("--heading", metavar="TEXT", help="Only the part under this heading.")
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def get(settings: Settings, id: str, heading: str | None, as_json_: bool) -> None:
    """Print the memory ID: its text, and on a terminal what is known of it.

    The beginning of an id is enough if no other begins so.
    """
    with reached(settings) as brain:
        found = brain.get("/get", id=full_id(brain, id), heading=heading)
    if as_json_:
        click.echo(as_json(found))
        return
    text = found["content"]
    if on_terminal():
        click.secho(printable(found["title"]), bold=True)
        about = [local_time(found["created_at"]), found["source"]]
        about += [f"#{tag}" for tag in found["tags"]]
        about += [found[name] for name in ("kind", "status") if found[name]]
        click.secho(f"{found['id']}  {printable(found['path'])}", dim=True)
        click.secho(printable("  ".join(about)), dim=True)
        for link in found["links"]:
            click.secho(f"{printable(link['label'])} {printable(link['title'])}", dim=True)
        click.echo()
    click.echo(text, nl=not text.endswith("\n"))
