"""`brain token`: the token that clients send."""

from __future__ import annotations

import json

import click

from second_brain.cli.options import with_settings
from second_brain.config import Settings
from second_brain.instance import ensure_token


@click.group()
def token() -> None:
    """Show the token that clients send."""


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
