import asyncio
import resource
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lance_tables import ALL, DIMENSION, found, note, row, vector, with_table

from second_brain.errors import IndexUnavailable
from second_brain.index import lance
from second_brain.index import table as table_module
from second_brain.index.analyze import Query, parse_query
from second_brain.index.lance import IndexDamaged
from second_brain.index.passages import SearchFilter, quote
from second_brain.index.table import ChunkTable, drop_table, table_name


def test_importing_the_package_does_not_import_lancedb() -> None:
    code = (
        "import sys, second_brain.index.writer, second_brain.index.catalog;"
        "sys.exit('lancedb' in sys.modules or 'pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_replacing_a_note_removes_the_passages_it_no_longer_has(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        await table.replace_notes({**note("a", "one", "two", "three"), **note("b", "four")})
        assert await table.count() == 4
        await table.replace_notes(note("a", "only"))
        assert await table.chunk_counts() == {"a": 1, "b": 1}
        assert await found(table, "three") == set()
        assert await found(table, "only") == {"a#0"}
        await table.replace_notes(note("c", "five"), delete=["a"])
        assert await table.chunk_counts() == {"b": 1, "c": 1}
        await table.replace_notes({"b": []})
        await table.replace_notes({}, delete=["c", "unknown"])
        assert await table.count() == 0
        await table.replace_notes({})

    with_table(tmp_path, test)


def test_hits_carry_what_is_shown_and_a_cosine(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        rows = [
            row("a", 0, "first", vector=vector(1)),
            row("a", 1, "Zweiter", vector=vector(2) * 7),
        ]
        await table.replace_notes({"a": rows})
        best, other = await table.vector_search(vector(2), ALL, 10)
        assert (best.id, best.note_id, best.ordinal) == ("a#1", "a", 1)
        assert (best.title, best.heading, best.text) == ("a", "", "Zweiter")
        assert best.score == pytest.approx(1.0, abs=1e-5)
        assert best.vector is not None
        assert np.array_equal(best.vector, vector(2) * 7)
        assert other.score == pytest.approx(float(vector(1) @ vector(2)), abs=1e-5)
        (hit,) = await table.text_search(parse_query("first"), ALL, 10)
        assert hit.id == "a#0"
        assert hit.score > 0
        assert len(await table.vector_search(vector(2), ALL, 1)) == 1

    with_table(tmp_path, test)


def test_text_search_ranks_and_finds_before_and_after_optimize(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        assert await found(table, "anything") == set()
        await table.replace_notes(
            {
                **note("a", "the C++ build of v1.9 and réunions d'équipe"),
                **note("b", "C# and v1.8", "約束は東京都で"),
                **note("c", "build build build"),
            }
        )
        for _ in range(2):
            assert await found(table, "C++") >= {"a#0"}
            assert await found(table, "1.9") == {"a#0"}
            (best, *_) = await table.text_search(parse_query("v1.9"), ALL, 10)
            assert best.id == "a#0"
            assert await found(table, "reunion") == {"a#0"}
            assert await found(table, "東京") == {"b#1"}
            assert await found(table, "nothing") == set()
            ranked = await table.text_search(parse_query("build v1.9"), ALL, 10)
            assert [hit.id for hit in ranked][:2] == ["a#0", "c#0"]
            await table.optimize()
            await table.replace_notes(note("d", "written later v1.7"))
            assert await found(table, "later") == {"d#0"}

    with_table(tmp_path, test)


def test_a_phrase_must_occur_but_else_its_words_will_do(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        await table.replace_notes(
            {**note("a", "a key error here"), **note("b", "error of the key")}
        )
        assert await found(table, '"key error"') == {"a#0"}
        assert await found(table, '"error key"') == {"a#0", "b#0"}
        assert await found(table, '"key error" "nowhere"') == {"a#0", "b#0"}
        await table.optimize()
        assert await found(table, '"key errors" here') == {"a#0"}
        assert await table.text_search(Query(()), ALL, 10) == []

    with_table(tmp_path, test)


@pytest.mark.parametrize(
    "query", ["a:b*(", "foo AND", "-x", "key~2", '"', '""', "(((", "\\", "'; drop", "+a -b", "k^9"]
)
def test_no_query_is_an_error(tmp_path: Path, query: str) -> None:
    async def test(table: ChunkTable) -> None:
        await table.replace_notes(note("a", "key"))
        await table.text_search(parse_query(query), ALL, 10)

    with_table(tmp_path, test)


def test_filters_hold_for_both_searches(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        await table.replace_notes(
            {
                **note("a", "word", tags=("work", "work/plan"), created=10, kind="semantic"),
                **note("b", "word", tags=("work",), created=20, status="deprecated"),
                **note("c", "word", created=30, kind="episodic", status="canonical"),
            }
        )

        async def both(**wanted: object) -> set[str]:
            chosen = SearchFilter(**wanted)  # type: ignore[arg-type]
            by_text = {h.note_id for h in await table.text_search(Query(("word",)), chosen, 9)}
            by_vector = {h.note_id for h in await table.vector_search(vector(1), chosen, 9)}
            assert by_text == by_vector
            assert await table.count(chosen) == len(by_text)
            return by_text

        for _ in range(2):
            assert await both() == {"a", "b", "c"}
            assert await both(tag="work") == {"a", "b"}
            assert await both(tag="work/plan") == {"a"}
            assert await both(tag="wor") == set()
            assert await both(after=20) == {"b", "c"}
            assert await both(before=20) == {"a", "b"}
            assert await both(after=11, before=29) == {"b"}
            assert await both(kind="semantic") == {"a"}
            assert await both(exclude_deprecated=True) == {"a", "c"}
            assert await both(note_ids=frozenset({"a", "c", "x"})) == {"a", "c"}
            assert await both(note_ids=frozenset()) == set()
            assert await both(exclude_note_ids=frozenset({"a"})) == {"b", "c"}
            assert await both(tag="work", exclude_deprecated=True, after=5) == {"a"}
            await table.optimize()

    with_table(tmp_path, test)


NASTY = ["x' OR 1=1 --", "x'; DROP TABLE chunks; --", '"', "\\'", "%_", "é\n`", "') OR ('1'='1"]


@pytest.mark.parametrize("evil", NASTY)
def test_values_cannot_leave_their_quotes(tmp_path: Path, evil: str) -> None:
    async def test(table: ChunkTable) -> None:
        await table.replace_notes(
            {**note("a", "word"), **note(evil, "word", tags=(evil,), kind=evil)}
        )
        for chosen in (
            SearchFilter(tag=evil),
            SearchFilter(kind=evil),
            SearchFilter(note_ids=frozenset({evil})),
            SearchFilter(exclude_note_ids=frozenset({"a"})),
        ):
            assert await found(table, "word", chosen) == {f"{evil}#0"}
        assert (await table.vectors([f"{evil}#0", "a' OR 1=1"])).keys() == {f"{evil}#0"}
        await table.replace_notes({}, delete=[evil])
        assert await table.chunk_counts() == {"a": 1}

    with_table(tmp_path, test)


@given(st.text())
def test_a_quoted_value_is_one_literal(value: str) -> None:
    literal = quote(value)
    assert literal[0] == literal[-1] == "'"
    assert "'" not in literal[1:-1].replace("''", "")
    assert "\x00" not in literal


def test_rows_without_a_vector_are_found_by_text_until_they_have_one(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        rows = [row("a", 0, "apple"), row("a", 1, "banana", vector=None)]
        await table.replace_notes({"a": rows, **note("b", "nothing yet", vector=None)})
        assert await found(table, "banana") == {"a#1"}
        by_text = await table.text_search(parse_query("apple banana"), ALL, 10)
        assert {h.id: h.vector is not None for h in by_text} == {"a#0": True, "a#1": False}
        assert [h.id for h in await table.vector_search(vector(1), ALL, 10)] == ["a#0"]
        assert (await table.vectors(["a#0", "a#1", "x"])).keys() == {"a#0"}
        assert await table.unembedded() == {"a", "b"}
        await table.replace_notes({**note("a", "apple", "banana"), **note("b", "now")})
        assert await table.unembedded() == set()
        assert len(await table.vector_search(vector(1), ALL, 10)) == 3
        assert await table.vectors([]) == {}

    with_table(tmp_path, test)


def test_vectors_come_back_as_they_were(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        await table.replace_notes({"a": [row("a", n, vector=vector(n)) for n in range(5)]})
        back = await table.vectors(f"a#{n}" for n in (4, 0, 2))
        assert back.keys() == {"a#0", "a#2", "a#4"}
        assert all(np.array_equal(v, vector(int(k[-1]))) for k, v in back.items())

    with_table(tmp_path, test)


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros(DIMENSION, np.float32),
        np.full(DIMENSION, np.nan, np.float32),
        np.full(DIMENSION, np.inf, np.float32),
        np.ones(DIMENSION + 1, np.float32),
        np.ones((1, DIMENSION), np.float32),
    ],
)
def test_vectors_that_nothing_can_be_compared_with_are_refused(tmp_path: Path, bad) -> None:
    async def test(table: ChunkTable) -> None:
        with pytest.raises(ValueError, match="vector"):
            await table.replace_notes({**note("ok"), **note("a", vector=bad)})
        with pytest.raises(ValueError, match="vector"):
            await table.vector_search(bad, ALL, 1)
        assert await table.count() == 0

    with_table(tmp_path, test)


def test_rows_of_another_note_are_refused_and_doubled_rows_are_one(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        with pytest.raises(ValueError, match="among"):
            await table.replace_notes({"a": [row("b")]})
        await table.replace_notes({"a": [row("a", 0, "first"), row("a", 0, "second")]})
        assert await table.count() == 1
        assert await found(table, "second") == {"a#0"}

    with_table(tmp_path, test)


def test_text_that_utf8_cannot_say_is_stored_all_the_same(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        await table.replace_notes(note("a", "half \ud83d emoji"))
        assert await found(table, "emoji") == {"a#0"}

    with_table(tmp_path, test)


def test_concurrent_upserts_of_one_new_key_do_not_double_it(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        for n in range(5):
            await asyncio.gather(*(table.replace_notes(note(f"n{n}")) for _ in range(4)))
        await table.optimize()
        await asyncio.gather(*(table.replace_notes(note("later")) for _ in range(4)))
        assert await table.chunk_counts() == {f"n{n}": 1 for n in range(5)} | {"later": 1}

    with_table(tmp_path, test)


def test_the_vector_index_answers_like_a_full_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "VECTOR_INDEX_FROM", 600)
    monkeypatch.setattr(table_module, "RESIDENT_UP_TO", 600)
    monkeypatch.setattr(table_module, "_FLAT_BELOW", 50)

    def rows_from(first: int, last: int):
        return {
            f"n{n}": [row(f"n{n}", vector=None if n % 5 == 0 else vector(n), tags=(f"t{n % 3}",))]
            for n in range(first, last)
        }

    async def check(table: ChunkTable, count: int) -> None:
        matrix = np.stack([vector(n) for n in range(count) if n % 5])
        ids = [f"n{n}" for n in range(count) if n % 5]
        for seed in (9_001, 9_002, 9_003):
            exact = matrix @ vector(seed)
            hits = await table.vector_search(vector(seed), ALL, 10)
            best = {ids[i] for i in np.argsort(-exact)[:10]}
            assert len({hit.note_id for hit in hits} & best) >= 9
            for hit in hits:
                assert hit.score == pytest.approx(exact[ids.index(hit.note_id)], abs=1e-4)
            tagged = await table.vector_search(vector(seed), SearchFilter(tag="t1"), 5)
            assert len(tagged) == 5
            assert all(int(hit.note_id[1:]) % 3 == 1 for hit in tagged)

    async def test(table: ChunkTable) -> None:
        await table.replace_notes(rows_from(0, 700))
        await table.optimize()
        assert not (await table.stats()).vector_index, "560 vectors are too few"
        await table.replace_notes(rows_from(700, 1000))
        await table.optimize()
        assert (await table.stats()).vector_index
        await check(table, 1000)
        await table.replace_notes(rows_from(1000, 1050))
        await check(table, 1050)
        await table.optimize()
        await check(table, 1050)
        await table.replace_notes(rows_from(1050, 2200))
        await table.optimize()
        await check(table, 2200)

        again = await ChunkTable.open(table.uri, "model", DIMENSION)
        assert (await again.stats()).vector_index
        names = [i.name for i in await again._table.list_indices()]
        assert sorted(names) == ["terms_idx", f"vector_ivf_{2200 * 4 // 5}"], "built anew once"

    with_table(tmp_path, test)


def test_a_table_that_is_searched_in_memory_needs_no_vector_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "VECTOR_INDEX_FROM", 300)
    monkeypatch.setattr(table_module, "RESIDENT_UP_TO", 299)

    async def test(table: ChunkTable) -> None:
        await table.replace_notes({f"n{n}": [row(f"n{n}", vector=vector(n))] for n in range(300)})
        await table.optimize()
        assert (await table.stats()).vector_index
        monkeypatch.setattr(table_module, "RESIDENT_UP_TO", 300)
        again = await ChunkTable.open(table.uri, "model", DIMENSION)
        await again.read_test()
        await again.optimize()
        assert not (await again.stats()).vector_index
        assert [index.name for index in await again._table.list_indices()] == ["terms_idx"]
        (hit,) = await again.vector_search(vector(7), ALL, 1)
        assert hit.note_id == "n7"

    with_table(tmp_path, test)


def test_disk_use_is_bounded_under_a_stream_of_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "_BLOAT_FLOOR", 0)
    monkeypatch.setattr(lance, "SHORT_RETENTION", timedelta(milliseconds=1))

    async def test(table: ChunkTable) -> None:
        sizes = []
        for _ in range(6):
            for n in range(15):
                await table.replace_notes({f"n{n}": [row(f"n{n}", k) for k in range(10)]})
            await table.optimize()
            stats = await table.stats()
            assert stats.disk_bytes is not None
            sizes.append(stats.disk_bytes)
        assert max(sizes[2:]) <= 2 * sizes[0]
        assert await table.count() == 150
        await table.read_test()

    with_table(tmp_path, test)


def test_each_model_has_a_table_of_its_own(tmp_path: Path) -> None:
    async def run() -> None:
        uri = str(tmp_path / "index")
        old = await ChunkTable.open(uri, "model", DIMENSION)
        new = await ChunkTable.open(uri, "model@2", DIMENSION)
        wide = await ChunkTable.open(uri, "model", DIMENSION * 2)
        assert len({old.name, new.name, wide.name}) == 3
        await old.replace_notes(note("a"))
        await new.replace_notes(note("b"))
        assert await new.chunk_counts() == {"b": 1}
        assert sorted(await new.drop_others()) == sorted([old.name, wide.name])
        assert await new.chunk_counts() == {"b": 1}
        reopened = await ChunkTable.open(uri, "model", DIMENSION)
        assert await reopened.count() == 0
        await reopened.drop()
        assert [p.name for p in (tmp_path / "index").iterdir()] == [f"{new.name}.lance"]

    asyncio.run(run())


def test_rows_survive_reopening_and_a_folder_called_db(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def run() -> None:
        table = await ChunkTable.open("db", "model", DIMENSION)
        await table.replace_notes(note("a", "word"))
        again = await ChunkTable.open(str(tmp_path / "db"), "model", DIMENSION)
        await again.read_test()
        assert await found(again, "word") == {"a#0"}
        stats = await again.stats()
        assert stats.rows == 1
        assert stats.disk_bytes is not None
        assert stats.disk_bytes >= stats.bytes > 0

    asyncio.run(run())


def empty_manifests(folder: Path) -> None:
    for file in folder.glob("_versions/*"):
        file.write_bytes(b"")


def corrupt_data(folder: Path) -> None:
    for file in folder.glob("data/*"):
        file.write_bytes(b"junk")


def truncate_data(folder: Path) -> None:
    for file in folder.glob("data/*"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def remove_data(folder: Path) -> None:
    for file in folder.glob("data/*"):
        file.unlink()


def damage_text_index(folder: Path) -> None:
    for file in folder.glob("_indices/*/*"):
        file.write_bytes(b"junk")


@pytest.mark.parametrize(
    "damage", [empty_manifests, corrupt_data, truncate_data, remove_data, damage_text_index]
)
def test_a_damaged_table_is_unavailable_and_can_be_dropped_and_rebuilt(
    tmp_path: Path, damage
) -> None:
    uri = str(tmp_path / "index")

    async def run() -> None:
        table = await ChunkTable.open(uri, "model", DIMENSION)
        await table.replace_notes({f"n{n}": [row(f"n{n}")] for n in range(50)})
        await table.optimize()
        damage(tmp_path / "index" / f"{table_name('model', DIMENSION)}.lance")

        async def use() -> None:
            opened = await ChunkTable.open(uri, "model", DIMENSION)
            await opened.read_test()

        with pytest.raises(IndexDamaged, match="cannot be") as raised:
            await use()
        assert raised.value.__cause__ is not None

        await drop_table(uri, "model", DIMENSION)
        fresh = await ChunkTable.open(uri, "model", DIMENSION)
        assert await fresh.count() == 0
        await fresh.replace_notes(note("a", "word"))
        await fresh.read_test()
        assert await found(fresh, "word") == {"a#0"}

    asyncio.run(run())


def test_a_write_that_the_disk_refuses_is_not_damage_and_changes_nothing(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        await table.replace_notes(note("a", "word"))
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50, limits[1]))
        try:
            with pytest.raises(IndexUnavailable, match="written") as raised:
                await table.replace_notes({**note("a", "other"), **note("b", "word")})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, ignored)
        assert not isinstance(raised.value, IndexDamaged)
        await table.read_test()
        assert await found(table, "word") == {"a#0"}
        await table.replace_notes(note("b", "word"))
        assert await found(table, "word") == {"a#0", "b#0"}

    with_table(tmp_path, test)


def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file is in the way")

    async def run() -> None:
        with pytest.raises(IndexUnavailable):
            await ChunkTable.open(str(tmp_path / "index"), "model", DIMENSION)

    asyncio.run(run())


def test_kinds_of_rows_round_trip(tmp_path: Path) -> None:
    async def test(table: ChunkTable) -> None:
        plain = row("a", text="x")
        assert plain.id == "a#0"
        await table.replace_notes({"a": [plain]})
        (hit,) = await table.vector_search(vector(3), SearchFilter(kind=None), 5)
        assert hit.text == "x"

    with_table(tmp_path, test)
