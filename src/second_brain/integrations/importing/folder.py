"""Reads a folder of Markdown: anybody's notes, or the files of basic-memory."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from second_brain.integrations.importing.entries import Entry, ImportRefused, Source
from second_brain.integrations.importing.exports import LONGEST
from second_brain.vault.note import note_created, parse_note

_SPACE = uuid.UUID("6f0d6d1c-1a0e-5c39-9d0b-5b1f7a4f6f11")  # ids are the same at each import


def read_folder(folder: Path) -> Source:
    """Every Markdown file below `folder`; hidden ones and links are left out."""
    entries: list[Entry] = []
    left_out: list[str] = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            file = Path(root, name)
            if file.suffix.casefold() != ".md" or name.startswith(".") or file.is_symlink():
                continue
            path = file.relative_to(folder).as_posix()
            try:
                data = file.read_bytes()
                modified = file.stat().st_mtime
                data.decode("utf-8")
            except OSError as error:
                raise ImportRefused(f"{file} cannot be read: {error.strerror}.") from None
            except UnicodeDecodeError:
                left_out.append(f"{path}: it is not UTF-8.")
                continue
            note = parse_note(path, data)
            if not note.body.strip() or len(note.body) > LONGEST or "\x00" in note.body:
                left_out.append(f"{path}: it has no text, or more than a memory may have.")
                continue
            moment = note_created(note)
            entries.append(
                Entry(
                    id=str(uuid.uuid5(_SPACE, str(note.properties.get("permalink") or path))),
                    content=note.body,
                    title=note.title,
                    tags=tuple(note.tags),
                    created=int((moment.timestamp() if moment else modified) * 1000),
                )
            )
    if not entries:
        raise ImportRefused(f"There is no Markdown with a text in {folder}.")
    return Source(tuple({entry.id: entry for entry in entries}.values()), (), tuple(left_out))
