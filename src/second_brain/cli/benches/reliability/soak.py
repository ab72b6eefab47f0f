"""Hours of modest work: memory, handles and the index stay as they are after a while."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from second_brain.cli.benches.made_up import SHORT
from second_brain.cli.benches.process import DaemonProcess, disk_use
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Bed, Workspace
from second_brain.index.lance import RETENTION

_NOTES = 500
_EDITS = 2.0
_RECALLS = 2.0
_REMEMBERS = 0.2
"""How many a second."""

_KEPT = 30
"""Of what was remembered, the oldest is forgotten beyond so many: the vault does not grow."""

_SAMPLES = 120
_GROWTH = 1.1


@dataclass(frozen=True, slots=True)
class _Sample:
    at: float
    rss: float
    handles: float
    files: float
    disk: float


@dataclass(slots=True)
class _Done:
    edits: int = 0
    recalls: int = 0
    remembers: int = 0


def measure(table: Table, place: Workspace, *, seconds: float, seed: int) -> None:
    bed, _ = place.indexed("soak", _NOTES, SHORT)
    with bed.unchanged(), bed.daemon() as daemon:
        daemon.wait_ready()
        samples, done = _work(bed, daemon, seconds, random.Random(seed))
        daemon.wait_ready()
    table.context.append(
        f"soak of {seconds / 60:.0f} minutes over {_NOTES} notes: {done.edits:,} edits,"
        f" {done.recalls:,} recalls, {done.remembers:,} remembers with a forget for each"
    )
    _judge(table, samples, seconds)


def _work(
    bed: Bed, daemon: DaemonProcess, seconds: float, chance: random.Random
) -> tuple[list[_Sample], _Done]:
    done, samples = _Done(), list[_Sample]()
    kept: list[str] = []

    def edit() -> None:
        note = chance.choice(bed.made)
        text = f"{note.text}\nVersion {chance.randrange(10**6)}.\n"
        (bed.vault / note.path).write_text(text, encoding="utf-8")
        done.edits += 1

    def recall() -> None:
        daemon.recall(chance.choice(bed.made).question)
        done.recalls += 1

    def remember() -> None:
        text = f"Parcel {chance.randrange(10**9)} went to shelf {chance.randrange(10**6)}."
        answer = daemon.post("/capture", {"content": text, "source": "soak"})
        if answer["ok"]:
            kept.append(str(answer["id"]))
        if len(kept) > _KEPT:
            daemon.post("/forget", {"id": kept.pop(0)})
        done.remembers += 1

    def sample() -> None:
        files, disk = disk_use(next((bed.data / "vaults").iterdir()) / "index")
        use = (daemon.rss_mb(), daemon.handles(), files, disk)
        samples.append(_Sample(time.monotonic() - began, *use))

    began = time.monotonic()
    plan: list[tuple[float, Callable[[], None]]] = [
        (1 / _EDITS, edit), (1 / _RECALLS, recall), (1 / _REMEMBERS, remember),
        (seconds / _SAMPLES, sample),
    ]  # fmt: skip
    due = [every for every, _ in plan]
    while (now := time.monotonic() - began) < seconds:
        for place, (every, act) in enumerate(plan):
            if due[place] <= now:
                act()
                # What a slow machine could not do in time is left out, and not made up for.
                due[place] = max(due[place] + every, time.monotonic() - began)
        time.sleep(max(0.0, min(0.1, min(due) - (time.monotonic() - began))))
    sample()
    return samples, done


def _judge(table: Table, samples: Sequence[_Sample], seconds: float) -> None:
    """The last third against the third before it; the first one is for warming up.

    Of the index the least in each: what it takes right after what was replaced has been removed.
    """
    middle = [s for s in samples if seconds / 3 <= s.at < 2 * seconds / 3]
    last = [s for s in samples if s.at >= 2 * seconds / 3]
    third = seconds / 3 / 60
    kept = RETENTION.total_seconds() / 60
    if third <= kept:
        table.context.append(
            f"a third of the soak, {third:.1f} minutes, is no longer than the {kept:.0f} for which"
            " the index keeps what was replaced: its figures say little"
        )
    for label, unit, name, how in (
        ("soak: memory", "MB", "rss", statistics.median),
        ("soak: handles", "", "handles", statistics.median),
        ("soak: files of the index after compaction", "", "files", min),
        ("soak: bytes of the index after compaction", "MB", "disk", min),
    ):
        before, after = (how([getattr(s, name) for s in part]) for part in (middle, last))
        course = ", ".join(
            f"{getattr(s, name):,.0f}" for s in samples[:: max(1, len(samples) // 12)]
        )
        table.add(label, after, unit, note=f"over time: {course}")
        table.add(f"{label}, last third against the one before", after / before, "times", _GROWTH)
