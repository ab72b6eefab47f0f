"""Which paths a caller may name: inside the vault, spelled with `/`, never by a trick.

The rules of text are here; what a symbolic link does on the disk is checked where the disk is used.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

from second_brain.errors import InvalidInput

TRASH = ".trash"
_DRIVE = re.compile(r"[A-Za-z]:\Z")


@lru_cache(maxsize=4_096)
def checked(path: str, *, write: bool, separator: str = os.sep) -> tuple[str, ...]:
    """The parts of a vault-relative path. `separator` is the system's own, for the rules of it.

    Raises InvalidInput for an absolute path, `..`, empty parts, backslashes, drives and NUL; for a
    `write` also for hidden parts (`.obsidian`, `.git`, …), `.trash` at the front excepted.
    """
    parts = tuple(path.split("/"))
    windows = separator == "\\"
    if not path or "\0" in path:
        raise _invalid(path, "it is empty or holds a NUL character")
    if "\\" in path or _DRIVE.match(parts[0]) or (windows and ":" in path):
        raise _invalid(path, "write it relative to the vault, with / between the folders")
    if any(part in ("", ".", "..") for part in parts):
        raise _invalid(path, "write it relative to the vault, without empty parts, . or ..")
    if not _encodable(path):
        raise _invalid(path, "it is not valid text")
    if write and any(part.startswith(".") for part in _below_trash(parts)):
        raise _invalid(path, "hidden files and folders are not written to")
    return parts


def is_hidden(path: str) -> bool:
    """Whether any part of a vault-relative path starts with a dot."""
    return path.startswith(".") or "/." in path


def is_markdown(path: str) -> bool:
    return path[-3:].lower() == ".md"


def readable_name(name: str) -> str:
    """A name as text that can be shown, whatever bytes it is made of on the disk."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _below_trash(parts: tuple[str, ...]) -> tuple[str, ...]:
    return parts[1:] if parts[0] == TRASH and len(parts) > 1 else parts


def _encodable(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _invalid(path: str, why: str) -> InvalidInput:
    shown = path.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
    return InvalidInput("path", f"The path {shown[:200]!r} cannot be used: {why}.")
