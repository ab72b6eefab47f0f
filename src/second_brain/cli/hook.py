"""`brain hook`: what Claude Code runs when a session starts and ends; never in its way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from second_brain.cli.options import with_settings
from second_brain.config import Settings

_SECONDS = 2.0
_SECONDS_ALONE = 120.0
_TRANSCRIPT_BYTES = 1_000_000
_EPILOG = "Exit code: 0, whatever happens, and nothing is said of an error."
_LENIENT = {"ignore_unknown_options": True, "allow_extra_args": True}

Load = Callable[[], Settings]


@click.group(epilog=_EPILOG)
def hook() -> None:
    """Run by Claude Code after `brain connect claude-code --hooks`.

    Both read what Claude Code says of the session, as JSON, on standard input.
    """


@hook.command("session-start", epilog=_EPILOG, context_settings=_LENIENT)
@with_settings("vault", "data_dir", deferred=True)
def session_start(settings: Load) -> None:
    """Print what the memory holds on the project, for the model; at most two seconds long."""
    with _harmless(_SECONDS):
        from second_brain.cli.daemons import daemon_meant, get_json
        from second_brain.cli.reach import token_of, with_query
        from second_brain.integrations import sessions

        told = json.loads(sys.stdin.buffer.read())
        given = settings()
        # A session that goes on has it already.
        daemon = daemon_meant(given) if told.get("source") != "resume" else None
        if daemon is not None:
            query = sessions.query_for(_project(told))
            path = with_query("/recall", {"q": query, "topK": 5, "max_chars": sessions.MOST_CHARS})
            found = get_json(daemon, path, token_of(daemon, given))
            said = sessions.context(found["results"])
            sys.stdout.buffer.write(f"{said}\n".encode() if said else b"")
            sys.stdout.flush()


@hook.command("session-end", epilog=_EPILOG, context_settings=_LENIENT)
@with_settings("vault", "data_dir", deferred=True)
@click.option("--waiting", is_flag=True, hidden=True)
def session_end(settings: Load, waiting: bool) -> None:
    """Store the end of the conversation, in the background."""
    if not waiting:
        with _harmless(_SECONDS):
            _go_on_in_background(sys.stdin.buffer.read())
    with _harmless(_SECONDS_ALONE):
        from second_brain.cli.reach import reached
        from second_brain.integrations import sessions

        told = json.loads(sys.stdin.buffer.read())
        said = sessions.messages(_end_of(Path(told["transcript_path"]).expanduser()))
        text = sessions.memory(_project(told), said, datetime.now())
        if text is not None:
            with reached(settings(), current=False) as brain:
                brain.post("/capture", content=text, source="claude-code", tags=["session"])


def _go_on_in_background(told: bytes) -> None:
    process = subprocess.Popen(
        [*sys.orig_argv, "--waiting"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(told)
    process.stdin.close()


@contextmanager
def _harmless(seconds: float) -> Iterator[None]:
    """End the process with 0 after what is in it, after an error in it, or when time is up."""
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        # No error gets past this, so nothing is printed either.
        os._exit(0)


def _project(told: Any) -> str:
    return Path(str(told.get("cwd") or ".")).resolve().name or "home"


def _end_of(transcript: Path) -> list[str]:
    """The last lines of a transcript, which may be very long."""
    with transcript.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TRANSCRIPT_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return lines[1:] if size > _TRANSCRIPT_BYTES else lines
