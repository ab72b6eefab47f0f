"""`brain reindex`: build the index anew, or accept that notes held back are deleted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import click

from second_brain.cli.options import with_settings
from second_brain.cli.plain import printable
from second_brain.cli.reach import Brain, as_json, reached
from second_brain.config import Settings
from second_brain.errors import SecondBrainError

_POLL_SECONDS = 0.3
_PATIENCE_SECONDS = 30.0


@click.command(
    epilog="Exit codes: 0 done; 1 it did not work, and nothing was dropped or forgotten; "
    "2 a setting or an argument is wrong."
)
@with_settings("vault", "data_dir", "model_dir")
@click.option(
    "--accept-deletions",
    is_flag=True,
    help="Forget the notes that are held back as missing: they are deleted indeed.",
)
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def reindex(settings: Settings, accept_deletions: bool, as_json_: bool) -> None:
    """Drop the index and build it anew from the vault; no note is touched.

    The daemon does that by itself when the index is damaged, so this is rarely needed. With
    --accept-deletions nothing is built: a vault that lost most of its notes at once is taken for
    offline and its notes stay findable, and this says that they are gone for good.
    """
    with reached(settings) as brain:
        if accept_deletions:
            answer = brain.post("/reindex", accept_deletions=True)
            click.echo(as_json(answer) if as_json_ else _accepted(answer))
            return
        brain.post("/reindex", accept_deletions=False)
        health = wait(brain, say=not as_json_)
    memories, model = health["vault"]["memories"], health["embedding"]
    if as_json_:
        click.echo(as_json({"ok": True, "memories": memories, "embedding": model["ok"]}))
        return
    click.echo(f"The index was built anew: {memories:,} memories.")
    if not model["ok"]:
        click.echo(f"They are found by their words only: {model.get('notice') or model['state']}")


def _accepted(answer: Mapping[str, Any]) -> str:
    paths = answer["paths"]
    if not paths:
        return "No note is held back as missing; nothing was forgotten."
    return "\n".join([f"Forgotten, as deleted: {len(paths)} notes.", *map(printable, paths)])


def wait(brain: Brain, *, say: bool, sleep: Callable[[float], None] = time.sleep) -> dict[str, Any]:
    """Wait until the index is full again; the last report. Raises SecondBrainError if it cannot be.

    Without a model there is nothing more to wait for than the words.
    """
    pause = getattr(brain, "wait", sleep)
    told, without = -1, 0
    while True:
        health: dict[str, Any] = brain.get("/health")
        index, vault = health["index"], health["vault"]
        if vault["offline"]:
            raise SecondBrainError(f"The vault went offline meanwhile: {vault['offline']}.")
        # While one index is closed and the next is opened, there is none for a moment.
        without = without + 1 if index["state"] == "unavailable" else 0
        if without * _POLL_SECONDS > _PATIENCE_SECONDS:
            raise SecondBrainError(f"The index cannot be built: {index.get('error')}")
        busy = index["rebuilding"] or index["scanning"] or index["state"] != "ready"
        waiting = index["pending"] and health["embedding"]["state"] != "unavailable"
        if not busy and not waiting:
            return health
        done = index["progress"]["done"]
        if say and done != told:
            click.echo(f"indexed {done} of {index['progress']['total']} notes", err=True)
            told = done
        pause(_POLL_SECONDS)
