"""Lists and numbers: recent memories, tags, statistics, notes, export, health; parts of a note."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import pytest
from live import AGENT, Brain

from second_brain.errors import InvalidInput, NoteNotFound
from second_brain.index.embedding import Embedder

DAY = 86_400_000

GUIDE = """Before the first heading.

# Guide

Top.

## Costs

Ten euros.

### Details

Five for paint.

## Plan

First.

```
## Costs in a fence
```

# Appendix

## Costs

Other costs.
"""


def dated(day: str, tags: str, text: str, **more: object) -> str:
    extra = "".join(f"{key}: {value}\n" for key, value in more.items())
    return f"---\ntags: [brain, {tags}]\ncreated: {day}\n{extra}---\n{text}\n"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Brain]:
    folder = tmp_path_factory.mktemp("overview")
    brain = Brain(folder / "vault", folder / "data", lambda name: embedder)
    importance = "second-brain-importance"
    notes: dict[str, str | bytes] = {
        "a.md": dated("2026-01-01", "Work/Plan", "Oldest. [[b]] [[nowhere]]", **{importance: 5}),
        "b.md": dated("2026-02-01", "work", "Middle.", **{importance: 2}),
        "c.md": dated("2026-03-01", "home, work", "Newest."),
        "Guide.md": f"---\ntags: [brain]\ncreated: 2025-12-01\n---\n{GUIDE}",
        "none.md": "No memory.\n",
        "Broken.md": "---\ntitle: a: b\n---\n#brain The rest can be read.\n",
        "utf16.md": "#brain wide".encode("utf-16"),
        "c (conflicted copy 2026-03-02).md": dated("2026-03-01", "work", "Newest, twice."),
    }
    for path, data in notes.items():
        brain.write(path, data)
    with brain:
        yield brain


def recent(brain: Brain, n: int = 20, **filters: object) -> list[str]:
    found = brain.run(brain.memories.list_recent(n, **filters))  # type: ignore[arg-type]
    return [memory.path for memory in found]


def test_recent_memories_are_newest_first(vault: Brain) -> None:
    assert recent(vault, 3) == ["c.md", "b.md", "a.md"]
    assert len(recent(vault)) == 5


def test_recent_memories_page_by_page(vault: Brain) -> None:
    everything = recent(vault)
    assert recent(vault, 2, offset=2) == everything[2:4]
    assert recent(vault, 2, offset=4) == everything[4:]
    assert recent(vault, 2, offset=5) == []


def test_memories_by_a_part_of_their_name(vault: Brain) -> None:
    found = vault.run(vault.memories.named("gui"))
    assert [(note.id, note.title, note.path) for note in found] == [
        (vault.id("Guide.md"), "Guide", "Guide.md")
    ]
    assert vault.run(vault.memories.named("none")) == []


def test_recent_memories_by_status_and_kind(vault: Brain) -> None:
    assert recent(vault, status="canonical") == []
    everything = recent(vault)
    assert recent(vault, kind="semantic") == everything
    assert recent(vault, kind="episodic") == []


def test_recent_memories_by_tag_and_time(vault: Brain) -> None:
    assert recent(vault, tag="work") == ["c.md", "b.md", "a.md"]
    assert recent(vault, tag="WORK/plan") == ["a.md"]
    assert recent(vault, tag="#home") == ["c.md"]
    assert recent(vault, tag="none") == []
    for empty in ("", " ", "#"):
        assert len(recent(vault, tag=empty)) == 5
    created = vault.run(vault.memories.get(vault.id("b.md"))).created_at
    assert recent(vault, after=created, before=created) == ["b.md"]
    assert recent(vault, after=created + 1, tag="work") == ["c.md"]
    assert recent(vault, before=created - 1, tag="work") == ["a.md"]


@pytest.mark.parametrize("n", [0, -3])
def test_a_list_of_nothing_is_refused(vault: Brain, n: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        recent(vault, n)
    assert caught.value.field == "n"


def test_a_memory_whole(vault: Brain) -> None:
    memory = vault.run(vault.memories.get(vault.id("a.md")))
    assert memory.content == "Oldest. [[b]] [[nowhere]]\n"
    assert memory.tags == ("Work/Plan",)
    assert (memory.source, memory.importance, memory.kind) == ("obsidian", 5, "semantic")
    assert memory.url == "obsidian://open?vault=vault&file=a"
    assert memory.chunk_ids == (f"{memory.id}#0",)


def test_tags_and_statistics(vault: Brain) -> None:
    assert vault.run(vault.memories.tags()) == ["Work/Plan", "home", "work"]
    stats = vault.run(vault.memories.stats())
    assert stats.count == vault.run(vault.memories.count()) == 5
    assert stats.avg_importance == 3.5
    assert stats.top_tags[0] == ("work", 2)
    assert (stats.unvectorized, stats.unclassified, stats.digest_candidates) == (0, 0, ())


def test_every_markdown_file_is_listed_with_its_state(vault: Brain) -> None:
    total, cursor, notes = vault.run(vault.memories.notes())
    assert (total, cursor) == (8, None)
    assert {note.path: note.status for note in notes} == {
        "a.md": "indexed",
        "b.md": "indexed",
        "c.md": "indexed",
        "Guide.md": "indexed",
        "Broken.md": "indexed",
        "none.md": "skipped",
        "utf16.md": "skipped",
        "c (conflicted copy 2026-03-02).md": "conflict-copy",
    } | {"utf16.md": next(n.status for n in notes if n.path == "utf16.md")}
    by_path = {note.path: note for note in notes}
    assert by_path["utf16.md"].status in ("failed", "skipped")
    assert "sync tag" in (by_path["none.md"].reason or "")
    links = {link["target"]: link["path"] for link in by_path["a.md"].links}
    assert links == {"b": "b.md", "nowhere": None}
    assert by_path["a.md"].size == len(vault.bytes("a.md"))


def test_pages_of_notes_hold_each_note_once(vault: Brain) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        total, cursor, notes = vault.run(vault.memories.notes(n=3, cursor=cursor))
        assert total == 8
        seen += [note.path for note in notes]
        if cursor is None:
            break
    assert seen == sorted(seen)
    assert len(seen) == len(set(seen)) == 8
    assert vault.run(vault.memories.notes(path="b.md"))[0] == 1
    assert vault.run(vault.memories.notes(path="missing.md")) == (0, None, [])
    assert vault.run(vault.memories.notes(status="conflict-copy"))[0] == 1
    with pytest.raises(InvalidInput):
        vault.run(vault.memories.notes(cursor="not a cursor"))


def test_health_names_what_the_user_should_mend(vault: Brain) -> None:
    health = vault.run(vault.memories.health())
    problems = {problem.path: problem for problem in health.problems}
    assert set(problems) == {"Broken.md", "utf16.md", "c (conflicted copy 2026-03-02).md"}
    assert problems["Broken.md"].kind == "note-problem"
    assert problems["utf16.md"].kind == "unreadable-note"
    assert problems["c (conflicted copy 2026-03-02).md"].kind == "conflict-copy"
    assert all(problem.hint and problem.message for problem in health.problems)
    assert health.vault["ok"]
    assert health.index["ok"]
    assert health.embedding["ok"]
    json.dumps(asdict(health))


def test_the_export_holds_every_memory_and_the_edges_between_them(vault: Brain) -> None:
    entries, edges = vault.run(vault.memories.export())
    assert len(entries) == 5
    assert {entry.memory.path for entry in entries} == set(recent(vault))
    a, b = vault.id("a.md"), vault.id("b.md")
    assert [(edge.source, edge.target, edge.type) for edge in edges] == [(a, b, "relates_to")]
    assert all(entry.memory.content for entry in entries)


# Parts of a note


@pytest.mark.parametrize(
    ("heading", "begins", "ends"),
    [
        ("Costs", "## Costs\n\nTen euros", "Five for paint.\n\n"),
        ("costs", "## Costs\n\nTen euros", "Five for paint.\n\n"),
        ("  Plan ", "## Plan", "```\n\n"),
        ("Guide > Costs", "## Costs\n\nTen euros", "Five for paint.\n\n"),
        ("Guide#Costs#Details", "### Details", "Five for paint.\n\n"),
        ("## Costs", "## Costs\n\nTen euros", "Five for paint.\n\n"),
        ("Appendix > Costs", "## Costs\n\nOther", "Other costs.\n"),
        ("Guide", "# Guide", "```\n\n"),
    ],
)
def test_the_part_under_a_heading(vault: Brain, heading: str, begins: str, ends: str) -> None:
    part = vault.run(vault.memories.section(vault.id("Guide.md"), heading))
    assert part.startswith(begins)
    assert part.endswith(ends)
    assert part in GUIDE


@pytest.mark.parametrize("heading", ["Nothing", "", "#", "Costs > Guide", "Costs in a fence"])
def test_a_heading_that_is_not_there(vault: Brain, heading: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        vault.run(vault.memories.section(vault.id("Guide.md"), heading))
    assert caught.value.field == "heading"


def test_a_part_of_an_unknown_memory(vault: Brain) -> None:
    with pytest.raises(NoteNotFound):
        vault.run(vault.memories.section("nobody", "Costs"))


# Digests


def test_digest_candidates_are_old_unimportant_and_rarely_recalled(brain: Brain) -> None:
    for n in range(12):
        brain.note(f"Old/{n}.md", dated("2025-01-01", "attic", f"Item {n} in the attic."))
    assert ("attic", 12) in brain.run(brain.memories.stats()).digest_candidates
    for n in (0, 1):
        brain.daemon.state.count_recalls([(brain.id(f"Old/{n}.md"), 1)])
        brain.daemon.state.count_recalls([(brain.id(f"Old/{n}.md"), 2)])
    brain.note("Old/2.md", dated("2025-01-01", "attic", "x", **{"second-brain-importance": 5}))
    assert brain.run(brain.memories.stats()).digest_candidates == ()


def test_list_and_count_follow_a_forget(brain: Brain) -> None:
    id, path = brain.remembered("A memory that will not last.")
    count = brain.run(brain.memories.count())
    assert recent(brain, 1) == [path]
    brain.run(brain.memories.forget(id, caller=AGENT))
    assert brain.run(brain.memories.count()) == count - 1
    assert path not in recent(brain, 50)
