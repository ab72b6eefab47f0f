"""Takes in what a scan found or events tell of; a file in the middle of a save later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from second_brain.errors import VaultOffline
from second_brain.sync.comparing import slices
from second_brain.sync.engine import SLICE, Engine
from second_brain.sync.reading import QUIET_SECONDS
from second_brain.vault.scan import left_out

_LONGEST_SAVE = 10.0


class Intake:
    """`clock` is monotonic seconds."""

    def __init__(self, engine: Engine, root: Path, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._root = root
        self._clock = clock
        self._later: dict[str, float] = {}
        self._waiting_since: dict[str, float] = {}

    async def reported(
        self, paths: Iterable[str], moved: Mapping[str, str], *, urgent: bool = False
    ) -> set[str]:
        """Take in what events tell of, as a scan would; the paths without a file.

        Raises VaultOffline if another folder is at the root.
        """
        rule = self._engine.rule
        if not self._engine.files.online():
            raise VaultOffline(f"The vault {self._root} is not there at the moment.")

        def sort() -> tuple[list[str], list[str]]:
            allowed: list[str] = []
            excluded: list[str] = []
            for path in paths:
                out = left_out(self._root, path, rule.path_reason, rule.folder_reason)
                (allowed if out is None else excluded).append(path)
            return allowed, excluded

        allowed, excluded = await asyncio.to_thread(sort)
        if excluded:
            await self._engine.drop(excluded, left_out=True)
        gone: set[str] = set()
        for part in slices(allowed, {}, SLICE):
            gone |= await self.take_in(part, moved, urgent=urgent)
        return gone

    async def take_in(
        self, paths: Sequence[str], moved: Mapping[str, str] | None = None, *, urgent: bool = False
    ) -> frozenset[str]:
        """Take in some files; those in the middle of a save later, those forever in it as they are.

        Returns the paths without a file.
        """
        now = self._clock()
        endless = [p for p in paths if now - self._waiting_since.get(p, now) >= _LONGEST_SAVE]
        first = [path for path in paths if path not in endless]
        taken = await self._engine.take_in(first, moved=moved, urgent=urgent)
        later, gone = taken.later, taken.gone
        if endless:
            taken = await self._engine.take_in(endless, moved=moved, urgent=urgent, finished=True)
            later, gone = later | taken.later, gone | taken.gone
        for path in paths:
            if path in later:
                self._waiting_since.setdefault(path, now)
                self._later.setdefault(path, now + QUIET_SECONDS)
            else:
                self._waiting_since.pop(path, None)
        return gone

    def postponed(self) -> set[str]:
        """Takes out those that have waited long enough."""
        now = self._clock()
        ripe = {path for path, due in self._later.items() if due <= now}
        for path in ripe:
            del self._later[path]
        return ripe

    def next_due(self) -> float | None:
        """Seconds until there is something in `postponed`; None if nothing waits."""
        due = min(self._later.values(), default=None)
        return None if due is None else max(0.0, due - self._clock())
