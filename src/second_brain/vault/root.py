"""The vault's folder on the disk: whether it is still there, and where a path in it really lies."""

from __future__ import annotations

import os
import stat as st
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from second_brain.errors import InvalidInput, ReadFailed, VaultOffline
from second_brain.vault.paths import checked

_REMEMBERED = 4_096
"""Paths that are kept as such: putting one together costs as much as asking the disk for it."""


class VaultRoot:
    """Raises VaultOffline from the constructor where there is no folder."""

    def __init__(self, root: Path) -> None:
        self.path = root.resolve()
        self._joined = lru_cache(_REMEMBERED)(self.path.joinpath)
        self._identity = self._seen()
        if self._identity is None:
            raise VaultOffline(f"The vault {self.path} is not there, or it is not a folder.")

    def online(self) -> bool:
        """Whether the root is there and still is the folder that was opened."""
        return self._seen() == self._identity

    def accept(self) -> None:
        """Takes the folder that is at the root now for the vault (after a remount, for example)."""
        self._identity = self._seen() or self._identity

    def require(self) -> None:
        """Raises VaultOffline where the vault is not `online`."""
        if not self.online():
            raise VaultOffline(
                f"The vault {self.path} is not there at the moment (unmounted or moved);"
                " nothing was changed."
            )

    def locate(self, path: str, *, write: bool, follow: bool = True) -> Path:
        """Where `path` really lies, symbolic links resolved (the last part's only if `follow`).

        Raises InvalidInput or ReadFailed for a place outside the vault, VaultOffline for a write.
        """
        parts = checked(path, write=write)
        plain = self._joined(*parts)
        if not self._leads_elsewhere(parts if follow else parts[:-1]):
            if write:
                self.require()
            return plain
        real = Path(os.path.realpath(plain if follow else plain.parent))
        if not follow:
            real /= plain.name
        if not real.is_relative_to(self.path):
            why = "it is a symbolic link to a place outside the vault"
            if write:
                raise InvalidInput("path", f"{path} is not written to: {why}.")
            raise ReadFailed(path, why)
        if write:
            self.require()
            checked(real.relative_to(self.path).as_posix(), write=True)
        return real

    def _leads_elsewhere(self, parts: Sequence[str]) -> bool:
        """Whether there is a symbolic link on the way below the root."""
        place = str(self.path)
        for part in parts:
            place = f"{place}{os.sep}{part}"
            try:
                if st.S_ISLNK(os.lstat(place).st_mode):
                    return True
            except OSError:
                return False  # from here on there is nothing
        return False

    def _seen(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino) if st.S_ISDIR(found.st_mode) else None
