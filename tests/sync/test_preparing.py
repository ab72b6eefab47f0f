from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from second_brain.memory.describe import describe
from second_brain.sync.prepare import Chunking, Prepared, not_understood, prepare
from second_brain.vault.files import FileStamp, digest
from second_brain.vault.rules import SyncRule, conflict_copy

STAMP = FileStamp(1_700_000_000_123_456_789, 10, 1)
MEMORY = "---\ntags: [brain, boat]\n---\n"


def prepared(
    text: str | bytes, path: str = "folder/Note.md", rule: SyncRule | None = None, *there: str
) -> Prepared:
    return prepare(
        path,
        text if isinstance(text, bytes) else text.encode(),
        STAMP,
        rule=rule or SyncRule(exclude=("Private/",)),
        describe=describe,
        chunking=Chunking(),
        is_conflict_copy=conflict_copy(path, lambda other: other in there),
    )


def test_a_memory_has_passages_and_its_own_tags() -> None:
    item = prepared(MEMORY + "# Mast\nTall.\n")
    assert (item.state, item.reason, item.is_memory) == ("indexed", None, True)
    assert item.facets.tags == ("boat",)
    rows = item.rows("id", [None] * len(item.texts))
    assert [row.id for row in rows] == [f"id#{n}" for n in range(len(item.chunks))]
    assert rows[0].title == "Note"
    assert "Tall." in rows[0].text
    assert rows[0].tags == ("boat",)


def test_what_is_no_memory_says_why_and_has_no_passages() -> None:
    for text, path, there, state, why in (
        ("plain", "N.md", "", "skipped", "no sync tag"),
        ("---\nsecond-brain: false\n---\n#brain", "N.md", "", "skipped", "second-brain is false"),
        (MEMORY, "Private/N.md", "", "skipped", "excluded by Private/"),
        (b"#brain \x00", "N.md", "", "failed", "not UTF-8"),
        (MEMORY, "N (conflicted copy 2026-01-01).md", "", "conflict-copy", "conflict copy"),
        (MEMORY, "N-LAPTOP-1A2B3C4.md", "N.md", "conflict-copy", "conflict copy"),
    ):
        item = prepared(text, path, None, there)
        assert item.state == state
        assert why in (item.reason or "")
        assert item.chunks == ()


def test_a_name_like_a_conflict_copys_alone_is_a_note() -> None:
    assert prepared(MEMORY, "N-LAPTOP-1A2B3C4.md").is_memory


def test_created_is_the_property_or_else_the_files_time() -> None:
    assert prepared(MEMORY).created == 1_700_000_000_123
    assert prepared("---\ntags: brain\ncreated: 2020-01-01T00:00:00Z\n---\n").created == (
        1_577_836_800_000
    )


def test_a_memory_without_text_can_be_found_by_its_title() -> None:
    item = prepared(MEMORY)
    assert len(item.chunks) == 1
    assert item.texts[0].strip() != ""


def test_a_note_that_was_not_understood_is_named_with_its_reason() -> None:
    item = not_understood("x/Odd.md", "hash", STAMP, ValueError("secret text"))
    assert item.state == "failed"
    assert "ValueError" in (item.reason or "")
    assert "secret text" not in (item.reason or "")
    assert (item.note.title, item.digest, item.chunks) == ("Odd", "hash", ())


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda t: (MEMORY + t).encode()))
def test_anything_can_be_prepared_and_the_bytes_decide(data: bytes) -> None:
    item = prepared(data)
    assert item.digest == digest(data)
    assert item.is_memory == bool(item.chunks)
    assert len(item.texts) == len(item.chunks)
    assert [chunk.ordinal for chunk in item.chunks] == list(range(len(item.chunks)))
    again = prepared(data)
    assert (again.texts, again.facets, again.created) == (item.texts, item.facets, item.created)
