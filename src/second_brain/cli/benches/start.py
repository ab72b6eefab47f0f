"""How soon a daemon on an indexed vault answers: health, MCP, and recall by meaning."""

from __future__ import annotations

import time

from second_brain.cli.benches.made_up import REAL
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Bed, Workspace

SERVING, SEMANTIC = 1.5, 4.0


def measure(table: Table, place: Workspace, *, count: int, runs: int) -> None:
    """`runs` starts of the same daemon, after one that leaves its files in the system's cache."""
    bed, health = place.indexed("real", count, REAL)
    model, passages = health["embedding"]["model"], health["index"]["rows"]
    table.context.append(f"{count:,} notes, {passages:,} passages, model {model}, {runs} starts")
    found = [one_start(bed) for _ in range(runs)]
    serving, initialized, processor, semantic = zip(*found, strict=True)
    table.add_times("spawn to /health", serving, SERVING)
    table.add_times("spawn to MCP initialize", initialized, SERVING)
    table.add_times("processor time at initialize", processor)
    table.add_times("spawn to recall by meaning", semantic, SEMANTIC)


def one_start(bed: Bed) -> tuple[float, float, float, float]:
    """Seconds to health and initialize, of processor until then, and to recall by meaning."""
    with bed.daemon() as daemon:
        serving = daemon.wait_serving()
        daemon.initialize()
        initialized = time.perf_counter() - daemon.spawned
        processor = daemon.cpu_seconds()
        daemon.until(
            lambda: not daemon.recall(bed.made[0].question)["semantic_unavailable"], every=0.05
        )
        semantic = time.perf_counter() - daemon.spawned
    return serving, initialized, processor, semantic
