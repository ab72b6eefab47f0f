"""Changing a client's file: whole or not at all, with a backup beside it, and seen before it is."""

from __future__ import annotations

import difflib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from second_brain.errors import SecondBrainError
from second_brain.integrations.connect.refusal import CannotEdit
from second_brain.vault.atomic import prepared, reason

BACKUP = ".second-brain-backup"
_LARGEST = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Change:
    """A file's text before and after; None where there is no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def backup(self) -> Path:
        return self.path.with_name(self.path.name + BACKUP)

    def diff(self) -> str:
        """What would change, as a unified diff."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def read(path: Path) -> str | None:
    """The file's text with its line ends as they are, None if there is none.

    Bytes that are no UTF-8 survive in it. Raises SecondBrainError where it cannot be read.
    """
    try:
        if not path.exists():
            if path.is_symlink():
                raise SecondBrainError(f"{path} is a symbolic link that leads nowhere; mend it.")
            return None
        if not path.is_file() or path.stat().st_size > _LARGEST:
            raise SecondBrainError(f"{path} is no file that a client's settings could be in.")
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise SecondBrainError(f"{path} cannot be read: {reason(error)}.") from error


def edited(path: Path, before: str | None, after: str) -> Change | None:
    """The change from `before` to `after`, None if there is none. A text of nothing is no file,
    unless it was one before we came."""
    if after == (before or ""):
        return None
    kept = after or (None if not _backup_is_empty(path) else "")
    return Change(path, before, kept)


def apply(change: Change) -> None:
    """Make the change. A symbolic link stays, and so do mode and owner."""
    real = Path(os.path.realpath(change.path))
    try:
        if read(change.path) != change.before:
            raise SecondBrainError(f"{change.path} was changed meanwhile. Try again.")
        _back_up(change)
        if change.after is None:
            real.unlink()
        else:
            _write(real, _bytes(change.after))
    except OSError as error:
        raise SecondBrainError(
            f"{change.path} could not be written ({reason(error)}); nothing was changed."
        ) from error


def back_up(path: Path) -> None:
    """A copy beside a file that another program is about to change."""
    text = read(path)
    if text is not None:
        _back_up(Change(path, text, text))


def refused(path: Path, error: CannotEdit) -> SecondBrainError:
    """The error for the user: which file, and why it is left alone."""
    return SecondBrainError(f"{path} was left as it is: {error}. Mend it, and try again.")


def _back_up(change: Change) -> None:
    """Keep the text before, unless the file becomes what it was before we came: then there is
    nothing to go back to, and what was kept goes, too."""
    if change.before is None:
        return
    backup, before = change.backup, _bytes(change.before)
    kept = backup.read_bytes() if backup.is_file() else None
    if change.after is None or (kept == _bytes(change.after) != before):
        backup.unlink(missing_ok=True)
    else:
        _write(backup, before, mode=0o600)


def _write(path: Path, data: bytes, *, mode: int | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    like = path.stat() if path.exists() else None
    with prepared(path, data, like) as fresh:
        if like is None:
            # It may come to hold a token, by its client or by its user.
            fresh.path.chmod(mode or (stat.S_IRUSR | stat.S_IWUSR))
        fresh.take_the_place_of(path)


def _backup_is_empty(path: Path) -> bool:
    backup = path.with_name(path.name + BACKUP)
    return backup.is_file() and backup.stat().st_size == 0


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
