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

_TARGETS_MS = {1_000: 15.0, 5_000: 40.0}
_REAL_UP_TO = 1_000
_WARM_UP = 10


def measure(table: Table, place: Workspace, *, counts: Iterable[int], queries: int) -> None:
    """Each size in turn: plain recalls, within a tag, and beside an indexing run."""
    for count in counts:
        sizes: Sizes = REAL if count <= _REAL_UP_TO else SHORT
        bed, health = place.indexed("real" if sizes is REAL else "short", count, sizes)
        table.context.append(f"{count:,} notes: {health['index']['rows']:,} passages")
        with bed.unchanged(), bed.daemon() as daemon:
            daemon.wait_ready()
            _measure_size(table, bed, daemon, count, queries)
    table.context.append(f"{queries} different questions one after another, top 5")


def _measure_size(table: Table, bed: Bed, daemon: DaemonProcess, count: int, queries: int) -> None:
    step = max(1, len(bed.made) // (queries + _WARM_UP))
    questions = [note.question for note in bed.made[::step]]
    _times(daemon, questions[:_WARM_UP])
    asked = questions[_WARM_UP : _WARM_UP + queries] or questions
    before = daemon.cpu_seconds()
    plain = _times(daemon, asked)
    processor = 1000 * (daemon.cpu_seconds() - before) / len(plain)
    table.add_times(f"recall, {count:,} notes", plain, _TARGETS_MS.get(count), ms=True)
    table.add(
        f"recall, {count:,} notes, processor", processor, "ms", note="moves less with the load"
    )
    table.add_times(f"the bare model, {count:,} notes", _bare(bed, asked), ms=True)
    tags = itertools.cycle(TAGS)
    tagged = [t for q in asked for t in _times(daemon, [q], tag=next(tags))]
    table.add_times(f"recall within a tag, {count:,} notes", tagged, ms=True)
    table.add_times(
        f"recall while indexing, {count:,} notes", _beside_indexing(bed, daemon, asked), ms=True
    )


def _times(daemon: DaemonProcess, questions: Iterable[str], **query: object) -> list[float]:
    times = []
    for question in questions:
        began = time.perf_counter()
        answer = daemon.recall(question, **query)
        times.append(time.perf_counter() - began)
        assert not answer["semantic_unavailable"]
    return times


def _bare(bed: Bed, questions: Iterable[str]) -> list[float]:
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
    times: list[float] = []
    for question in questions:
        times += _times(daemon, [question])
        if len(times) % 10 == 0 and _memories(daemon) >= len(bed.made) + 2 * len(questions):
            break
    return times


def _add(bed: Bed, note: MadeUp) -> None:
    file = bed.vault / "New" / PurePosixPath(note.path).name
    file.parent.mkdir(exist_ok=True)
    file.write_text(note.text, encoding="utf-8")


def _memories(daemon: DaemonProcess) -> int:
    return int(daemon.get("/health")["vault"]["memories"])
