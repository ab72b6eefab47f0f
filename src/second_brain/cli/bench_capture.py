"""`brain bench capture`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from second_brain.cli.options import with_settings
from second_brain.config import Settings

if TYPE_CHECKING:
    from second_brain.cli.benches.capture.measure import Compared, Line
    from second_brain.index.embedding import Similarity


@click.command("capture")
@click.option(
    "--pairs",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    metavar="FILE",
    help="Templates of pairs, such as tests/pairs/capture_pairs.json.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_settings("model_dir", "embedding.model")
def command(*, settings: Settings, pairs: Path, as_json: bool) -> None:
    """Measure what remember refuses, flags and stores, on pairs of texts.

    Each pair is a known memory and a new text that restates, updates, denies or extends it, says
    the same of something else, or has nothing to do with it. A text with new information must
    never be refused: the exit code is 1 if one is. The limit from which texts are flagged is
    looked for on one half of the pairs, and tried on the other beside the one in use.
    """
    from second_brain.cli.benches.capture.measure import (
        best_limit,
        compare,
        lines,
        quantiles,
        told_apart,
        wrongly_refused,
    )
    from second_brain.cli.benches.capture.pairs import KINDS, read
    from second_brain.index.embedding import load_model

    model = load_model(settings.embedding.model, settings.model_dir, None)
    compared = compare(read(pairs), model)
    scale = model.similarity
    halves = {half: [one for one in compared if one.pair.half == half] for half in ("tune", "test")}
    found = best_limit(halves["tune"])
    limits = {
        name: {"limit": limit, **{half: told_apart(own, limit) for half, own in halves.items()}}
        for name, limit in (("in use", scale.similar), ("best on tune", found))
    }
    wrong = wrongly_refused(compared, scale)
    result = {
        "model": model.name,
        "scale": asdict(scale),
        "lines": [asdict(line) for line in lines(compared, scale)],
        "cosines": {kind: quantiles(compared, kind) for kind in KINDS},
        "limits": limits,
        "refused with news": [asdict(pair) for pair in wrong],
    }
    if as_json:
        click.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _show(model.name, scale, compared, list(lines(compared, scale)))
        for name, limit in limits.items():
            click.echo(
                f"flagged from {limit['limit']:.3f} ({name}): told apart on tune "
                f"{limit['tune']:.3f}, on test {limit['test']:.3f}"
            )
        click.echo(f"refused although it says something new: {len(wrong)}")
    if wrong:
        raise SystemExit(1)


def _show(name: str, scale: Similarity, compared: list[Compared], found: list[Line]) -> None:
    from second_brain.cli.benches.capture.measure import quantiles

    click.echo(f"{name}; flagged from {scale.similar}, the same from {scale.same}")
    head = " ".join(f"{column:>8}" for column in ("pairs", "refused", "flagged", "stored"))
    click.echo(f"{'':<18}{head}   cosine 5 / 50 / 95 %")
    for line in found:
        label = line.kind if line.language == "all" else f"  {line.language}"
        values = (line.pairs, line.refused, line.flagged, line.stored)
        text = f"{label:<18}" + " ".join(f"{value:>8}" for value in values)
        if line.language == "all":
            cosines = quantiles(compared, line.kind)
            text += "   " + " / ".join(f"{cosine:.3f}" for cosine in cosines)
        click.echo(text)
