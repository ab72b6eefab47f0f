"""`brain`, the group of all commands: loads each on demand and turns errors into exit codes."""

from __future__ import annotations

import importlib
from typing import Any

import click

from second_brain import __version__
from second_brain.errors import SecondBrainError, SettingsError

_COMMANDS = {
    "serve": "second_brain.cli.serve:serve",
    "status": "second_brain.cli.status:status",
    "log": "second_brain.cli.log:log",
    "show": "second_brain.cli.show:show",
    "undo": "second_brain.cli.undo:undo",
    "reindex": "second_brain.cli.reindex:reindex",
    "doctor": "second_brain.cli.doctor:doctor",
    "mcp": "second_brain.cli.mcp:mcp",
    "clients": "second_brain.cli.clients:clients",
    "model": "second_brain.cli.model:model",
    "token": "second_brain.cli.token:token",
    "bench": "second_brain.cli.bench:bench",
    "version": "second_brain.cli.version:version",
}


class _Commands(click.Group):
    """Commands by name, imported when they are asked for; in the order of the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name].split(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SecondBrainError as error:
            click.echo(f"brain: {error}", err=True)
            ctx.exit(2 if isinstance(error, SettingsError) else 1)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done; 1 it did not work; 2 a setting or an argument is wrong.",
)
@click.version_option(__version__, prog_name="Second Brain for Obsidian")
def main() -> None:
    """Second Brain for Obsidian: one memory for every AI tool, kept in your own notes.

    Start with `brain serve --vault DIR`, and connect your tools as its first screen says.
    """


if __name__ == "__main__":
    main(prog_name="brain")
