"""Pairs of memories that wait for a decision, and writes that belong together: tables of state.db.

A pair is kept by the ids of its two memories, once; what they say is looked up when it is shown.
Writes of one decision are taken back by one undo. Times are Unix ms and passed in; errors are those
of `Database`. Safe to call from any thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from second_brain.index.database import Database, Value

SCHEMA = """
CREATE TABLE IF NOT EXISTS reviews (
  n INTEGER PRIMARY KEY AUTOINCREMENT, newcomer TEXT NOT NULL, known TEXT NOT NULL,
  kind TEXT NOT NULL, suggestion TEXT NOT NULL, reason TEXT NOT NULL, found_by TEXT NOT NULL,
  score REAL NOT NULL, merged TEXT, at INTEGER NOT NULL, decision TEXT, decided_at INTEGER,
  winner TEXT, first_write INTEGER, UNIQUE (newcomer, known)
);
CREATE INDEX IF NOT EXISTS reviews_write ON reviews (first_write);
CREATE TABLE IF NOT EXISTS write_bundles (n INTEGER PRIMARY KEY, first INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS write_bundles_first ON write_bundles (first)
"""
_COLUMNS = (
    "n, newcomer, known, kind, suggestion, reason, found_by, score, merged, at, decision,"
    " decided_at, winner, first_write"
)


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """`winner` is the memory that a decision let stand over the other; None where both stay."""

    n: int
    newcomer: str
    known: str
    kind: str
    suggestion: str
    reason: str
    found_by: str
    score: float
    merged: str | None
    at: int
    decision: str | None = None
    decided_at: int | None = None
    winner: str | None = None
    first_write: int | None = None

    @property
    def loser(self) -> str | None:
        if self.winner is None:
            return None
        return self.known if self.winner == self.newcomer else self.newcomer


class Reviews:
    def __init__(self, db: Database) -> None:
        self._db = db

    def put(
        self,
        *,
        newcomer: str,
        known: str,
        kind: str,
        suggestion: str,
        reason: str,
        found_by: str,
        score: float,
        at: int,
        merged: str | None = None,
    ) -> int | None:
        """The pair's number; None where it was decided already. An open one is told anew."""
        values: list[Value] = [newcomer, known, kind, suggestion, reason, found_by, score, merged]
        with self._db.transaction():
            self._db.run(
                "INSERT INTO reviews (newcomer, known, kind, suggestion, reason, found_by, score,"
                " merged, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (newcomer, known)"
                " DO UPDATE SET kind = excluded.kind, suggestion = excluded.suggestion,"
                " reason = excluded.reason, found_by = excluded.found_by, merged = excluded.merged"
                " WHERE decision IS NULL",
                [*values, at],
            )
            found = self._db.row(
                "SELECT n FROM reviews WHERE newcomer = ? AND known = ? AND decision IS NULL",
                (newcomer, known),
            )
        return int(cast(int, found[0])) if found else None

    def get(self, n: int) -> ReviewRow | None:
        found = self._db.row(f"SELECT {_COLUMNS} FROM reviews WHERE n = ?", (n,))
        return _row(found) if found else None

    def between(self, one: str, other: str) -> ReviewRow | None:
        """The pair of these two, whichever of them is the newcomer."""
        found = self._db.row(
            f"SELECT {_COLUMNS} FROM reviews WHERE (newcomer = ? AND known = ?)"
            " OR (newcomer = ? AND known = ?) ORDER BY decision IS NULL, n LIMIT 1",
            (one, other, other, one),
        )
        return _row(found) if found else None

    def turn(self, n: int) -> None:
        """The known one was changed: it is the newcomer now."""
        self._db.run("UPDATE reviews SET newcomer = known, known = newcomer WHERE n = ?", (n,))

    def drop(self, n: int) -> None:
        self._db.run("DELETE FROM reviews WHERE n = ?", (n,))

    def open(self) -> list[ReviewRow]:
        """Those that wait, the newest first."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM reviews WHERE decision IS NULL ORDER BY n DESC"
        )
        return [_row(row) for row in rows]

    def decide(
        self,
        n: int,
        decision: str,
        *,
        at: int,
        winner: str | None = None,
        writes: Sequence[int] = (),
    ) -> None:
        """It waits no longer; its writes are one from now on."""
        with self._db.transaction():
            self.bundle(writes)
            self._db.run(
                "UPDATE reviews SET decision = ?, decided_at = ?, winner = ?, first_write = ?"
                " WHERE n = ?",
                (decision, at, winner, writes[0] if writes else None, n),
            )

    def reopen(self, first_write: int) -> ReviewRow | None:
        """The decision that these writes came of was taken back; as it was before that."""
        with self._db.transaction():
            found = self._db.row(
                f"SELECT {_COLUMNS} FROM reviews WHERE first_write = ? AND decision IS NOT NULL",
                (first_write,),
            )
            self._db.run(
                "UPDATE reviews SET decision = NULL, decided_at = NULL, winner = NULL,"
                " first_write = NULL WHERE first_write = ?",
                (first_write,),
            )
        return _row(found) if found else None

    def change_id(self, old: str, new: str) -> None:
        for column in ("newcomer", "known", "winner"):
            self._db.run(f"UPDATE OR REPLACE reviews SET {column} = ? WHERE {column} = ?",
                         (new, old))  # fmt: skip

    # Writes that belong together

    def bundle(self, writes: Sequence[int]) -> None:
        """One undo takes all of these writes back."""
        self._db.run_many(
            "INSERT OR REPLACE INTO write_bundles VALUES (?, ?)", [(n, writes[0]) for n in writes]
        )

    def bundled_with(self, n: int) -> list[int]:
        """The writes of which `n` is one, itself too, in their order."""
        rows = self._db.rows(
            "SELECT n FROM write_bundles WHERE first ="
            " (SELECT first FROM write_bundles WHERE n = ?) ORDER BY n",
            (n,),
        )
        return [int(cast(int, found)) for (found,) in rows] or [n]

    def prune(self) -> None:
        """Forget bundles of writes that the history holds no longer."""
        self._db.run("DELETE FROM write_bundles WHERE n NOT IN (SELECT n FROM writes)")


def _row(values: tuple[Value, ...]) -> ReviewRow:
    return ReviewRow(*values)  # type: ignore[arg-type]
