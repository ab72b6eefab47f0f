"""Faults made on purpose: what callers are told, what is left, and whether it mends by itself."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

import click

from second_brain.cli.benches.reliability import harms
from second_brain.cli.benches.reliability.scene import Scene, scene
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Workspace
from second_brain.errors import SecondBrainError

_PATIENCE = 120.0

Harm = Callable[[Scene], "Callable[[], None] | None"]


@dataclass(frozen=True, slots=True)
class Fault:
    """`harm` brings it about and returns what ends it, None where nobody has to end it.

    `refuses` are the requests that cannot be done meanwhile. `problem` is what /health must name.
    `stopped`: it happens while the daemon does not run. `gone`: notes are, or nothing says that
    there were any. `disks`: only where the disks are small; `permissions`: only where they hold.
    """

    harm: Harm
    refuses: tuple[str, ...] = ()
    problem: str | None = None
    stopped: bool = False
    disks: bool = False
    permissions: bool = False
    history_lost: bool = False
    gone: bool = False


FAULTS: dict[str, Fault] = {
    "vault disk full": Fault(harms.vault_full, ("remember", "append"), disks=True),
    "data disk full": Fault(harms.data_full, ("remember",), disks=True),
    "vault disk read-only": Fault(
        harms.vault_disk_read_only, ("remember", "append", "update"), disks=True
    ),
    "no file may grow": Fault(harms.no_file_may_grow, ("remember", "append", "update")),
    "note read-only": Fault(harms.note_read_only, ("append", "update"), permissions=True),
    "folder read-only": Fault(
        harms.folder_read_only, ("remember", "append", "update"), permissions=True
    ),
    "note unreadable": Fault(harms.note_unreadable, ("append", "update"), permissions=True),
    "vault without permission": Fault(
        harms.vault_without_permission, ("remember", "append", "update"), permissions=True
    ),
    "vault gone": Fault(
        harms.vault_gone, ("remember", "append", "update"), problem="vault-offline"
    ),
    "folder of notes gone": Fault(harms.folder_gone, gone=True),
    "index cut short": Fault(harms.index_cut),
    "index garbage": Fault(harms.index_garbage),
    "index deleted": Fault(harms.index_deleted),
    "catalogue garbage": Fault(harms.catalog_garbage),
    "catalogue emptied": Fault(harms.catalog_emptied),
    "history garbage": Fault(harms.state_garbage, problem="history-lost", history_lost=True),
    "history emptied": Fault(harms.state_emptied, problem="history-lost", history_lost=True),
    "stores deleted": Fault(harms.stores_deleted, problem="history-lost", history_lost=True),
    "index cut short, at start": Fault(harms.index_cut, stopped=True),
    "index garbage, at start": Fault(harms.index_garbage, stopped=True),
    "index deleted, at start": Fault(harms.index_deleted, stopped=True),
    "catalogue garbage, at start": Fault(harms.catalog_garbage, stopped=True),
    "catalogue cut short, at start": Fault(harms.catalog_cut, stopped=True),
    "catalogue emptied, at start": Fault(harms.catalog_emptied, stopped=True),
    "history garbage, at start": Fault(
        harms.state_garbage, problem="history-lost", stopped=True, history_lost=True
    ),
    "history emptied, at start": Fault(
        harms.state_emptied, problem="history-lost", stopped=True, history_lost=True
    ),
    "stores deleted, at start": Fault(
        harms.stores_deleted, stopped=True, history_lost=True, gone=True
    ),
}


def measure(table: Table, place: Workspace, *, only: Collection[str] = ()) -> None:
    """Every fault, or those that are named, one after the other on one vault."""
    unknown = set(only) - FAULTS.keys()
    if unknown:
        raise SecondBrainError(
            f"There is no fault {', '.join(sorted(unknown))}. There are: {', '.join(FAULTS)}"
        )
    with scene(place) as stage:
        if not stage.disks:
            table.context.append("no small disks can be mounted here: full disks are left out")
        if not stage.permissions:
            table.context.append("permissions do not hold for root: they are left out")
        for name, fault in FAULTS.items():
            possible = (stage.disks or not fault.disks) and (
                stage.permissions or not fault.permissions
            )
            if (only and name not in only) or not possible:
                continue
            note = _one(stage, fault)
            for thing in stage.wrong:
                click.echo(f"{name}: {thing}", err=True)
            told = stage.wrong[0] if stage.wrong else note
            table.add(f"fault: {name}", len(stage.wrong), "", 0, note=told)


def _one(stage: Scene, fault: Fault) -> str:
    """Bring one fault about, end it, and say how it went; what was wrong is in `stage.wrong`."""
    stage.told, stage.wrong, stage.may_be_gone = {}, [], fault.gone
    if fault.stopped:
        stage.daemon.stop()
    over = fault.harm(stage)
    if fault.stopped:
        stage.daemon.start()
        stage.daemon.wait_serving()
    _try_everything(stage, fault)
    kinds = _problems(stage, fault.problem)
    if over is not None:
        over()
    if fault.history_lost:
        for claim in stage.ledger.claims:
            claim.writes = 0
    began = time.perf_counter()
    _recover(stage)
    took = time.perf_counter() - began
    stage.wrong += [f"{path} is another" for path in stage.made_up_notes_changed()]
    stage.wrong += stage.judge()
    said = next(iter(stage.told.values()), "nothing was refused")
    how = "by itself" if over is None else "once it was over"
    named = f"; /health names {', '.join(sorted(kinds))}" if kinds else ""
    return f"{said}; well again {how} in {took:.1f} s{named}"


def _try_everything(stage: Scene, fault: Fault) -> None:
    target = stage.ledger.claims[0]
    done = {
        "recall": stage.recall(),
        "remember": stage.remember(size=300),
        "append": stage.append(target),
        "update": stage.update(target),
    }
    stage.wrong += [f"{what} was acknowledged" for what in fault.refuses if done[what]]


def _problems(stage: Scene, wanted: str | None) -> set[str]:
    """The kinds of problems that /health names; waits for the one that is wanted."""
    deadline = time.perf_counter() + 20.0
    while True:
        kinds = {problem["kind"] for problem in stage.health().get("problems", ())}
        if wanted is None or wanted in kinds:
            return kinds
        if time.perf_counter() > deadline:
            stage.wrong.append(f"/health does not name {wanted}, only {kinds}")
            return kinds
        time.sleep(0.2)


def _recover(stage: Scene) -> None:
    """Until the daemon does everything again."""

    def well() -> bool:
        stage.told, told = {}, stage.told
        try:
            done = stage.recall() and stage.remember() and stage.append(stage.ledger.claims[0])
            done = done and stage.catalogue_is_whole()
        except (OSError, http.client.HTTPException):
            done = False
        stage.told = told
        return done

    stage.daemon.until(well, every=0.5, within=_PATIENCE)
    stage.daemon.wait_ready(every=0.1)
