"""The command lines by which another program starts this one, with the settings of this one."""

from __future__ import annotations

import sys
from pathlib import Path

from second_brain.cli.options import chosen
from second_brain.config import Settings, load_settings
from second_brain.config.settings import default_config_file
from second_brain.errors import SettingsError
from second_brain.instance import find_token


def own_program() -> list[str]:
    """This program by its absolute path, whatever the PATH of the other is."""
    beside = Path(sys.executable).with_name("brain.exe" if sys.platform == "win32" else "brain")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "second_brain"]


def where_flags(settings: Settings) -> list[str]:
    """The flags by which another program finds this vault and its data.

    Its environment is not this shell's. `SettingsError` where the token is known to this shell
    alone.
    """
    config, profile = chosen().file, chosen().profile_in_use
    own = _of_file(config)
    flags = []
    if settings.vault is not None and (profile is None or settings.vault != own.vault):
        flags += ["--vault", str(settings.vault)]
    if settings.data_dir != own.data_dir:
        flags += ["--data-dir", str(settings.data_dir)]
    if profile is not None:
        flags += ["--profile", profile]
    elif config.exists() and config != default_config_file():
        flags += ["--config", str(config)]
    if settings.server.auth_token is not None and own.server.auth_token is None:
        file = settings.data_dir / "token"
        kept = find_token(_without_token(settings))
        if kept is None or kept.value != settings.server.auth_token:
            raise SettingsError(
                "The token is set by a variable of this shell, which the client does not see; "
                f"write it into {config} or {file}, or unset it to use the one that lies there."
            )
    return flags


def model_flags(settings: Settings) -> list[str]:
    """The flag by which a program that may become the daemon finds the model."""
    known = settings.model_dir == _of_file(chosen().file).model_dir
    return [] if known else ["--model-dir", str(settings.model_dir)]


def _of_file(config: Path) -> Settings:
    """The settings that hold without this shell."""
    return load_settings(config_file=config, environ={}) if config.exists() else Settings()


def _without_token(settings: Settings) -> Settings:
    import dataclasses

    return dataclasses.replace(
        settings, server=dataclasses.replace(settings.server, auth_token=None)
    )
