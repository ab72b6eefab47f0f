"""Which memories were stored one after the other through one client: the episodes of a vault.

Nothing is kept for it: it is read from the notes as they are in the catalogue.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from second_brain.index.database import Database, chunked, marks
from second_brain.index.note_queries import MEMORY

SCHEMA = """
CREATE INDEX notes_episodes ON notes (source, created, id) WHERE is_memory AND missing_since IS NULL
"""

GAP_MS = 30 * 60_000
"""Between two memories of one episode no more time lies than this."""

REACH = 4
"""So many memories before and after one are looked at."""

_BESIDE = """
(SELECT json_group_array(json_array(id, created)) FROM (
  SELECT id, created FROM notes WHERE source = own.source AND created {side} own.created
  AND created BETWEEN own.created - {span} AND own.created + {span} AND {memory}
  ORDER BY created {order}, id {order} LIMIT {reach}))
"""


def _beside(side: str, order: str) -> str:
    return _BESIDE.format(side=side, order=order, span=GAP_MS * REACH, memory=MEMORY, reach=REACH)


_AROUND = (
    f"SELECT id, created, {_beside('<', 'DESC')}, {_beside('>', 'ASC')} FROM notes AS own"
    f" WHERE own.{MEMORY} AND own.source <> ? AND own.id IN "
)


@dataclass(frozen=True, slots=True)
class Around:
    """The ids of the memories before and after one, each the nearest first."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class EpisodeStore:
    """Memories that were stored in the same second have no order, and are no neighbours."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def around(self, ids: Iterable[str], *, apart: str) -> dict[str, Around]:
        """The neighbours of those memories that have any; those of the source `apart` have none."""
        found: dict[str, Around] = {}
        for batch in chunked(ids):
            rows = self._db.rows(f"{_AROUND}({marks(batch)})", [apart, *batch])
            for id, created, before, after in cast("list[tuple[str, int, str, str]]", rows):
                around = Around(_near(created, before), _near(created, after))
                if around.before or around.after:
                    found[id] = around
        return found


def _near(created: int, beside: str) -> tuple[str, ...]:
    """Those that follow each other without a gap."""
    near: list[str] = []
    for id, then in json.loads(beside):
        if abs(then - created) > GAP_MS:
            break
        near.append(id)
        created = then
    return tuple(near)
