"""Keeps the vault and the index equal: the first scan, the watcher's events, the periodic rescan.

Events are hints; the disk is the truth. Notes that are missing are dropped only when the vault is
there and did not lose most of them at once (`absence`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from second_brain.errors import IndexUnavailable, SecondBrainError, VaultOffline
from second_brain.index.rows import NoteRow
from second_brain.sync.comparing import (
    changed_paths,
    in_order,
    look_into,
    outermost,
    sort_missing,
)
from second_brain.sync.engine import SLICE, Engine
from second_brain.sync.filling import Filling
from second_brain.sync.holding import Holding
from second_brain.sync.intake import Intake
from second_brain.sync.watching import Watching
from second_brain.vault.rules import SyncRule
from second_brain.vault.scan import scan
from second_brain.vault.settle import Due

log = logging.getLogger(__name__)

_CHECK_SECONDS = 3.0
_CLOCK_JUMP = 30.0
_LONGEST_RETRY = 60.0
_KEEP_UP_SECONDS = 0.3
_RULE = "read by the rule"

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
        rule_now: Callable[[], SyncRule] | None = None,
        on_progress: Progress = lambda done, total: None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.engine = engine
        self.filling = Filling(engine)
        self.holding = Holding(engine, root, clock)
        self._intake = Intake(engine, root, clock)
        self.root = root
        self.scanning = False
        self.rebuilding = engine.catalog.incomplete
        self.progress = (0, 0)
        self.last_scan: float | None = None
        self.unreadable: dict[str, str] = {}
        self._rescan_seconds = rescan_seconds
        self._watch = watch
        self._rule_now = rule_now or (lambda: engine.rule)
        self._on_progress = on_progress
        self._clock = clock
        self._wall = wall
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watching = Watching(root, self._wake_from_thread)
        self._watcher = self._watching.watcher
        self._task: asyncio.Task[None] | None = None
        self._stash = Due()
        self._rescan_at = 0.0
        self._damaged = False
        self._checked = False
        self._renewals = engine.catalog.renewals
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
        """End; what is being written to the index is written to its end."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await asyncio.to_thread(self._watching.stop)

    async def settled(self) -> None:
        """Wait until nothing that was reported so far is left to take in."""
        await self._idle.wait()

    def index_damaged(self) -> None:
        """The index cannot be read: it will be dropped and filled again."""
        self._damaged = True
        self._stir()

    def rebuild(self) -> None:
        """Drop the index and fill a new one from the vault; `rebuilding` until it is full.

        Raises VaultOffline while it could not be filled with all that is in it now.
        """
        if not self.online:
            raise VaultOffline(
                f"The vault is taken for offline ({self.hold_reason or 'it is not there'}), and"
                f" {len(self.held)} notes are held back: an index that is dropped now would lose"
                " them. Bring the vault back first, or say that they are deleted indeed with"
                " `brain reindex --accept-deletions`."
            )
        self.rebuilding = True
        self.index_damaged()

    def rescan_soon(self) -> None:
        """Compare everything with the vault now."""
        self._rescan_at = self._clock()
        self._stir()

    def report(self, due: Due) -> None:
        """Look at these paths as if the watcher had told of them."""
        self._stash.add(due)
        self._stir()

    def wake(self) -> None:
        """Something that was waited for, such as the model, is there."""
        self.filling.try_again()
        self._stir()

    @property
    def held(self) -> frozenset[str]:
        """Paths of notes that are missing but not dropped, see `hold_reason`."""
        return self.holding.held

    @property
    def hold_reason(self) -> str | None:
        """Why the vault is taken for offline; None if it is not."""
        return self.holding.reason

    @property
    def online(self) -> bool:
        return self.engine.files.online() and self.hold_reason is None

    @property
    def watching(self) -> bool:
        return self._watcher.alive

    # Scanning

    async def scan(self) -> None:
        """Make the index equal to the vault. Raises VaultOffline."""
        async with self._scan_lock:
            self.scanning = True
            try:
                lost = await self._compare()
            except VaultOffline:
                self.holding.root_is_gone()
                raise
            else:
                await self._lose(lost, whole=True)
                await self.engine.bequeath()
                self.last_scan = self._wall()
                if self.engine.catalog.renewals == self._renewals:
                    self.engine.catalog.mark_filled()
            finally:
                self.scanning = False

    async def accept_deletions(self) -> list[NoteRow]:
        """The user says that the notes held back are deleted indeed. Raises VaultOffline."""
        async with self._scan_lock:
            dropped = await self.holding.accept()
        self.rescan_soon()
        return dropped

    async def _compare(self) -> list[str]:
        """Take in what changed in the vault; the notes that are lost."""
        files, index = self.engine.files, self.engine.index
        await index.opened()
        rule = await asyncio.to_thread(self._renew_rule)
        found = await asyncio.to_thread(
            scan, self.root, rule.path_reason, folder_reason=rule.folder_reason
        )
        known = await asyncio.to_thread(self.engine.catalog.stamps)
        there = {file.path: file.stamp for file in found.found}
        excluded, lost = sort_missing((path for path in known if path not in there), found, rule)
        if not files.online():
            # Another folder is at the root: the vault mounted again, or something else.
            if len(lost) * 2 > len(known):
                return lost
            files.accept_root()
        if not self._checked:
            await self.filling.check_index()
            self._checked = True
        self.unreadable = {item.path: item.reason for item in found.unreadable}
        self.filling.try_again()
        copies = await asyncio.to_thread(self.engine.catalog.with_status, "conflict-copy")
        changed = set(changed_paths(there, known, copies))
        # One that is evicted may look as it was: it is named in the status.
        changed |= {file.path for file in found.found if file.placeholder}
        if not index.building:
            stale = await asyncio.to_thread(self.filling.outdated, index.version)
            changed |= there.keys() & {row.path for row in stale}
        parts = list(in_order(changed, there, SLICE))
        if parts:
            await self._take_in_all(parts)
        await self.engine.drop(excluded, left_out=True)
        return lost

    def _renew_rule(self) -> SyncRule:
        """What is a memory by the settings of now; all is read again if its tags have changed."""
        catalog, engine = self.engine.catalog, self.engine
        if self.engine.files.online():  # Else there are no settings of Obsidian's to read.
            engine.rule = self._rule_now()
        if catalog.get_meta(_RULE) != engine.rule.mark:
            catalog.forget_stamps()
            catalog.set_meta(_RULE, engine.rule.mark)
        return engine.rule

    async def _compare_folders(self, folders: Iterable[str]) -> list[str]:
        """Take in what changed in some folders; the notes that are lost."""
        stamps = await asyncio.to_thread(self.engine.catalog.stamps)
        seen = await asyncio.to_thread(
            look_into, outermost(folders), self.root, self.engine.rule, stamps
        )
        for part in in_order(set(changed_paths(seen.there, seen.known)), seen.there, SLICE):
            await self._take_in_found(part)
        await self.engine.drop(seen.left_out, left_out=True)
        return seen.lost

    async def _take_in_found(self, paths: Sequence[str]) -> None:
        """Take in what a scan found; it may have overtaken the events of a move."""
        moved = {target: source for source, target in self._stash.moved}
        await self._intake.take_in(paths, {**self._watcher.moves(), **moved})

    async def _take_in_all(self, parts: Sequence[Sequence[str]]) -> None:
        total = sum(map(len, parts))
        self._set_progress(0, total)
        keeping_up = asyncio.create_task(self._keep_up())
        try:
            for part in parts:
                await self._take_in_found(part)
                self._set_progress(self.progress[0] + len(part), total)
        finally:
            keeping_up.cancel()
            await asyncio.gather(keeping_up, return_exceptions=True)

    async def _keep_up(self) -> None:
        """Notes saved during a long scan need not wait for its end; what is gone does."""
        while True:
            await asyncio.sleep(_KEEP_UP_SECONDS)
            due = self._watcher.poll()
            moved = {target: source for source, target in due.moved}
            due.deleted |= set(moved.values())
            try:
                due.deleted |= await self._intake.reported(
                    [*moved, *due.changed], moved, urgent=True
                )
            except (SecondBrainError, OSError) as error:
                log.info("Changes during the scan are looked at after it: %s", error)
                due.rescan = True
            finally:
                due.moved, due.changed = [], set()
                self._stash.add(due)

    def _set_progress(self, done: int, total: int) -> None:
        self.progress = (done, total)
        self._on_progress(done, total)

    async def _lose(self, paths: Iterable[str], *, whole: bool) -> None:
        await self.holding.lose(paths, whole=whole)
        if self.holding.again_at is not None:
            self._rescan_at = min(self._rescan_at, self.holding.again_at)

    # Events

    async def _handle(self, due: Due) -> None:
        if due.rescan:
            self.rescan_soon()
        moved = {target: source for source, target in due.moved}
        # What seems deleted is looked at, too: a cloud client leaves a placeholder behind.
        paths = [*moved, *sorted((due.changed | due.deleted) - moved.keys())]
        lost = {*due.deleted, *moved.values()}
        lost |= await self._intake.reported(paths, moved)
        if due.subtrees:
            lost |= set(await self._compare_folders(due.subtrees))
        # Only now: what is gone from one folder may have turned up in another, and what was held
        # back may be there again.
        if lost or self.held:
            await self._lose(lost, whole=False)

    # The loop

    def _wake_from_thread(self) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._stir)

    def _stir(self) -> None:
        self._idle.clear()
        self._wake.set()

    async def _run(self) -> None:
        skew = self._wall() - self._clock()
        while True:
            try:
                if self._watch and await asyncio.to_thread(self._watching.tend):
                    self.rescan_soon()
                if abs(self._wall() - self._clock() - skew) > _CLOCK_JUMP:
                    skew = self._wall() - self._clock()
                    self.rescan_soon()
                await self._step()
                self._failures = 0
            except (SecondBrainError, OSError) as error:
                log.warning("%s", error, exc_info=log.isEnabledFor(logging.DEBUG))
                self._try_again_soon()
                if isinstance(error, IndexUnavailable):
                    # What cannot be written to is kept if it can be read, and answers on.
                    readable = await self.engine.index.is_readable()
                    self._damaged = self.rebuilding or not readable
            except Exception:
                log.exception("Sync failed; it goes on with a full comparison.")
                self._try_again_soon()
            await self._sleep()

    def _try_again_soon(self) -> None:
        self._failures += 1
        self._rescan_at = self._clock() + min(2.0 ** min(self._failures, 10), _LONGEST_RETRY)

    async def _step(self) -> None:
        await asyncio.to_thread(self.engine.mend)
        if self.engine.catalog.renewals != self._renewals:
            await self._fill_again()
        if self._damaged:
            await self._mend()
        if self._clock() >= self._rescan_at:
            self._rescan_at = self._clock() + self._rescan_seconds
            await self.scan()
            self.rebuilding = self.rebuilding and self._damaged
        due, self._stash = self._stash, Due()
        due.add(self._watcher.poll())
        due.changed |= self._intake.postponed()
        if due:
            await self._handle(due)
        while await self.filling.embed_missing():
            if self._damaged or self._waiting() <= 0:
                break

    async def _mend(self) -> None:
        """Drop the index and let the scan fill a new one."""
        self._damaged = False
        why = "as was asked" if self.rebuilding else self.engine.index.last_error
        log.warning("The index is rebuilt from the vault: %s", why)
        try:
            await self.filling.drop_index()
        except IndexUnavailable:
            self._damaged = True
            raise
        self._rescan_at = self._clock()

    async def _fill_again(self) -> None:
        """The catalogue was damaged and is empty: the scan fills it from the vault."""
        log.warning("The catalogue could not be read; it is filled again from the vault.")
        renewals = self.engine.catalog.renewals
        await self.engine.begin_anew()
        self.rebuilding, self._checked, self._renewals = True, False, renewals
        self._rescan_at = self._clock()

    def _waiting(self) -> float:
        """Seconds until there is something to do."""
        times = (self._intake.next_due(), self._watcher.next_due())
        rescan = self._rescan_at - self._clock()
        return 0.0 if self._stash else min([rescan, *(t for t in times if t is not None)])

    async def _sleep(self) -> None:
        wait = max(0.0, min(_CHECK_SECONDS, self._waiting()))
        times = (self._intake.next_due(), self._watcher.next_due())
        pending = self._stash or any(time is not None for time in times)
        if not pending and not self._damaged and not self._failures and wait > 0:
            self._idle.set()
        try:
            async with asyncio.timeout(wait):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()
