"""The table of all settings, derived from the fields of `Settings`.

Loading, the command line's flags and the README's table are all driven by it.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from second_brain.config.settings import Settings

PREFIX = "SECOND_BRAIN_"


class Kind(StrEnum):
    """The types of a setting; the value completes "must be ..."."""

    TEXT = "text"
    INTEGER = "a whole number"
    SWITCH = "true or false"
    LIST = "a list of texts"
    PATH = "a path"
    CHOICE = "one of the choices"


@dataclass(frozen=True, slots=True)
class Option:
    """One setting. `key` is its TOML path (`server.port`), `env` its environment variable."""

    key: str
    env: str
    flag: str | None
    kind: Kind
    help: str
    choices: tuple[str, ...]
    minimum: int | None
    maximum: int | None
    check: Callable[[Any], str | None] | None
    secret: bool
    shown_default: str


def _kind(hint: Any) -> tuple[Kind, tuple[str, ...]]:
    """The kind and choices of a field's type; `X | None` counts as X."""
    if isinstance(hint, types.UnionType):
        hint = next(part for part in typing.get_args(hint) if part is not type(None))
    if typing.get_origin(hint) is typing.Literal:
        return Kind.CHOICE, typing.get_args(hint)
    kinds = {str: Kind.TEXT, int: Kind.INTEGER, bool: Kind.SWITCH, Path: Kind.PATH}
    return kinds.get(hint, Kind.LIST), ()


def _show(value: object) -> str:
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value)


def _options(owner: type, defaults: object, prefix: str) -> Iterator[Option]:
    hints = typing.get_type_hints(owner)
    for spec in dataclasses.fields(owner):
        default = getattr(defaults, spec.name)
        if dataclasses.is_dataclass(default):
            yield from _options(hints[spec.name], default, f"{spec.name}.")
            continue
        about = spec.metadata
        kind, choices = _kind(hints[spec.name])
        yield Option(
            key=prefix + spec.name,
            env=PREFIX + (about["env"] or spec.name.upper()),
            flag=about["flag"],
            kind=kind,
            help=about["help"],
            choices=choices,
            minimum=about["minimum"],
            maximum=about["maximum"],
            check=about["check"],
            secret=about["secret"],
            shown_default=about["shown_default"] or _show(default),
        )


OPTIONS: tuple[Option, ...] = tuple(_options(Settings, Settings(), ""))
GROUPS: frozenset[str] = frozenset(o.key.split(".")[0] for o in OPTIONS if "." in o.key)


def markdown_table() -> str:
    """The configuration table of the README."""
    lines = [
        "| TOML key | environment variable | flag | default | what it sets |",
        "| --- | --- | --- | --- | --- |",
    ]
    for option in OPTIONS:
        flag = f"`{option.flag}`" if option.flag else ""
        lines.append(
            f"| `{option.key}` | `{option.env}` | {flag} | {option.shown_default} | {option.help} |"
        )
    return "\n".join(lines)
