"""`brain status`: what the running daemons say of themselves, and which vaults have none."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from second_brain.cli.daemons import get_json
from second_brain.cli.known import Known, known
from second_brain.cli.options import with_settings
from second_brain.cli.plain import local_time, on_terminal, printable
from second_brain.cli.reach import as_json
from second_brain.config import Settings
from second_brain.errors import SecondBrainError
from second_brain.instance import find_token, vault_folder


@click.command(epilog="Exit codes: 0 a daemon runs; 1 none runs, or one does not answer; 2 a "
               "setting or an argument is wrong.")  # fmt: skip
@with_settings("vault", "data_dir")
@click.option("-w", "--watch", is_flag=True, help="Show it anew until Ctrl-C.")
@click.option("--every", type=click.FloatRange(0.2), default=2.0, show_default=True,
              metavar="SECONDS", help="How often, with --watch.")  # fmt: skip
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
@click.pass_context
def status(
    ctx: click.Context, settings: Settings, watch: bool, every: float, as_json_: bool
) -> None:
    """Show the daemon, its memories and what needs you.

    Without a vault or profile named, shows every vault: those that a daemon serves, and those that
    are configured and stand still. With --watch in a pipe, prints it anew whenever it changes.
    """
    flag = ctx.params.get("setting_vault")

    def look() -> list[_Seen]:
        return [_look(one) for one in known(settings, flag)]

    if watch:
        _watch(look, every, as_json_)
        return
    seen = look()
    single = seen[0].refusal if len(seen) == 1 else None
    if single is not None:
        raise single
    click.echo(_as_json(seen) if as_json_ else _as_text(seen))
    ctx.exit(0 if any(one.health is not None for one in seen) else 1)


@dataclasses.dataclass(frozen=True)
class _Seen:
    """One vault as it is now. `refusal`: why its daemon did not say more."""

    known: Known
    health: Mapping[str, Any] | None = None
    clients: tuple[str, ...] = ()
    data_bytes: int | None = None
    refusal: SecondBrainError | None = None


def _look(one: Known) -> _Seen:
    info, settings = one.daemon, one.settings
    if info is None or settings is None:
        return _Seen(one)
    token = find_token(settings)
    secret = token.value if token else ""
    try:
        health = get_json(info, "/health", secret)
        clients = get_json(info, "/clients", secret).get("clients") or []
    except SecondBrainError as error:
        return _Seen(one, refusal=error)
    names = tuple(str(client["name"]) for client in clients)
    folder = vault_folder(dataclasses.replace(settings, vault=Path(info.vault)))
    return _Seen(one, health, names, _size(folder.path))


def _size(folder: Path) -> int:
    """Bytes of all files; those of the index come and go under us."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(place, name).stat().st_size
    return total


def _watch(look: Callable[[], list[_Seen]], every: float, json_: bool) -> None:
    """Show it until the user ends it; daemons may come and go meanwhile."""
    last = None
    with contextlib.suppress(KeyboardInterrupt), _screen() as draw:
        while True:
            shown = _as_json(look(), lines=True) if json_ else _as_text(look())
            if draw is not None and not json_:
                draw(f"{shown}\n\n{time.strftime('%H:%M:%S')}, every {every:g} s; Ctrl-C ends.")
            elif shown != last:
                click.echo(shown if json_ else f"{shown}\n")
                sys.stdout.flush()
            last = shown
            time.sleep(every)


@contextlib.contextmanager
def _screen() -> Iterator[Callable[[str], None] | None]:
    """What draws on the whole terminal; None in a pipe."""
    if not on_terminal():
        yield None
        return
    from rich.live import Live
    from rich.text import Text

    with Live(screen=True, auto_refresh=False) as live:
        yield lambda text: live.update(Text(text), refresh=True)


def _as_json(seen: Sequence[_Seen], *, lines: bool = False) -> str:
    daemons, stopped = [], []
    for one in seen:
        known, info = one.known, one.known.daemon
        if info is None:
            stopped.append(
                {
                    "profile": known.profile,
                    "config": str(known.config) if known.config else None,
                    "vault": str(known.settings.vault) if known.settings else None,
                    "url": known.settings.server.url if known.settings else None,
                    "error": known.error,
                }
            )
            continue
        daemons.append(
            {
                **dataclasses.asdict(info),
                "profile": known.profile,
                "health": one.health,
                "clients": one.clients,
                "data_bytes": one.data_bytes,
                "error": str(one.refusal) if one.refusal else None,
            }
        )
    found = {"daemons": daemons, "stopped": stopped}
    return json.dumps(found, ensure_ascii=False) if lines else as_json(found)


def _as_text(seen: Sequence[_Seen]) -> str:
    if all(one.known.daemon is None and one.known.config is None for one in seen):
        return "No daemon runs. Start one with: brain serve --vault DIR, or begin with: brain init"
    return "\n\n".join("\n".join(_lines(one)) for one in seen)


def _lines(one: _Seen) -> Iterator[str]:
    known, info = one.known, one.known.daemon
    vault = info.vault if info else known.settings and known.settings.vault
    if vault:
        yield f"Vault     {vault}"
    if known.profile:
        yield f"Profile   {known.profile}"
    if info is None:
        yield f"Daemon    none runs; start it with: brain serve{known.flags}"
        if known.error:
            yield f"Problems  {known.error}"
        return
    yield f"Daemon    {info.url} (process {info.pid}, version {info.version})"
    if one.health is None:
        yield f"Problems  {one.refusal}"
        return
    yield from _state(one.health, one)


def _state(health: Mapping[str, Any], one: _Seen) -> Iterator[str]:
    vault = _table(health, "vault")
    counts = {**_table(health, "index"), **vault}
    for name in ("notes", "memories", "pending"):
        if isinstance(counts.get(name), int):
            yield f"{name.capitalize():<10}{counts[name]:,}"
    if vault.get("last_scan"):
        yield f"Synced    {local_time(vault['last_scan'])}"
    embedding = _table(health, "embedding")
    if "model" in embedding:
        state = embedding.get("state", "ready")
        yield f"Model     {embedding['model']}{'' if state == 'ready' else f' ({state})'}"
    yield from _language_model(_table(health, "llm"))
    if one.data_bytes is not None:
        yield f"Size      {one.data_bytes / 1e6:,.1f} MB of index, history and logins"
    if one.clients:
        yield f"Clients   {', '.join(map(printable, one.clients))} (by login)"
    problems = health.get("problems") or []
    yield f"Problems  {len(problems) or 'none'}"
    for problem in problems:
        where = f"{problem['path']}: " if problem.get("path") else ""
        yield f"  {where}{problem.get('message', '')} {problem.get('hint', '')}".rstrip()


def _language_model(llm: Mapping[str, Any]) -> Iterator[str]:
    if llm.get("configured"):
        state = "" if llm["breaker"] == "closed" else f" (left alone for {llm['retry_in']} s)"
        calls = _used(llm["calls_today"], llm["calls_a_day"], "calls")
        tokens = _used(llm["tokens_today"], llm["tokens_a_day"], "tokens")
        yield f"LLM       {printable(str(llm['model']))}{state}, {calls} and {tokens} today"
    if waiting := llm.get("waiting"):
        listed = ", ".join(f"{n} {printable(kind)}" for kind, n in waiting.items())
        yield f"Waiting   {listed} for the language model"


def _used(used: int, most: int, what: str) -> str:
    return f"{used:,} of {most:,} {what}" if most else f"{used:,} {what}"


def _table(health: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = health.get(name)
    return found if isinstance(found, dict) else {}
