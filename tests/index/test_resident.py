"""Searching a small table in memory says what searching it in LanceDB says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lance_tables import DIMENSION, note, row, vector, with_table

from second_brain.index import table as table_module
from second_brain.index.analyze import parse_query
from second_brain.index.passages import ChunkRow, Hit, SearchFilter
from second_brain.index.resident import Resident
from second_brain.index.table import ChunkTable

FILTERS = [
    SearchFilter(),
    SearchFilter(tag="boat"),
    SearchFilter(after=40),
    SearchFilter(before=40, kind="episodic"),
    SearchFilter(exclude_deprecated=True),
    SearchFilter(note_ids=frozenset({"n1", "n2", "n3"})),
    SearchFilter(exclude_note_ids=frozenset({"n1", "n2"}), tag="boat/sail"),
]

UNEMBEDDED = {f"n{n}" for n in range(7, 41, 7)}


def notes() -> dict[str, list[ChunkRow]]:
    return {
        f"n{n}": [
            row(
                f"n{n}",
                ordinal,
                created=n * 2,
                tags=("boat", "boat/sail") if n % 3 == 0 else ("house",),
                kind="episodic" if n % 2 else "semantic",
                status="deprecated" if n % 5 == 0 else None,
                vector=None if n % 7 == 0 else vector(n * 10 + ordinal),
            )
            for ordinal in range(n % 3 + 1)
        ]
        for n in range(1, 41)
    }


def unscored(hits: list[Hit]) -> dict[str, Hit]:
    return {hit.id: replace(hit, score=0.0) for hit in hits}


def test_it_finds_what_lancedb_finds_after_any_change(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        await table.replace_notes(notes())
        await table.replace_notes({"n3": [row("n3", vector=vector(7_777))]}, delete=["n4", "n6"])
        reopened = await ChunkTable.open(table.uri, "model", DIMENSION)
        assert reopened._resident is None, "a table with rows is read by the read test"
        for filter in FILTERS:
            for seed in (1, 2, 3):
                near = await table.vector_search(vector(seed), filter, 12)
                flat = await reopened.vector_search(vector(seed), filter, 12)
                assert [hit.id for hit in near] == [hit.id for hit in flat]
                assert [h.score for h in near] == pytest.approx([h.score for h in flat], abs=1e-5)
                for one, other in zip(near, flat, strict=True):
                    assert replace(one, score=0.0) == replace(other, score=0.0)
                    assert one.vector is not None
                    assert other.vector is not None
                    assert np.allclose(one.vector, other.vector, atol=1e-6)
            words = parse_query("text of n12")
            in_memory = await table.text_search(words, filter, 100)
            from_disk = await reopened.text_search(words, filter, 100)
            assert unscored(in_memory) == unscored(from_disk)
            assert all((h.vector is None) == (h.note_id in UNEMBEDDED) for h in in_memory)
        await reopened.read_test()
        assert reopened._resident is not None
        again = await reopened.vector_search(vector(1), SearchFilter(), 12)
        assert [h.id for h in again] == [
            h.id for h in await table.vector_search(vector(1), SearchFilter(), 12)
        ]

    with_table(tmp_path, test)


def test_a_table_that_grows_is_left_to_lancedb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "RESIDENT_UP_TO", 5)

    async def test(table: ChunkTable) -> None:
        await table.replace_notes({**note("a", "x", "y"), **note("b", "x", "y")})
        assert table._resident is not None
        await table.replace_notes(note("c", "x", "y"))
        assert table._resident is None
        assert len(await table.vector_search(vector(1), SearchFilter(), 10)) == 6

    with_table(tmp_path, test)


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 4)),  # a note, and how many passages it gets
        max_size=30,
    )
)
def test_it_holds_exactly_what_the_last_change_of_each_note_left(
    changes: list[tuple[int, int]],
) -> None:
    resident = Resident(DIMENSION)
    expected: dict[str, int] = {}
    for name, count in changes:
        id = f"n{name}"
        if count == 0:
            resident.replace({}, [id])
        else:
            resident.replace({id: [row(id, n, f"{id} {n} of {count}") for n in range(count)]})
        expected[id] = count
    hits = resident.search(vector(1), SearchFilter(), 1_000)
    assert sorted(hit.text for hit in hits) == sorted(
        f"{id} {n} of {count}" for id, count in expected.items() for n in range(count)
    )
    assert len(resident) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
