"""`brain bench speed`."""

from __future__ import annotations

from pathlib import Path

import click

from second_brain.cli.benches.command import common_options, run
from second_brain.cli.options import with_settings
from second_brain.config import Settings


@click.command("speed")
@click.option(
    "--notes",
    type=click.IntRange(min=1),
    multiple=True,
    default=(1_000, 5_000, 20_000),
    show_default=True,
    metavar="N",
    help="Notes of a made-up vault; may be given several times. 100,000 take an hour.",
)
@click.option("--queries", type=click.IntRange(min=1), default=200, show_default=True, metavar="N")
@click.option("--samples", type=click.IntRange(min=1), default=20, show_default=True, metavar="N")
@click.option(
    "--idle",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to watch the daemon do nothing.",
)
@common_options
@with_settings("model_dir")
def command(
    *,
    settings: Settings,
    notes: tuple[int, ...],
    queries: int,
    samples: int,
    idle: float,
    work: Path | None,
    as_json: bool,
) -> None:
    """Measure everything that a user waits for, by the size of the vault.

    First index, start, recall, save to recall, remember, many notes saved at once, memory and idle
    time, and the search alone, each beside what bounds it on this machine: the bare model and a
    scan of all vectors with numpy. Up to 1,000 notes they are of real length, beyond that short.
    """
    from second_brain.cli.benches import speed

    run(
        "Speed by size",
        lambda table, place: speed.measure(
            table, place, counts=notes, queries=queries, samples=samples, idle_seconds=idle
        ),
        settings=settings,
        work=work,
        as_json=as_json,
    )
