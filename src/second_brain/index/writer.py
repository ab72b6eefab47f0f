"""The only writer of the index: gathers changes into few commits, and tends the table.

Single changes are committed at once; under a stream of them, commits are a moment apart, because
each costs the same however many rows it has. Upkeep (`optimize`) runs between commits, never beside
one, by the number of commits and idleness.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from second_brain.errors import IndexUnavailable
from second_brain.index.lance import RETENTION
from second_brain.index.passages import ChunkRow
from second_brain.index.table import ChunkTable

MAX_ROWS = 500
"""Rows of one commit, unless a single note has more."""

_ENOUGH_ROWS = 100
"""So many rows are not worth waiting for more."""

_WINDOW = 0.3
"""Seconds between commits under a stream: no more than a file takes to settle, so that of saves
one after another none waits for the one before."""

_BURST = 5
_BURST_SECONDS = 10.0
_DAY = 86_400.0


@dataclass(slots=True)
class OptimizePolicy:
    """When the table is due for upkeep. Times are seconds of one monotonic clock.

    `many_rows` is for the end of a first indexing: few commits, but text search reads rows that are
    not indexed yet one by one (3,000 of them: ten times slower than indexed). Upkeep leaves the
    version that it replaced on disk for readers; `tidy_seconds` later another one, which has
    nothing else to do, removes it.
    """

    idle_commits: int = 40
    idle_seconds: float = 30.0
    many_rows: int = 1_000
    settled_seconds: float = 5.0
    tidy_seconds: float = RETENTION.total_seconds() + 60.0
    many_commits: int = 200
    dirty_seconds: float = 3_600.0
    retry_seconds: float = 60.0
    commits: int = 0
    rows: int = 0
    last_commit: float = 0.0
    last_success: float = 0.0
    failures_in_a_row: int = 0
    last_failure: float = 0.0
    leftovers: bool = False

    def due_at(self) -> float | None:
        """The time from which upkeep is due if nothing more is written; None: no need."""
        if self.commits == 0 and not self.leftovers:
            return None
        if self.commits == 0:
            due = self.last_success + self.tidy_seconds
        elif self.commits >= self.many_commits:
            due = self.last_commit
        else:
            due = max(self.last_success + self.dirty_seconds, self.last_commit)
            if self.commits >= self.idle_commits:
                due = min(due, self.last_commit + self.idle_seconds)
            if self.rows >= self.many_rows:
                due = min(due, self.last_commit + self.settled_seconds)
            if self.leftovers:
                # A few commits since the last upkeep are no reason to keep the remains for an hour.
                due = min(due, max(self.last_success, self.last_commit) + self.tidy_seconds)
        if self.failures_in_a_row:
            wait = self.retry_seconds * 2 ** min(self.failures_in_a_row - 1, 6)
            due = max(due, self.last_failure + min(wait, self.dirty_seconds))
        return due

    def committed(self, now: float, rows: int) -> None:
        self.commits += 1
        self.rows += rows
        self.last_commit = now

    def found(self, now: float, fragments: int, rows: int) -> None:
        """What an earlier run left undone: each commit left a fragment."""
        self.commits += max(fragments - 1, 0)
        self.rows += rows
        self.last_commit = max(self.last_commit, now)

    def succeeded(self, now: float) -> None:
        self.leftovers = self.commits > 0
        self.commits = 0
        self.rows = 0
        self.last_success = now
        self.failures_in_a_row = 0

    def failed(self, now: float) -> None:
        self.failures_in_a_row += 1
        self.last_failure = now


@dataclass(frozen=True, slots=True)
class WriterStats:
    """What the health report says of the writer; errors are the last one's text."""

    pending_notes: int = 0
    commits: int = 0
    commit_failures: int = 0
    last_commit_error: str | None = None
    commits_since_optimize: int = 0
    optimizes: int = 0
    optimize_failures: int = 0
    last_optimize_error: str | None = None


@dataclass(slots=True)
class _Ticket:
    """Somebody waits for some notes to be committed."""

    done: asyncio.Future[None]
    notes: int


@dataclass(slots=True)
class _Change:
    """What a note is to become (None: gone), and who waits for it."""

    rows: Sequence[ChunkRow] | None
    tickets: list[_Ticket] = field(default_factory=list)


class IndexWriter:
    """Start it with `start()` on the event loop that submits; `close()` commits what waits.

    `clock` is monotonic seconds.
    """

    def __init__(
        self,
        table: ChunkTable,
        *,
        clock: Callable[[], float] = time.monotonic,
        policy: OptimizePolicy | None = None,
    ) -> None:
        self.table = table
        self._clock = clock
        self._policy = policy or OptimizePolicy()
        self._policy.last_success = clock()
        self._changes: dict[str, _Change] = {}
        self._commit_now = False
        self._closing = False
        self._recent: deque[float] = deque(maxlen=_BURST)
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._stats = WriterStats()
        self._swept: float | None = None

    def start(self) -> None:
        """Begins to work. Calling it again changes nothing."""
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="index-writer")

    async def submit(
        self,
        replace: Mapping[str, Sequence[ChunkRow]] | None = None,
        delete: Iterable[str] = (),
        *,
        flush: bool = False,
    ) -> None:
        """Makes these notes have exactly these rows, and the others none; returns when a search
        finds it so. `flush`: do not wait for company.

        A later submit of a note wins over an earlier one that still waits. Raises ValueError for
        rows that `ChunkTable.check` refuses, IndexUnavailable if the commit failed (nothing of the
        failed commit is in the index then) or the writer is closed. Cancelling the caller does not
        take the change back.
        """
        rows = dict(replace or {})
        self.table.check(rows)
        changes: dict[str, Sequence[ChunkRow] | None] = {**rows, **dict.fromkeys(delete)}
        if not changes:
            return
        if self._closing or self._task is None or self._task.done():
            raise IndexUnavailable("The index takes no changes: its writer is not running.")
        ticket = _Ticket(asyncio.get_running_loop().create_future(), len(changes))
        for note_id, note_rows in changes.items():
            change = self._changes.setdefault(note_id, _Change(None))
            change.rows = note_rows
            change.tickets.append(ticket)
        self._commit_now |= flush
        self._wake.set()
        await ticket.done

    def poke(self) -> None:
        """Looks at the clock again; for clocks that do not run by themselves."""
        self._wake.set()

    def stats(self) -> WriterStats:
        return replace(
            self._stats,
            pending_notes=len(self._changes),
            commits_since_optimize=self._policy.commits,
        )

    async def optimize(self) -> None:
        """Upkeep now, between commits. Raises IndexUnavailable; counted in the stats."""
        now = self._clock()
        # Remains of killed processes would stay for a week; a sweep is safe for the only writer.
        sweep = self._swept is None or now - self._swept >= 7 * _DAY
        async with self._lock:
            try:
                await self.table.optimize(unverified=sweep)
            except IndexUnavailable as error:
                self._policy.failed(self._clock())
                self._stats = replace(
                    self._stats,
                    optimize_failures=self._stats.optimize_failures + 1,
                    last_optimize_error=str(error),
                )
                raise
            self._policy.succeeded(self._clock())
            self._swept = now if sweep else self._swept
            self._stats = replace(self._stats, optimizes=self._stats.optimizes + 1)

    async def close(self) -> None:
        """Commits what waits and ends. Failures go to those who wait for the change."""
        self._closing = True
        self._wake.set()
        if self._task is not None:
            await self._task

    async def _work(self) -> None:
        try:
            await self._look_at_what_is_there()
            while not (self._closing and not self._changes):
                self._wake.clear()
                now = self._clock()
                commit_at, tend_at = self._commit_at(now), self._policy.due_at()
                if commit_at is not None and commit_at <= now:
                    await self._commit()
                elif tend_at is not None and tend_at <= now:
                    await self._tend()
                else:
                    times = [at - now for at in (commit_at, tend_at) if at is not None]
                    await self._sleep(min(times, default=None))
        finally:
            error = IndexUnavailable("The index takes no changes: its writer has ended.")
            for change in self._changes.values():
                _fail(change.tickets, error)
            self._changes.clear()

    async def _look_at_what_is_there(self) -> None:
        try:
            left = await self.table.stats()
        except IndexUnavailable:
            return  # the first commit will tell
        self._policy.found(self._clock(), left.fragments, left.unindexed)

    async def _sleep(self, seconds: float | None) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    def _commit_at(self, now: float) -> float | None:
        """When to commit what waits; None if nothing does."""
        if not self._changes:
            return None
        calm = len(self._recent) < _BURST or now - self._recent[0] >= _BURST_SECONDS
        if self._commit_now or self._closing or calm or self._waiting_rows() >= _ENOUGH_ROWS:
            return now
        return self._recent[-1] + _WINDOW

    def _waiting_rows(self) -> int:
        return sum(len(change.rows or ()) for change in self._changes.values())

    async def _commit(self) -> None:
        batch = self._take()
        if not self._changes:
            self._commit_now = False
        rows = {id: change.rows for id, change in batch.items() if change.rows is not None}
        tickets = [ticket for change in batch.values() for ticket in change.tickets]
        try:
            async with self._lock:
                await self.table.replace_notes(rows, batch.keys() - rows.keys())
        except (IndexUnavailable, ValueError) as error:
            self._stats = replace(
                self._stats,
                commit_failures=self._stats.commit_failures + 1,
                last_commit_error=str(error),
            )
            _fail(tickets, error)
        except BaseException:
            _fail(tickets, IndexUnavailable("The index was closed during a write."))
            raise
        else:
            for ticket in tickets:
                ticket.notes -= 1
                if ticket.notes == 0 and not ticket.done.done():
                    ticket.done.set_result(None)
            self._stats = replace(self._stats, commits=self._stats.commits + 1)
        now = self._clock()
        self._recent.append(now)
        self._policy.committed(now, sum(map(len, rows.values())))

    def _take(self) -> dict[str, _Change]:
        """The changes of the next commit, in the order of their arrival."""
        batch: dict[str, _Change] = {}
        size = 0
        for note_id, change in list(self._changes.items()):
            size += len(change.rows or ())
            if batch and size > MAX_ROWS:
                break
            batch[note_id] = self._changes.pop(note_id)
        return batch

    async def _tend(self) -> None:
        try:
            await self.optimize()
        except IndexUnavailable:
            return  # counted; the policy waits before it tries again


def _fail(tickets: Iterable[_Ticket], error: Exception) -> None:
    for ticket in tickets:
        if not ticket.done.done():
            ticket.done.set_exception(error)
            # The one who waits may have gone; then nobody is to be warned of it.
            ticket.done.exception()
