"""Reads images of the vault that a memory shows, named as Obsidian's links and embeds name them."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from second_brain.errors import InvalidInput, NoteNotFound
from second_brain.vault.files import VaultFiles
from second_brain.vault.names import path_key
from second_brain.vault.paths import is_hidden

MEDIA_TYPES = {
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}


@dataclass(frozen=True, slots=True)
class Picture:
    """An image's bytes and what they are by the file's name."""

    path: str
    media_type: str
    data: bytes


class Pictures:
    """Blocking reads: call them in a worker thread."""

    def __init__(self, files: VaultFiles) -> None:
        self._files = files

    def read(self, target: str, note: str) -> Picture:
        """The image that a link in the note at the path `note` means.

        Beside the note, from the vault's root, or by its name wherever it lies: the first that is
        there. Raises InvalidInput for what is no image, NoteNotFound, ReadFailed, VaultOffline.
        """
        wanted = target.partition("#")[0].strip().lstrip("/")
        media_type = MEDIA_TYPES.get(posixpath.splitext(wanted)[1].lower())
        if media_type is None:
            known = ", ".join(sorted(MEDIA_TYPES))
            raise InvalidInput("target", f"'target' must be an image: {known}")
        for path in self._places(wanted, note):
            if path.startswith("../") or path == ".." or is_hidden(path):
                continue
            try:
                return Picture(path, media_type, self._files.read(path).data)
            except (FileNotFoundError, InvalidInput):
                continue
        raise NoteNotFound(target)

    def _places(self, wanted: str, note: str) -> Iterator[str]:
        yield posixpath.normpath(posixpath.join(posixpath.dirname(note), wanted))
        yield posixpath.normpath(wanted)
        end = path_key(posixpath.normpath(wanted))
        if end.startswith("../"):
            return
        found: list[str] = []
        for folder, folders, names in os.walk(self._files.root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            below = os.path.relpath(folder, self._files.root).replace(os.sep, "/")
            for name in names:
                path = name if below == "." else f"{below}/{name}"
                key = path_key(path)
                if key == end or key.endswith(f"/{end}"):
                    found.append(path)
        yield from sorted(found, key=lambda path: (path.count("/"), path))
