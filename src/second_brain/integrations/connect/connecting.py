"""Connects one client, step by step: what would be done, and doing it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from second_brain.integrations.connect import files, json_edit, marked, toml_edit
from second_brain.integrations.connect.clients import OWNED, Client, command_line
from second_brain.integrations.connect.files import Change
from second_brain.integrations.connect.hooks import with_hooks, without_hooks
from second_brain.integrations.connect.places import Places
from second_brain.integrations.connect.refusal import CannotEdit
from second_brain.integrations.instructions.rendering import with_heading

About = Literal["server", "instructions", "hooks"]
Which = Callable[[str], str | None]
Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
_Edit = Callable[[str], str]

_COMMAND_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Step:
    """One file to be changed; `command` is the client's own way to do it. No change: it is so."""

    about: About
    file: Path
    change: Change | None
    command: tuple[str, ...] | None = None


def connection(client: Client, which: Which) -> Step:
    """Register the server, by the client's own command where it has one that is installed."""
    change = _planned(client.config, lambda text: _registered(text, client))
    safe = bool(client.remove) or not files.read(client.config)
    fresh = change is not None and safe and entry(client) is None
    return Step("server", client.config, change, _command(client, client.add, which, fresh))


def disconnection(client: Client, which: Which) -> Step:
    """Take the server out again."""
    change = _planned(client.config, lambda text: _unregistered(text, client))
    command = _command(client, client.remove, which, change is not None)
    return Step("server", client.config, change, command)


def instructions(client: Client, *, remove: bool) -> Step | None:
    """Put the instructions into the client's global file, or take them out; None without one."""
    file = client.instructions
    if file is None:
        return None
    override = file.with_name("AGENTS.override.md")
    if client.name == "codex" and files.read(override):
        file = override  # Codex reads nothing but this then.

    def without(text: str) -> str:
        rest = marked.without_block(text)
        return "" if client.front and rest == client.front else rest

    def added(text: str) -> str:
        return marked.with_block(text or client.front, with_heading(client.source))

    return Step("instructions", file, _planned(file, without if remove else added))


def hooks(file: Path, commands: Mapping[str, str] | None) -> Step:
    """Add the hooks with these command lines by event, or take them out (None)."""
    edit: _Edit = without_hooks if commands is None else lambda text: with_hooks(text, commands)
    return Step("hooks", file, _planned(file, edit))


def perform(step: Step, again: Callable[[], Step], run: Run) -> str | None:
    """Do what a step says. A sentence if the client's own command did not do it.

    What the command leaves undone is done in the file: `again` plans the step anew.
    """
    if step.change is None:
        return None
    if step.command is None:
        files.apply(step.change)
        return None
    files.back_up(step.file)
    try:
        done = run(step.command)
        said = (done.stderr or done.stdout).strip().splitlines() if done.returncode else []
    except (OSError, subprocess.TimeoutExpired) as error:
        said = [str(error)]
    left = again().change
    if left is None:
        return None
    files.apply(left)
    why = f" ({said[-1]})" if said else ""
    return f"`{Path(step.command[0]).name} mcp` did not do it{why}; its file was edited instead."


def run_command(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a client's command to its end."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_COMMAND_SECONDS,
        check=False,
    )


def shown(command: tuple[str, ...], places: Places) -> str:
    """A client's own command as the user would type it."""
    return command_line((Path(command[0]).stem, *command[1:]), places)


def entry(client: Client) -> Mapping[str, object] | None:
    """What the client's file says of us now, None if nothing."""
    text = files.read(client.config) or ""
    try:
        if client.is_toml:
            return toml_edit.table_at(text, *client.path)
        found = json_edit.value_at(text, client.path)
    except CannotEdit as error:
        raise files.refused(client.config, error) from error
    return found if isinstance(found, dict) else None


def _registered(text: str, client: Client) -> str:
    if client.is_toml:
        parent, name = client.path
        return toml_edit.with_table(text, parent, name, client.entry, OWNED)
    there = json_edit.value_at(text, client.path)
    kept = there if isinstance(there, dict) else {}
    others = {key: value for key, value in kept.items() if key not in OWNED}
    same = all(kept.get(key) == client.entry.get(key) for key in OWNED if kept.get(key) != {})
    if there is not None and same:
        return text  # Also where the client added an empty env of its own.
    return json_edit.with_value(text, client.path, {**client.entry, **others})


def _unregistered(text: str, client: Client) -> str:
    if client.is_toml:
        return toml_edit.without_table(text, *client.path)
    return json_edit.without(text, client.path)


def _planned(file: Path, edit: _Edit) -> Change | None:
    before = files.read(file)
    try:
        return files.edited(file, before, edit(before or ""))
    except CannotEdit as error:
        raise files.refused(file, error) from error


def _command(
    client: Client, words: tuple[str, ...], which: Which, wanted: bool
) -> tuple[str, ...] | None:
    """The client's own command; to change what is there, its file is edited instead: what the
    user added to the entry would be lost."""
    program = which(client.program) if client.program and words and wanted else None
    return (program, *words) if program else None


def check_state(client: Client) -> Literal["connected", "other", "none"]:
    """Whether the client's file names us as we would register now, in another way, or not."""
    found = entry(client)
    if found is None:
        return "none"
    change = _planned(client.config, lambda text: _registered(text, client))
    return "connected" if change is None else "other"
