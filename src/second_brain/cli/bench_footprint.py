"""`brain bench footprint`."""

from __future__ import annotations

from pathlib import Path

import click

from second_brain.cli.benches.command import common_options, notes_option, run
from second_brain.cli.options import with_settings
from second_brain.config import Settings


@click.command("footprint")
@notes_option(5_000)
@click.option("--idle", type=click.FloatRange(min=1), default=60.0, show_default=True,
              metavar="S", help="Seconds of watching an idle daemon.")  # fmt: skip
@click.option("--edits", type=click.IntRange(min=1), default=10_000, show_default=True, metavar="N")
@click.option("--batch", type=click.IntRange(min=1), default=100, show_default=True, metavar="N",
              help="Notes saved at a time.")  # fmt: skip
@common_options
@with_settings("model_dir")
def command(
    *,
    settings: Settings,
    notes: int,
    idle: float,
    edits: int,
    batch: int,
    work: Path | None,
    as_json: bool,
) -> None:
    """Measure what a daemon takes: memory, idle time, and what is left after thousands of edits.

    On an indexed vault of short notes with the default model: resident memory after 50 recalls,
    processor time while nothing happens, then edits of real files seen by the watcher, saved in
    batches. Memory, open handles, files and disk are noted after each fifth of the edits. After the
    first fifth and after the last one nothing is changed for seven minutes, so that the index has
    removed what was replaced: those two are compared.
    """
    from second_brain.cli.benches import footprint

    run(
        "What the daemon takes",
        lambda table, place: footprint.measure(
            table, place, count=notes, idle_seconds=idle, edits=edits, batch=batch
        ),
        settings=settings,
        work=work,
        as_json=as_json,
    )
