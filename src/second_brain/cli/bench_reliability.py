"""`brain bench reliability`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from second_brain.cli.benches.command import common_options, run
from second_brain.cli.options import with_settings
from second_brain.config import Settings


@click.command("reliability")
@click.option("--kills", type=click.IntRange(min=1), metavar="N",
              help="Kill the daemon at N random moments; in full 200.")  # fmt: skip
@click.option("--faults", is_flag=True, help="Make every fault once.")
@click.option("--fault", multiple=True, metavar="NAME", help="Make this fault; several times.")
@click.option("--burst", type=click.IntRange(min=1), metavar="N",
              help="Check out a branch in which N notes differ; in full 10000.")  # fmt: skip
@click.option("--soak", type=click.FloatRange(min=1), metavar="S",
              help="Work for S seconds; in full 3600.")  # fmt: skip
@click.option("--seed", type=int, default=1, show_default=True, metavar="N",
              help="What is random is drawn from this number.")  # fmt: skip
@common_options
@with_settings("model_dir")
def command(
    *,
    settings: Settings,
    kills: int | None,
    faults: bool,
    fault: tuple[str, ...],
    burst: int | None,
    soak: float | None,
    seed: int,
    work: Path | None,
    as_json: bool,
) -> None:
    """Prove that nothing is lost: kills, faults, a burst of changes, hours of work.

    All parts in full, which takes hours, or those that are named. The daemon is killed under load:
    at start, in a first indexing, in the upkeep of the index, while the model is changed. After
    each kill every acknowledged write must be there, no file torn or twice, and index and catalogue
    as a fresh index of the vault. Each fault must be told clearly and leave nothing behind. A
    burst is a git checkout; of the soak, memory, handles and index are compared over time.
    """
    from second_brain.cli.benches.reliability import measuring

    asked = measuring.Profile(
        kills=kills, burst=burst, soak=soak, faults=faults or bool(fault), only=fault
    )
    everything = asked == measuring.Profile()
    profile = dataclasses.replace(measuring.FULL if everything else asked, seed=seed)
    run(
        "Reliability",
        lambda table, place: measuring.measure(table, place, profile),
        settings=settings,
        work=work,
        as_json=as_json,
    )
