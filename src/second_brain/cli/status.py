"""`brain status`: what the running daemon says of itself."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from second_brain.cli.daemons import daemons_meant, get_json
from second_brain.cli.options import with_settings
from second_brain.config import Settings
from second_brain.instance import DaemonInfo, find_token


@click.command()
@with_settings("vault", "data_dir")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def status(ctx: click.Context, settings: Settings, as_json: bool) -> None:
    """Show the running daemon, its memories and problems.

    Without a vault set, shows every running daemon. Exits with 1 when none runs.
    """
    token = find_token(settings)
    found = [
        (info, get_json(info, "/health", token.value if token else ""))
        for info in daemons_meant(settings)
    ]
    if as_json:
        daemons = [{**dataclasses.asdict(info), "health": health} for info, health in found]
        click.echo(json.dumps({"daemons": daemons}, ensure_ascii=False, indent=2))
    else:
        click.echo("\n\n".join(_screen(*pair) for pair in found) or _nobody(settings))
    ctx.exit(0 if found else 1)


def _nobody(settings: Settings) -> str:
    which = f" for {settings.vault}" if settings.vault else ""
    return f"No daemon runs{which}. Start one with: brain serve --vault DIR"


def _screen(info: DaemonInfo, health: Mapping[str, Any]) -> str:
    return "\n".join(_lines(info, health))


def _lines(info: DaemonInfo, health: Mapping[str, Any]) -> Iterator[str]:
    yield f"Vault     {info.vault}"
    yield f"Daemon    {info.url} (process {info.pid}, version {info.version})"
    counts = {**_table(health, "index"), **_table(health, "vault")}
    for name in ("notes", "memories", "pending"):
        if isinstance(counts.get(name), int):
            yield f"{name.capitalize():<10}{counts[name]:,}"
    embedding = _table(health, "embedding")
    if "model" in embedding:
        state = embedding.get("state", "ready")
        yield f"Model     {embedding['model']}{'' if state == 'ready' else f' ({state})'}"
    problems = health.get("problems") or []
    yield f"Problems  {len(problems) or 'none'}"
    for problem in problems:
        where = f"{problem['path']}: " if problem.get("path") else ""
        yield f"  {where}{problem.get('message', '')} {problem.get('hint', '')}".rstrip()


def _table(health: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = health.get(name)
    return found if isinstance(found, dict) else {}
