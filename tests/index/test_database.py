"""A SQLite file that turns out damaged while it is in use: told once, then begun anew."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from second_brain.index.database import Database, StoreDamaged
from second_brain.index.state import State


def opened(path: Path, clock: Callable[[], float] = time.monotonic) -> Database:
    schema = "CREATE TABLE t (a TEXT PRIMARY KEY, b BLOB)"
    return Database(path, schema=schema, version=1, synchronous="FULL", clock=clock)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = opened(tmp_path / "x.db")
    rows = ((str(number), b"x" * 2000) for number in range(500))
    found.run_many("INSERT INTO t VALUES (?, ?)", rows)
    yield found
    found.close()


def garbage(file: Path) -> None:
    file.write_bytes(b"garbage" * 10_000)


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def cut(file: Path) -> None:
    with file.open("r+b") as handle:
        handle.truncate(file.stat().st_size // 2)


def garbage_everywhere(file: Path) -> None:
    for each in file.parent.glob(f"{file.name}*"):
        each.write_bytes(b"\x17" * 50_000)


def in_transaction(db: Database) -> None:
    with db.transaction():
        db.rows("SELECT sum(length(b)) FROM t")
        db.run("INSERT INTO t VALUES ('new', 'b')")


USES: dict[str, Callable[[Database], object]] = {
    "read": lambda db: db.rows("SELECT a, b FROM t"),
    "write": lambda db: db.run("INSERT INTO t VALUES ('new', 'b')"),
    "write in a transaction": in_transaction,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("damage", [garbage, emptied, cut, garbage_everywhere])
def test_damage_is_told_once_and_then_there_is_a_new_file(
    database: Database, damage: Callable[[Path], None], use: str
) -> None:
    database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    database.rows("PRAGMA shrink_memory")
    damage(database.path)
    try:
        USES[use](database)
    except StoreDamaged:
        noticed = True
    else:  # What is written goes to another file first.
        noticed = False
        with pytest.raises(StoreDamaged, match="Try again"):
            database.rows("SELECT a, b FROM t")
    assert noticed or use != "read"
    database.mend()
    assert database.renewals == 1
    assert database.rows("SELECT a FROM t") == []
    with database.transaction():
        database.run("INSERT INTO t VALUES ('x', 'y')")
    database.close()
    again = opened(database.path)
    assert again.rows("SELECT a FROM t") == [("x",)]
    again.close()


def test_a_history_that_is_lost_in_the_middle_of_a_write_does_not_fail_it(tmp_path: Path) -> None:
    state = State.open(tmp_path / "state.db")
    given = {"path": "a.md", "at": 1, "client": "c", "tool": "t", "summary": "s", "before": b"x"}
    n = state.begin_write(id="a", **given)  # type: ignore[arg-type]
    state._db.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    state._db.rows("PRAGMA shrink_memory")
    garbage(tmp_path / "state.db")
    with pytest.raises(StoreDamaged):
        state.history()
    state.finish_write(n, after=b"y", after_hash="h")
    assert state.history() == []
    assert state.lost == tmp_path / "state.db.damaged"
    assert state.begin_write(id="a", **given) > 0  # type: ignore[arg-type]
    state.close()


def test_an_emptied_history_is_named(tmp_path: Path) -> None:
    State.open(tmp_path / "state.db").close()
    emptied(tmp_path / "state.db")
    state = State.open(tmp_path / "state.db")
    assert state.lost == tmp_path / "state.db"
    state.close()


def deleted(file: Path) -> None:
    file.unlink()


def folder_deleted(file: Path) -> None:
    shutil.rmtree(file.parent)


@pytest.mark.parametrize("damage", [garbage, emptied, deleted, folder_deleted])
def test_damage_is_noticed_even_while_all_is_in_memory(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    database = opened(tmp_path / "sub" / "x.db")
    database.run("INSERT INTO t VALUES ('old', 'b')")
    database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    database.mend()
    assert database.renewals == 0
    assert database.rows("SELECT a FROM t") == [("old",)]
    damage(database.path)
    database.mend()
    assert database.renewals == 1
    database.run("INSERT INTO t VALUES ('x', 'y')")
    database.mend()
    assert database.renewals == 1
    database.close()
    again = opened(database.path)
    assert again.rows("SELECT a FROM t") == [("x",)]
    again.close()


def test_what_is_kept_is_as_of_the_last_write(tmp_path: Path) -> None:
    schema = "CREATE TABLE t (a INTEGER)"
    db = Database(tmp_path / "kept.db", schema=schema, version=1, synchronous="NORMAL")
    reads = 0

    def count() -> int:
        nonlocal reads
        reads += 1
        return db.number("SELECT count(*) FROM t")

    assert [db.kept("n", count), db.kept("n", count), reads] == [0, 0, 1]
    db.run("INSERT INTO t VALUES (1)")
    assert [db.kept("n", count), db.kept("n", count), reads] == [1, 1, 2]

    def take_back() -> None:
        with db.transaction():
            db.run("INSERT INTO t VALUES (2)")
            assert db.kept("n", count) == 2
            raise ValueError("take it back")

    with pytest.raises(ValueError, match="back"):
        take_back()
    assert db.kept("n", count) == 1
    db.run_many("INSERT INTO t VALUES (?)", [(3,), (4,)])
    db.run("DELETE FROM t WHERE a = 1")
    assert db.kept("n", count) == 2
    db.close()


def test_damage_in_the_middle_is_noticed_although_all_is_in_memory(tmp_path: Path) -> None:
    now = 0.0
    database = opened(tmp_path / "x.db", lambda: now)
    database.run_many("INSERT INTO t VALUES (?, ?)", ((str(n), b"x" * 500) for n in range(300)))
    database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    now += 60
    database.mend()
    assert database.renewals == 0, "what the daemon wrote itself is no damage"
    with database.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\x17" * 20_000)
    assert len(database.rows("SELECT a, b FROM t")) == 300, "it is read from memory"
    database.mend()
    assert database.renewals == 0, "not every page is read at every moment"
    now += 60
    database.mend()
    assert database.renewals == 1
    assert database.rows("SELECT a, b FROM t") == []
    database.close()


def test_what_was_read_is_kept_until_something_is_written(database: Database) -> None:
    asked: list[list[str]] = []

    def read(ids: list[str]) -> dict[str, int]:
        asked.append(ids)
        marks = ",".join("?" * len(ids))
        rows = database.rows(f"SELECT a, length(b) FROM t WHERE a IN ({marks})", ids)
        return {str(a): int(length or 0) for a, length in rows}  # type: ignore[arg-type]

    assert database.kept_each("lengths", ["3", "new", "4"], read) == {"3": 2000, "4": 2000}
    assert database.kept_each("lengths", ["4", "5", "new"], read) == {"4": 2000, "5": 2000}
    assert asked == [["3", "new", "4"], ["5"]]
    database.run("INSERT INTO t VALUES ('new', 'b')")
    assert database.kept_each("lengths", ["new", "4"], read) == {"new": 1, "4": 2000}
    assert asked[2:] == [["new", "4"]]
    with suppress(ZeroDivisionError), database.transaction():
        database.run("UPDATE t SET b = 'longer' WHERE a = 'new'")
        assert database.kept_each("lengths", ["new"], read) == {"new": 6}
        raise ZeroDivisionError
    assert database.kept_each("lengths", ["new"], read) == {"new": 1}, "it was taken back"


def test_what_is_kept_has_a_bound(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("second_brain.index.database._KEPT_MOST", 10)
    for start in range(0, 100, 7):
        ids = [str(number) for number in range(start, start + 7)]
        assert database.kept_each("x", ids, lambda ids: dict.fromkeys(ids, 1)) == dict.fromkeys(
            ids, 1
        )
        assert all(len(kept) <= 10 for _, kept in database._kept.values())  # type: ignore[arg-type]
