"""Which parts of `brain bench reliability` are run, and in which size."""

from __future__ import annotations

from dataclasses import dataclass

from second_brain.cli.benches.reliability import burst, faults, kills, soak
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Profile:
    """None: that part is left out. `burst` is in files, `soak` in seconds. `only` these faults;
    empty: all of them."""

    kills: int | None = None
    burst: int | None = None
    soak: float | None = None
    faults: bool = False
    only: tuple[str, ...] = ()
    seed: int = 1


FULL = Profile(kills=200, burst=10_000, soak=3_600.0, faults=True)


def measure(table: Table, place: Workspace, profile: Profile) -> None:
    if profile.faults:
        faults.measure(table, place, only=profile.only)
    if profile.kills is not None:
        kills.measure(table, place, kills=profile.kills, seed=profile.seed)
    if profile.burst is not None:
        burst.measure(table, place, count=profile.burst)
    if profile.soak is not None:
        soak.measure(table, place, seconds=profile.soak, seed=profile.seed)
