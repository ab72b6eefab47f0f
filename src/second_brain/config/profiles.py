"""Profiles: one configuration file for each of several vaults, known by its name."""

from __future__ import annotations

import re
from pathlib import Path

from second_brain.config.options import PREFIX
from second_brain.config.settings import profiles_folder
from second_brain.errors import SettingsError

PROFILE_VARIABLE = f"{PREFIX}PROFILE"
# The name becomes a file, a systemd instance and a launchd label.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")


def profile_file(name: str, origin: str = "--profile") -> Path:
    """The file of the profile `name`, which may be missing. `origin` is who named it."""
    if not _NAME.fullmatch(name):
        raise SettingsError(f"{origin} must be a name of letters, digits, - and _.")
    return profiles_folder() / f"{name}.toml"


def profile_names() -> list[str]:
    """The profiles that there are."""
    return sorted(
        file.stem for file in profiles_folder().glob("*.toml") if _NAME.fullmatch(file.stem)
    )


def existing_profile(name: str, origin: str = "--profile") -> Path:
    """The file of a profile that there is."""
    file = profile_file(name, origin)
    if not file.is_file():
        known = ", ".join(profile_names()) or "none yet"
        raise SettingsError(
            f"{origin}: there is no profile {name} (known: {known}); "
            f"make it with `brain init --profile {name}`."
        )
    return file
