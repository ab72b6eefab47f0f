"""`brain bench recall`."""

from __future__ import annotations

import json
import os
import platform
import tempfile
from contextlib import ExitStack
from pathlib import Path

import click

from second_brain.cli.options import with_settings
from second_brain.config import Settings

_SETS = ("locomo", "locomo-global", "piaf", "cranfield", "xquad_en")
_COLUMNS = ("recall_1", "recall_5", "recall_10", "recall_20", "hit_20", "mrr", "ndcg_10")


@click.command("recall")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    metavar="DIR",
    help="The folder of the data sets: in each `corpus.jsonl` and `queries.jsonl`.",
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="NAME",
    help=f"One of its sets; may be repeated. By default {', '.join(_SETS)}, where they are there.",
)
@click.option(
    "--way",
    "ways",
    multiple=True,
    metavar="NAME",
    help="Measure only this way, by its name in the table; may be repeated.",
)
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="N questions of each set.")
@click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Make the vaults and indexes there, leave them, and use them and their vectors again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_settings("model_dir", "embedding.model", "index.chunk_size", "index.chunk_overlap")
def command(
    *,
    settings: Settings,
    data: Path,
    sets: tuple[str, ...],
    ways: tuple[str, ...],
    sample: int | None,
    work: Path | None,
    as_json: bool,
) -> None:
    """Measure how good the recall is, on questions whose answers are known.

    Documents become notes of scratch vaults, indexed and recalled by the daemon's own parts; each
    stage of recall is switched off in turn, and other ways to rank are measured beside it. A set
    with conversations has one vault for each; `NAME-global` puts them all into one, and
    `NAME-sessions` makes one note of each session. Shares of the first 20 results; MRR counts what
    comes later as not found.
    """
    from second_brain.cli.benches.recall.data import chosen_set
    from second_brain.cli.benches.recall.known import KnownVectors
    from second_brain.cli.benches.recall.measure import measure
    from second_brain.index.embedding import load_model

    chosen = sets or tuple(n for n in _SETS if (data / n.removesuffix("-global")).is_dir())
    with ExitStack() as stack:
        if work is None:
            work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="brain-bench-")))
        work.mkdir(parents=True, exist_ok=True)
        loaded = load_model(settings.embedding.model, settings.model_dir, None)
        model = stack.enter_context(KnownVectors(loaded, work / "vectors.db"))
        lines = [
            line
            for name in chosen
            for line in measure(
                chosen_set(data, name).sampled(sample),
                together=name.endswith("-global"),
                ways=ways,
                model=model,
                place=work.resolve(),
                settings=settings,
            )
        ]
    machine = f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores"
    context = f"{settings.embedding.model}; Python {platform.python_version()}; {machine}"
    if as_json:
        click.echo(json.dumps({"context": context, "lines": [line.as_json() for line in lines]}))
        return
    click.echo(context)
    shown = ""
    for line in lines:
        if line.part != "all":
            continue
        head = f"{line.set}: {line.questions:,} questions"
        if head != shown:
            click.echo(f"\n{head}\n{'':<26}{' '.join(f'{c:>9}' for c in _COLUMNS)}")
            shown = head
        click.echo(
            f"{line.way:<26}"
            + " ".join(f"{getattr(line.scores, column):>9.3f}" for column in _COLUMNS)
        )
    for line in lines:
        if line.way == "recall" and line.part != "all":
            values = " ".join(f"{getattr(line.scores, column):>9.3f}" for column in _COLUMNS)
            click.echo(f"{line.set}, recall, {line.part} ({line.questions:,}): {values}")
