"""`brain bench intelligence`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from second_brain.cli.options import with_settings
from second_brain.config import Settings

if TYPE_CHECKING:
    from second_brain.cli.benches.capture.pairs import Pair
    from second_brain.cli.benches.intelligence.measure import Case, Score
    from second_brain.cli.benches.intelligence.talk import Talk


@click.command("intelligence")
@click.option(
    "--pairs",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    metavar="FILE",
    help="Templates of pairs, such as tests/pairs/capture_pairs.json.",
)
@click.option(
    "--texts",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    metavar="FILE",
    help="Classified texts, such as tests/pairs/classified.json.",
)
@click.option(
    "--talk",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="Also score turns of talk: corpus.jsonl and queries.jsonl, as LoCoMo's.",
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Ask the model about every Nth text and pair only.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_settings("llm.url", "llm.model")
def command(
    *, settings: Settings, pairs: Path, texts: Path, talk: Path | None, every: int, as_json: bool
) -> None:
    """Measure classification, contradiction and merging, on texts whose truth is known.

    By rules; and where a language model is configured (llm.url, llm.model), by that as well, in
    the same table. Of a pair a rule may say nothing: that is silent, not wrong.
    """
    from second_brain.cli.benches.capture.pairs import read
    from second_brain.cli.benches.intelligence.measure import cases, rules
    from second_brain.cli.benches.intelligence.talk import read_talk, rules_on

    known, classified = read(pairs), cases(texts)
    found = {"rules": rules(known, classified)}
    turns = read_talk(talk) if talk is not None else None
    if turns is not None:
        found["rules"] += rules_on(turns)
    llm = settings.llm
    if llm.url and llm.model:
        found[llm.model] = asyncio.run(
            _by_model(settings, known[::every], classified[::every], turns, every)
        )
    if as_json:
        shown = {name: [score.as_json() for score in own] for name, own in found.items()}
        click.echo(json.dumps(shown, indent=2))
        return
    for name, scores in found.items():
        head = " ".join(f"{column:>7}" for column in ("asked", "right", "wrong", "silent"))
        click.echo(f"{name:<22} {head}")
        for score in scores:
            values = (score.asked, score.right, score.wrong, score.silent)
            click.echo(f"{score.what:<22} " + " ".join(f"{value:>7}" for value in values))
        click.echo()
    if len(found) == 1:
        click.echo("No language model is configured: set llm.url and llm.model to measure one.")


async def _by_model(
    settings: Settings, pairs: list[Pair], texts: list[Case], talk: Talk | None, every: int
) -> list[Score]:
    from second_brain.cli.benches.intelligence.measure import model
    from second_brain.cli.benches.intelligence.talk import model_on
    from second_brain.intelligence.chat_protocol import ChatServer

    llm = settings.llm
    assert llm.url, "asked only where there is one"
    assert llm.model, "asked only where there is one"
    server = ChatServer(llm.url, llm.model, key=llm.api_key, seconds=llm.timeout_seconds)
    try:
        scores = await model(pairs, texts, server)
        return scores + (await model_on(talk, server, every) if talk is not None else [])
    finally:
        await server.close()
