"""What `brain serve` shows: one screen, then a progress bar on a terminal, log lines elsewhere."""

from __future__ import annotations

import contextlib
import logging
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from second_brain.config import Settings

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_log = logging.getLogger("second_brain")

_LINE_EVERY = 5.0  # seconds between log lines of one indexing run


class Console:
    """The `StartReport` of a foreground daemon: the screen on `out`, progress on standard error."""

    def __init__(
        self,
        stdio_command: str,
        out: TextIO | None = None,
        *,
        terminal: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stdio_command = stdio_command
        self._out = out
        self._terminal = sys.stderr.isatty() if terminal is None else terminal
        self._clock = clock
        self._bar: tuple[Progress, TaskID] | None = None
        self._last_line: float | None = None

    def started(
        self, *, vault: Path, notes: int, memories: int, url: str, token_file: Path | None
    ) -> None:
        screen = start_screen(
            vault=vault,
            notes=notes,
            memories=memories,
            url=url,
            token_file=token_file,
            stdio_command=self._stdio_command,
        )
        self._print(screen)

    def progress(self, done: int, total: int) -> None:
        if self._terminal:
            self._move_bar(done, total)
        else:
            self._log_line(done, total)

    def notice(self, message: str) -> None:
        _log.warning("%s", message)

    def stopped(self) -> None:
        self._close_bar()
        self._print("Stopped; everything is written.")

    def _print(self, text: str) -> None:
        # Whoever read our output may be gone; the daemon stays.
        with contextlib.suppress(BrokenPipeError):
            click.echo(text, file=self._out)

    def _log_line(self, done: int, total: int) -> None:
        now = self._clock()
        recent = self._last_line is not None and now - self._last_line < _LINE_EVERY
        if done < total and recent:
            return
        _log.info("indexed %d of %d changed notes", done, total)
        self._last_line = now if done < total else None

    def _move_bar(self, done: int, total: int) -> None:
        if self._bar is None:
            if done >= total:
                return
            self._bar = _open_bar("Indexing", total)
        bar, task = self._bar
        bar.update(task, completed=done, total=total)
        if done >= total:
            self._close_bar()

    def _close_bar(self) -> None:
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None


def _open_bar(label: str, total: float) -> tuple[Progress, TaskID]:
    """A started bar on standard error; log lines appear above it. `stop()` it when done."""
    import rich.console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=rich.console.Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(label, total=total)
    bar.start()
    return bar, task


def stdio_command(settings: Settings) -> str:
    """The command that a client starts to speak MCP over standard input and output."""
    beside = Path(sys.executable).with_name("brain")
    words = [str(beside) if beside.exists() else "brain", "mcp"]
    words += ["--vault", str(settings.vault_root)]
    if settings.data_dir != Settings().data_dir:
        words += ["--data-dir", str(settings.data_dir)]
    return shlex.join(words)


def start_screen(
    *,
    vault: Path,
    notes: int,
    memories: int,
    url: str,
    token_file: Path | None,
    stdio_command: str,
) -> str:
    """The first screen. The token itself is not on it: the screen may end up in a log."""
    if token_file is None:
        value, where = '"$SECOND_BRAIN_AUTH_TOKEN"', "the one that you set"
        header = "Authorization: Bearer $SECOND_BRAIN_AUTH_TOKEN"
    else:
        quoted = shlex.quote(str(token_file))
        value, where = f'"$(cat {quoted})"', str(token_file)
        header = f"Authorization: Bearer $(cat {quoted})"
    return f"""\
Second Brain for Obsidian

  vault     {vault}
            {notes:,} {"note" if notes == 1 else "notes"}, {memories:,} indexed as memories so far
  address   {url}
  token     {where}

Connect a tool with `brain connect CLIENT`, or by one of these:

  Claude Code      claude mcp add --scope user --transport http second-brain {url}/mcp \\
                     --header "{header}"
  Claude Desktop   as command and args of a server in its configuration:
                     {stdio_command}
  Codex CLI        export SECOND_BRAIN_AUTH_TOKEN={value}
                   codex mcp add second-brain --url {url}/mcp \\
                     --bearer-token-env-var SECOND_BRAIN_AUTH_TOKEN
  Gemini CLI       gemini mcp add -t http -s user \\
                     -H "{header}" second-brain {url}/mcp
  Obsidian plugin  base URL {url}, and the token

Ctrl-C stops it.
"""
