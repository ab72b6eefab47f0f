"""Holds back the notes that are missing while the vault looks absent rather than tidied up."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from second_brain.errors import VaultOffline
from second_brain.index.rows import NoteRow
from second_brain.sync.absence import reason_to_hold
from second_brain.sync.engine import Engine

log = logging.getLogger(__name__)

_LOSS_WINDOW = 60.0


class Holding:
    """What is held and why (`reason` None: nothing). `clock` is monotonic seconds.

    `again_at` is when a comparison of everything would tell more.
    """

    def __init__(self, engine: Engine, root: Path, clock: Callable[[], float]) -> None:
        self.held: frozenset[str] = frozenset()
        self.reason: str | None = None
        self.again_at: float | None = None
        self._engine = engine
        self._root = root
        self._clock = clock
        self._losses: deque[tuple[float, int]] = deque()
        self._not_back: frozenset[str] = frozenset()
        self._not_back_until = 0.0

    async def lose(self, paths: Iterable[str], *, whole: bool) -> None:
        """Drop notes whose files are gone, or hold them back if it looks like an absent vault.

        `whole`: these are all that is missing, so the answer replaces the one before.
        """
        candidates = set(paths) if whole else set(paths) | self.held
        lost = frozenset(await asyncio.to_thread(self._gone, candidates))
        now = self._clock()
        while self._losses and now - self._losses[0][0] > _LOSS_WINDOW:
            self._losses.popleft()
        recent = sum(count for _, count in self._losses)
        known = await asyncio.to_thread(lambda: self._engine.catalog.counts().notes)
        reason = reason_to_hold(
            known + recent,
            len(lost) + recent if lost else 0,
            root_present=self._engine.files.online(),
            root_empty=await asyncio.to_thread(_is_empty, self._root),
        )
        reason = reason or self._still_coming_back(lost, now)
        if reason is not None:
            self._hold(lost, reason)
            return
        if self.reason is not None:
            log.info("The vault is back.")
        self.held, self.reason, self.again_at = frozenset(), None, None
        if lost:
            dropped = await self._engine.drop(sorted(lost))
            self._losses.append((now, len(dropped)))

    def root_is_gone(self) -> None:
        """The vault cannot even be looked at."""
        self._hold(self.held, "the vault folder is not there")

    async def accept(self) -> list[NoteRow]:
        """What is held is deleted indeed, and the folder that is at the root is the vault.

        Raises VaultOffline if there is none.
        """
        await asyncio.to_thread(self._engine.files.accept_root)
        if not self._engine.files.online():
            raise VaultOffline(f"The vault {self._root} is not there: mount or restore it first.")
        dropped = await self._engine.drop(sorted(self.held))
        self.held, self.reason, self.again_at = frozenset(), None, None
        return dropped

    def _hold(self, lost: frozenset[str], reason: str) -> None:
        if self.reason is None:
            log.warning("The vault is taken for offline: %s. Nothing is dropped.", reason)
        self.held, self.reason = lost, reason

    def _still_coming_back(self, lost: frozenset[str], now: float) -> str | None:
        """Why the rest of the notes that were held back must wait: others may be coming back."""
        if not lost & self.held:
            self._not_back = frozenset()
            return None
        if lost != self._not_back:
            self._not_back, self._not_back_until = lost, now + _LOSS_WINDOW
        if now >= self._not_back_until:
            return None
        self.again_at = self._not_back_until
        return f"{len(lost)} notes are not back yet"

    def _gone(self, paths: Iterable[str]) -> list[str]:
        """Those of the paths that no rename has taken along and where there is no file."""
        rows = (self._engine.catalog.by_path(path) for path in paths)
        return [
            row.path
            for row in rows
            if row is not None and row.missing_since is None and not self._exists(row.path)
        ]

    def _exists(self, path: str) -> bool:
        try:
            return self._engine.exists(path)
        except VaultOffline:
            return False


def _is_empty(root: Path) -> bool:
    try:
        with os.scandir(root) as entries:
            return next(entries, None) is None
    except OSError:
        return True
