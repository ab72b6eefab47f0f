"""Keeps the vault and the index equal: the first scan, the watcher's events, the periodic rescan.

Events are hints; the disk is the truth. Notes that are missing are dropped only when the vault is
there and did not lose most of them at once (`absence`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from second_brain.errors import IndexUnavailable, SecondBrainError, VaultOffline
from second_brain.index.rows import NoteRow
from second_brain.sync.absence import reason_to_hold
from second_brain.sync.engine import QUIET_SECONDS, SLICE, Engine
from second_brain.vault.scan import Scan, scan
from second_brain.vault.settle import Due
from second_brain.vault.watch import Watcher

log = logging.getLogger(__name__)

_CHECK_SECONDS = 3.0
_LOSS_WINDOW = 60.0
_CLOCK_JUMP = 30.0
_LONGEST_RETRY = 60.0

Progress = Callable[[int, int], None]


class Sync:
    """Runs until `stop`. `clock` is monotonic seconds, `wall` Unix seconds."""

    def __init__(
        self,
        engine: Engine,
        root: Path,
        *,
        rescan_seconds: float = 300.0,
        watch: bool = True,
        on_progress: Progress = lambda done, total: None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.engine = engine
        self.root = root
        self.scanning = False
        self.progress = (0, 0)
        self.held: frozenset[str] = frozenset()
        self.hold_reason: str | None = None
        self.last_scan: float | None = None
        self.unreadable: dict[str, str] = {}
        self._rescan_seconds = rescan_seconds
        self._watch = watch
        self._on_progress = on_progress
        self._clock = clock
        self._wall = wall
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watcher = Watcher(root, self._wake_from_thread)
        self._task: asyncio.Task[None] | None = None
        self._later: dict[str, float] = {}
        self._stash = Due()
        self._losses: deque[tuple[float, int]] = deque()
        self._rescan_at = 0.0
        self._damaged = False
        self._checked = False
        self._failures = 0
        self._idle = asyncio.Event()
        self._scan_lock = asyncio.Lock()
        engine.index.on_damage = self.index_damaged

    # Life

    def start(self) -> None:
        """Watch and scan, in the background."""
        self._loop = asyncio.get_running_loop()
        self._rescan_at = self._clock()
        self._task = asyncio.create_task(self._run(), name="sync")

    async def stop(self) -> None:
        """End after the batch that is being taken in."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await asyncio.to_thread(self._watcher.stop)

    async def settled(self) -> None:
        """Wait until nothing that was reported so far is left to take in."""
        await self._idle.wait()

    def index_damaged(self) -> None:
        """The index failed at reading or writing: it will be dropped and filled again."""
        self._damaged = True
        self._wake.set()

    def rescan_soon(self) -> None:
        """Compare everything with the vault now."""
        self._rescan_at = self._clock()
        self._idle.clear()
        self._wake.set()

    def wake(self) -> None:
        """Something that was waited for, such as the model, is there."""
        self._wake.set()

    @property
    def online(self) -> bool:
        return self.engine.files.online() and self.hold_reason is None

    @property
    def watching(self) -> bool:
        return self._watcher.alive

    # Scanning

    async def scan(self, under: str = "") -> None:
        """Make the index equal to the vault, or to its folder `under`. Raises VaultOffline."""
        async with self._scan_lock:
            self.scanning = not under
            try:
                await self._scan(under)
            finally:
                self.scanning = False

    async def accept_deletions(self) -> list[NoteRow]:
        """The user says that the notes held back are deleted indeed."""
        held, self.held, self.hold_reason = self.held, frozenset(), None
        return await self.engine.drop(sorted(held))

    async def _scan(self, under: str) -> None:
        files = self.engine.files
        rule = self.engine.rule
        found = await asyncio.to_thread(
            scan, self.root, rule.path_reason, folder_reason=rule.folder_reason, under=under
        )
        known = await asyncio.to_thread(self._known, under)
        there = {file.path: file.stamp for file in found.found}
        changed = [
            path
            for path, stamp in there.items()
            if known.get(path) != (stamp.mtime_ns, stamp.size, stamp.inode)
        ]
        version = self.engine.index.version
        if not self._checked:
            await self.engine.check_index()
            self._checked = True
        if not self.engine.index.building:
            stale = await asyncio.to_thread(self.engine.outdated, version)
            changed += [path for path in stale if path in there and path not in set(changed)]
        changed.sort(key=lambda path: -there[path].mtime_ns)  # what was edited last is asked first
        if not under:
            self.unreadable = {item.path: item.reason for item in found.unreadable}
        await self._take_in_all(changed, report=not under)
        missing = [path for path in known if path not in there]
        present = await asyncio.to_thread(self._still_known, missing)
        excluded, lost = self._sort_missing(present, found)
        await self.engine.drop(excluded)
        if not files.online() and len(lost) * 2 < len(known) + 1:
            files.accept_root()
        await self._lose(lost, whole=not under)
        if not under:
            self.last_scan = self._wall()

    async def _take_in_all(self, paths: list[str], *, report: bool) -> None:
        total = len(paths)
        if report and total:
            self._set_progress(0, total)
        for first in range(0, total, SLICE):
            taken = await self.engine.take_in(paths[first : first + SLICE])
            self._postpone(taken.later)
            if report:
                self._set_progress(min(first + SLICE, total), total)
                await self._take_reported()

    async def _take_reported(self) -> None:
        """Notes saved during a long scan need not wait for its end; the rest of it does."""
        due = self._watcher.poll()
        changed, due.changed = due.changed, set()
        _merge(self._stash, due)
        if changed:
            taken = await self.engine.take_in(sorted(changed))
            self._postpone(taken.later)

    def _set_progress(self, done: int, total: int) -> None:
        self.progress = (done, total)
        self._on_progress(done, total)

    def _known(self, under: str) -> dict[str, tuple[int, int, int]]:
        prefix = f"{under}/" if under else ""
        return {
            path: (stamp.mtime_ns, stamp.size, stamp.inode)
            for path, stamp in self.engine.catalog.stamps().items()
            if path.startswith(prefix)
        }

    def _still_known(self, paths: Iterable[str]) -> list[str]:
        """Those of the paths that no rename has taken along."""
        rows = (self.engine.catalog.by_path(path) for path in paths)
        return [row.path for row in rows if row is not None and row.missing_since is None]

    def _sort_missing(self, paths: Iterable[str], found: Scan) -> tuple[list[str], list[str]]:
        """Files that the rules leave out now, and files that are lost; unseen ones are neither."""
        excluded: list[str] = []
        lost: list[str] = []
        out = tuple(f"{item.path}/" for item in found.skipped)
        unseen = tuple(f"{item.path}/" if item.path else "" for item in found.unreadable)
        names = {item.path for item in found.unreadable}
        for path in paths:
            if path.startswith(out) or self.engine.rule.path_reason(path) is not None:
                excluded.append(path)
            elif path not in names and not path.startswith(unseen):
                lost.append(path)
        return excluded, lost

    async def _lose(self, paths: Iterable[str], *, whole: bool) -> None:
        """Drop notes whose files are gone, or hold them back if it looks like an absent vault.

        `whole`: these are all that is missing, so the answer replaces the one before.
        """
        lost = set(paths) if whole else set(paths) | self.held
        now = self._clock()
        while self._losses and now - self._losses[0][0] > _LOSS_WINDOW:
            self._losses.popleft()
        recent = sum(count for _, count in self._losses)
        known = await asyncio.to_thread(lambda: self.engine.catalog.counts().notes)
        reason = reason_to_hold(
            known + recent,
            len(lost) + recent if lost else 0,
            root_present=self.engine.files.online(),
            root_empty=await asyncio.to_thread(_is_empty, self.root),
        )
        if reason is not None:
            if self.hold_reason is None:
                log.warning("The vault is taken for offline: %s. Nothing is dropped.", reason)
            self.held, self.hold_reason = frozenset(lost), reason
            return
        if self.hold_reason is not None:
            log.info("The vault is back.")
        self.held, self.hold_reason = frozenset(), None
        if lost:
            dropped = await self.engine.drop(sorted(lost))
            self._losses.append((now, len(dropped)))

    # Events

    async def _handle(self, due: Due) -> None:
        if due.rescan:
            self.rescan_soon()
        moved = {target: source for source, target in due.moved}
        paths = [*moved, *sorted(due.changed - moved.keys())]
        gone: set[str] = set()
        for first in range(0, len(paths), SLICE):
            taken = await self.engine.take_in(paths[first : first + SLICE], moved=moved)
            self._postpone(taken.later)
            gone |= taken.gone
        for folder in sorted(due.subtrees):
            await self.scan(folder)
        lost = {*due.deleted, *gone, *moved.values()}
        present = await asyncio.to_thread(self._still_known, lost)
        if present:
            missing = [path for path in present if not await asyncio.to_thread(self._exists, path)]
            await self._lose(missing, whole=False)

    def _exists(self, path: str) -> bool:
        try:
            return self.engine.files.stamp(path) is not None
        except VaultOffline:
            return False

    def _postpone(self, paths: Iterable[str]) -> None:
        due = self._clock() + QUIET_SECONDS
        for path in paths:
            self._later.setdefault(path, due)

    def _take_postponed(self) -> set[str]:
        now = self._clock()
        ripe = {path for path, due in self._later.items() if due <= now}
        for path in ripe:
            del self._later[path]
        return ripe

    # The loop

    def _wake_from_thread(self) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._reported)

    def _reported(self) -> None:
        self._idle.clear()
        self._wake.set()

    async def _run(self) -> None:
        skew = self._wall() - self._clock()
        while True:
            try:
                if self._watch:
                    await asyncio.to_thread(self._tend_watcher)
                if abs(self._wall() - self._clock() - skew) > _CLOCK_JUMP:
                    skew = self._wall() - self._clock()
                    self.rescan_soon()
                await self._step()
                self._failures = 0
            except (SecondBrainError, OSError) as error:
                self._failures += 1
                log.warning("%s", error, exc_info=log.isEnabledFor(logging.DEBUG))
                self._rescan_at = self._clock() + min(2.0**self._failures, _LONGEST_RETRY)
            except Exception:
                self._failures += 1
                log.exception("Sync failed; it goes on with a full comparison.")
                self._rescan_at = self._clock() + min(2.0**self._failures, _LONGEST_RETRY)
            await self._sleep()

    async def _step(self) -> None:
        if self._damaged:
            await self._mend()
        if self._clock() >= self._rescan_at:
            self._rescan_at = self._clock() + self._rescan_seconds
            await self.scan()
        due, self._stash = self._stash, Due()
        _merge(due, self._watcher.poll())
        due.changed |= self._take_postponed()
        if due:
            await self._handle(due)
        while await self.engine.embed_missing():
            if self._damaged or self._busy():
                break

    async def _mend(self) -> None:
        """Drop the index that cannot be read and let the scan fill a new one."""
        self._damaged = False
        log.warning("The index is rebuilt from the vault: %s", self.engine.index.last_error)
        try:
            await self.engine.index.reset()
        except IndexUnavailable:
            self._damaged = True
            raise
        await asyncio.to_thread(self.engine.catalog.forget_index)
        self._rescan_at = self._clock()

    def _tend_watcher(self) -> None:
        """Watch again after the observer died or another folder took the root's place."""
        if self._watcher.alive and not self._watcher.root_replaced():
            return
        try:
            self._watcher.restart()
        except VaultOffline as error:
            if self.hold_reason is None:
                log.warning("%s", error)

    def _busy(self) -> bool:
        """Whether something is waiting to be taken in."""
        return bool(self._later) or self._watcher.next_due() is not None

    async def _sleep(self) -> None:
        now = self._clock()
        times = [_CHECK_SECONDS, self._rescan_at - now, *(at - now for at in self._later.values())]
        reported = self._watcher.next_due()
        if reported is not None:
            times.append(reported)
        wait = max(0.0, min(times))
        if reported is None and not self._later and not self._damaged and wait > 0:
            self._idle.set()
        try:
            async with asyncio.timeout(wait):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()


def _merge(into: Due, due: Due) -> None:
    into.moved += due.moved
    into.changed |= due.changed
    into.deleted |= due.deleted
    into.subtrees |= due.subtrees
    into.rescan |= due.rescan


def _is_empty(root: Path) -> bool:
    try:
        with os.scandir(root) as entries:
            return next(entries, None) is None
    except OSError:
        return True
