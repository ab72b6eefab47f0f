"""Obsidian's own list of vaults, from wherever this system's Obsidian keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from second_brain.integrations.connect.places import Places


@dataclass(frozen=True, slots=True)
class Vault:
    """A vault that Obsidian knows. `used` is when it was opened last, in Unix milliseconds."""

    path: Path
    is_open: bool
    used: int


def known_vaults(places: Places) -> list[Vault]:
    """Those whose folder is there; the open ones first, then the one used last."""
    found: dict[Path, Vault] = {}
    for file in _lists(places):
        for vault in _read(file):
            if vault.path.is_dir():
                found.setdefault(vault.path.resolve(), vault)
    return sorted(found.values(), key=lambda one: (not one.is_open, -one.used, str(one.path)))


def _lists(places: Places) -> Iterator[Path]:
    """Where the list may lie: a package, Flatpak and Snap on Linux; macOS; Windows."""
    yield places.apps / "obsidian" / "obsidian.json"
    if places.system == "linux":
        home = places.home
        yield home / ".config/obsidian/obsidian.json"
        yield home / ".var/app/md.obsidian.Obsidian/config/obsidian/obsidian.json"
        yield from sorted(home.glob("snap/obsidian/*/.config/obsidian/obsidian.json"))


def _read(file: Path) -> Iterator[Vault]:
    """The vaults of one list; nothing where there is none or it is not what we know."""
    try:
        listed = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    vaults = listed.get("vaults") if isinstance(listed, dict) else None
    for one in vaults.values() if isinstance(vaults, dict) else ():
        if isinstance(one, dict) and isinstance(one.get("path"), str) and one["path"]:
            used = one.get("ts")
            yield Vault(
                Path(one["path"]), one.get("open") is True, used if isinstance(used, int) else 0
            )
