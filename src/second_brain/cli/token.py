"""`brain token`: the token that clients send."""

from __future__ import annotations

import json

import click

from second_brain.cli.daemons import get_json
from second_brain.cli.options import with_settings
from second_brain.cli.reach import as_json
from second_brain.config import Settings
from second_brain.errors import SecondBrainError
from second_brain.instance import DaemonInfo, ensure_token, rotate_token, running_daemons

_GIVE = """\
Tools that `brain connect` set up ask for it: start them again, or let them connect anew.
Where you pasted the old one (the Obsidian plugin, a --header, a script, a shell's profile), paste
the new one: `brain token show` prints it.
Applications that logged in on the page stay in: `brain clients` shows them, `brain clients revoke`
shuts one out."""


@click.group()
def token() -> None:
    """Show the token that clients send, or put another in its place."""


@token.command()
@with_settings("data_dir")
@click.option("--where", is_flag=True, help="Print where the token lies instead of the token.")
def show(settings: Settings, where: bool) -> None:
    """Print the token, and nothing else; make one if there is none yet."""
    found = ensure_token(settings)
    if where:
        click.echo(found.file or "the settings (SECOND_BRAIN_AUTH_TOKEN or server.auth_token)")
    else:
        click.echo(found.value)


@token.command()
@with_settings("data_dir")
def headers(settings: Settings) -> None:
    """Print the header that carries the token, as JSON, for a client that asks when it connects.

    Claude Code runs this after `brain connect claude-code`, so that it need not keep the token.
    """
    click.echo(json.dumps({"Authorization": f"Bearer {ensure_token(settings).value}"}))


@token.command(
    epilog="Exit codes: 0 done; 1 a running daemon still has the old one; 2 the token is set "
    "elsewhere, or cannot be written."
)
@with_settings("data_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
@click.pass_context
def rotate(ctx: click.Context, settings: Settings, as_json_: bool) -> None:
    """Make another token; the old one is refused from now on.

    It is one for all vaults of a data directory. Running daemons take it at once, and end what is
    still open with the old one.
    """
    made = rotate_token(settings)
    daemons = running_daemons(settings.data_dir)
    behind = {info.url: why for info in daemons if (why := _refusal(info, made.value))}
    if as_json_:
        took = [{"url": d.url, "vault": d.vault, "took": d.url not in behind} for d in daemons]
        click.echo(as_json({"file": str(made.file), "daemons": took}))
    else:
        click.echo(f"There is a new token in {made.file}; the old one is refused.")
        for info in daemons:
            said = behind.get(info.url, "has taken it.")
            click.echo(f"The daemon of {info.vault} {said}")
        click.echo(_GIVE)
    ctx.exit(1 if behind else 0)


def _refusal(info: DaemonInfo, token: str) -> str | None:
    """Why a daemon does not take the token; None if it does."""
    try:
        get_json(info, "/health", token)
    except SecondBrainError:
        return "was started with a token of its own, or hangs: restart it."
    return None
