from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from second_brain.index.rows import Stamp
from second_brain.sync.comparing import changed_paths, slices, sort_missing
from second_brain.vault.files import FileStamp
from second_brain.vault.rules import SyncRule
from second_brain.vault.scan import Scan, Skipped

SAME = FileStamp(1, 2, 3)


def test_new_and_changed_files_are_looked_at_and_others_are_not() -> None:
    known = {"Same.md": Stamp(1, 2, 3, "h"), "Touched.md": Stamp(0, 2, 3, "h")}
    there = {"Same.md": SAME, "Touched.md": SAME, "New.md": SAME}
    assert sorted(changed_paths(there, known)) == ["New.md", "Touched.md"]


def test_a_name_that_means_something_only_beside_another_is_always_looked_at() -> None:
    path = "Plan-LAPTOP-1A2B3C4.md"
    assert changed_paths({path: SAME}, {path: Stamp(1, 2, 3, "h")}) == [path]


def test_missing_files_are_left_out_lost_or_unseen() -> None:
    found = Scan(
        skipped=[Skipped("Nested", "a vault of its own"), Skipped("Link.md", "a link")],
        unreadable=[Skipped("Locked", "no permission"), Skipped("Odd.md", "no permission")],
    )
    rule = SyncRule(exclude=("Private/",))
    paths = [
        "Nested/a.md",
        "Link.md",
        "Private/p.md",
        "Locked/x.md",
        "Odd.md",
        "Gone.md",
        "Nested.md",
    ]
    left_out, lost = sort_missing(paths, found, rule)
    assert left_out == ["Nested/a.md", "Link.md", "Private/p.md"]
    assert lost == ["Gone.md", "Nested.md"]


def test_nothing_is_lost_while_the_root_cannot_be_read() -> None:
    found = Scan(unreadable=[Skipped("", "no permission")])
    assert sort_missing(["A.md", "b/C.md"], found, SyncRule()) == ([], [])


@given(st.lists(st.integers(0, 400_000)), st.integers(1, 10))
def test_slices_keep_order_and_number_and_are_small(sizes: list[int], most: int) -> None:
    of = {f"{n}.md": size for n, size in enumerate(sizes)}
    parts = list(slices(of, of, most))
    assert [path for part in parts for path in part] == list(of)
    for part in parts:
        assert 1 <= len(part) <= most
        assert len(part) == 1 or sum(of[path] for path in part) <= 256 * 1024
