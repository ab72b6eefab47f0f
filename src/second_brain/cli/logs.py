"""`brain logs`: the daemon's log, wherever it is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from second_brain.cli.options import chosen, with_settings
from second_brain.cli.service import installed, show
from second_brain.config import Settings
from second_brain.errors import SecondBrainError
from second_brain.integrations.service.manager import system_manager


@click.command(
    epilog="Exit codes: 0 shown; 1 no log is kept, or it cannot be shown; 2 a setting or an "
    "argument is wrong."
)
@click.option("-f", "--follow", is_flag=True, help="Go on as more is logged.")
@click.option("-n", "--lines", type=click.IntRange(0), default=200, show_default=True,
              metavar="N", help="How many of the last lines.")  # fmt: skip
@with_settings("data_dir", "log.file")
@click.pass_context
def logs(ctx: click.Context, settings: Settings, follow: bool, lines: int) -> None:
    """Show the daemon's log: of the service where it runs, else of the file that log.file names.

    At the usual level it holds neither a memory's text nor a token.
    """
    command = _of_service(settings, follow, lines) or _of_file(settings.log.file, follow, lines)
    if command is None:
        where = (
            f"nothing was written to {settings.log.file} yet"
            if settings.log.file
            else "the daemon logs to where it was started"
        )
        raise SecondBrainError(
            f"No log is kept: {where}. Run the daemon as a service (`brain service install`), or "
            "set log.file (SECOND_BRAIN_LOG_FILE, --log-file) and start it again."
        )
    ctx.exit(show(command))


def _of_service(settings: Settings, follow: bool, lines: int) -> Sequence[str] | None:
    """The command for the service's log; None unless the service runs."""
    service = installed(chosen().profile_in_use, settings.data_dir)
    try:
        manager = system_manager()
        runs, _ = manager.status(service)
    except SecondBrainError:
        return None
    return manager.logs(service, follow=follow, lines=lines) if runs else None


def _of_file(file: Path | None, follow: bool, lines: int) -> Sequence[str] | None:
    if file is None or not file.exists():
        return None
    # -F goes on in the new file when the log is rotated.
    return ["tail", "-n", str(lines), *(["-F"] if follow else []), str(file)]
