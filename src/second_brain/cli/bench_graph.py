"""`brain bench graph`."""

from __future__ import annotations

import json
import tempfile
import zlib
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click

from second_brain.cli.options import with_settings
from second_brain.config import Settings

_STEPS = (-0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03)


@click.command("graph")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    metavar="DIR",
    help="The folder of the data sets; `locomo` in it has conversations in sessions.",
)
@click.option("--set", "name", default="locomo", show_default=True, metavar="NAME")
@click.option(
    "--conversations",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="So many of them, from the first on.",
)
@click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Make the vaults there, leave them, and use their vectors again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_settings("model_dir", "embedding.model")
def command(
    *,
    settings: Settings,
    data: Path,
    name: str,
    conversations: int,
    work: Path | None,
    as_json: bool,
) -> None:
    """Measure the links that remember makes by itself, and whether following them helps.

    First by meaning alone: each turn of a conversation is linked to the nearest before it, from
    several cosines on. Then as remember does it, by its own code. A link counts as right if both
    are of one session, or if one question needs both; others may be right too. At last the
    questions are asked with and without following those links, for ten results in all.
    """
    from second_brain.cli.benches.graph.hops import asked, linked, scores
    from second_brain.cli.benches.graph.links import Links, together
    from second_brain.cli.benches.recall.data import read
    from second_brain.cli.benches.recall.known import KnownVectors
    from second_brain.index.embedding import load_model

    groups = read(data, name).groups()[:conversations]
    with ExitStack() as stack:
        if work is None:
            work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="brain-bench-")))
        work.mkdir(parents=True, exist_ok=True)
        loaded = load_model(settings.embedding.model, settings.model_dir, None)
        model = stack.enter_context(KnownVectors(loaded, work / "vectors.db"))
        used = loaded.similarity.related
        limits = sorted(round(used + step, 3) for step in _STEPS)
        links = [Links(group, model) for group in groups]
        precisions = [together([own.precision(limit) for own in links]) for limit in limits]
        chance = sum(own.by_chance() for own in links) / len(links)
        made = []
        found: dict[str, dict[str, list[str]]] = {}
        for group, own in zip(groups, links, strict=True):
            place = work.resolve() / group.name
            related = linked(group, model, place, settings)
            made.append(own.precision(used, related))
            # Other links make another vault.
            mark = f"{zlib.crc32(repr(sorted(related.items())).encode()):08x}"
            place = place.with_name(f"{group.name}-linked-{mark}")
            for way, ranking in asked(group, related, model, place, settings).items():
                found.setdefault(way, {}).update(ranking)
        product = together(made)
        lines = scores(groups, found)
    if as_json:
        result = {
            "model": loaded.name,
            "related": used,
            "chance": chance,
            "links": [{**asdict(p), "precision": p.precision} for p in precisions],
            "remember": {**asdict(product), "precision": product.precision},
            "questions": [asdict(line) for line in lines],
        }
        click.echo(json.dumps(result, indent=2))
        return
    click.echo(f"{loaded.name}; {len(groups)} conversations; any two turns: {chance:.3f} right")
    click.echo(
        f"{'linked from':<12}{'linked':>8}{'links':>8}{'session':>9}{'subject':>9}{'right':>8}"
    )
    for one in (*precisions, product):
        share = one.linked / one.memories
        label = "remember" if one is product else f"{one.threshold:.3f}"
        mark = " in use" if one.threshold == used and one is not product else ""
        click.echo(
            f"{label:<12}{share:>8.3f}{one.links:>8}{one.same_session:>9}"
            f"{one.same_subject:>9}{one.precision:>8.3f}{mark}"
        )
    click.echo("\nrecall among ten results, with the links of remember")
    for line in lines:
        click.echo(
            f"{line.part:<14}{line.questions:>5}  {line.way:<18}{line.recall:>7.3f}"
            f"   {line.results:.1f} results"
        )
