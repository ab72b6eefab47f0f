"""Says of a daemon that came back whether everything is there and agrees."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from second_brain.cli.benches.process import DaemonProcess
from second_brain.cli.benches.reliability.ledger import (
    Findings,
    Ledger,
    findings,
    markers,
    resolve,
)
from second_brain.cli.benches.reliability.stores import differences_from_fresh
from second_brain.cli.benches.reliability.ways import Way
from second_brain.cli.benches.workspace import Bed
from second_brain.config import Settings
from second_brain.errors import IndexUnavailable
from second_brain.instance import vault_folder

_CONVERGE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """`differences` are those that stayed; `agreed` is when there were none, by the clock of
    `time.perf_counter`."""

    findings: Findings
    differences: list[str]
    agreed: float


class Judge:
    def __init__(self, bed: Bed, daemon: DaemonProcess) -> None:
        self._bed = bed
        self._daemon = daemon

    def judge(self, ledger: Ledger, way: Way) -> Verdict:
        """For a daemon that is ready while nobody writes. Unanswered requests are resolved."""
        settings = way.settings(self._bed.vault, self._bed.data, self._bed.model_dir)
        differences, agreed = self._differences(settings)
        vault = bytes_of(self._bed.vault)
        memories = {
            str(note["id"]): str(note["path"])
            for note in all_notes(self._daemon)
            if note["status"] == "indexed"
        }
        found = findings(ledger, vault, memories)
        found.lost += self._not_in_history(ledger, settings)
        found.lost += self._not_recalled(ledger)
        resolve(ledger, markers(vault), {path: id for id, path in memories.items()})
        return Verdict(found, differences, agreed)

    def _differences(self, settings: Settings) -> tuple[list[str], float]:
        """Those that are still there after a while: a file that is saved late is taken in late."""
        deadline = time.perf_counter() + _CONVERGE_SECONDS
        while True:
            asked = time.perf_counter()
            try:
                found = asyncio.run(differences_from_fresh(settings))
            except IndexUnavailable as error:
                found = [str(error)]
            if not found or time.perf_counter() > deadline:
                return found, asked
            time.sleep(0.5)

    def _not_in_history(self, ledger: Ledger, settings: Settings) -> list[str]:
        """Writes that were acknowledged and are not in the history, or are left half-written."""
        state = vault_folder(settings).state
        with closing(sqlite3.connect(f"file:{state}?mode=ro", uri=True)) as connection:
            query = "SELECT id, count(*) FROM writes WHERE state <> 'pending' GROUP BY id"
            kept: dict[str, int] = dict(connection.execute(query).fetchall())
            pending = connection.execute("SELECT n FROM writes WHERE state = 'pending'").fetchall()
        short = [
            f"{claim.writes} writes to {claim.id}, {kept.get(claim.id or '', 0)} in the history"
            for claim in ledger.claims
            if claim.writes > kept.get(claim.id or "", 0)
        ]
        return [*short, *(f"write {n} was left unfinished" for (n,) in pending)]

    def _not_recalled(self, ledger: Ledger) -> list[str]:
        """Of the last texts that were acknowledged those that a recall does not find."""
        settled = [claim for claim in ledger.claims if claim.settled and claim.body]
        return [
            f"{claim.body[-1]} is not recalled"
            for claim in settled[-3:]
            if claim.id
            not in {hit["id"] for hit in self._daemon.recall(claim.body[-1], topK=5)["results"]}
        ]


def bytes_of(vault: Path) -> Mapping[str, bytes]:
    """Every file below a vault, by its path in it."""
    return {
        file.relative_to(vault).as_posix(): file.read_bytes()
        for file in vault.rglob("*")
        if file.is_file() and ".git" not in file.relative_to(vault).parts
    }


def all_notes(daemon: DaemonProcess) -> list[dict[str, Any]]:
    """Every note that a daemon knows of, page by page."""
    notes: list[dict[str, Any]] = []
    query: dict[str, object] = {"n": 1_000}
    while True:
        page = daemon.get("/notes", query)
        notes += page["notes"]
        if not page["next_cursor"]:
            return notes
        query["cursor"] = page["next_cursor"]
