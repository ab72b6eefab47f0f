"""Claude Code's hooks in its settings.json: recall as a session starts, keep it as it ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from second_brain.integrations.connect.json_edit import value_at, with_item, without

EVENTS: Mapping[str, str] = {"SessionStart": "session-start", "SessionEnd": "session-end"}
"""Claude's events, and what `brain hook` calls them."""

_OURS = re.compile(r"brain\b.*\bhook (session-start|session-end)\b")
_SECONDS = 5


def with_hooks(text: str, commands: Mapping[str, str]) -> str:
    """`text` with a hook for each event; `commands` are the lines that a shell runs."""
    for event, command in commands.items():
        hook = {"type": "command", "command": command, "timeout": _SECONDS}
        if [hook] != _ours(text, event):
            text = with_item(_without(text, event), ("hooks", event), {"hooks": [hook]})
    return text


def without_hooks(text: str) -> str:
    """`text` without our hooks; those of others stay."""
    for event in EVENTS:
        text = _without(text, event)
    return text


def has_hooks(text: str) -> bool:
    return any(_ours(text, event) for event in EVENTS)


def _without(text: str, event: str) -> str:
    while (place := _place(text, event)) is not None:
        group, index, alone = place
        path: tuple[str | int, ...] = ("hooks", event, group)
        text = without(text, path if alone else (*path, "hooks", index))
    return text


def _place(text: str, event: str) -> tuple[int, int, bool] | None:
    """The first hook of ours: which group, which in it, and whether it is alone there."""
    for number, hooks in enumerate(_groups(text, event)):
        for index, hook in enumerate(hooks):
            if _is_ours(hook):
                return number, index, len(hooks) == 1
    return None


def _ours(text: str, event: str) -> list[Any]:
    return [hook for hooks in _groups(text, event) for hook in hooks if _is_ours(hook)]


def _groups(text: str, event: str) -> list[list[Any]]:
    groups = value_at(text, ("hooks", event))
    found = []
    for group in groups if isinstance(groups, list) else []:
        hooks = group.get("hooks") if isinstance(group, dict) else None
        found.append(hooks if isinstance(hooks, list) else [])
    return found


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and _OURS.search(command) is not None
