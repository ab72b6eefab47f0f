"""Whether the settings can work on this machine: the vault is there, and the data is outside it."""

from __future__ import annotations

import os
from pathlib import Path

from second_brain.config.settings import Settings
from second_brain.errors import SettingsError


def validate(settings: Settings) -> None:
    """Raise `SettingsError` unless the vault can be read and no folder of ours lies in it."""
    vault = settings.vault_root
    try:
        with os.scandir(vault) as entries:
            next(entries, None)
    except FileNotFoundError:
        raise SettingsError(f"The vault {vault} does not exist.") from None
    except NotADirectoryError:
        raise SettingsError(f"The vault {vault} is not a folder.") from None
    except OSError as error:
        raise SettingsError(f"The vault {vault} cannot be read: {error.strerror}.") from error
    # Sync clients would carry our files along with the vault, and the watcher would see them.
    _refuse_inside(vault, settings.data_dir, "The data directory", "--data-dir")
    _refuse_inside(vault, settings.model_dir, "The model directory", "--model-dir")
    if settings.log.file is not None:
        _refuse_inside(vault, settings.log.file.parent, "The log's folder", "--log-file")
    if settings.index.uri is not None and "://" not in settings.index.uri:
        _refuse_inside(vault, Path(settings.index.uri), "The index", "index.uri")
    if _lies_inside(vault, settings.data_dir):
        raise SettingsError(
            f"The vault {vault} lies inside the data directory {settings.data_dir}; "
            f"choose another with --data-dir."
        )
    if settings.llm.url is not None and settings.llm.model is None:
        raise SettingsError(
            "llm.url is set, but not which model to use there: set llm.model, or --llm-model."
        )


def _refuse_inside(vault: Path, folder: Path, what: str, setting: str) -> None:
    if _lies_inside(folder, vault):
        raise SettingsError(
            f"{what} {folder} lies inside the vault {vault}; choose another with {setting}."
        )


def _lies_inside(inner: Path, outer: Path) -> bool:
    """Whether `inner` is `outer` or below it, through symlinks and on case-blind file systems."""
    try:
        there = outer.stat()
    except OSError:
        return False
    real = Path(os.path.realpath(inner))
    for folder in (real, *real.parents):
        try:
            if os.path.samestat(folder.stat(), there):
                return True
        except OSError:
            continue  # not there yet, or not ours to look at; what is above it still counts
    return False
