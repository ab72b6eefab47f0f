"""`brain maintain`: tidy up now, as the daemon does by night."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

from second_brain.cli.daemons import ask_json, daemon_meant, post_json
from second_brain.cli.options import with_settings
from second_brain.cli.plain import printable
from second_brain.cli.reach import as_json, token_of
from second_brain.config import Settings
from second_brain.errors import SecondBrainError

_POLL_SECONDS = 0.5


@click.command(
    epilog="Exit codes: 0 done, with a sentence for each step; 1 no daemon runs, or it ended; "
    "2 a setting or an argument is wrong."
)
@with_settings("vault", "data_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def maintain(settings: Settings, as_json_: bool) -> None:
    """Tidy up now: what the daemon does by itself each night from maintenance.hour on.

    Classifies what waits, looks after the links between related memories, names memories that say
    the same, makes digests and looks for patterns where there is a language model, and tidies index
    and history. Ctrl-C ends the waiting only; the daemon goes on.
    """
    info = daemon_meant(settings)
    if info is None:
        raise SecondBrainError("No daemon runs. Start one with: brain serve")
    token = token_of(info, settings)
    post_json(info, "/maintain", token, {})
    last = _finished(lambda: ask_json(info, "GET", "/maintain", token), say=not as_json_)
    if as_json_:
        click.echo(as_json(last))


def _finished(ask: Callable[[], Any], *, say: bool) -> dict[str, Any]:
    """Wait until it is done, showing each step once."""
    shown: set[str] = set()
    while True:
        last: dict[str, Any] = ask()["last"]
        for name, said in last["done"].items():
            if say and name not in shown:
                click.echo(printable(f"{name:<14}  {said}"))
            shown.add(name)
        if last["finished"] is not None:
            return last
        time.sleep(_POLL_SECONDS)
