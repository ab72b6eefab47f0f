"""`brain tags`, `stats` and `graph`: the memory as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import click

from second_brain.cli.ids import full_id
from second_brain.cli.options import with_settings
from second_brain.cli.plain import printable
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings
from second_brain.errors import SecondBrainError

_EXITS = "Exit codes: 0 done; 1 it did not work; 2 a setting or an argument is wrong."


@click.command(epilog=_EXITS)
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def tags(settings: Settings, as_json_: bool) -> None:
    """Print the tags of all memories, one a line."""
    with reached(settings) as brain:
        found = brain.get("/tags")
    click.echo(as_json(found) if as_json_ else "\n".join(map(printable, found)), nl=bool(found))


@click.command(epilog=_EXITS)
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def stats(settings: Settings, as_json_: bool) -> None:
    """Count the memories: in all, by tag, and what still waits."""
    with reached(settings) as brain:
        found = brain.get("/stats")
    if as_json_:
        click.echo(as_json(found))
        return
    click.echo(f"Memories            {found['count']:,}")
    click.echo(f"Average importance  {found['avg_importance'] or 'not known'}")
    click.echo(f"Without a vector    {found['unvectorized']:,}")
    click.echo(f"Without a kind      {found['unclassified']:,}")
    for place, top in enumerate(found["top_tags"]):
        name = "Most used tags" if place == 0 else ""
        click.echo(f"{name:<20}{printable(top['tag'])} ({top['count']:,})")


@click.command(epilog=_EXITS)
@click.argument("id", required=False)
@click.option("--dot", is_flag=True, help="Print it in the language of Graphviz, not as JSON.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most so many memories.")
@click.option("--open", "in_browser", is_flag=True, help="Open it in the running daemon's page.")
@with_settings("vault", "data_dir", "model_dir")
def graph(
    settings: Settings, id: str | None, dot: bool, limit: int | None, in_browser: bool
) -> None:
    """Print the memories and their relations: of all, or two steps around the memory ID.

    Draw it with `brain graph --dot | dot -Tsvg > graph.svg`, or look at it with --open.
    """
    with reached(settings) as brain:
        seed = full_id(brain, id) if id else None
        if in_browser:
            _open(brain.url, seed)
            return
        found = brain.get("/graph", seed=seed, limit=limit)
    click.echo(as_dot(found) if dot else as_json(found))


def _open(url: str | None, seed: str | None) -> None:
    if url is None:
        raise SecondBrainError("The page is the daemon's, and none runs. Start one: brain serve")
    page = f"{url}/#/graph" + (f"?node={quote(seed)}&near=1" if seed else "")
    if click.launch(page) != 0:
        raise SecondBrainError(f"No browser could be started; open {page} yourself.")


def as_dot(graph: Mapping[str, Any]) -> str:
    """A graph in the DOT language: nodes by id with their labels, edges with their types."""
    lines = ["digraph memories {", "  node [shape=box];"]
    lines += [f"  {_quoted(n['id'])} [label={_quoted(n['label'])}];" for n in graph["nodes"]]
    lines += [
        f"  {_quoted(e['source'])} -> {_quoted(e['target'])} [label={_quoted(e['type'])}];"
        for e in graph["edges"]
    ]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
