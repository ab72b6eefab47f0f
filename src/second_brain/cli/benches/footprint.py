"""What a daemon takes: memory, idle time, and what thousands of edits leave behind."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass

from second_brain.cli.benches.made_up import SHORT
from second_brain.cli.benches.process import DaemonProcess, disk_use
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Bed, Workspace
from second_brain.index.lance import RETENTION

_MEMORY_MB = 600.0
_IDLE_PERCENT = 1.0
_GROWTH = 1.1
"""At the end of the edits each figure may be this many times what it was after a fifth."""
_REST_SECONDS = 15.0
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
        _idle(table, daemon, idle_seconds)
        _edits(table, bed, daemon, edits, batch)


def _idle(table: Table, daemon: DaemonProcess, seconds: float) -> None:
    before = daemon.cpu_seconds()
    time.sleep(seconds)
    share = 100 * (daemon.cpu_seconds() - before) / seconds
    table.add("idle, of one core", share, "%", _IDLE_PERCENT, note=f"over {seconds:.0f} s")


def _edits(table: Table, bed: Bed, daemon: DaemonProcess, edits: int, batch: int) -> None:
    """Edits through the real files and watcher, `batch` notes saved at a time.

    Each save swaps two versions of a note, so that after its first round the vectors are known and
    ten thousand edits take minutes; parsing, catalogue, index and its upkeep are the same.
    """
    batch = min(batch, len(bed.made))
    rounds = max(5, edits // batch)
    changing = bed.made[: min(len(bed.made), 10 * batch)]
    seen: list[_Use] = []
    began = time.perf_counter()
    for number in range(rounds):
        first = number * batch % len(changing)
        version = 1 + number * batch // len(changing) % 2
        for note in changing[first : first + batch]:
            text = f"{note.text}\nVersion {version}.\n"
            (bed.vault / note.path).write_text(text, encoding="utf-8")
        last = max(note.path for note in changing[first : first + batch])
        daemon.until(functools.partial(_is_indexed, daemon, bed, last), every=0.1)
        if (number + 1) % max(1, rounds // 5) == 0:
            seen.append(_use(bed, daemon))
    _rest(daemon, _REST_SECONDS)
    seen.append(_use(bed, daemon))
    minutes = (time.perf_counter() - began) / 60
    table.context.append(
        f"{rounds * batch:,} edits through the watcher, {batch} notes saved at a time, in "
        f"{minutes:.1f} minutes and {seen[-1].commits:,} commits of the index; the texts swap "
        "between two versions, whose vectors are known after the first rounds"
    )
    kept = RETENTION.total_seconds() / 60
    table.context.append(
        f"the index keeps what was replaced for {kept:.0f} minutes on disk: files and disk cannot "
        "be flat in a run that is not much longer"
    )
    for label, unit, values in (
        ("memory", "MB", [use.rss for use in seen]),
        ("handles", "", [use.handles for use in seen]),
        ("files in the data directory", "", [use.files for use in seen]),
        ("disk of the data directory", "MB", [use.disk for use in seen]),
    ):
        course = ", ".join(f"{value:,.0f}" for value in values)
        table.add(
            f"{label} at the end", values[-1], unit, note=f"from the first fifth on: {course}"
        )
        growth = values[-1] / values[0]
        table.add(f"{label}, end against first fifth", growth, "times", _GROWTH)


def _rest(daemon: DaemonProcess, seconds: float) -> None:
    """Let what follows a change come to its end."""
    time.sleep(seconds)
    daemon.wait_ready()


def _is_indexed(daemon: DaemonProcess, bed: Bed, path: str) -> bool:
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
