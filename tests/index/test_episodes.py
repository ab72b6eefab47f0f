"""Which memories the catalogue takes for neighbours in an episode."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from second_brain.index.catalog import Catalog
from second_brain.index.episodes import GAP_MS, REACH, Around
from second_brain.index.rows import NoteRow

MINUTE = 60_000
START = 1_700_000_000_000


def memory(id: str, minute: float, source: str = "claude", *, is_memory: bool = True) -> NoteRow:
    return NoteRow(
        path=f"{id}.md",
        id=id,
        is_memory=is_memory,
        source=source,
        created=START + int(minute * MINUTE),
    )


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog.open(tmp_path / "catalog.db")
    yield opened
    opened.close()


def around(catalog: Catalog, *ids: str) -> dict[str, Around]:
    return catalog.episodes.around(ids, apart="obsidian")


def test_what_one_source_stored_in_a_row_without_a_gap(catalog: Catalog) -> None:
    later = 5 + GAP_MS / MINUTE
    catalog.upsert(
        [
            memory("a", 0),
            memory("other", 1, "codex"),
            memory("b", 2),
            memory("c", 5),
            memory("on the edge", later),
            memory("too late", later + GAP_MS / MINUTE + 0.1),
        ]
    )
    found = around(catalog, "b", "other", "too late", "unknown")
    assert found == {"b": Around(before=("a",), after=("c", "on the edge"))}


def test_at_most_a_few_the_nearest_first(catalog: Catalog) -> None:
    catalog.upsert(memory(f"n{n}", n) for n in range(20))
    assert around(catalog, "n10")["n10"] == Around(
        before=tuple(f"n{10 - n}" for n in range(1, REACH + 1)),
        after=tuple(f"n{10 + n}" for n in range(1, REACH + 1)),
    )


def test_what_has_no_order_or_is_the_users_own_is_no_episode(catalog: Catalog) -> None:
    catalog.upsert([memory("a", 0), memory("b", 0)])
    catalog.upsert([memory("own 1", 0, "obsidian"), memory("own 2", 1, "obsidian")])
    assert around(catalog, "a", "b", "own 1", "own 2") == {}


def test_edits_and_deletions_count_at_once(catalog: Catalog) -> None:
    catalog.upsert([memory("a", 0), memory("b", 1), memory("c", 2), memory("d", 3)])
    catalog.upsert([memory("b", 1, is_memory=False)])
    assert around(catalog, "a")["a"].after == ("c", "d")
    catalog.mark_missing(["c.md"], START)
    assert around(catalog, "a")["a"].after == ("d",)
    catalog.upsert([memory("d", 900)])
    assert around(catalog, "a") == {}
