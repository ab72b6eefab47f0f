"""`brain bench load`."""

from __future__ import annotations

from pathlib import Path

import click

from second_brain.cli.benches.command import common_options, notes_option, run
from second_brain.cli.options import with_settings
from second_brain.config import Settings


@click.command("load")
@notes_option(1_000)
@click.option("--rate", type=click.FloatRange(min=1), default=500.0, show_default=True,
              metavar="N", help="REST requests a second.")  # fmt: skip
@click.option("--sessions", type=click.IntRange(min=1), default=64, show_default=True,
              metavar="N", help="MCP clients at once.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=1), default=60.0, show_default=True,
              metavar="S", help="How long the load lasts.")  # fmt: skip
@click.option("--pause", type=click.FloatRange(min=0.01), default=4.0, show_default=True,
              metavar="S", help="Between two calls of an MCP client.")  # fmt: skip
@common_options
@with_settings("model_dir")
def command(
    *,
    settings: Settings,
    notes: int,
    rate: float,
    sessions: int,
    seconds: float,
    pause: float,
    work: Path | None,
    as_json: bool,
) -> None:
    """Measure many clients at once: errors, waiting times, a restart under load.

    A mix of REST requests at a steady rate and MCP sessions beside them, while other clients read
    nothing of what they asked for. Before that each kind of request alone, with its processor
    time. Last the daemon is restarted under a fifth of the load.
    """
    from second_brain.cli.benches import load

    run(
        "Many clients at once",
        lambda table, place: load.measure(
            table,
            place,
            count=notes,
            load=load.Load(rate, sessions, seconds, pause),
        ),
        settings=settings,
        work=work,
        as_json=as_json,
    )
