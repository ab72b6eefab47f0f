"""What tells one version of a file from another without, or with, reading it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from hashlib import blake2b

IN_THE_CLOUD = "its content is in the cloud and not on this disk yet"

_SF_DATALESS = 0x40000000  # macOS: an evicted file of iCloud Drive or another file provider.
_UF_COMPRESSED = 0x20  # macOS: the content lies in an attribute, which also takes no blocks.
_RECALL_ON_ACCESS = 0x400000 | 0x1000  # Windows: OneDrive's online-only files, and offline ones.


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A version of a file: modification time in nanoseconds, size in bytes, inode."""

    mtime_ns: int
    size: int
    inode: int


def stamp_of(stat: os.stat_result) -> FileStamp:
    return FileStamp(stat.st_mtime_ns, stat.st_size, stat.st_ino)


def digest(data: bytes) -> str:
    """BLAKE2b, 16 bytes, as hex."""
    return blake2b(data, digest_size=16).hexdigest()


def is_placeholder(stat: os.stat_result, platform: str = sys.platform) -> bool:
    """Whether a cloud client keeps the content elsewhere: reading would block and download it."""
    if platform == "darwin":
        flags = getattr(stat, "st_flags", 0)
        empty = stat.st_size > 0 and getattr(stat, "st_blocks", 1) == 0
        return bool(flags & _SF_DATALESS) or (empty and not flags & _UF_COMPRESSED)
    if platform == "win32":
        return bool(getattr(stat, "st_file_attributes", 0) & _RECALL_ON_ACCESS)
    return False


def placeholder_name(name: str) -> str:
    """What an old-style iCloud placeholder of a note is called."""
    return f".{name}.icloud"


def placeholder_target(name: str) -> str | None:
    """The name of the note that an old-style iCloud placeholder (`.Note.md.icloud`) stands for."""
    if name.startswith(".") and name.endswith(".icloud") and len(name) > len("..icloud"):
        return name[1 : -len(".icloud")]
    return None
