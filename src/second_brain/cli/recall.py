"""`brain recall`: a question, and the memories that answer it."""

from __future__ import annotations

import click

from second_brain.cli.entries import print_entry
from second_brain.cli.moments import between
from second_brain.cli.options import with_settings
from second_brain.cli.plain import on_terminal, printable
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings


@click.command(epilog="Exit codes: 0 found; 1 nothing found; 2 a setting or argument is wrong.")
@click.argument("query", nargs=-1, required=True)
@click.option("-k", "--top", "top_k", type=click.IntRange(1, 20), default=5, show_default=True,
              metavar="N", help="How many memories.")  # fmt: skip
@click.option("-t", "--tag", metavar="TAG", help="Only with this tag, or one below it.")
@between
@click.option("--kind", type=click.Choice(["episodic", "semantic"]), help="Only of this kind.")
@click.option("--hops", type=click.IntRange(0, 3), default=0, show_default=True, metavar="N",
              help="Also what is linked to the memories found, so many steps away.")  # fmt: skip
@click.option("--max-chars", type=click.IntRange(1), metavar="N",
              help="Budget of text for all memories together.")  # fmt: skip
@click.option("--explain", is_flag=True, help="Say of each memory why it was found.")
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
@click.pass_context
def recall(
    ctx: click.Context,
    *,
    settings: Settings,
    query: tuple[str, ...],
    top_k: int,
    tag: str | None,
    after: int | None,
    before: int | None,
    kind: str | None,
    hops: int,
    max_chars: int | None,
    explain: bool,
    as_json_: bool,
) -> None:
    """Find memories by meaning and by words, the best first.

    In a pipe: one memory a line, with tabs between score, id, time, title, path, and the passage
    that matches.
    """
    with reached(settings) as brain:
        answer = brain.get(
            "/recall",
            query=" ".join(query),
            topK=top_k,
            tag=tag,
            after=after,
            before=before,
            kind=kind,
            hops=hops,
            max_chars=max_chars,
            explain="true" if explain else None,
        )
    results = answer["results"]
    if as_json_:
        click.echo(as_json(answer))
    else:
        for hit in results:
            print_entry(hit, mark=f"{hit['score']:.1f}", text=hit["passage"])
            if explain and on_terminal():
                parts = ", ".join(f"{name} {value}" for name, value in hit["explain"].items())
                click.secho(f"  {parts}\n", dim=True)
        for said in (answer.get("message"), answer.get("notice")):
            if said:
                click.echo(printable(said), err=True)
    ctx.exit(0 if results else 1)
