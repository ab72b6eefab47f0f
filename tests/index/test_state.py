import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from second_brain.index.database import StoreTooNew
from second_brain.index.state import Counters, State


@pytest.fixture
def state(tmp_path: Path):
    opened = State.open(tmp_path / "state.db")
    yield opened
    opened.close()


def begin(state: State, id: str = "a", at: int = 1, before: bytes | None = b"old") -> int:
    return state.begin_write(
        id=id,
        path=f"{id}.md",
        at=at,
        client="claude",
        tool="append",
        summary="Added a line",
        before=before,
    )


def write(state: State, id: str = "a", at: int = 1, before: bytes | None = b"old") -> int:
    n = begin(state, id, at, before)
    state.finish_write(n, after=b"new", after_hash="h")
    return n


def test_recalls_are_counted(state: State) -> None:
    state.count_recalls([("a", 10), ("b", 10)])
    state.count_recalls([("a", 20)])
    state.count_recalls([("a", 15)])
    state.count_contradiction("a", "b")
    assert state.counters(["a", "b", "none"]) == {
        "a": Counters(3, 20, 1, 0),
        "b": Counters(1, 10, 0, 1),
    }
    state.set_counters({"c": Counters(7, None, 2, 3)})
    assert state.counters()["c"] == Counters(7, None, 2, 3)


def test_a_write_enters_the_history_when_it_is_finished(state: State) -> None:
    n = begin(state)
    assert state.history() == []
    assert [w.n for w in state.pending_writes()] == [n]
    pending = state.contents(n)
    assert pending is not None
    assert (pending.before, pending.after) == (b"old", None)

    state.finish_write(n, after=b"old\nnew", after_hash="h", path="b.md", trash_path=".trash/b.md")
    (row,) = state.history()
    assert (row.n, row.id, row.path, row.at) == (n, "a", "b.md", 1)
    assert (row.client, row.tool, row.summary) == ("claude", "append", "Added a line")
    assert (row.state, row.after_hash, row.trash_path) == ("done", "h", ".trash/b.md")
    contents = state.contents(n)
    assert contents is not None
    assert (contents.before, contents.after) == (b"old", b"old\nnew")
    assert state.pending_writes() == []


def test_absent_and_empty_files_are_told_apart(state: State) -> None:
    created, emptied = begin(state, before=None), begin(state, before=b"")
    state.finish_write(created, after=b"", after_hash="h")
    state.finish_write(emptied, after=None, after_hash=None)
    first, second = state.contents(created), state.contents(emptied)
    assert first is not None
    assert second is not None
    assert (first.before, first.after) == (None, b"")
    assert (second.before, second.after) == (b"", None)


def test_the_bytes_before_may_be_corrected_at_the_end(state: State) -> None:
    n = begin(state)
    state.finish_write(n, before=b"older", after=b"new", after_hash="h")
    contents = state.contents(n)
    assert contents is not None
    assert contents.before == b"older"


def test_an_abandoned_write_leaves_nothing_but_a_finished_one_stays(state: State) -> None:
    n = begin(state)
    state.abandon_write(n)
    assert state.contents(n) is None
    with pytest.raises(KeyError):
        state.finish_write(n, after=b"", after_hash="h")
    done = write(state)
    state.abandon_write(done)
    assert [w.n for w in state.history()] == [done]
    assert done > n, "numbers are never used twice"


def test_history_newest_first_by_memory(state: State) -> None:
    numbers = [write(state, id) for id in "abab"]
    assert [w.n for w in state.history()] == numbers[::-1]
    assert [w.n for w in state.history("a")] == [numbers[2], numbers[0]]
    assert [w.n for w in state.history(n=1)] == [numbers[3]]
    state.mark_undone(numbers[0])
    assert state.history("a")[1].state == "undone"


def test_a_changed_id_takes_counters_and_history_along(state: State) -> None:
    state.count_recalls([("a", 1)])
    n = write(state, "a")
    state.change_id("a", "b")
    assert state.counters() == {"b": Counters(1, 1)}
    assert [w.n for w in state.history("b")] == [n]


def test_history_is_pruned_by_age_and_size_but_never_what_is_pending(state: State) -> None:
    old = write(state, at=1)
    pending = begin(state, at=1)
    noise = [write(state, at=100 + n, before=os.urandom(10_000)) for n in range(5)]
    assert state.prune_history(older_than=50, max_bytes=10**9) == 1
    assert state.contents(old) is None
    assert state.prune_history(older_than=50, max_bytes=25_000) == 3
    assert [w.n for w in state.history()] == noise[:2:-1]
    assert state.prune_history(older_than=10**9, max_bytes=0) == 1
    assert [w.n for w in state.history()] == noise[-1:]
    assert [w.n for w in state.pending_writes()] == [pending]


def test_pruning_gives_the_disk_back(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = State.open(path)
    for n in range(20):
        write(state, at=n, before=os.urandom(200_000))
    assert path.stat().st_size + path.with_name("state.db-wal").stat().st_size > 4_000_000
    state.prune_history(older_than=100, max_bytes=10**9)
    state.close()
    assert path.stat().st_size < 1_000_000


def test_files_are_the_owners_alone_from_the_first_byte(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        state = State.open(tmp_path / "state.db")
        write(state)
        files = list(tmp_path.iterdir())
        assert len(files) >= 2, "the WAL is there as well"
        assert {stat.S_IMODE(f.stat().st_mode) for f in files} == {0o600}
        state.close()
    finally:
        os.umask(old)


def test_a_damaged_file_is_kept_aside_and_named(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"garbage" * 1000)
    state = State.open(path)
    assert state.lost == tmp_path / "state.db.damaged"
    assert state.lost.read_bytes() == b"garbage" * 1000
    write(state)
    state.close()
    again = State.open(path)
    assert again.lost is None
    assert len(again.history()) == 1
    again.close()


def test_a_file_from_before_reviews_gets_their_tables_and_keeps_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = State.open(path)
    write(state)
    for table in ("reviews", "write_bundles"):
        state._db.run(f"DROP TABLE {table}")
    state._db.run("PRAGMA user_version = 3")
    state.close()
    again = State.open(path)
    assert again.lost is None
    assert len(again.history()) == 1
    put = again.reviews.put(
        newcomer="b", known="a", kind="value", suggestion="replace", reason="", found_by="rules",
        score=90.0, at=1,
    )  # fmt: skip
    assert [row.n for row in again.reviews.open()] == [put]
    again.change_id("a", "c")
    assert again.reviews.open()[0].known == "c"
    again.close()


def test_writes_of_one_decision_are_found_by_any_of_them_and_forgotten_with_them(
    tmp_path: Path,
) -> None:
    state = State.open(tmp_path / "state.db")
    first, second, other = write(state), write(state), write(state)
    state.reviews.bundle([first, second])
    assert state.reviews.bundled_with(first) == state.reviews.bundled_with(second) == [
        first, second,
    ]  # fmt: skip
    assert state.reviews.bundled_with(other) == [other]
    state.prune_history(older_than=2**62, max_bytes=10**9)
    assert state.reviews.bundled_with(second) == [second]
    state.close()


def test_a_newer_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = State.open(path)
    write(state)
    state._db.run("PRAGMA user_version = 999")
    state.close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="newer version"):
        State.open(path)
    assert path.read_bytes() == before


def test_settings(state: State) -> None:
    assert state.get_meta("k") is None
    state.set_meta("k", "é")
    assert state.get_meta("k") == "é"
    state.set_meta("k", None)
    assert state.get_meta("k") is None


WRITER = """
import sys
from pathlib import Path
from second_brain.index.state import State
state = State.open(Path(sys.argv[1]))
while True:
    n = state.begin_write(id="a", path="a.md", at=1, client="c", tool="t", summary="s",
                          before=b"before" * 100)
    print("begun", n, flush=True)
    state.finish_write(n, after=b"after" * 100, after_hash="h")
    print("done", n, flush=True)
    state.count_recalls([("a", n)])
"""


def test_kill_9_keeps_every_write_that_was_begun(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    lines = [child.stdout.readline() for _ in range(41)]
    os.kill(child.pid, signal.SIGKILL)
    lines += child.stdout.read().splitlines()
    child.wait()
    told = [line.split() for line in lines if line.strip()]

    state = State.open(path)
    assert state.lost is None
    for word, n in told:
        contents = state.contents(int(n))
        assert contents is not None
        assert contents.before == b"before" * 100
        if word == "done":
            assert contents.row.state == "done"
            assert contents.after == b"after" * 100
    assert len(state.pending_writes()) <= 1
    state.close()
