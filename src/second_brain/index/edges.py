"""The edges of the catalogue: what links to what, and walks along them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from second_brain.index.database import Database, chunked, marks
from second_brain.index.rows import EDGE_COLUMNS, EdgeRow, edge_row, edge_values

SCHEMA = """
CREATE TABLE edges (
  source_id TEXT NOT NULL, target TEXT NOT NULL, target_key TEXT NOT NULL, type TEXT NOT NULL,
  property TEXT NOT NULL, provenance TEXT NOT NULL, weight REAL NOT NULL, created INTEGER NOT NULL,
  target_path TEXT, target_id TEXT, markdown INTEGER NOT NULL, meant_id TEXT,
  PRIMARY KEY (source_id, target, type, property)
) WITHOUT ROWID;
CREATE INDEX edges_target ON edges (target_id, source_id);
CREATE INDEX edges_key ON edges (target_key);
CREATE INDEX edges_path ON edges (target_path);
CREATE INDEX edges_meant ON edges (meant_id) WHERE meant_id IS NOT NULL
"""


class Resolution(NamedTuple):
    """What `target`, written in the note `source_id`, means now; None and None: nothing."""

    source_id: str
    target: str
    target_path: str | None
    target_id: str | None


@dataclass(frozen=True, slots=True)
class Reached:
    """A memory found along edges. `strength` is the seed's, lessened at each hop; `via` is the
    memory one hop nearer to the seed, `type` the relation between the two."""

    id: str
    hop: int
    strength: float
    seed: str
    via: str
    type: str


class EdgeStore:
    """Edges belong to the note that states them: they are replaced with it."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def replace(self, source_id: str, edges: Iterable[EdgeRow]) -> None:
        """The edges that a note states, all of them.

        One that it stated before keeps its age and weight, and what it means if that is not told.
        """
        with self._db.transaction():
            before = {
                (edge.target, edge.type, edge.property): edge for edge in self.stated_by(source_id)
            }
            self._db.run("DELETE FROM edges WHERE source_id = ?", (source_id,))
            self._db.run_many(
                f"INSERT OR REPLACE INTO edges ({EDGE_COLUMNS}) VALUES ({marks(range(12))})",
                (
                    edge_values(
                        replace(
                            _continued(edge, before.get((edge.target, edge.type, edge.property))),
                            source_id=source_id,
                        )
                    )
                    for edge in edges
                ),
            )

    def set_details(
        self, details: Iterable[tuple[int | None, float | None, str, str, str]]
    ) -> None:
        """Give edges what an import knows of them: (created, weight, source id, target id, type)
        each; None leaves what is there."""
        with self._db.transaction():
            self._db.run_many(
                "UPDATE edges SET created = ifnull(?, created), weight = ifnull(?, weight)"
                " WHERE source_id = ? AND target_id = ? AND type = ?",
                details,
            )

    def stated_by(self, source_id: str) -> list[EdgeRow]:
        """Every edge of a note, resolved or not."""
        return self._select("WHERE source_id = ? ORDER BY target, type", (source_id,))

    def around(self, id: str, type: str | None = None) -> list[EdgeRow]:
        """The resolved edges that begin or end at a note, the strongest first."""
        found = self._db.kept_each("around", [id], self._around).get(id, ())
        return [edge for edge in found if type is None or edge.type == type]

    def _around(self, ids: list[str]) -> dict[str, list[EdgeRow]]:
        (id,) = ids
        found = self._select("WHERE source_id = ? AND target_id IS NOT NULL", (id,))
        found += self._select("WHERE target_id = ? AND source_id <> ?", (id, id))
        found.sort(key=lambda e: (-e.weight, e.type, e.source_id, e.target_id or ""))
        return {id: found}

    def among(self, ids: Iterable[str] | None = None) -> list[EdgeRow]:
        """The edges whose two ends are memories at present (and, if given, in `ids`)."""
        found = self._select(
            "WHERE source_id IN (SELECT id FROM notes WHERE is_memory AND missing_since IS NULL)"
            " AND target_id IN (SELECT id FROM notes WHERE is_memory AND missing_since IS NULL)"
        )
        if ids is None:
            return found
        wanted = frozenset(ids)
        return [e for e in found if e.source_id in wanted and e.target_id in wanted]

    def superseded(self, ids: Iterable[str]) -> set[str]:
        """Those of the memories that another memory replaces."""
        return set(self._db.kept_each("superseded", ids, self._superseded))

    def _superseded(self, ids: list[str]) -> dict[str, bool]:
        found = self._gather(
            "WHERE type = 'supersedes' AND target_id IN ({marks}) AND EXISTS (SELECT 1 FROM notes"
            " WHERE notes.id = source_id AND is_memory AND missing_since IS NULL)",
            ids,
        )
        return {edge.target_id: True for edge in found if edge.target_id is not None}

    def linked_by(self, property: str) -> set[str]:
        """What memories link to in the property of that name."""
        found = self._select(
            "WHERE lower(property) = ? AND target_id IS NOT NULL AND EXISTS (SELECT 1 FROM notes"
            " WHERE notes.id = source_id AND is_memory AND missing_since IS NULL)",
            (property,),
        )
        return {edge.target_id for edge in found if edge.target_id is not None}

    def by_key(self, keys: Iterable[str], *, unresolved_only: bool = False) -> list[EdgeRow]:
        """The edges whose target may mean a note with one of these `link_key`s."""
        only = " AND target_path IS NULL" if unresolved_only else ""
        return self._gather(f"WHERE target_key IN ({{marks}}){only}", keys)

    def to_paths(self, paths: Iterable[str]) -> list[EdgeRow]:
        """The edges that are resolved to one of these paths."""
        return self._gather("WHERE target_path IN ({marks})", paths)

    def astray(self) -> list[EdgeRow]:
        """The edges from properties that ceased to mean the note that they meant."""
        return self._select("WHERE meant_id IS NOT NULL ORDER BY source_id, property, target")

    def unresolved(self, most: int) -> tuple[int, list[EdgeRow]]:
        """How many links of memories mean no file that is there, and the first of them."""
        where = (
            "WHERE target_path IS NULL AND target_id IS NULL AND source_id IN"
            " (SELECT id FROM notes WHERE is_memory AND missing_since IS NULL)"
        )
        found = self._select(f"{where} ORDER BY source_id, target, type")
        return len(found), found[:most]

    def forget_meant(self, edges: Iterable[EdgeRow]) -> None:
        """What these meant before does not matter any more."""
        with self._db.transaction():
            self._db.run_many(
                "UPDATE edges SET meant_id = NULL"
                " WHERE source_id = ? AND target = ? AND type = ? AND property = ?",
                [(e.source_id, e.target, e.type, e.property or "") for e in edges],
            )

    def resolve(self, resolutions: Iterable[Resolution]) -> None:
        """Sets what targets mean, in one transaction; a property's keeps what it meant before."""
        with self._db.transaction():
            self._db.run_many(
                "UPDATE edges SET target_path = ?, target_id = ?, meant_id = CASE"
                " WHEN property = '' OR ? = coalesce(meant_id, target_id) THEN NULL"
                " ELSE coalesce(meant_id, target_id) END"
                " WHERE source_id = ? AND target = ?",
                [
                    (r.target_path, r.target_id, r.target_id, r.source_id, r.target)
                    for r in resolutions
                ],
            )

    def walk(
        self,
        seeds: Mapping[str, float],
        *,
        hops: int,
        decay: float = 0.6,
        per_node: int = 8,
        limit: int = 50,
    ) -> list[Reached]:
        """Memories within `hops` of the seeds (id to strength), the nearest and strongest first.

        Each hop multiplies the strength by `decay` and by the edge's weight; only the `per_node`
        strongest neighbours of a memory are followed, and at most `limit` memories are returned.
        Direction does not matter; the seeds are not returned.
        """
        seen = set(seeds)
        front = {id: Reached(id, 0, strength, id, id, "") for id, strength in seeds.items()}
        found: list[Reached] = []
        for hop in range(1, hops + 1):
            best: dict[str, Reached] = {}
            for at, neighbour, type, weight in self._neighbours(front, per_node):
                if neighbour in seen:
                    continue
                origin = front[at]
                strength = origin.strength * decay * weight
                known = best.get(neighbour)
                if known is None or strength > known.strength:
                    best[neighbour] = Reached(neighbour, hop, strength, origin.seed, at, type)
            ranked = sorted(best.values(), key=lambda r: (-r.strength, r.id))[: limit - len(found)]
            if not ranked:
                break
            found += ranked
            seen.update(best)
            front = {reached.id: reached for reached in ranked}
        return found

    def _neighbours(self, ids: Iterable[str], per_node: int) -> list[tuple[str, str, str, float]]:
        found: list[tuple[str, str, str, float]] = []
        for batch in chunked(ids, 200):
            places = marks(batch)
            rows = self._db.rows(
                f"""
                WITH pairs (node, other, type, weight) AS (
                  SELECT source_id, target_id, type, weight FROM edges
                   WHERE source_id IN ({places}) AND target_id IS NOT NULL
                  UNION ALL
                  SELECT target_id, source_id, type, weight FROM edges
                   WHERE target_id IN ({places})
                ), strongest AS (
                  SELECT node, other, type, max(weight) AS weight FROM pairs
                   WHERE node <> other GROUP BY node, other
                ), ranked AS (
                  SELECT s.*, row_number() OVER (PARTITION BY node ORDER BY s.weight DESC, other) n
                    FROM strongest s JOIN notes ON notes.id = other
                   WHERE notes.is_memory AND notes.missing_since IS NULL
                )
                SELECT node, other, type, weight FROM ranked WHERE n <= ?
                """,
                (*batch, *batch, per_node),
            )
            found += cast("list[tuple[str, str, str, float]]", rows)
        return found

    def _gather(self, where: str, values: Iterable[str]) -> list[EdgeRow]:
        found: list[EdgeRow] = []
        for batch in chunked(values):
            found += self._select(where.format(marks=marks(batch)), batch)
        return found

    def _select(self, where: str, values: Sequence[str] = ()) -> list[EdgeRow]:
        rows = self._db.rows(f"SELECT {EDGE_COLUMNS} FROM edges {where}", values)
        return [edge_row(row) for row in rows]


def _continued(edge: EdgeRow, before: EdgeRow | None) -> EdgeRow:
    if before is None:
        return edge
    if edge.target_path is not None or edge.target_id is not None:
        return replace(edge, created=before.created, weight=before.weight)
    return replace(
        edge,
        created=before.created,
        weight=before.weight,
        target_path=before.target_path,
        target_id=before.target_id,
        meant_id=before.meant_id,
    )
