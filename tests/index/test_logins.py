"""Logins in state.db: what ends with what, what is dropped, and files of an earlier version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from second_brain.index.logins import Client, Logins
from second_brain.index.state import State

DAY = 86_400_000


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    opened = State.open(tmp_path / "state.db")
    yield opened
    opened.close()


@pytest.fixture
def logins(state: State) -> Logins:
    return state.logins


def client(logins: Logins, id: str, at: int = 0) -> str:
    logins.put_client(Client(id, f"Name of {id}", "{}", None, at))
    return id


def login(logins: Logins, id: str, at: int = 0) -> int:
    return logins.begin(id, resource="r", redirect_uri="u", challenge="c", at=at)


def test_a_login_takes_its_tokens_with_it(logins: Logins) -> None:
    one, two = (login(logins, client(logins, name)) for name in "ab")
    logins.add_token(b"1", one, "access", 10)
    logins.add_token(b"2", two, "access", 10)
    before = logins.endings
    logins.end(one)
    assert logins.token(b"1") is None
    assert logins.endings == before + 1
    left = logins.token(b"2")
    assert left is not None
    assert (left.login.client_id, left.login.client_name, left.kind) == ("b", "Name of b", "access")


def test_registering_again_keeps_the_logins(logins: Logins) -> None:
    n = login(logins, client(logins, "a"))
    logins.add_token(b"1", n, "refresh", 10)
    logins.put_client(Client("a", "New name", "{}", b"s", 5))
    token = logins.token(b"1")
    assert token is not None
    assert token.login.client_name == "New name"
    with pytest.raises(sqlite3.IntegrityError):
        login(logins, "unknown")


def test_what_was_exchanged_is_remembered_while_its_login_lives(logins: Logins) -> None:
    n = login(logins, client(logins, "a"))
    logins.add_token(b"code", n, "code", 5)
    logins.add_token(b"old", n, "refresh", 90 * DAY)
    logins.add_token(b"new", n, "refresh", 91 * DAY)
    logins.add_token(b"access", n, "access", DAY)
    logins.mark_used(b"code", 3)
    logins.mark_used(b"old", 4)
    logins.mark_used(b"old", 9)
    logins.prune(2 * DAY)
    old = logins.token(b"old")
    assert old is not None
    assert old.used_at == 4
    assert logins.token(b"code") is not None
    assert logins.token(b"access") is None
    logins.prune(90 * DAY)
    assert logins.token(b"old") is None
    assert logins.token(b"code") is not None
    logins.prune(91 * DAY)
    assert logins.token(b"code") is None
    assert [use.logins for use in logins.clients(91 * DAY)] == [0]


def test_clients_in_use_are_never_dropped(logins: Logins) -> None:
    for number in range(10):
        client(logins, f"c{number}", at=number)
    for kind, digest, id in (("refresh", b"1", "c0"), ("code", b"2", "c1"), ("access", b"3", "c2")):
        n = login(logins, id)
        logins.add_token(digest, n, kind, 100)
    n = login(logins, "c3")
    logins.add_token(b"4", n, "refresh", 50)
    assert logins.prune_clients(2, now=60) == 5
    left = {use.client.id for use in logins.clients(60)}
    assert left == {"c0", "c1", "c2", "c8", "c9"}


def test_a_file_without_logins_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = State.open(path)
    n = state.begin_write(
        id="a", path="a.md", at=1, client="c", tool="append", summary="s", before=b"old"
    )
    state.finish_write(n, after=b"new", after_hash="h")
    state.count_recalls([("a", 7)])
    state.set_meta("k", "v")
    state.close()
    with sqlite3.connect(path) as raw:
        for table in ("tokens", "logins", "clients"):
            raw.execute(f"DROP TABLE {table}")
        raw.execute("PRAGMA user_version = 1")
    raw.close()
    state = State.open(path)
    assert state.lost is None
    assert [row.n for row in state.history()] == [n]
    assert state.counters()["a"].recall_count == 1
    assert state.get_meta("k") == "v"
    assert state.logins.clients(0) == []
    client(state.logins, "a")
    state.close()
