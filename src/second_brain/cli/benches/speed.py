"""Everything that a user waits for, by the size of the vault, beside what bounds it.

The other measurements look closer at one thing each; this one puts them side by side in one run.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable

from second_brain.cli.benches import footprint, indexing, latency, save, search, start
from second_brain.cli.benches.made_up import REAL, SHORT, Sizes
from second_brain.cli.benches.process import DaemonProcess
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Bed, Workspace

_MEMORY_MB = 700.0
_MEMORY_UP_TO = 20_000
_CHANGED = 50
_MODEL_PASSAGES = 200
_INCREMENTAL_SECONDS = 600.0


def measure(
    table: Table,
    place: Workspace,
    *,
    counts: Iterable[int],
    queries: int,
    samples: int,
    idle_seconds: float,
) -> None:
    """Each size in turn. A vault that a kept folder holds indexed already is not indexed again."""
    for count in counts:
        sizes: Sizes = REAL if count <= latency.REAL_UP_TO else SHORT
        bed = _first_index(table, place, count, sizes)
        _starts(table, bed, count)
        with bed.unchanged(), bed.daemon() as daemon:
            daemon.wait_ready()
            _recalls(table, bed, daemon, count, queries)
            _changes(table, bed, daemon, count, samples)
            memory = daemon.rss_mb()
            limit = _MEMORY_MB if count <= _MEMORY_UP_TO else None
            table.add(f"memory after all that, {count:,} notes", memory, "MB", limit)
            footprint.idle(table, daemon, idle_seconds, f", {count:,} notes")
        with bed.daemon() as daemon:
            daemon.wait_ready()  # What was changed is taken back in the index, too.
        search.measure(table, bed, count, queries)


def _first_index(table: Table, place: Workspace, count: int, sizes: Sizes) -> Bed:
    name = "real" if sizes is REAL else "short"
    fresh = not place.is_indexed(name, count, sizes)
    began = time.perf_counter()
    bed, health = place.indexed(name, count, sizes)
    took = time.perf_counter() - began
    rows = int(health["index"]["rows"])
    table.context.append(f"{count:,} notes: {rows:,} passages")
    if fresh:
        texts = indexing.passages(bed.made)[:: max(1, rows // _MODEL_PASSAGES)]
        wall, _ = indexing.bare_model(texts, bed)
        bare = rows * wall / len(texts)
        table.add(f"first index, {count:,} notes", took, "s", note="with start and model load")
        table.add(
            f"first index in times of the bare model, {count:,} notes",
            took / bare,
            "",
            indexing.TIMES_BARE,
            note=f"by {len(texts)} of the passages",
        )
    return bed


def _starts(table: Table, bed: Bed, count: int) -> None:
    start.one_start(bed)  # Leaves its files in the system's cache.
    serving, initialized, _, semantic = start.one_start(bed)
    table.add(f"spawn to /health, {count:,} notes", serving, "s", start.SERVING)
    table.add(f"spawn to MCP initialize, {count:,} notes", initialized, "s", start.SERVING)
    limit = start.SEMANTIC if count <= latency.REAL_UP_TO else None
    table.add(f"spawn to recall by meaning, {count:,} notes", semantic, "s", limit)


def _recalls(table: Table, bed: Bed, daemon: DaemonProcess, count: int, queries: int) -> None:
    step = max(1, len(bed.made) // (queries + latency.WARM_UP))
    asked = [note.question for note in bed.made[::step]][: queries + latency.WARM_UP]
    latency.times(daemon, asked[: latency.WARM_UP])
    asked = asked[latency.WARM_UP :] or asked
    taken = latency.times(daemon, asked)
    table.add_times(f"recall, {count:,} notes", taken, latency.TARGETS_MS.get(count), ms=True)
    table.add_times(f"the bare model, {count:,} notes", latency.bare(bed, asked), ms=True)


def _changes(table: Table, bed: Bed, daemon: DaemonProcess, count: int, samples: int) -> None:
    saved = save.saves(bed, daemon, samples, "inplace", save.in_place)
    table.add_times(f"saved until recalled, {count:,} notes", saved, save.SAVED)
    taken, found = save.remembers(daemon, samples)
    table.add_times(f"remember, {count:,} notes", taken)
    share = 100 * found / samples
    label = f"remembered, and recalled at once, {count:,} notes"
    table.add(label, share, "%", 100, bound="at least")
    changed = bed.made[:_CHANGED]
    began = time.perf_counter()
    for note in changed:
        (bed.vault / note.path).write_text(f"{note.text}\nSaid anew.\n", encoding="utf-8")
    for note in changed:
        indexed = functools.partial(footprint.is_indexed, daemon, bed, note.path)
        daemon.until(indexed, every=0.05, within=_INCREMENTAL_SECONDS)
    took = time.perf_counter() - began
    table.add(f"{len(changed)} notes saved at once until indexed, {count:,} notes", took, "s")
