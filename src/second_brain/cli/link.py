"""`brain link`, `unlink` and `connections`: relations between memories."""

from __future__ import annotations

import click

from second_brain.cli.ids import full_id
from second_brain.cli.options import with_settings
from second_brain.cli.plain import on_terminal, print_rows, printable
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings
from second_brain.memory.model import RELATION_TYPES

_TYPES = click.Choice(RELATION_TYPES)
_EXITS = "Exit codes: 0 done; 1 it did not work; 2 a setting or an argument is wrong."


@click.command(epilog=_EXITS)
@click.argument("source")
@click.argument("target")
@click.option("--type", "type_", type=_TYPES, default="relates_to", show_default=True)
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def link(settings: Settings, source: str, target: str, type_: str, as_json_: bool) -> None:
    """Relate the memory SOURCE to the memory TARGET, in a property of SOURCE's note.

    The beginning of an id is enough if no other begins so.
    """
    with reached(settings) as brain:
        ids = {"source_id": full_id(brain, source), "target_id": full_id(brain, target)}
        done = brain.post("/link", **ids, type=type_)
    click.echo(as_json(done) if as_json_ else f"Linked: {source} {type_} {target}")


@click.command(epilog=_EXITS)
@click.argument("source")
@click.argument("target")
@click.option("--type", "type_", type=_TYPES, help="Only this one; else every relation.")
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def unlink(settings: Settings, source: str, target: str, type_: str | None, as_json_: bool) -> None:
    """Take back the relations between the memories SOURCE and TARGET.

    The beginning of an id is enough if no other begins so.
    """
    with reached(settings) as brain:
        ids = {"source_id": full_id(brain, source), "target_id": full_id(brain, target)}
        done = brain.post("/unlink", **ids, **({"type": type_} if type_ else {}))
    count = done["deleted"]
    said = f"Removed {count} {'relation' if count == 1 else 'relations'}."
    click.echo(as_json(done) if as_json_ else said)


@click.command(epilog=_EXITS)
@click.argument("id")
@click.option("--type", "type_", type=_TYPES, help="Only relations of this type.")
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def connections(settings: Settings, id: str, type_: str | None, as_json_: bool) -> None:
    """Show the memories that are linked to the memory ID.

    In a pipe: one a line, with tabs between relation, weight, provenance, id, title, and path. The
    beginning of an id is enough if no other begins so.
    """
    with reached(settings) as brain:
        answer = brain.get("/connections", id=full_id(brain, id), type=type_)
    found = answer["connections"]
    if as_json_:
        click.echo(as_json(answer))
    elif not found and on_terminal():
        click.echo(f"Nothing is linked to {printable(id)}.")
    else:
        print_rows(
            ("relation", "weight", "by", "id", "title", "path"),
            [
                (c["label"], c["weight"], c["provenance"], c["id"], c["title"], c["path"])
                for c in found
            ],
        )
