import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from second_brain.errors import IndexUnavailable, InvalidInput
from second_brain.index.catalog import Catalog, IdTaken
from second_brain.index.chunk import key
from second_brain.index.edges import Resolution
from second_brain.index.rows import EdgeRow, NoteRow, Stamp, Standing, link_key, tag_keys


@pytest.fixture
def catalog(tmp_path: Path):
    opened = Catalog.open(tmp_path / "catalog.db")
    yield opened
    opened.close()


def note(path: str, id: str | None = None, **fields: object) -> NoteRow:
    defaults: dict[str, object] = {"is_memory": True, "status": "indexed", "created": 1_000}
    return NoteRow(path=path, id=id or path.removesuffix(".md"), **{**defaults, **fields})  # type: ignore[arg-type]


def edge(source: str, target: str, resolved: bool = True, **fields: object) -> EdgeRow:
    ends = {"target_path": f"{target}.md", "target_id": target} if resolved else {}
    return EdgeRow(source, target, link_key(target), **{**ends, **fields})  # type: ignore[arg-type]


FULL = note(
    "Zoé/ô.md",
    "id-1",
    stored_id=True,
    title="Ô 🚀",
    hash="ab",
    size=10,
    mtime_ns=1_700_000_000_000_000_001,
    inode=2**63 - 1,
    reason="a reason",
    embedded=True,
    chunks=2,
    kind="semantic",
    memory_status="canonical",
    importance=4,
    source="claude",
    tags=("Work/Plan", "été"),
    aliases=('the "O"',),
    modified=5,
    indexed_at=6,
    index_version="v",
    problems=("broken",),
    vector_keys=(key("m", "a"), key("m", "b")),
)


def test_a_note_comes_back_as_it_was_stored(catalog: Catalog) -> None:
    catalog.upsert([FULL, note("b.md")])
    assert catalog.by_path(FULL.path) == FULL
    assert catalog.by_id("id-1") == FULL
    assert FULL.chunk_ids == ("id-1#0", "id-1#1")
    changed = replace(FULL, title="New", tags=())
    catalog.upsert([changed])
    assert catalog.by_path(FULL.path) == changed
    assert catalog.memories(tag="work") == []
    assert catalog.by_path("none.md") is None
    assert catalog.by_id("none") is None


def test_everything_is_there_after_reopening(tmp_path: Path) -> None:
    first = Catalog.open(tmp_path / "c.db")
    assert first.rebuilt
    first.upsert([FULL])
    first.set_meta("k", "v")
    first.close()
    second = Catalog.open(tmp_path / "c.db")
    assert not second.rebuilt
    assert second.by_id("id-1") == FULL
    assert second.get_meta("k") == "v"
    second.set_meta("k", None)
    assert second.get_meta("k") is None
    second.close()


def test_standings_are_of_present_memories_only(catalog: Catalog) -> None:
    gone, plain = note("gone.md"), note("plain.md", is_memory=False)
    catalog.upsert([FULL, note("bare.md"), gone, plain])
    catalog.mark_missing(["gone.md"], 9)
    assert catalog.standings([FULL.id, "bare", "gone", "plain", "nobody"]) == {
        FULL.id: Standing(FULL.created, FULL.tags, FULL.memory_status, FULL.importance),
        "bare": Standing(1_000, (), None, None),
    }


def test_a_deprecated_memory_is_known_of_while_it_is_there(catalog: Catalog) -> None:
    catalog.upsert([FULL, note("old.md")])
    assert not catalog.any_deprecated()
    catalog.upsert([note("old.md", memory_status="deprecated")])
    assert catalog.any_deprecated()
    catalog.mark_missing(["old.md"], 9)
    assert not catalog.any_deprecated()


def test_stamps_of_the_present_notes(catalog: Catalog) -> None:
    catalog.upsert([FULL, note("b.md")])
    catalog.mark_missing(["b.md"], 5)
    assert catalog.stamps() == {FULL.path: Stamp(FULL.mtime_ns, 10, 2**63 - 1, "ab")}
    assert catalog.paths() == [FULL.path]


def test_two_present_notes_cannot_share_an_id(catalog: Catalog) -> None:
    catalog.upsert([note("a.md", "x")])
    with pytest.raises(IdTaken) as raised:
        catalog.upsert([note("c.md"), note("b.md", "x")])
    assert raised.value.ids == ("x",)
    assert catalog.paths() == ["a.md"], "nothing of the batch is stored"
    catalog.mark_missing(["a.md"], 1)
    catalog.upsert([note("b.md", "x")])
    assert catalog.by_id("x", missing=True) == note("b.md", "x")


def test_spellings_of_one_path_are_found(catalog: Catalog) -> None:
    catalog.upsert([note("Caf\u00e9.md")])
    assert [n.path for n in catalog.by_path_key("CAFE\u0301.md")] == ["Caf\u00e9.md"]


def test_a_missing_note_is_kept_to_pair_a_rename_and_then_purged(catalog: Catalog) -> None:
    catalog.upsert([note("a.md", hash="h"), note("b.md", hash="h"), note("c.md")])
    catalog.edges.replace("a", [edge("a", "c")])
    catalog.edges.replace("c", [edge("c", "a")])
    catalog.mark_missing(["a.md"], 100)
    catalog.mark_missing(["a.md"], 200)

    assert [n.path for n in catalog.by_hash("h", missing=True)] == ["a.md"]
    assert [n.path for n in catalog.by_hash("h", missing=False)] == ["b.md"]
    assert len(catalog.by_hash("h")) == 2
    assert catalog.by_id("a") is None
    gone = catalog.by_id("a", missing=True)
    assert gone is not None
    assert gone.missing_since == 100, "the first time of absence counts"
    assert [n.path for n in catalog.memories()] == ["b.md", "c.md"]

    assert catalog.purge_missing(100) == []
    assert [n.path for n in catalog.purge_missing(101)] == ["a.md"]
    assert catalog.by_path("a.md") is None
    assert catalog.edges.stated_by("a") == []
    (dangling,) = catalog.edges.stated_by("c")
    assert (dangling.target, dangling.target_path, dangling.target_id) == ("a", None, None)


def test_a_rename_keeps_id_and_edges(catalog: Catalog) -> None:
    catalog.upsert([note("a.md"), note("b.md")])
    catalog.edges.replace("a", [edge("a", "b")])
    catalog.edges.replace("b", [edge("b", "a")])
    catalog.mark_missing(["a.md"], 1)
    catalog.rename("a.md", note("new/a2.md", "a"))
    assert catalog.paths() == ["b.md", "new/a2.md"]
    assert catalog.missing() == []
    assert len(catalog.edges.around("a")) == 2
    assert catalog.edges.stated_by("b")[0].target_path == "new/a2.md"


def test_purging_a_path_spares_the_edges_of_an_id_that_lives_on(catalog: Catalog) -> None:
    catalog.upsert([note("old.md", "x")])
    catalog.mark_missing(["old.md"], 1)
    catalog.upsert([note("new.md", "x"), note("b.md")])
    catalog.edges.replace("x", [edge("x", "b")])
    catalog.purge_missing(10)
    assert len(catalog.edges.stated_by("x")) == 1


def test_a_changed_id_takes_its_edges_along(catalog: Catalog) -> None:
    catalog.upsert([note("a.md"), note("b.md")])
    catalog.edges.replace("a", [edge("a", "b")])
    catalog.edges.replace("b", [edge("b", "a")])
    catalog.change_id("a", "z")
    assert catalog.by_id("a") is None
    assert {(e.source_id, e.target_id) for e in catalog.edges.around("z")} == {
        ("z", "b"),
        ("b", "z"),
    }
    with pytest.raises(IdTaken):
        catalog.change_id("z", "b")


def test_memories_newest_first_by_tag_time_and_kind(catalog: Catalog) -> None:
    catalog.upsert(
        [
            note("a.md", created=1, tags=("Work/Plan",), kind="semantic", embedded=True),
            note("b.md", created=2, tags=("work",)),
            note("c.md", created=3, tags=("workshop",)),
            note("d.md", created=4, is_memory=False, tags=("work",)),
        ]
    )

    def found(**wanted: object) -> list[str]:
        return [n.id for n in catalog.memories(**wanted)]  # type: ignore[arg-type]

    assert found() == ["c", "b", "a"]
    assert found(tag="work") == ["b", "a"]
    assert found(tag="#WORK/plan/") == ["a"]
    assert found(tag="") == []
    assert found(tag="x' OR '1'='1") == []
    assert found(after=2, before=3) == ["c", "b"]
    assert found(kind="semantic") == ["a"]
    assert found(embedded=False) == ["c", "b"]
    assert found(limit=1) == ["c"]


def test_memories_by_a_part_of_their_name(catalog: Catalog) -> None:
    paths = {"My boat.md": 9, "Boat/Ébène 100%.md": 1, "Harbour/Boats.md": 2}
    catalog.upsert(note(path, created=created) for path, created in paths.items())
    catalog.upsert([note("Boat none.md", is_memory=False), note("Boat gone.md")])
    catalog.mark_missing(["Boat gone.md"], 5)

    def named(text: str, limit: int = 20) -> list[str]:
        return [n.path for n in catalog.memories_named(text, limit)]

    assert named("BOAT") == ["Harbour/Boats.md", "Boat/Ébène 100%.md", "My boat.md"]
    assert named("e\u0301bène 100%") == named("%") == ["Boat/Ébène 100%.md"]
    assert named("_") == named("\\") == []
    assert named("", 2) == ["My boat.md", "Harbour/Boats.md"]


def test_counts_and_tags(catalog: Catalog) -> None:
    catalog.upsert(
        [
            note("a.md", tags=("Work", "été"), importance=5, embedded=True, kind="episodic"),
            note("b.md", tags=("work",), importance=2, source="claude"),
            note("c.md", tags=("work",), source="claude"),
            note("d.md", is_memory=False, status="skipped", tags=("hidden",)),
            note("e.md", tags=("gone",)),
        ]
    )
    catalog.mark_missing(["e.md"], 1)
    assert catalog.tag_counts() == [("work", 3), ("été", 1)]
    assert catalog.tags() == ["work", "été"]
    counts = catalog.counts()
    assert (counts.notes, counts.memories) == (4, 3)
    assert (counts.unembedded, counts.unclassified) == (2, 1)
    assert [row.path for row in catalog.unclassified(9)] == ["c.md"]
    assert counts.average_importance == 3.5
    assert counts.statuses == {"indexed": 3, "skipped": 1}
    catalog.forget_index()
    assert catalog.counts().unembedded == 3


def test_an_empty_catalogue_counts_nothing(catalog: Catalog) -> None:
    counts = catalog.counts()
    assert (counts.notes, counts.memories, counts.unembedded) == (0, 0, 0)
    assert counts.average_importance is None


def test_pages_visit_each_note_once(catalog: Catalog) -> None:
    paths = [f"{n:03}é.md" for n in range(25)]
    catalog.upsert([note(p, status="failed" if p < "005" else "indexed") for p in paths])
    seen: list[str] = []
    cursor = None
    while True:
        total, cursor, rows = catalog.page(n=10, cursor=cursor)
        assert total == 25
        seen += [row.path for row in rows]
        if cursor is None:
            break
    assert seen == paths
    assert catalog.page(status="failed")[0] == 5
    assert [r.path for r in catalog.page(path="007é.md")[2]] == ["007é.md"]
    assert catalog.page(n=25)[1] is None


@pytest.mark.parametrize("cursor", ["é", "!!!", "a", "_w=="])
def test_a_foreign_cursor_is_invalid_input(catalog: Catalog, cursor: str) -> None:
    with pytest.raises(InvalidInput):
        catalog.page(cursor=cursor)


def test_notes_with_problems(catalog: Catalog) -> None:
    catalog.upsert(
        [
            note("a.md"),
            note("b.md", problems=("bad yaml",)),
            note("c.md", status="failed"),
            note("d.md", status="conflict-copy"),
        ]
    )
    assert [n.path for n in catalog.with_problems()] == ["b.md", "c.md", "d.md"]


def test_edges_are_replaced_with_their_note_and_keep_their_age(catalog: Catalog) -> None:
    catalog.edges.replace("a", [edge("a", "b", created=1), edge("a", "c", created=1)])
    catalog.edges.replace(
        "a",
        [
            edge("a", "b", created=9),
            edge("a", "b", created=9, type="supersedes", property="supersedes"),
            edge("a", "d", created=9, resolved=False),
        ],
    )
    found = {(e.target, e.type, e.property): e.created for e in catalog.edges.stated_by("a")}
    assert found == {
        ("b", "relates_to", None): 1,
        ("b", "supersedes", "supersedes"): 9,
        ("d", "relates_to", None): 9,
    }
    assert {e.type for e in catalog.edges.around("b")} == {"relates_to", "supersedes"}
    assert [e.type for e in catalog.edges.around("b", "supersedes")] == ["supersedes"]
    assert catalog.edges.around("d") == []


def test_links_are_resolved_when_their_target_appears(catalog: Catalog) -> None:
    written = EdgeRow("a", "Projects/Apollo", link_key("Projects/Apollo"))
    catalog.edges.replace("a", [written, edge("a", "b")])
    key_of_file = link_key("deep/APOLLO.md")
    assert catalog.edges.by_key([key_of_file], unresolved_only=True) == [written]
    catalog.edges.resolve([Resolution("a", "Projects/Apollo", "deep/APOLLO.md", "id9")])
    assert catalog.edges.by_key([key_of_file], unresolved_only=True) == []
    (resolved,) = catalog.edges.by_key([key_of_file])
    assert (resolved.target_path, resolved.target_id) == ("deep/APOLLO.md", "id9")
    assert catalog.edges.to_paths(["deep/APOLLO.md"]) == [resolved]


def test_only_edges_between_memories_make_the_graph(catalog: Catalog) -> None:
    catalog.upsert([note("a.md"), note("b.md"), note("c.md", is_memory=False), note("d.md")])
    catalog.edges.replace("a", [edge("a", x) for x in "bcd"])
    catalog.mark_missing(["d.md"], 1)
    assert [(e.source_id, e.target_id) for e in catalog.edges.among()] == [("a", "b")]
    assert catalog.edges.among(["a"]) == []


def test_a_walk_is_bounded_and_finds_the_strongest_way(catalog: Catalog) -> None:
    catalog.upsert([note(f"{x}.md") for x in ("s", "a", "b", "c", "far")])
    catalog.upsert([note(f"n{i}.md") for i in range(20)])
    catalog.upsert([note("hidden.md", is_memory=False)])
    catalog.edges.replace("s", [edge("s", "a"), edge("s", "b", weight=0.5), edge("s", "hidden")])
    catalog.edges.replace("c", [edge("c", "a", weight=0.5), edge("c", "b")])
    catalog.edges.replace("c2", [edge("c2", "c")])
    catalog.edges.replace("far", [edge("far", "c")])

    found = catalog.edges.walk({"s": 1.0}, hops=2, decay=0.5)
    assert [(r.id, r.hop, r.strength, r.via) for r in found] == [
        ("a", 1, 0.5, "s"),
        ("b", 1, 0.25, "s"),
        ("c", 2, 0.125, "a"),
    ]
    assert [r.id for r in catalog.edges.walk({"s": 1.0}, hops=3)] == ["a", "b", "c", "far"]
    assert catalog.edges.walk({"s": 1.0}, hops=0) == []
    assert [r.id for r in catalog.edges.walk({"s": 1.0, "a": 0.1}, hops=1)] == ["b", "c"]

    catalog.edges.replace("s", [edge("s", f"n{i}", weight=i / 20) for i in range(20)])
    strongest = [r.id for r in catalog.edges.walk({"s": 1.0}, hops=1)]
    assert strongest == [f"n{i}" for i in range(19, 11, -1)]
    assert len(catalog.edges.walk({"s": 1.0}, hops=3, limit=3)) == 3


def test_vectors_are_kept_while_used_or_needed(catalog: Catalog) -> None:
    day = 86_400_000
    vectors = {key("m", t): np.arange(4, dtype=np.float32) + i for i, t in enumerate("abc")}
    catalog.vectors.put(vectors, now=0)
    found = catalog.vectors.get([*vectors, key("m", "unknown")], now=10)
    assert found.keys() == vectors.keys()
    assert all(np.array_equal(found[k], v) for k, v in vectors.items())
    assert all(v.dtype == np.float32 for v in found.values())

    a, b, c = vectors
    catalog.upsert([note("a.md", vector_keys=(a,))])
    catalog.vectors.get([b], now=2 * day)
    assert catalog.vectors.prune(older_than=day) == 1
    assert catalog.vectors.get([a, b, c], now=2 * day).keys() == {a, b}
    assert catalog.vectors.count() == 2


def test_a_transaction_is_all_or_nothing(catalog: Catalog) -> None:
    def fail_half_way() -> None:
        with catalog.transaction():
            catalog.upsert([note("a.md")])
            catalog.edges.replace("a", [edge("a", "b")])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert catalog.paths() == []
    assert catalog.edges.stated_by("a") == []
    with catalog.transaction():
        catalog.upsert([note("a.md")])
        with catalog.transaction():
            catalog.upsert([note("b.md")])
    assert catalog.paths() == ["a.md", "b.md"]


def test_threads_may_use_it_at_once(catalog: Catalog) -> None:
    def work(name: str) -> None:
        for n in range(30):
            with catalog.transaction():
                catalog.upsert([note(f"{name}{n}.md")])
                assert catalog.by_id(f"{name}{n}") is not None

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(catalog.paths()) == 120


def damage_header(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 500)


def damage_page(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def make_newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()


@pytest.mark.parametrize("damage", [damage_header, damage_page, truncate, make_newer])
def test_an_unusable_file_is_moved_aside_and_begun_anew(tmp_path: Path, damage) -> None:
    path = tmp_path / "catalog.db"
    first = Catalog.open(path)
    first.upsert([note(f"{n}.md", title="x" * 100) for n in range(200)])
    first.close()
    damage(path)
    second = Catalog.open(path)
    assert second.rebuilt
    assert second.paths() == []
    second.upsert([note("a.md")])
    second.close()
    assert (tmp_path / "catalog.db.damaged").exists()


@pytest.mark.parametrize("harm", [lambda path: path.write_bytes(b""), Path.unlink])
def test_one_that_was_emptied_or_deleted_is_incomplete_until_filled(
    tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    path = tmp_path / "catalog.db"
    first = Catalog.open(path)
    assert not first.incomplete
    first.close()
    harm(path)
    second = Catalog.open(path, expected=True)
    assert second.rebuilt
    with pytest.raises(IndexUnavailable):
        second.require_complete()
    second.mark_filled()
    second.require_complete()
    second.close()


WRITER = """
import sys
from pathlib import Path
from second_brain.index.catalog import Catalog
from second_brain.index.rows import EdgeRow, NoteRow
catalog = Catalog.open(Path(sys.argv[1]))
n = 0
while True:
    with catalog.transaction():
        catalog.upsert([NoteRow(path=f"{n}.md", id=f"{n}")])
        catalog.edges.replace(f"{n}", [EdgeRow(f"{n}", "t", "t")])
    print(n, flush=True)
    n += 1
"""


def test_kill_9_loses_nothing_acknowledged_and_leaves_no_half(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    for _ in range(50):
        child.stdout.readline()
    time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    acknowledged = int(child.stdout.read().split()[-1] or 49)
    child.wait()

    catalog = Catalog.open(path)
    assert not catalog.rebuilt
    ids = {p.removesuffix(".md") for p in catalog.paths()}
    assert ids >= {str(n) for n in range(acknowledged + 1)}
    assert {e.source_id for e in catalog.edges.by_key(["t"])} == ids
    catalog.close()


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("Apollo", "Projects/apollo.md"),
        ("Projects/Apollo.md", "apollo.md"),
        ("./CAFE\u0301", "caf\u00e9.md"),
        ("v1.9 notes", "V1.9 Notes.md"),
    ],
)
def test_a_link_has_the_key_of_the_notes_it_may_mean(target: str, path: str) -> None:
    assert link_key(target) == link_key(path)
    assert link_key(target) != link_key("other.md")


def test_tag_keys_are_folded_and_have_their_parents() -> None:
    assert tag_keys(["#Work/Plan/Q1", "E\u0301te\u0301", "", "/"]) == [
        "work",
        "work/plan",
        "work/plan/q1",
        "\u00e9t\u00e9",
    ]
