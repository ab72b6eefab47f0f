"""Command line options that set settings: made from the settings' table, loaded for the command."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from second_brain.config import OPTIONS, Kind, load_settings
from second_brain.config.profiles import PROFILE_VARIABLE
from second_brain.config.sources import config_file_in_use

_METAVARS: Mapping[str, str] = {
    Kind.PATH: "DIR", Kind.INTEGER: "N", Kind.TEXT: "TEXT", "log.file": "FILE"
}  # fmt: skip
_CHOSEN = "second_brain.chosen"

_METAVARS = {Kind.PATH: "DIR", Kind.INTEGER: "N", Kind.TEXT: "TEXT", Kind.CHOICE: "CHOICE"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which configuration a command was told to use by its flags."""

    config: Path | None = None
    profile: str | None = None

    @property
    def file(self) -> Path:
        """The configuration file in use; it may be missing at the default place."""
        return config_file_in_use(self.config, profile=self.profile)

    @property
    def profile_in_use(self) -> str | None:
        """The profile, also where the variable names it."""
        if self.config is not None or self.profile is not None:
            return self.profile
        return os.environ.get(PROFILE_VARIABLE) or None


def chosen() -> Chosen:
    """What the command that runs was told."""
    found = click.get_current_context().meta.get(_CHOSEN, Chosen())
    assert isinstance(found, Chosen)
    return found


def choose(config: Path | None = None, profile: str | None = None) -> Chosen:
    """Remember for the command that runs what it was told, after what its group was."""
    before = chosen()
    now = Chosen(config or before.config, profile or before.profile)
    click.get_current_context().meta[_CHOSEN] = now
    return now


def with_settings(
    *keys: str, deferred: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command `--config`, `--profile` and the flags of the settings `keys`, and `settings`.

    Flags arrive as text: the settings' own loader converts them, so that a wrong flag, variable
    and TOML value are refused in the same words. `deferred`: the command gets a function that
    loads them, and can say itself what is wrong with them.
    """
    options = [option for option in OPTIONS if option.key in keys and option.flag]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: Any, config: Path | None, profile: str | None, **values: Any) -> None:
            flags = {option.key: values.pop(_parameter(option.key)) for option in options}
            now = choose(config, profile)
            load = functools.partial(
                load_settings, flags, config_file=now.config, profile=now.profile
            )
            command(*args, settings=load if deferred else load(), **values)

        wrapped: Callable[..., None] = run
        for option in reversed(options):
            assert option.flag is not None
            help = f"{option.help.replace('`', '')} [{option.env}; default: {option.shown_default}]"
            choices = "|".join(option.choices)
            wrapped = click.option(
                option.flag,
                _parameter(option.key),
                metavar=choices or _METAVARS.get(option.key) or _METAVARS[option.kind],
                help=help.replace("`", ""),
            )(wrapped)
        return with_configuration(wrapped)

    return decorate


def with_configuration(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command `--config` and `--profile`, passed to it as `config` and `profile`."""
    named = click.option(
        "--profile",
        metavar="NAME",
        help=f"One of several vaults: NAME.toml in the folder of profiles. [{PROFILE_VARIABLE}]",
    )(command)
    return click.option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Configuration file (TOML). [SECOND_BRAIN_CONFIG]",
    )(named)


def _parameter(key: str) -> str:
    return f"setting_{key.replace('.', '_')}"
