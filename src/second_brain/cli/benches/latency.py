"""How long a recall over HTTP takes, by the size of the vault."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable
from pathlib import PurePosixPath

from second_brain.cli.benches.made_up import REAL, SHORT, TAGS, MadeUp, Sizes, notes
from second_brain.cli.benches.process import DaemonProcess
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Bed, Workspace
from second_brain.index.embedding import DEFAULT_MODEL, load_model

TARGETS_MS = {1_000: 15.0, 5_000: 40.0}
REAL_UP_TO = 1_000
WARM_UP = 10


def measure(table: Table, place: Workspace, *, counts: Iterable[int], queries: int) -> None:
    """Each size in turn: plain recalls, within a tag, and beside an indexing run."""
    for count in counts:
        sizes: Sizes = REAL if count <= REAL_UP_TO else SHORT
        bed, health = place.indexed("real" if sizes is REAL else "short", count, sizes)
        table.context.append(f"{count:,} notes: {health['index']['rows']:,} passages")
        with bed.unchanged(), bed.daemon() as daemon:
            daemon.wait_ready()
            _measure_size(table, bed, daemon, count, queries)
    table.context.append(f"{queries} different questions one after another, top 5")


def _measure_size(table: Table, bed: Bed, daemon: DaemonProcess, count: int, queries: int) -> None:
    step = max(1, len(bed.made) // (queries + WARM_UP))
    questions = [note.question for note in bed.made[::step]]
    times(daemon, questions[:WARM_UP])
    asked = questions[WARM_UP : WARM_UP + queries] or questions
    before = daemon.cpu_seconds()
    plain = times(daemon, asked)
    processor = 1000 * (daemon.cpu_seconds() - before) / len(plain)
    table.add_times(f"recall, {count:,} notes", plain, TARGETS_MS.get(count), ms=True)
    table.add(
        f"recall, {count:,} notes, processor", processor, "ms", note="moves less with the load"
    )
    table.add_times(f"the bare model, {count:,} notes", bare(bed, asked), ms=True)
    tags = itertools.cycle(TAGS)
    tagged = [t for q in asked for t in times(daemon, [q], tag=next(tags))]
    table.add_times(f"recall within a tag, {count:,} notes", tagged, ms=True)
    table.add_times(
        f"recall while indexing, {count:,} notes", _beside_indexing(bed, daemon, asked), ms=True
    )


def times(daemon: DaemonProcess, questions: Iterable[str], **query: object) -> list[float]:
    """Seconds of each recall over HTTP, one after another."""
    taken = []
    for question in questions:
        began = time.perf_counter()
        answer = daemon.recall(question, **query)
        taken.append(time.perf_counter() - began)
        assert not answer["semantic_unavailable"]
    return taken


def bare(bed: Bed, questions: Iterable[str]) -> list[float]:
    """The same questions embedded without a daemon: what no recall can be quicker than."""
    model = load_model(DEFAULT_MODEL, bed.model_dir)
    times = []
    for question in questions:
        began = time.perf_counter()
        model.embed_query(question)
        times.append(time.perf_counter() - began)
    return times


def _beside_indexing(bed: Bed, daemon: DaemonProcess, questions: list[str]) -> list[float]:
    """Recalls while as many new notes are being embedded as that takes; they are removed again."""
    for note in notes(2 * len(questions), SHORT, seed=2):
        _add(bed, note)
    daemon.until(lambda: _memories(daemon) > len(bed.made))
    taken: list[float] = []
    for question in questions:
        taken += times(daemon, [question])
        if len(taken) % 10 == 0 and _memories(daemon) >= len(bed.made) + 2 * len(questions):
            break
    return taken


def _add(bed: Bed, note: MadeUp) -> None:
    file = bed.vault / "New" / PurePosixPath(note.path).name
    file.parent.mkdir(exist_ok=True)
    file.write_text(note.text, encoding="utf-8")


def _memories(daemon: DaemonProcess) -> int:
    return int(daemon.get("/health")["vault"]["memories"])
