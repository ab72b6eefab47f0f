"""What undoing a write means for the file as it is now: the edit that does it, or why not. Pure."""

from __future__ import annotations

from collections.abc import Callable

from second_brain.errors import EditRefused, NoteChanged
from second_brain.index.state import WriteContents
from second_brain.vault.merge import without_change

_GONE = (
    "{path} is not there any more, so nothing of it can be undone. If it is to come back, restore"
    " it from the vault's trash or a backup first."
)
_GROWN = (
    "{path} was changed since it was made, and undoing would throw that away; nothing was changed."
    " Forget the memory, or delete the note yourself, if all of it is to go."
)
_BACK = (
    "There is a note at {path} again; nothing was changed. To have the old text instead, take it"
    " from `brain show {id} --at {n}`."
)
_TAKEN = "Another note is at {path} now; nothing was changed. Move or rename it, then undo again."
_OVERLAP = (
    "{path} was changed since in the same place, and undoing might throw that away; nothing was"
    " changed. See the text from before with `brain show {id} --at {n}`, and mend the note by hand."
)


def taking_back(contents: WriteContents, path: str) -> Callable[[bytes], bytes]:
    """The edit that takes a write out of a file, whatever else was changed in it since.

    It raises NoteChanged where that cannot be done without doubt, EditRefused if it is done.
    """

    def change(now: bytes) -> bytes:
        result = without_change(contents.before or b"", contents.after or b"", now)
        if now == contents.before:
            raise EditRefused(path, f"it reads as it did before write {contents.row.n} already")
        if result is None:
            raise _refusal(_OVERLAP, contents, path)
        return result

    return change


def require_unchanged(contents: WriteContents, path: str, now: bytes | None) -> None:
    """Raise NoteChanged unless the file is as a write left it that made it or took it away."""
    if now != contents.after:
        text = _GONE if now is None else _GROWN if contents.before is None else _BACK
        raise _refusal(text, contents, path)


def gone(contents: WriteContents, path: str) -> NoteChanged:
    """There is no file to take an edit out of."""
    return _refusal(_GONE, contents, path)


def place_taken(path: str) -> NoteChanged:
    """Where the note was, there is another one."""
    return NoteChanged(path, _TAKEN.format(path=path))


def _refusal(text: str, contents: WriteContents, path: str) -> NoteChanged:
    write = contents.row
    return NoteChanged(path, text.format(path=path, id=write.id, n=write.n))
