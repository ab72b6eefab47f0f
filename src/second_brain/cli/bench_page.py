"""`brain bench page`."""

from __future__ import annotations

from pathlib import Path

import click

from second_brain.cli.benches.command import common_options, notes_option, run
from second_brain.cli.options import with_settings
from second_brain.config import Settings


@click.command("page")
@notes_option(20_000)
@click.option("--samples", type=click.IntRange(min=1), default=10, show_default=True, metavar="N")
@common_options
@with_settings("model_dir")
def command(
    *, settings: Settings, notes: int, samples: int, work: Path | None, as_json: bool
) -> None:
    """Measure how soon the dashboard is there and can be used.

    The page of the daemon on a made-up vault is opened in Chromium, each time in a new profile that
    knows nothing of it yet: the first paint; the search field takes keys; the newest memories are
    listed. Needs the tools for tests and Chromium.
    """
    from second_brain.cli.benches import page

    run(
        "The dashboard in a browser",
        lambda table, place: page.measure(table, place, count=notes, samples=samples),
        settings=settings,
        work=work,
        as_json=as_json,
    )
