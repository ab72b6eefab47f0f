"""Which Markdown files the vault holds now: one pass over the folders, nothing is read but names.

Loops cannot occur: symbolic links are not followed (what they lead to inside the vault is found by
itself, what lies outside is not the vault's), and no folder is entered twice, whatever is mounted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from second_brain.errors import VaultOffline
from second_brain.vault.atomic import reason as plain_reason
from second_brain.vault.paths import is_hidden, is_markdown, readable_name
from second_brain.vault.stamps import FileStamp, is_placeholder, placeholder_target, stamp_of

_STAT_LACKS_INODE = os.name == "nt"


@dataclass(frozen=True, slots=True)
class Found:
    """A Markdown file. `placeholder`: it exists, but its content is in the cloud only."""

    path: str
    stamp: FileStamp
    placeholder: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was left out, and why, in words for the user."""

    path: str
    reason: str


@dataclass(slots=True)
class Scan:
    """What a pass found, by path. Nothing is known of what lies below an `unreadable` folder.

    `skipped` names a folder once, not the notes in it; hidden files and folders are not named.
    """

    found: list[Found] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unreadable: list[Skipped] = field(default_factory=list)


Reason = Callable[[str], str | None]
"""Why a vault-relative path is left out, in words for the user; None if it is not."""


def scan(
    root: Path, path_reason: Reason, *, folder_reason: Reason | None = None, under: str = ""
) -> Scan:
    """Every `*.md` below `root`, or below its folder `under` (vault-relative) only.

    `path_reason` is asked for notes, `folder_reason` for folders, which are not entered if it has
    an answer. VaultOffline if the root cannot be listed; a folder that vanishes meanwhile is
    simply not there.
    """
    enters = folder_reason or (lambda folder: None)
    result = Scan()
    try:
        with os.scandir(root):
            pass
    except OSError as error:
        why = plain_reason(error)
        raise VaultOffline(f"The vault {root} cannot be read at the moment: {why}.") from error
    if under and not _enters(root, under, enters, result):
        return result
    seen: set[tuple[int, int]] = set()
    this = _Pass(path_reason, enters, result, [under])
    while this.folders:
        folder = this.folders.pop()
        where = root / folder
        try:
            identity = where.stat()
            if (key := (identity.st_dev, identity.st_ino)) in seen:
                result.skipped.append(Skipped(folder, "the same folder is in the vault twice"))
                continue
            seen.add(key)
            with os.scandir(where) as listing:
                entries = list(listing)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            result.unreadable.append(Skipped(folder, plain_reason(error)))
            continue
        if folder and any(entry.name == ".obsidian" for entry in entries):
            result.skipped.append(Skipped(folder, "it is a vault of its own"))
            continue
        prefix = f"{folder}/" if folder else ""
        for entry in entries:
            _visit(entry, prefix, this)
    result.found.sort(key=lambda each: each.path)
    return result


@dataclass(slots=True)
class _Pass:
    path_reason: Reason
    folder_reason: Reason
    result: Scan
    folders: list[str]


def _visit(entry: os.DirEntry[str], prefix: str, this: _Pass) -> None:
    result = this.result
    hidden = entry.name.startswith(".")
    name = (placeholder_target(entry.name) or "") if hidden else entry.name
    path = prefix + name
    try:
        folder = not hidden and entry.is_dir()
        if not folder and not is_markdown(name):
            return
        if why := _odd_name(name):
            result.unreadable.append(Skipped(prefix + readable_name(name), why))
        elif entry.is_symlink():
            result.skipped.append(Skipped(path, "symbolic links are not followed"))
        elif why := (this.folder_reason if folder else this.path_reason)(path):
            result.skipped.append(Skipped(path, why))
        elif folder:
            this.folders.append(path)
        elif entry.is_file():
            stat = os.stat(entry.path) if _STAT_LACKS_INODE else entry.stat()  # noqa: PTH116
            result.found.append(Found(path, stamp_of(stat), hidden or is_placeholder(stat)))
        else:
            result.skipped.append(Skipped(path, "it is not a plain file"))
    except FileNotFoundError:
        return
    except OSError as error:
        result.unreadable.append(Skipped(prefix + readable_name(name), plain_reason(error)))


def left_out(root: Path, path: str, path_reason: Reason, folder_reason: Reason) -> str | None:
    """Why a pass over everything would not name the file at `path`; None if it would.

    Whether there is such a file does not matter. A file that cannot be looked at is not left out.
    """
    folder, _, name = path.rpartition("/")
    why = _odd_name(name) or path_reason(path)
    if why is not None:
        return why
    skipped = Scan()
    try:
        if folder and not _enters(root, folder, folder_reason, skipped):
            return skipped.skipped[0].reason if skipped.skipped else None
        return "symbolic links are not followed" if (root / path).is_symlink() else None
    except OSError:
        return None


def _enters(root: Path, under: str, folder_reason: Reason, result: Scan) -> bool:
    """Whether a pass over everything would enter the folder `under`."""
    parts = under.split("/")
    for count in range(1, len(parts) + 1):
        folder = "/".join(parts[:count])
        if is_hidden(folder) or not (root / folder).is_dir():
            return False
        if (root / folder).is_symlink():
            why: str | None = "symbolic links are not followed"
        elif (root / folder / ".obsidian").exists():
            why = "it is a vault of its own"
        else:
            why = folder_reason(folder)
        if why:
            result.skipped.append(Skipped(folder, why))
            return False
    return True


def _odd_name(name: str) -> str | None:
    """Why a name cannot be used as a part of a path; None if it can."""
    if "\\" in name:
        return "its name holds a backslash"
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not valid UTF-8"
    return None
