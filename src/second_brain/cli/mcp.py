"""`brain mcp`: MCP over standard input and output, for clients that start their servers."""

from __future__ import annotations

import asyncio

import click

from second_brain import logs
from second_brain.cli.daemons import daemon_meant
from second_brain.cli.options import with_settings
from second_brain.cli.reach import token_of
from second_brain.config import Settings, validate


@click.command()
@with_settings("vault", "data_dir", "model_dir", "log.level")
@click.pass_context
def mcp(ctx: click.Context, settings: Settings) -> None:
    """Speak MCP on standard input and output.

    Passes everything on to the running daemon; serves the vault itself while none runs.
    The log goes to standard error.
    """
    logs.configure(settings.log.level)
    daemon = daemon_meant(settings)
    if daemon is None:
        validate(settings)
        from second_brain.daemon import run_stdio_alone

        ctx.exit(run_stdio_alone(settings))
    token = token_of(daemon, settings)
    from second_brain.server.bridge import run_stdio

    asyncio.run(run_stdio(f"{daemon.url}/mcp", token))
