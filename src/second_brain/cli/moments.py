"""Days and times as options: local time in, Unix milliseconds out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import click

_FORMATS = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S")


def between(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command `--after` and `--before`, passed on in Unix milliseconds or None."""
    kind = click.DateTime(_FORMATS)
    for option in (
        click.option("--before", type=kind, metavar="DATE", callback=_just_before,
                     help="Written before this day or time, such as 2026-05-31."),
        click.option("--after", type=kind, metavar="DATE", callback=_from,
                     help="Written on this day or at this time, or later."),
    ):  # fmt: skip
        command = option(command)
    return command


def _from(ctx: click.Context, parameter: click.Parameter, value: Any) -> int | None:
    return _milliseconds(value)


def _just_before(ctx: click.Context, parameter: click.Parameter, value: Any) -> int | None:
    moment = _milliseconds(value)
    return None if moment is None else moment - 1


def _milliseconds(value: datetime | None) -> int | None:
    return None if value is None else int(value.astimezone().timestamp() * 1000)
