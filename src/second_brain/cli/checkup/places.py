"""The folders: is the vault there, does the data lie in a good place, is there room."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from second_brain.cli.checkup.finding import Finding
from second_brain.vault import atomic
from second_brain.vault.paths import TRASH

MB = 1_000_000
_FULL, _TIGHT = 100 * MB, 1_000 * MB
_LEFTOVER_SECONDS = 60.0

_CLOUD_FOLDERS = {
    "dropbox": "Dropbox",
    "onedrive": "OneDrive",
    "google drive": "Google Drive",
    "googledrive": "Google Drive",
    "my drive": "Google Drive",
    "icloud drive": "iCloud",
    "iclouddrive": "iCloud",
    "mobile documents": "iCloud",
    "nextcloud": "Nextcloud",
    "owncloud": "ownCloud",
    "pclouddrive": "pCloud",
    "pcloud drive": "pCloud",
    "proton drive": "Proton Drive",
    "synologydrive": "Synology Drive",
    "mega": "MEGA",
}
_CLOUD_MARKS = {
    ".stfolder": "Syncthing",
    ".dropbox": "Dropbox",
    ".sync_folder": "Syncthing",
    ".owncloudsync.log": "ownCloud",
    ".nextcloudsync.log": "Nextcloud",
}


def vault(root: Path | None, folder: str) -> Iterator[Finding]:
    """The vault's folder; `folder` is where new notes go."""
    if root is None:
        yield Finding("vault", "error", "No vault is set.", "Pass --vault DIR, or set it.")
        return
    try:
        with os.scandir(root) as entries:
            empty = next(entries, None) is None
    except FileNotFoundError:
        yield Finding(
            "vault", "error", f"The vault {root} is not there.",
            "Mount or restore it; what is known of its notes is kept.", str(root),
        )  # fmt: skip
        return
    except OSError as error:
        yield Finding(
            "vault", "error", f"The vault {root} cannot be read: {error.strerror}.",
            "Check the folder and its permissions.", str(root),
        )  # fmt: skip
        return
    if empty:
        yield Finding(
            "vault", "warning", f"The vault {root} is empty.",
            "If it should hold notes: mount the disk, or let the sync client finish.", str(root),
        )  # fmt: skip
    for place in (root, root / folder):
        if place.is_dir() and not os.access(place, os.W_OK | os.X_OK):
            yield Finding(
                "vault", "error", f"{place} cannot be written to, so no memory can be stored.",
                "Check its permissions.", str(place),
            )  # fmt: skip


def data_folder(
    data: Path, root: Path | None, environ: Iterable[tuple[str, Path]]
) -> Iterator[Finding]:
    """The data directory and other folders of ours, `environ`: their names and places."""
    if data.exists() and not os.access(data, os.W_OK | os.X_OK):
        yield Finding(
            "data", "error", f"The data directory {data} cannot be written to.",
            "Check its permissions, or choose another with --data-dir.", str(data),
        )  # fmt: skip
    for name, place in (("The data directory", data), *environ):
        real = Path(os.path.realpath(place))
        if root is not None and real.is_relative_to(os.path.realpath(root)):
            yield Finding(
                "data", "error", f"{name} {place} lies inside the vault.",
                "Choose a folder outside: sync clients would damage what is in it.", str(place),
            )  # fmt: skip
        elif client := synced_by(real):
            yield Finding(
                "data", "warning", f"{name} {place} lies in a folder that {client} syncs.",
                "Choose a local one with --data-dir: two machines writing to it would damage it.",
                str(place),
            )  # fmt: skip


def synced_by(place: Path, exists: Callable[[Path], bool] = Path.exists) -> str | None:
    """The sync client in whose folder `place` lies, as far as names and marks tell."""
    for folder in (place, *place.parents):
        name = folder.name.casefold()
        # OneDrive adds the account: `OneDrive - Company`; macOS too: `GoogleDrive-me@…`.
        plain = name.partition(" - ")[0].partition("-")[0].partition(" (")[0].strip()
        known = _CLOUD_FOLDERS.get(name) or _CLOUD_FOLDERS.get(plain)
        if known:
            return known
        for mark, client in _CLOUD_MARKS.items():
            if exists(folder / mark):
                return client
    return None


def permissions(files: Iterable[Path]) -> Iterator[Finding]:
    """Files that hold the token or notes' texts are their owner's alone."""
    for file in files:
        try:
            mode = stat.S_IMODE(file.stat().st_mode)
        except FileNotFoundError:
            continue
        if mode & 0o077:
            yield Finding(
                "permissions", "warning", f"{file} can be read by others (mode {mode:04o}).",
                f"Run: chmod 600 {file}", str(file), "chmod",
            )  # fmt: skip


def token(file: Path) -> Iterator[Finding]:
    """Whether the token can be read, if one was made already."""
    try:
        whole = len(file.read_text(encoding="ascii").split()) == 1
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError):
        whole = False
    if not whole:
        yield Finding(
            "permissions",
            "error",
            f"The token file {file} cannot be read, or does not hold one token.",
            "Check its permissions; or delete it, restart the daemon, and give clients the new.",
            str(file),
        )


def room(
    places: Iterable[tuple[str, Path]], free: Callable[[Path], int] | None = None
) -> Iterator[Finding]:
    """Disk space where we write; `free` gives the bytes that are left."""
    free = free or (lambda place: shutil.disk_usage(place).free)
    told: set[int] = set()
    for name, wanted in places:
        place = next((p for p in (wanted, *wanted.parents) if p.exists()), None)
        if place is None or (disk := place.stat().st_dev) in told:
            continue
        left = free(place)
        if left < _TIGHT:
            told.add(disk)
            yield Finding(
                "disk", "error" if left < _FULL else "warning",
                f"Only {left // MB:,} MB are free on the disk of {name} ({wanted}).",
                "Free some: when the disk is full, nothing more is remembered.", str(wanted),
            )  # fmt: skip


def leftovers(root: Path, now: float | None = None) -> Iterator[Finding]:
    """Temporary files that a killed process left in the vault."""
    before = (time.time() if now is None else now) - _LEFTOVER_SECONDS

    def skip(name: str) -> bool:
        return name[0] == "." and name != TRASH

    for file in sorted(atomic.leftovers(root, before, skip)):
        yield Finding(
            "leftovers", "warning", "A temporary file of a write that was cut off is left.",
            "It can be removed: the note that it was for is whole.",
            file.relative_to(root).as_posix(), "sweep",
        )  # fmt: skip
