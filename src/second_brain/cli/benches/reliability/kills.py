"""SIGKILL at random moments: what was acknowledged is there, and all stores agree."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click

from second_brain.cli.benches.made_up import SHORT
from second_brain.cli.benches.process import DaemonProcess
from second_brain.cli.benches.reliability.judge import Judge
from second_brain.cli.benches.reliability.ledger import Claim, Ledger
from second_brain.cli.benches.reliability.load import Agent, Editor
from second_brain.cli.benches.reliability.ways import Way, ways
from second_brain.cli.benches.reliability.witness import Witness
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Bed, Workspace

NOTES = 48
_AGENTS = 3
_UPKEEP_AFTER_COMMITS = 200
_COMING_BACK = 300.0
_PHASES = (
    "first index",
    "model switch",
    "compaction",
    "steady load",
    "start-up",
    "steady load",
    "start-up",
    "steady load",
)
_KINDS = {
    "lost": "acknowledged writes lost",
    "torn": "torn or temporary files",
    "twice": "notes or texts twice",
    "different": "differences from a fresh index",
    "faults": "unexpected answers",
}

Health = dict[str, Any]


@dataclass(slots=True)
class Tally:
    """What the kills came to. `found` are faults in words, by what they are."""

    kills: Counter[str] = field(default_factory=Counter)
    struck: Counter[str] = field(default_factory=Counter)
    """Kills while the work that the phase is named after was seen to be going on."""
    acknowledged: int = 0
    refused: int = 0
    seconds: list[float] = field(default_factory=list)
    found: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in _KINDS})

    def add(self, kind: str, things: list[str], when: str) -> None:
        for thing in things:
            self.found[kind].append(f"{when}: {thing}")
            click.echo(f"{when}: {_KINDS[kind]}: {thing}", err=True)


def measure(table: Table, place: Workspace, *, kills: int, seed: int) -> None:
    bed = place.bed("killed", NOTES, SHORT)
    shutil.rmtree(bed.data, ignore_errors=True)
    with bed.unchanged():
        tally = Killing(bed, random.Random(seed)).run(kills)
    phases = ", ".join(
        f"{n} at {phase} ({tally.struck[phase]} of them in its midst)"
        for phase, n in sorted(tally.kills.items())
    )
    table.context.append(f"seed {seed}: {kills} kills: {phases}")
    table.add("kills", kills, "")
    table.add("acknowledged writes", tally.acknowledged, "", note=f"{tally.refused} refused")
    for kind, label in _KINDS.items():
        told = tally.found[kind]
        table.add(label, len(told), "", 0, note=told[0] if told else "")
    table.add_times("from a kill until all agrees again", tally.seconds)


class Killing:
    """Kills a daemon on a bed again and again, and has it judged each time."""

    def __init__(self, bed: Bed, chance: random.Random) -> None:
        self._bed = bed
        self._chance = chance
        self._tally = Tally()
        self._ledger = Ledger()
        self._own: list[list[Claim]] = [[] for _ in range(_AGENTS)]
        self._round = 0
        self._starting = self._indexing = 3.0
        self._ways: list[Way] = ways(bed.model_dir)
        self._daemon = DaemonProcess(
            bed.vault, bed.data, bed.model_dir, log=bed.data.with_name("killed.log")
        )
        self._judge = Judge(bed, self._daemon)

    def run(self, kills: int) -> Tally:
        phases: dict[str, Callable[[], None]] = {
            "start-up": self._at_start_up,
            "steady load": self._at_steady_load,
            "first index": self._at_first_index,
            "compaction": self._at_compaction,
            "model switch": self._at_model_switch,
        }
        self._use(self._ways[0])
        with self._daemon as daemon:
            self._starting = daemon.wait_serving()
            daemon.wait_ready()
            self._indexing = time.perf_counter() - daemon.spawned
            for number in range(kills):
                self._round += 1
                phase = _PHASES[number % len(_PHASES)]
                phases[phase]()
                self._tally.kills[phase] += 1
                self._come_back(f"kill {self._round} ({phase})")
        return self._tally

    # How each phase is brought about, and when the kill strikes

    def _at_start_up(self) -> None:
        self._daemon.stop()
        self._daemon.start()
        with self._at_work(patient=True) as witness:
            self._strike("start-up", 1.5 * self._starting)
            self._count("start-up", witness.last is None or witness.last["index"]["scanning"])

    def _at_steady_load(self) -> None:
        with self._at_work():
            self._strike("steady load", 2.5)
            self._count("steady load", True)

    def _at_first_index(self) -> None:
        self._daemon.stop()
        shutil.rmtree(self._bed.data)
        for claim in self._ledger.claims:
            claim.writes = 0
        self._daemon.start()
        with self._at_work(patient=True) as witness:
            self._strike("first index", self._indexing)
            self._count("first index", witness.last is None or _is_filling(witness.last))

    def _at_compaction(self) -> None:
        with self._at_work(churning=True) as witness:
            before = witness.wait(lambda _: True)["index"]["writer"]["optimizes"]
            near = _UPKEEP_AFTER_COMMITS - 4
            witness.wait(
                lambda health: (
                    _commits(health) >= near or health["index"]["writer"]["optimizes"] > before
                )
            )
            self._strike("compaction", 0.8)
            last = witness.last
            done = last is not None and last["index"]["writer"]["optimizes"] > before
            self._count("compaction", not done)

    def _at_model_switch(self) -> None:
        self._daemon.stop()
        self._ways.append(self._ways.pop(0))
        self._use(self._ways[0])
        self._daemon.start()
        with self._at_work(patient=True) as witness:
            witness.wait(lambda health: _is_switching(health) or self._ways[0].is_in_force(health))
            self._strike("model switch", self._indexing / 2)
            last = witness.last
            self._count("model switch", last is not None and _is_switching(last))

    def _strike(self, phase: str, within: float) -> None:
        time.sleep(self._chance.uniform(0.0, within))
        self._daemon.kill()
        self._killed = time.perf_counter()

    def _count(self, phase: str, struck: bool) -> None:
        self._tally.struck[phase] += struck

    @contextmanager
    def _at_work(self, *, patient: bool = False, churning: bool = False) -> Iterator[Witness]:
        """Agents, an editor and a witness beside the daemon, until it is killed inside."""
        agents = [
            Agent(
                self._daemon.client(),
                f"{chr(97 + number)}{self._round}",
                self._chance.getrandbits(32),
                own,
                patient=patient,
                churning=churning,
            )
            for number, own in enumerate(self._own)
        ]
        editor = Editor(
            self._bed.vault,
            str(self._round),
            self._chance.getrandbits(32),
            self._ledger,
            pause=0.08,
        )
        witness = Witness(self._daemon.client())
        threads: list[Agent | Editor | Witness] = [*agents, editor, witness]
        for thread in threads:
            thread.start()
        try:
            yield witness
        finally:
            for thread in threads:
                thread.stop()
            for thread in threads:
                thread.join()
        self._tally.acknowledged += sum(agent.answered for agent in agents)
        self._tally.refused += sum(len(agent.refused) for agent in agents)
        for agent in agents:
            self._tally.add("faults", agent.faults, f"kill {self._round}")

    # After it

    def _use(self, way: Way) -> None:
        self._daemon.flags = way.flags
        self._daemon.environment = dict(way.environment)

    def _come_back(self, when: str) -> None:
        self._daemon.start()
        self._daemon.wait_ready(every=0.1, within=_COMING_BACK)
        way = self._ways[0]
        self._daemon.until(lambda: way.is_in_force(self._daemon.get("/health")), every=0.1)
        self._ledger.claims = [claim for own in self._own for claim in own]
        verdict = self._judge.judge(self._ledger, way)
        for own in self._own:
            own[:] = [claim for claim in own if claim in self._ledger.claims]
        self._tally.add("lost", verdict.findings.lost, when)
        self._tally.add("torn", verdict.findings.torn, when)
        self._tally.add("twice", verdict.findings.twice, when)
        self._tally.add("different", verdict.differences, when)
        self._tally.seconds.append(verdict.agreed - self._killed)


def _commits(health: Health) -> int:
    return int(health["index"].get("writer", {}).get("commits_since_optimize", 0))


def _is_filling(health: Health) -> bool:
    return bool(health["index"]["scanning"] or health["index"]["pending"])


def _is_switching(health: Health) -> bool:
    return bool(health["index"].get("state") == "building")
