"""`brain bench save`."""

from __future__ import annotations

from pathlib import Path

import click

from second_brain.cli.benches.command import common_options, notes_option, run
from second_brain.cli.options import with_settings
from second_brain.config import Settings


@click.command("save")
@notes_option(1_000)
@click.option("--samples", type=click.IntRange(min=1), default=20, show_default=True, metavar="N")
@common_options
@with_settings("model_dir")
def command(
    *, settings: Settings, notes: int, samples: int, work: Path | None, as_json: bool
) -> None:
    """Measure how soon what was written is recalled.

    A note of an indexed vault gets a line with a word that no other has, saved as editors do it:
    in place, and as a new file that takes the old one's name. From the end of the save, recall is
    asked for that word until a passage out of the index holds it. Then memories are remembered over
    HTTP, each recalled by the very next request; how long `remember` takes is shown beside.
    """
    from second_brain.cli.benches import save

    run(
        "From saved to recalled",
        lambda table, place: save.measure(table, place, count=notes, samples=samples),
        settings=settings,
        work=work,
        as_json=as_json,
    )
