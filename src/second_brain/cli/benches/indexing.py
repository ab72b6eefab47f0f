"""What indexing a vault costs, beside what the bare model costs for the same passages."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from second_brain.cli.benches.made_up import MadeUp, Sizes
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Bed, Workspace
from second_brain.index.chunk import chunks, embedded_text
from second_brain.index.encoder import BULK
from second_brain.sync.prepare import Chunking
from second_brain.vault.note import parse_note

_PER_NOTE = 0.01
TIMES_BARE = 1.11
"""Nine tenths of the throughput of the model alone."""


def measure(table: Table, place: Workspace, *, count: int, sizes: Sizes) -> None:
    """The bare model on half of the passages, the daemon on all of them, the model on the rest."""
    bed = place.bed("fresh", count, sizes)
    shutil.rmtree(bed.data, ignore_errors=True)
    texts = passages(bed.made)
    half = len(texts) // 2
    first = bare_model(texts[:half], bed)
    wall, processor = _index(bed)
    second = bare_model(texts[half:], bed)
    bare_wall, bare_processor = first[0] + second[0], first[1] + second[1]
    _forget_all_but_vectors(bed)
    _, cached = _index(bed)
    _, idle = _index(bed)
    characters = sum(len(note.text) for note in bed.made)
    table.context.append(
        f"{count:,} notes, {characters / count:,.0f} characters each, {len(texts):,} passages"
    )
    table.add("indexing, wall", wall, "s", note="from the spawn, with start and model load")
    table.add("bare model, wall", bare_wall, "s", note="same passages, runtime and threads")
    table.add("indexing in times of the bare model", wall / bare_wall, "", TIMES_BARE)
    table.add("indexing, processor", processor, "s")
    table.add("bare model, processor", bare_processor, "s")
    table.add("start alone, processor", idle, "s", note="the same vault with nothing to do")
    table.add(
        "a note besides embedding, processor",
        (cached - idle) / count,
        "s",
        _PER_NOTE,
        note="indexed once more from nothing but the vectors, less the start",
    )
    rest = (processor - idle - bare_processor) / count
    table.add(
        "the same as a difference",
        rest,
        "s",
        note="indexing less start less bare model: as noisy as the model",
    )


def passages(made: Sequence[MadeUp]) -> list[str]:
    """What the daemon embeds of these notes, by the default way of cutting them."""
    cutting = Chunking()
    found = []
    for made_note in made:
        note = parse_note(made_note.path, made_note.text.encode())
        cut = chunks(
            note.title,
            note.body,
            note.headings,
            max_chars=cutting.max_chars,
            overlap=cutting.overlap,
        )
        found += [embedded_text(note.title, chunk) for chunk in cut]
    return found


def _index(bed: Bed) -> tuple[float, float]:
    """Wall and processor seconds of a daemon from its spawn until it is ready."""
    with bed.daemon() as daemon:
        daemon.wait_ready()
        return time.perf_counter() - daemon.spawned, daemon.cpu_seconds()


def bare_model(texts: Sequence[str], bed: Bed) -> tuple[float, float]:
    """Wall and processor seconds of the model alone on these texts, in a process of its own."""
    command = [sys.executable, "-m", __name__, str(bed.model_dir)]
    done = subprocess.run(
        command, input=json.dumps(list(texts)), capture_output=True, text=True, check=True
    )
    wall, processor = json.loads(done.stdout)
    return float(wall), float(processor)


def _forget_all_but_vectors(bed: Bed) -> None:
    """Leave a data directory in which nothing is known but the vectors of passages."""
    for catalog in bed.data.rglob("catalog.db"):
        database = sqlite3.connect(catalog)
        with database:
            for table in ("note_tags", "notes", "edges", "meta"):
                database.execute(f"DELETE FROM {table}")
        database.close()
        shutil.rmtree(catalog.parent / "index")


def _embed(model_dir: Path) -> None:
    """In the process of the bare model: texts come in as JSON, the seconds go out."""
    from second_brain.index.embedding import DEFAULT_MODEL, load_model

    texts: list[str] = json.load(sys.stdin)
    model = load_model(DEFAULT_MODEL, model_dir)
    wall, processor = time.perf_counter(), time.process_time()
    for place in range(0, len(texts), BULK):
        model.embed_documents(texts[place : place + BULK])
    found = (time.perf_counter() - wall, time.process_time() - processor)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    _embed(Path(sys.argv[1]))
