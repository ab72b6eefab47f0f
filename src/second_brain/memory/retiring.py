"""Retires the copy that the plugin sent of a note once the note's own file arrives in the vault.

A phone's plugin captures a note before the sync client has brought its file here; a note is made
for it in our folder. When the file comes, the copy goes to the trash and the file has its id, its
counters and the links to it. Where the two say different things, both stay and the user is told.
"""

from __future__ import annotations

import asyncio
import logging

from second_brain.errors import SecondBrainError
from second_brain.index.rows import NoteRow
from second_brain.memory.arrivals import sent_names
from second_brain.memory.describe import USER_SOURCE
from second_brain.memory.model import Caller
from second_brain.memory.plugin import matches, plugin_text
from second_brain.memory.scribe import Scribe
from second_brain.memory.shelf import Shelf
from second_brain.sync.engine import Engine

log = logging.getLogger(__name__)

CALLER = Caller("second-brain", "note-arrived")


class Retiring:
    """`folder` is where the daemon's new notes go. `differing` are the copies and files that both
    stay, as paths: they have one id and say different things."""

    def __init__(self, engine: Engine, scribe: Scribe, shelf: Shelf, *, folder: str) -> None:
        self.differing: tuple[tuple[str, str], ...] = ()
        self._engine = engine
        self._scribe = scribe
        self._shelf = shelf
        self._below = f"{folder}/"
        self._seen = -1

    async def step(self) -> int:
        """Retire the copies whose files have come; how many. Nothing is looked at twice."""
        if (commits := self._engine.commits) == self._seen:
            return 0
        equal, differing = await asyncio.to_thread(self._pairs)
        retired = 0
        for copy, arrived in equal:
            try:
                await self._scribe.trash(
                    copy.id,
                    caller=CALLER,
                    summary=f"retire the copy of “{copy.title}”, which has come as {arrived.path}",
                )
                await self._engine.again([arrived.path], moved={arrived.path: copy.path})
                retired += 1
            except (SecondBrainError, OSError) as error:
                log.warning("%s stays beside %s: %s", copy.path, arrived.path, error)
        self.differing = tuple((copy.path, arrived.path) for copy, arrived in differing)
        self._seen = commits
        return retired

    def _pairs(self) -> tuple[list[tuple[NoteRow, NoteRow]], list[tuple[NoteRow, NoteRow]]]:
        catalog = self._engine.catalog
        equal: dict[str, tuple[NoteRow, NoteRow]] = {}
        differing: list[tuple[NoteRow, NoteRow]] = []
        for arrived in catalog.claimants():
            copy = catalog.by_id(arrived.claimed_id or "")
            if copy is None or not self._are_pair(copy, arrived):
                continue
            if self._says_the_same(copy, arrived):
                equal.setdefault(copy.id, (copy, arrived))
            else:
                differing.append((copy, arrived))
        for copy, arrived in catalog.same_texts(self._below):
            named = arrived.title in sent_names(copy)
            if named and self._are_pair(copy, arrived) and self._says_the_same(copy, arrived):
                equal.setdefault(copy.id, (copy, arrived))
        return list(equal.values()), [pair for pair in differing if pair[0].id not in equal]

    def _are_pair(self, copy: NoteRow, arrived: NoteRow) -> bool:
        """Whether one is a copy that the plugin sent, where it was put, and the other a note that
        the user wrote; both memories, so that none is lost with the copy."""
        return (
            copy.is_memory
            and arrived.is_memory
            and copy.stored_id
            and copy.source == USER_SOURCE == arrived.source
            and copy.path.startswith(self._below)
            and self._shelf.source(copy) == USER_SOURCE
            and not self._shelf.is_ours(arrived)
        )

    def _says_the_same(self, copy: NoteRow, arrived: NoteRow) -> bool:
        sent = plugin_text(arrived.title, self._shelf.text(copy))
        return matches(arrived.title, self._shelf.text(arrived), sent)
