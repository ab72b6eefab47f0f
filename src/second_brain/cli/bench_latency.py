"""`brain bench latency`."""

from __future__ import annotations

from pathlib import Path

import click

from second_brain.cli.benches.command import common_options, run
from second_brain.cli.options import with_settings
from second_brain.config import Settings


@click.command("latency")
@click.option(
    "--notes",
    type=click.IntRange(min=1),
    multiple=True,
    default=(1_000, 5_000),
    show_default=True,
    metavar="N",
    help="Notes of a made-up vault; may be given several times.",
)
@click.option("--queries", type=click.IntRange(min=1), default=200, show_default=True, metavar="N")
@common_options
@with_settings("model_dir")
def command(
    *, settings: Settings, notes: tuple[int, ...], queries: int, work: Path | None, as_json: bool
) -> None:
    """Measure how long a recall over HTTP takes.

    Different questions one after another over one connection, each embedded by the daemon; then
    the same within a tag, and while new notes are being indexed. Up to 1,000 notes they are of real
    length (500 to 4,000 characters), beyond that short (one passage or two each), so that a large
    vault is indexed in minutes.
    """
    from second_brain.cli.benches import latency

    run(
        "Recall over HTTP",
        lambda table, place: latency.measure(table, place, counts=notes, queries=queries),
        settings=settings,
        work=work,
        as_json=as_json,
    )
