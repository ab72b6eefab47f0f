import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lance_tables import ALL, DIMENSION, found, note, row, vector

from second_brain.errors import IndexUnavailable
from second_brain.index.table import ChunkTable, TableStats
from second_brain.index.writer import MAX_ROWS, IndexWriter, OptimizePolicy


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Recorder:
    """A real table that notes what the writer does and can be made to fail or to take long."""

    def __init__(self, table: ChunkTable) -> None:
        self._table = table
        self.commits: list[set[str]] = []
        self.optimized: list[bool] = []
        self.fail: Exception | None = None
        self.pause = 0.0
        self.busy = 0

    async def stats(self) -> TableStats:
        return await self._table.stats()

    def check(self, rows: Any) -> None:
        self._table.check(rows)

    async def _alone(self) -> None:
        assert self.busy == 0, "two writers at once"
        self.busy += 1
        try:
            await asyncio.sleep(self.pause)
            if self.fail is not None:
                raise self.fail
        finally:
            self.busy -= 1

    async def replace_notes(self, rows: Any, delete: Any = ()) -> None:
        await self._alone()
        await self._table.replace_notes(rows, delete)
        self.commits.append({*rows, *delete})

    async def optimize(self, *, unverified: bool = False) -> None:
        await self._alone()
        await self._table.optimize(unverified=unverified)
        self.optimized.append(unverified)


def with_writer(
    tmp_path: Path,
    test: Callable[[IndexWriter, Recorder, ChunkTable, Clock], Coroutine[Any, Any, None]],
) -> None:
    async def run() -> None:
        table = await ChunkTable.open(str(tmp_path / "index"), "model", DIMENSION)
        recorder, clock = Recorder(table), Clock()
        writer = IndexWriter(recorder, clock=clock)  # type: ignore[arg-type]
        writer.start()
        await test(writer, recorder, table, clock)
        await writer.close()

    asyncio.run(run())


async def settle(writer: IndexWriter) -> None:
    """Lets the writer see the clock and do what is due, until it sleeps again."""
    slept = asyncio.Event()
    sleep = writer._sleep

    async def noted(seconds: float | None) -> None:
        if not writer._wake.is_set():
            slept.set()
        await sleep(seconds)

    writer._sleep = noted  # type: ignore[method-assign]
    writer.poke()
    await asyncio.wait_for(slept.wait(), 60)
    writer._sleep = sleep  # type: ignore[method-assign]


def test_a_single_change_is_searchable_when_submit_returns(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        began = time.monotonic()
        await writer.submit(note("a", "word"))
        assert time.monotonic() - began < 0.9
        assert await found(table, "word") == {"a#0"}
        await writer.submit(delete=["a"])
        assert await found(table, "word") == set()
        await writer.submit()
        assert len(recorder.commits) == 2

    with_writer(tmp_path, test)


def test_changes_during_a_commit_share_the_next_one(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        recorder.pause = 0.05
        await asyncio.gather(*(writer.submit(note(f"n{n}")) for n in range(20)))
        assert len(recorder.commits) <= 2
        assert await table.count() == 20

    with_writer(tmp_path, test)


def test_a_stream_of_changes_is_committed_about_twice_a_second(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        for n in range(5):
            await writer.submit(note(f"burst{n}"))
        waiting = [asyncio.create_task(writer.submit(note(f"n{n}"))) for n in range(10)]
        await settle(writer)
        assert len(recorder.commits) == 5
        assert writer.stats().pending_notes == 10
        clock.now += 0.5
        writer.poke()
        await asyncio.gather(*waiting)
        assert recorder.commits[5] == {f"n{n}" for n in range(10)}
        clock.now += 10.0
        await writer.submit(note("calm again"))

    with_writer(tmp_path, test)


def test_flush_and_full_batches_do_not_wait(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        for n in range(5):
            await writer.submit(note(f"burst{n}"))
        slow = asyncio.create_task(writer.submit(note("slow")))
        await asyncio.sleep(0)
        await writer.submit(note("urgent"), flush=True)
        await slow
        assert recorder.commits[-1] == {"slow", "urgent"}
        big = {f"b{n}": [row(f"b{n}", k) for k in range(10)] for n in range(60)}
        await writer.submit(big)
        assert [len(batch) for batch in recorder.commits[-2:]] == [MAX_ROWS // 10, 10]

    with_writer(tmp_path, test)


def test_a_note_larger_than_a_batch_is_still_one_commit(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        await writer.submit({"a": [row("a", n) for n in range(MAX_ROWS + 100)], **note("b")})
        assert recorder.commits == [{"a"}, {"b"}]
        assert await table.chunk_counts() == {"a": MAX_ROWS + 100, "b": 1}

    with_writer(tmp_path, test)


def test_the_last_of_concurrent_changes_wins_without_duplicates(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        recorder.pause = 0.01
        versions = [writer.submit(note("a", f"v{n}x", "second"), flush=True) for n in range(30)]
        await asyncio.gather(*versions)
        assert await table.chunk_counts() == {"a": 2}
        assert await found(table, "v29x") == {"a#0"}
        await asyncio.gather(writer.submit(note("a")), writer.submit(delete=["a"]))
        assert await table.count() == 0
        await asyncio.gather(writer.submit(delete=["a"]), writer.submit(note("a")))
        assert await table.count() == 1

    with_writer(tmp_path, test)


def test_a_failed_commit_is_told_to_all_who_wait_and_the_next_one_works(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        recorder.pause = 0.02
        recorder.fail = IndexUnavailable("The index cannot be written: disk full")
        answers = await asyncio.gather(
            *(writer.submit(note(f"n{n}"), flush=True) for n in range(3)), return_exceptions=True
        )
        assert [str(answer) for answer in answers] == [str(recorder.fail)] * 3
        assert writer.stats().commit_failures == 1
        assert writer.stats().last_commit_error == str(recorder.fail)
        recorder.fail = None
        await writer.submit(note("a"), flush=True)
        assert await table.chunk_counts() == {"a": 1}

    with_writer(tmp_path, test)


def test_a_bad_row_harms_only_its_own_submit(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        good = asyncio.create_task(writer.submit(note("good")))
        await asyncio.sleep(0)
        with pytest.raises(ValueError, match="vector"):
            await writer.submit(note("bad", vector=np.zeros(DIMENSION, np.float32)))
        await good
        assert await table.chunk_counts() == {"good": 1}

    with_writer(tmp_path, test)


def test_a_cancelled_submit_is_committed_all_the_same(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        recorder.pause = 0.03
        task = asyncio.create_task(writer.submit(note("a")))
        await asyncio.sleep(0.01)
        task.cancel()
        await writer.submit(note("b"), flush=True)
        assert await table.chunk_counts() == {"a": 1, "b": 1}

    with_writer(tmp_path, test)


def test_closing_commits_what_waits_and_then_takes_nothing(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        for n in range(5):
            await writer.submit(note(f"burst{n}"))
        waiting = asyncio.create_task(writer.submit(note("last")))
        await asyncio.sleep(0)
        await writer.close()
        await waiting
        assert await table.count() == 6
        with pytest.raises(IndexUnavailable):
            await writer.submit(note("late"))

    with_writer(tmp_path, test)


def test_upkeep_waits_for_idleness_and_sweeps_first(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        for n in range(40):
            await writer.submit(note(f"n{n}"), flush=True)
        await settle(writer)
        assert recorder.optimized == []
        assert writer.stats().commits_since_optimize == 40
        clock.now += 30.0
        await settle(writer)
        assert recorder.optimized == [True], "what killed processes left is removed once"
        assert writer.stats().commits_since_optimize == 0
        for n in range(200):
            await writer.submit(note(f"n{n % 7}"), flush=True)
        await settle(writer)
        assert recorder.optimized == [True, False]
        stats = await table.stats()
        assert stats.fragments < 5
        assert stats.unindexed == 0

    with_writer(tmp_path, test)


def test_upkeep_follows_a_first_indexing_and_what_an_earlier_run_left(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        for batch in range(2):
            await writer.submit({f"{batch}-{n}": [row(f"{batch}-{n}")] for n in range(500)})
        await writer.close()
        assert recorder.optimized == []
        second = IndexWriter(recorder, clock=clock)
        second.start()
        clock.now += 5.0
        await asyncio.sleep(0.05)
        await settle(second)
        clock.now += 5.0
        await settle(second)
        assert recorder.optimized == [True]
        assert (await table.stats()).unindexed == 0
        await second.close()

    with_writer(tmp_path, test)


def test_old_versions_are_removed_once_nobody_can_read_them(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        for n in range(40):
            await writer.submit(note(f"n{n}"), flush=True)
        clock.now += 30.0
        await settle(writer)
        clock.now += 359.0
        await settle(writer)
        assert len(recorder.optimized) == 1
        clock.now += 1.0
        await settle(writer)
        assert len(recorder.optimized) == 2
        clock.now += 100_000.0
        await settle(writer)
        assert len(recorder.optimized) == 2, "an idle table is left alone"

    with_writer(tmp_path, test)


def test_old_versions_are_removed_though_a_few_commits_followed_the_upkeep(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        for n in range(200):
            await writer.submit(note(f"n{n % 7}"), flush=True)
        await settle(writer)
        assert len(recorder.optimized) == 1
        await writer.submit(note("late"), flush=True)
        clock.now += 359.0
        await settle(writer)
        assert len(recorder.optimized) == 1
        clock.now += 1.0
        await settle(writer)
        assert len(recorder.optimized) == 2
        clock.now += 360.0
        await settle(writer)
        clock.now += 100_000.0
        await settle(writer)
        assert len(recorder.optimized) == 3, "then an idle table is left alone"

    with_writer(tmp_path, test)


def test_failing_upkeep_is_counted_and_tried_again_later(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        for n in range(40):
            await writer.submit(note(f"n{n}"), flush=True)
        recorder.fail = IndexUnavailable("The index cannot be optimized: disk full")
        clock.now += 30.0
        await settle(writer)
        await settle(writer)
        assert writer.stats().optimize_failures == 1
        assert writer.stats().last_optimize_error == str(recorder.fail)
        clock.now += 60.0
        await settle(writer)
        assert writer.stats().optimize_failures == 2
        recorder.fail = None
        clock.now += 60.0
        await settle(writer)
        assert writer.stats().optimizes == 0, "the second wait is twice as long"
        clock.now += 60.0
        await settle(writer)
        assert writer.stats().optimizes == 1

    with_writer(tmp_path, test)


def test_writes_during_upkeep_wait_for_it(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        recorder.pause = 0.03
        await writer.submit(note("a"), flush=True)
        upkeep = asyncio.create_task(writer.optimize())
        await asyncio.sleep(0.01)
        await asyncio.gather(*(writer.submit(note(f"n{n}"), flush=True) for n in range(5)))
        await upkeep
        assert await table.count() == 6

    with_writer(tmp_path, test)


@pytest.mark.parametrize(
    ("commits", "rows", "idle", "since_success", "due"),
    [
        (0, 0, 10_000, 10_000, False),
        (1, 1, 3_000, 3_599, False),
        (1, 1, 0, 3_600, True),
        (39, 39, 31, 100, False),
        (40, 40, 29, 100, False),
        (40, 40, 30, 100, True),
        (10, 1_000, 4, 100, False),
        (10, 1_000, 5, 100, True),
        (199, 999, 0, 100, False),
        (200, 999, 0, 100, True),
    ],
)
def test_when_upkeep_is_due(
    commits: int, rows: int, idle: float, since_success: float, due: bool
) -> None:
    now = 50_000.0
    policy = OptimizePolicy(
        commits=commits, rows=rows, last_commit=now - idle, last_success=now - since_success
    )
    at = policy.due_at()
    assert (at is not None and at <= now) is due


def test_readers_are_never_disturbed_by_writes_and_upkeep(tmp_path: Path) -> None:
    async def run() -> None:
        table = await ChunkTable.open(str(tmp_path / "index"), "model", DIMENSION)
        writer = IndexWriter(table)
        writer.start()
        await writer.submit(note("fixed", "steady word"))
        done = False

        async def read() -> int:
            reads = 0
            while not done:
                assert "fixed#0" in await found(table, "steady")
                hits = await table.vector_search(vector(1), ALL, 50)
                assert len({hit.id for hit in hits}) == len(hits)
                reads += 1
                await asyncio.sleep(0)  # what is found in memory is found without waiting
            return reads

        readers = [asyncio.create_task(read()) for _ in range(2)]
        chooser = random.Random(1)
        for n in range(60):
            name = f"n{chooser.randrange(10)}"
            if chooser.random() < 0.3:
                await writer.submit(delete=[name], flush=True)
            else:
                await writer.submit(note(name, *["text"] * chooser.randrange(1, 4)), flush=True)
            if n % 15 == 14:
                await writer.optimize()
        done = True
        assert min(await asyncio.gather(*readers)) > 0
        await writer.close()

    asyncio.run(run())


def test_random_changes_give_what_a_dictionary_would_hold(tmp_path: Path) -> None:
    async def test(writer, recorder, table, clock) -> None:
        expected: dict[str, int] = {}
        chooser = random.Random(7)
        for _ in range(40):
            batch: dict[str, Any] = {}
            gone: list[str] = []
            for name in {f"n{chooser.randrange(12)}" for _ in range(3)}:
                if chooser.random() < 0.3:
                    gone.append(name)
                    expected.pop(name, None)
                else:
                    count = chooser.randrange(1, 5)
                    batch.update(note(name, *(f"{name} part{k}" for k in range(count))))
                    expected[name] = count
            await writer.submit(batch, gone, flush=True)
            if chooser.random() < 0.1:
                await writer.optimize()
            assert await table.chunk_counts() == expected
        for name, count in expected.items():
            assert await found(table, f'"{name} part0"') == {f"{name}#0"}
            assert len(await table.vectors(f"{name}#{k}" for k in range(9))) == count

    with_writer(tmp_path, test)


CHILD = """
import asyncio, sys
sys.path.insert(0, sys.argv[2])
from second_brain.index.table import ChunkTable, TableStats
from second_brain.index.writer import IndexWriter
from lance_tables import DIMENSION, note

async def main():
    table = await ChunkTable.open(sys.argv[1], "model", DIMENSION)
    writer = IndexWriter(table)
    writer.start()
    n = 0
    while True:
        await writer.submit(note(f"n{n}", "one", "two"), flush=True)
        print(n, flush=True)
        n += 1
        if n % 20 == 0:
            await writer.optimize()

asyncio.run(main())
"""


@pytest.mark.parametrize("delay", [0.05, 0.3])
def test_kill_9_during_writes_leaves_a_readable_table(tmp_path: Path, delay: float) -> None:
    uri = str(tmp_path / "index")
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, uri, str(Path(__file__).parent)], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    for _ in range(19):
        child.stdout.readline()
    time.sleep(delay)
    os.kill(child.pid, signal.SIGKILL)
    acknowledged = [int(n) for n in child.stdout.read().split()]
    child.wait()
    last = max(acknowledged, default=18)

    async def check() -> None:
        table = await ChunkTable.open(uri, "model", DIMENSION)
        await table.read_test()
        counts = await table.chunk_counts()
        assert set(counts.values()) == {2}, "no half notes, no duplicates"
        assert counts.keys() >= {f"n{n}" for n in range(last + 1)}
        writer = IndexWriter(table)
        writer.start()
        await writer.submit(note("after", "the crash"))
        await writer.optimize()
        assert "after#0" in await found(table, "crash")
        await writer.close()

    asyncio.run(check())
