"""Every vault that this user has: those that are configured, and those that a daemon serves."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from second_brain.cli.options import chosen
from second_brain.config import Settings, load_settings, profile_file, profile_names
from second_brain.config.settings import default_config_file
from second_brain.config.sources import CONFIG_VARIABLE
from second_brain.errors import SettingsError
from second_brain.instance import DaemonInfo, running_daemon, running_daemons, vault_folder


@dataclass(frozen=True, slots=True)
class Known:
    """One vault. `config` is its file, None where only its daemon tells of it.

    `settings` are None where they cannot be used; `error` says why. `flags` name the vault to
    another command.
    """

    profile: str | None
    config: Path | None
    settings: Settings | None
    daemon: DaemonInfo | None = None
    error: str | None = None
    flags: str = ""


def known(settings: Settings, vault_flag: str | None) -> list[Known]:
    """The vault that a command means by its flags or variables; without any, every one."""
    now = chosen()
    told = now.config or now.profile_in_use or vault_flag
    if told or os.environ.get("SECOND_BRAIN_VAULT") or os.environ.get(CONFIG_VARIABLE):
        if settings.vault is None and (running := running_daemons(settings.data_dir)):
            # Started with a vault that the file does not name: the data folder tells of it.
            return [Known(now.profile_in_use, now.file, settings, info) for info in running]
        flags = f" --vault {shlex.quote(str(settings.vault))}" if vault_flag else None
        return [_one(now.profile_in_use, now.file, settings, flags)]
    found = list(_configured(settings))
    served = {one.daemon.url for one in found if one.daemon is not None}
    folders = {settings.data_dir: settings}
    folders.update({one.settings.data_dir: one.settings for one in found if one.settings})
    for data, own in folders.items():
        others = [info for info in running_daemons(data) if info.url not in served]
        found += [Known(None, None, own, info) for info in others]
    return found


def _configured(settings: Settings) -> Iterator[Known]:
    if settings.vault is not None:
        yield _one(None, default_config_file(), settings)
    for name in profile_names():
        try:
            own = load_settings(profile=name)
        except SettingsError as error:
            yield Known(name, profile_file(name), None, error=str(error))
        else:
            yield _one(name, profile_file(name), own)


def _one(profile: str | None, config: Path, settings: Settings, flags: str | None = None) -> Known:
    if flags is None:
        flags = f" --profile {profile}" if profile else ""
    if settings.vault is None:
        why = f"No vault is set in {config}."
        return Known(profile, config, settings, error=why, flags=flags)
    return Known(profile, config, settings, running_daemon(vault_folder(settings)), flags=flags)
