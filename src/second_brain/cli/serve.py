"""`brain serve`: the daemon in the foreground."""

from __future__ import annotations

import click

from second_brain import logs
from second_brain.cli.options import with_settings
from second_brain.config import Settings, validate


@click.command()
@with_settings(
    "vault",
    "data_dir",
    "model_dir",
    "server.host",
    "server.port",
    "server.auth_token",
    "sync.mode",
    "embedding.model",
    "llm.url",
    "llm.model",
    "log.level",
    "log.file",
)
@click.pass_context
def serve(ctx: click.Context, settings: Settings) -> None:
    """Serve a vault until Ctrl-C or SIGTERM.

    Watches the vault, and answers MCP at /mcp and HTTP beside it. Further settings are read from
    the configuration file and from SECOND_BRAIN_* variables.
    """
    validate(settings)
    logs.configure(settings.log.level, file=settings.log.file)
    from second_brain.allocator import return_memory_early
    from second_brain.cli.console import Console, stdio_command
    from second_brain.imports import collector_paused

    return_memory_early()
    with collector_paused():
        from second_brain.daemon import run_daemon

    ctx.exit(run_daemon(settings, Console(stdio_command(settings))))
