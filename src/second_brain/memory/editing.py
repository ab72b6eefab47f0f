"""The use cases append, update, forget and set_status: changes to a memory that exists."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from second_brain.errors import InvalidInput, NoteChanged
from second_brain.memory.arrivals import sent_names
from second_brain.memory.capture import check_text
from second_brain.memory.describe import USER_SOURCE, text_version
from second_brain.memory.model import STATUSES, Appended, Caller, Forgotten, Updated
from second_brain.memory.plugin import matches, same_title, take_apart
from second_brain.memory.scribe import Scribe
from second_brain.memory.shelf import Shelf
from second_brain.vault.edit import append_text, replace_body, set_properties
from second_brain.vault.frontmatter import split
from second_brain.vault.note import OPT_OUT_KEY, STATUS_KEY, note_source, parse_note


class Editing:
    """`now` is local time with its zone: an addition is dated as its reader's clock shows."""

    def __init__(self, scribe: Scribe, shelf: Shelf, *, now: Callable[[], datetime]) -> None:
        self._scribe = scribe
        self._shelf = shelf
        self._now = now

    async def append(self, id: str, addition: str, caller: Caller) -> Appended:
        """Put a text, dated, below what a memory says.

        The whole text of the note again is what Obsidian's plugin sends after an edit: the vault
        holds it already, so nothing is appended; only where the note came from another vault
        does it replace the old text.
        """
        check_text("addition", addition)
        row = self._scribe.row(id)
        body = await asyncio.to_thread(self._shelf.text, row)
        names = sent_names(row)
        if any(matches(name, body, addition) for name in names):
            return Appended(id, f"“{row.title}” says so already; nothing was appended.")
        if any(same_title(name, addition) for name in names):
            if await asyncio.to_thread(self._shelf.source, row) != USER_SOURCE:
                return Appended(
                    id, f"“{row.title}” is a note of this vault: its own file is followed."
                )
            await self._scribe.edit(
                id,
                lambda data: replace_body(data, take_apart(addition).body),
                caller=caller,
                summary=f"replace “{row.title}”",
            )
            return Appended(id, f"The text of “{row.title}” was replaced by the newer one.")
        stamp = self._now().strftime("%Y-%m-%d %H:%M")
        await self._scribe.edit(
            id,
            lambda data: append_text(append_text(data, f"*{stamp}*"), addition),
            caller=caller,
            summary=f"append to “{row.title}”",
        )
        return Appended(id, f"Appended to “{row.title}” (ID: {id}).")

    async def update(
        self, id: str, content: str, caller: Caller, base: str | None = None
    ) -> Updated:
        """Replace what a memory says; its properties stay.

        `base` is the version of the text that `content` was made from. Raises NoteChanged where
        the note says something else by now.
        """
        check_text("content", content)
        row = self._scribe.row(id)

        def change(data: bytes) -> bytes:
            said = split(data).body.decode("utf-8", "replace")
            if base is not None and text_version(said) != base:
                raise NoteChanged(
                    row.path,
                    f"“{row.title}” was changed meanwhile, in Obsidian or by another client; "
                    "nothing was written. Read it again, and bring both together.",
                )
            eol = split(data).eol.decode()
            text = content if "\r" in content or eol == "\n" else content.replace("\n", eol)
            return replace_body(data, text)

        await self._scribe.edit(id, change, caller=caller, summary=f"update “{row.title}”")
        chunks = self._scribe.chunks_of(id)
        still = "" if chunks else " It no longer carries a sync tag, so it is no memory any more."
        return Updated(id, chunks, f"“{row.title}” was updated (ID: {id}).{still}")

    async def forget(self, id: str, caller: Caller) -> Forgotten:
        """Move a note that the daemon created to the trash; opt a user's own note out."""
        row = self._scribe.row(id)
        if await asyncio.to_thread(self._shelf.is_ours, row):
            trashed = await self._scribe.trash(id, caller=caller, summary=f"forget “{row.title}”")
            return Forgotten(
                id,
                row.chunks,
                trashed,
                f"Forgotten: “{row.title}” was moved to {trashed}.",
            )

        def opt_out(data: bytes) -> bytes:
            if note_source(parse_note(row.path, data)) is not None:
                raise InvalidInput("id", "The note changed meanwhile; try again")
            return set_properties(data, {OPT_OUT_KEY: False})

        await self._scribe.edit(id, opt_out, caller=caller, summary=f"forget “{row.title}”")
        return Forgotten(
            id,
            row.chunks,
            None,
            f"Forgotten: “{row.title}” is a note of yours, so it stays where it is "
            f"({row.path}) and is kept out of memory by second-brain: false in its properties.",
        )

    async def set_status(self, id: str, status: str, caller: Caller) -> None:
        """Set canonical, draft or deprecated. Raises InvalidInput for any other."""
        if status not in STATUSES:
            raise InvalidInput("status", f"status must be one of: {', '.join(STATUSES)}")
        row = self._scribe.row(id)
        await self._scribe.edit(
            id,
            lambda data: set_properties(data, {STATUS_KEY: status}),
            caller=caller,
            summary=f"set “{row.title}” to {status}",
        )
