"""`brain mcp`: MCP over standard input and output, for clients that start their servers."""

from __future__ import annotations

import asyncio

import click

from second_brain import logs
from second_brain.cli.daemons import daemon_meant
from second_brain.cli.options import with_settings
from second_brain.cli.reach import token_of
from second_brain.config import Settings, validate
from second_brain.errors import SettingsError
from second_brain.server.stdio_lines import Output


@click.command()
@with_settings("vault", "data_dir", "model_dir", "log.level")
@click.pass_context
def mcp(ctx: click.Context, settings: Settings) -> None:
    """Speak MCP on standard input and output.

    Passes everything on to the running daemon; becomes the daemon itself while none runs.
    The log goes to standard error.
    """
    logs.configure(settings.log.level)
    # From here on only the protocol is written to standard output.
    output = Output()
    daemon = daemon_meant(settings)
    if daemon is None:
        validate(settings)
        logs.configure(settings.log.level, file=settings.log.file)
        from second_brain.daemon import run_stdio_alone

        try:
            ctx.exit(run_stdio_alone(settings, output))
        except SettingsError:
            # Two clients that start at once both find no daemon; one of them becomes it.
            daemon = daemon_meant(settings)
            if daemon is None:
                raise
    from second_brain.server.bridge import run_stdio

    def locate() -> tuple[str, str] | None:
        try:
            found = daemon_meant(settings)
            return (found.url, token_of(found, settings)) if found else None
        except SettingsError:
            return None

    token = token_of(daemon, settings)
    asyncio.run(run_stdio(daemon.url, token, locate=locate, output=output))
