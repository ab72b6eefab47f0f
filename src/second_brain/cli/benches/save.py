"""How soon what was written is recalled: a file saved by an editor, and a memory of an agent."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from pathlib import Path

from second_brain.cli.benches.made_up import REAL
from second_brain.cli.benches.process import DaemonProcess
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Bed, Workspace

SAVED = 0.5


def measure(table: Table, place: Workspace, *, count: int, samples: int) -> None:
    """`samples` saves of each kind, one after another, on a daemon that has nothing else to do."""
    bed, _ = place.indexed("real", count, REAL)
    table.context.append(f"{count:,} notes; {samples} of each kind, asked for every 20 ms")
    with bed.unchanged(), bed.daemon() as daemon:
        daemon.wait_ready()
        table.add_times(
            "saved in place until recalled",
            saves(bed, daemon, samples, "inplace", in_place),
            SAVED,
        )
        table.add_times(
            "saved by rename until recalled",
            saves(bed, daemon, samples, "renamed", by_rename),
            SAVED,
        )
        latencies, found = remembers(daemon, samples)
        table.add_times("remember, until it answers", latencies)
        share = 100 * found / samples
        table.add("remembered, and recalled at once", share, "%", 100, bound="at least")


def saves(
    bed: Bed,
    daemon: DaemonProcess,
    samples: int,
    mark: str,
    save: Callable[[Path, str], None],
) -> list[float]:
    """Seconds from the end of the save until a passage with the new word is recalled."""
    times = []
    for number in range(samples):
        note = bed.made[number * len(bed.made) // samples]
        word = f"zq{mark}{number}x"
        save(bed.vault / note.path, f"{note.text}\nThe new word is {word}.\n")
        saved = time.perf_counter()
        daemon.until(functools.partial(_recalled, daemon, word))
        times.append(time.perf_counter() - saved)
    return times


def _recalled(daemon: DaemonProcess, word: str) -> bool:
    """Whether the index has it: `passage` comes out of the index, and not from the file."""
    return any(word in hit["passage"] for hit in daemon.recall(word, topK=3)["results"])


def in_place(file: Path, text: str) -> None:
    """As most editors save."""
    file.write_text(text, encoding="utf-8")


def by_rename(file: Path, text: str) -> None:
    """As editors save that write another file first."""
    beside = file.with_name(f".{file.name}.tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)


def remembers(daemon: DaemonProcess, samples: int) -> tuple[list[float], int]:
    """Seconds of each call, and how many memories the very next recall found."""
    times, found = [], 0
    for number in range(samples):
        word = f"zqremembered{number}x"
        text = f"Door {number * 37} of the warehouse opens with the code {word}."
        began = time.perf_counter()
        id = daemon.post("/capture", {"content": text, "source": "bench"})["id"]
        times.append(time.perf_counter() - began)
        found += any(hit["id"] == id for hit in daemon.recall(word, topK=3)["results"])
    return times, found
