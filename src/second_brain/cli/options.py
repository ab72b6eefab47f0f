"""Command line options that set settings: made from the settings' table, loaded for the command."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from second_brain.config import OPTIONS, Kind, load_settings

_METAVARS = {Kind.PATH: "DIR", Kind.INTEGER: "N", Kind.TEXT: "TEXT", Kind.CHOICE: "CHOICE"}


def with_settings(
    *keys: str, deferred: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command `--config` and the flags of the settings `keys`, and pass it `settings`.

    Flags arrive as text: the settings' own loader converts them, so that a wrong flag, variable
    and TOML value are refused in the same words. `deferred`: the command gets a function that
    loads them, and can say itself what is wrong with them.
    """
    chosen = [option for option in OPTIONS if option.key in keys and option.flag]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: Any, config: Path | None, **values: Any) -> None:
            flags = {option.key: values.pop(_parameter(option.key)) for option in chosen}
            load = functools.partial(load_settings, flags, config_file=config)
            command(*args, settings=load if deferred else load(), **values)

        wrapped: Callable[..., None] = run
        for option in reversed(chosen):
            assert option.flag is not None
            help = f"{option.help.replace('`', '')} [{option.env}; default: {option.shown_default}]"
            choices = "|".join(option.choices)
            wrapped = click.option(
                option.flag,
                _parameter(option.key),
                metavar=choices or _METAVARS[option.kind],
                help=help.replace("`", ""),
            )(wrapped)
        return click.option(
            "--config",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Configuration file (TOML). [SECOND_BRAIN_CONFIG]",
        )(wrapped)

    return decorate


def _parameter(key: str) -> str:
    return f"setting_{key.replace('.', '_')}"
