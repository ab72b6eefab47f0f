"""`brain bench index`."""

from __future__ import annotations

from pathlib import Path

import click

from second_brain.cli.benches.command import common_options, notes_option, run
from second_brain.cli.options import with_settings
from second_brain.config import Settings


@click.command("index")
@notes_option(1_000)
@click.option("--short", is_flag=True, help="Short notes, of one passage or two: much sooner done.")
@common_options
@with_settings("model_dir")
def command(
    *, settings: Settings, notes: int, short: bool, work: Path | None, as_json: bool
) -> None:
    """Measure what indexing costs beside the embedding model.

    The bare model embeds half of a made-up vault's passages, in a process of its own with the
    daemon's runtime and threads; `brain serve` indexes the vault from nothing; the bare model
    embeds the other half. Then the daemon indexes the vault once more with nothing left but the
    vectors: its processor time, less that of a start with nothing to do, is what a note costs
    besides embedding. The difference of the first three says the same, with the noise of the
    model's time.
    """
    from second_brain.cli.benches import indexing
    from second_brain.cli.benches.made_up import REAL, SHORT

    sizes = SHORT if short else REAL
    run(
        "First indexing of a vault",
        lambda table, place: indexing.measure(table, place, count=notes, sizes=sizes),
        settings=settings,
        work=work,
        as_json=as_json,
    )
