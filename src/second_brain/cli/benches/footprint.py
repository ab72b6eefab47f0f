"""What a daemon takes: memory, idle time, and what thousands of edits leave behind."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass

from second_brain.cli.benches.made_up import SHORT
from second_brain.cli.benches.process import DaemonProcess, disk_use
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Bed, Workspace
from second_brain.index.writer import OptimizePolicy

_MEMORY_MB = 600.0
IDLE_PERCENT = 1.0
_GROWTH = 1.1
"""At the end of the edits each figure may be this many times what it was after a fifth."""
_REST_SECONDS = 15.0
_UPKEEP_SECONDS = OptimizePolicy().tidy_seconds + OptimizePolicy().idle_seconds + 15.0
"""Without a change for so long, and upkeep has removed from the disk all that was replaced."""
_BATCH_SECONDS = 900.0
_QUESTIONS = 50


@dataclass(frozen=True, slots=True)
class _Use:
    rss: float
    handles: int
    files: int
    disk: float
    commits: int


def measure(
    table: Table, place: Workspace, *, count: int, idle_seconds: float, edits: int, batch: int
) -> None:
    bed, health = place.indexed("short", count, SHORT)
    table.context.append(f"{count:,} notes, {health['index']['rows']:,} passages")
    with bed.unchanged(), bed.daemon() as daemon:
        daemon.wait_ready()
        for note in bed.made[:: max(1, count // _QUESTIONS)]:
            daemon.recall(note.question)
        _rest(daemon, _REST_SECONDS)
        table.add("memory after a start and 50 recalls", daemon.rss_mb(), "MB", _MEMORY_MB)
        idle(table, daemon, idle_seconds)
        _edits(table, bed, daemon, edits, batch)


def idle(table: Table, daemon: DaemonProcess, seconds: float, of: str = "") -> None:
    """What it takes of the processor when nothing happens."""
    before = daemon.cpu_seconds()
    time.sleep(seconds)
    share = 100 * (daemon.cpu_seconds() - before) / seconds
    table.add(f"idle, of one core{of}", share, "%", IDLE_PERCENT, note=f"over {seconds:.0f} s")


def _edits(table: Table, bed: Bed, daemon: DaemonProcess, edits: int, batch: int) -> None:
    """Edits through the real files and watcher, `batch` notes saved at a time.

    Each save swaps two versions of a note, so that after its first round the vectors are known and
    ten thousand edits take minutes; parsing, catalogue, index and its upkeep are the same.
    """
    batch = min(batch, len(bed.made))
    rounds = 5 * max(1, edits // batch // 5)
    changing = bed.made[: min(len(bed.made), 10 * batch)]
    seen: list[_Use] = []
    tidied: list[_Use] = []
    began = time.perf_counter()
    for number in range(rounds):
        first = number * batch % len(changing)
        version = 1 + number * batch // len(changing) % 2
        for note in changing[first : first + batch]:
            text = f"{note.text}\nVersion {version}.\n"
            (bed.vault / note.path).write_text(text, encoding="utf-8")
        last = max(note.path for note in changing[first : first + batch])
        indexed = functools.partial(is_indexed, daemon, bed, last)
        daemon.until(indexed, every=0.1, within=_BATCH_SECONDS)
        if (number + 1) % max(1, rounds // 5) == 0:
            seen.append(_use(bed, daemon))
            if len(seen) in (1, 5):
                tidied.append(_tidied(bed, daemon))
    minutes = (time.perf_counter() - began) / 60
    table.context.append(
        f"{rounds * batch:,} edits through the watcher, {batch} notes saved at a time, in "
        f"{minutes:.1f} minutes and {seen[-1].commits:,} commits of the index; the texts swap "
        "between two versions, whose vectors are known after the first rounds"
    )
    table.context.append(
        f"compared {_UPKEEP_SECONDS / 60:.0f} minutes after a fifth of the edits and after all of"
        " them, when upkeep has removed what was replaced; the course is without such pauses"
    )
    for label, unit, name in (
        ("memory", "MB", "rss"),
        ("handles", "", "handles"),
        ("files in the data directory", "", "files"),
        ("disk of the data directory", "MB", "disk"),
    ):
        course = ", ".join(f"{getattr(use, name):,.0f}" for use in seen)
        before, after = (getattr(use, name) for use in tidied)
        table.add(f"{label} at the end", after, unit, note=f"under way: {course}")
        growth = after / before
        table.add(f"{label}, end against first fifth", growth, "times", _GROWTH)


def _tidied(bed: Bed, daemon: DaemonProcess) -> _Use:
    """What it takes when nothing has changed for long."""
    _rest(daemon, _UPKEEP_SECONDS)
    return _use(bed, daemon)


def _rest(daemon: DaemonProcess, seconds: float) -> None:
    """Let what follows a change come to its end."""
    time.sleep(seconds)
    daemon.wait_ready()


def is_indexed(daemon: DaemonProcess, bed: Bed, path: str) -> bool:
    """Whether the file as it is now is in the index."""
    notes = daemon.get("/notes", {"path": path})["notes"]
    modified = (bed.vault / path).stat().st_mtime_ns // 1_000_000
    return (
        bool(notes)
        and notes[0]["indexed_at"] is not None
        and (int(notes[0]["indexed_at"]) >= modified)
    )


def _use(bed: Bed, daemon: DaemonProcess) -> _Use:
    files, disk = disk_use(bed.data)
    commits = int(daemon.get("/health")["index"]["writer"]["commits"])
    return _Use(daemon.rss_mb(), daemon.handles(), files, disk, commits)
