"""What a language model has cost today, and what waits for it: tables of state.db.

What waits is a kind and a key, such as the digest of a tag: what to do is looked up again when its
turn comes, so that nothing in here can be out of date. Times are Unix ms and passed in; errors are
those of `Database`. Safe to call from any thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from second_brain.index.database import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS model_use (
  day TEXT PRIMARY KEY, calls INTEGER NOT NULL, tokens INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS model_jobs (
  kind TEXT NOT NULL, key TEXT NOT NULL, asked_at INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0, not_before INTEGER NOT NULL DEFAULT 0, error TEXT,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID
"""
_DAYS_KEPT = 60


@dataclass(frozen=True, slots=True)
class Job:
    """Something that waits for a model. `tries` counts how often it was begun and failed."""

    kind: str
    key: str
    asked_at: int
    tries: int
    not_before: int
    error: str | None


class ModelUse:
    """Calls and tokens by day; a day is whatever text its caller names it by, in their order."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def count(self, day: str, calls: int, tokens: int) -> None:
        """Not worth waiting for the disk: a power cut may forget a call."""
        with self._db.relaxed():
            self._db.run(
                "INSERT INTO model_use VALUES (?, ?, ?) ON CONFLICT (day) DO UPDATE SET"
                " calls = calls + excluded.calls, tokens = tokens + excluded.tokens",
                (day, calls, tokens),
            )
            self._db.run(
                "DELETE FROM model_use WHERE day NOT IN"
                " (SELECT day FROM model_use ORDER BY day DESC LIMIT ?)",
                (_DAYS_KEPT,),
            )

    def of(self, day: str) -> tuple[int, int]:
        """Calls and tokens of a day."""
        found = self._db.row("SELECT calls, tokens FROM model_use WHERE day = ?", (day,))
        return cast("tuple[int, int]", found) if found else (0, 0)


class ModelJobs:
    """The queue; each kind and key waits once."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, kind: str, key: str, at: int, error: str | None = None) -> None:
        """It waits from now on; if it does already, it is due now."""
        self._db.run(
            "INSERT INTO model_jobs (kind, key, asked_at, error) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (kind, key) DO UPDATE SET not_before = 0",
            (kind, key, at, error),
        )

    def due(self, now: int) -> Job | None:
        """What has waited longest of what may be tried now."""
        found = self._db.row(
            "SELECT kind, key, asked_at, tries, not_before, error FROM model_jobs"
            " WHERE not_before <= ? ORDER BY tries, asked_at, kind, key LIMIT 1",
            (now,),
        )
        return Job(*found) if found else None  # type: ignore[arg-type]

    def done(self, kind: str, key: str) -> None:
        self._db.run("DELETE FROM model_jobs WHERE kind = ? AND key = ?", (kind, key))

    def failed(self, job: Job, error: str, not_before: int, *, counts: bool = True) -> None:
        """It goes on waiting. Not `counts`: it was not even begun."""
        self._db.run(
            "UPDATE model_jobs SET tries = tries + ?, error = ?, not_before = ?"
            " WHERE kind = ? AND key = ?",
            (int(counts), error, not_before, job.kind, job.key),
        )

    def waiting(self) -> dict[str, int]:
        """How much waits, by kind."""
        rows = self._db.rows("SELECT kind, count(*) FROM model_jobs GROUP BY kind ORDER BY kind")
        return {str(kind): int(cast(int, n)) for kind, n in rows}
