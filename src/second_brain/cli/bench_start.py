"""`brain bench start`."""

from __future__ import annotations

from pathlib import Path

import click

from second_brain.cli.benches.command import common_options, notes_option, run
from second_brain.cli.options import with_settings
from second_brain.config import Settings


@click.command("start")
@notes_option(1_000)
@click.option("--runs", type=click.IntRange(min=1), default=5, show_default=True, metavar="N")
@common_options
@with_settings("model_dir")
def command(*, settings: Settings, notes: int, runs: int, work: Path | None, as_json: bool) -> None:
    """Measure how soon a started daemon answers.

    Indexes a made-up vault, then starts `brain serve` on it again and again. From the spawn of the
    process: seconds until /health is answered with 200, until MCP's `initialize` is answered
    (asked for right after), with the processor time used by then, and until a recall goes by
    meaning and not by words alone (asked for every 50 ms). The system's file cache is warm.
    """
    from second_brain.cli.benches import start

    run(
        "Start on an indexed vault",
        lambda table, place: start.measure(table, place, count=notes, runs=runs),
        settings=settings,
        work=work,
        as_json=as_json,
    )
