"""`brain`, the group of all commands: loads each on demand and turns errors into exit codes."""

from __future__ import annotations

import importlib
from typing import Any

import click

from second_brain import __version__
from second_brain.errors import SecondBrainError, SettingsError

_SECTIONS = {
    "Begin": {
        "init": ("init:init", "Choose the vault, and set up everything for it."),
        "serve": ("serve:serve", "Serve a vault until Ctrl-C."),
        "service": ("service:service", "Run the daemon in the background, from login on."),
        "connect": ("connect:connect", "Register with Claude, Codex, Gemini, Cursor, VS Code."),
    },
    "Every day": {
        "status": ("status:status", "What the daemon is doing, and what needs you."),
        "remember": ("remember:remember", "Store a text as a memory: a note in the vault."),
        "recall": ("recall:recall", "Find memories by meaning and by words."),
        "list": ("list:list_", "The newest memories."),
        "get": ("get:get", "One memory whole."),
        "open": ("open:open_", "A memory in Obsidian."),
    },
    "Change memories": {
        "append": ("append:append", "Add a text to a memory."),
        "update": ("update:update", "Replace the text of a memory."),
        "forget": ("forget:forget", "Forget a memory."),
        "link": ("link:link", "Relate one memory to another."),
        "unlink": ("link:unlink", "Take a relation back."),
    },
    "See the whole": {
        "connections": ("link:connections", "What a memory is linked to."),
        "tags": ("overview:tags", "All tags."),
        "stats": ("overview:stats", "How many memories, by tag, and what waits."),
        "graph": ("overview:graph", "Memories and relations, as JSON or for Graphviz."),
        "export": ("export:export", "Everything as JSON, or the notes as a zip."),
        "import": ("import_:import_", "Memories of another program, or a folder of notes."),
    },
    "See and undo what was written": {
        "log": ("log:log", "Who wrote what into the vault, and when."),
        "show": ("show:show", "A note as it is, or as it was."),
        "undo": ("undo:undo", "Take a write back."),
        "review": ("review:review", "Decide what may not both hold."),
    },
    "What tools connect with": {
        "mcp": ("mcp:mcp", "Speak MCP on standard input and output."),
        "token": ("token:token", "The token that clients send."),
        "clients": ("clients:clients", "The applications that you let in."),
        "extension": ("extension:extension", "The browser extension, written out to be loaded."),
        "hook": ("hook:hook", "What Claude Code runs when a session starts and ends."),
    },
    "Look after it": {
        "doctor": ("doctor:doctor", "Find what is wrong, and mend what is safe to mend."),
        "logs": ("logs:logs", "What the daemon logged."),
        "maintain": ("maintain:maintain", "Tidy up now, as the daemon does by night."),
        "reindex": ("reindex:reindex", "Build the index anew; no note is touched."),
        "model": ("model:model", "Prepare, list and choose the embedding model."),
        "bench": ("bench:bench", "Measure this machine."),
        "version": ("version:version", "The versions of everything, for a bug report."),
    },
}
_COMMANDS = {name: place for part in _SECTIONS.values() for name, (place, _) in part.items()}


class _Commands(click.Group):
    """Commands by name, imported when they are asked for; in the order of the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name].split(":")
        command = getattr(importlib.import_module(f"second_brain.cli.{module}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, _COMMANDS))
        for title, commands in _SECTIONS.items():
            with formatter.section(title):
                rows = [(name.ljust(widest), help) for name, (_, help) in commands.items()]
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SecondBrainError as error:
            click.echo(f"brain: {error}", err=True)
            ctx.exit(2 if isinstance(error, SettingsError) else 1)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`brain COMMAND --help` tells more; --json gives JSON wherever something is shown. "
    "Exit codes: 0 done; 1 it did not work, or nothing was found; 2 a setting or an argument is "
    "wrong.",
)
@click.option("--profile", metavar="NAME", help="One of several vaults, for any command.")
@click.version_option(__version__, prog_name="Second Brain for Obsidian")
def main(profile: str | None) -> None:
    """Second Brain for Obsidian: one memory for every AI tool, kept in your own notes.

    Start with `brain init`: it asks for the vault, and offers the rest.
    """
    if profile is not None:
        from second_brain.cli.options import choose

        choose(profile=profile)


if __name__ == "__main__":
    main(prog_name="brain")
