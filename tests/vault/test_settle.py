"""When a path is left alone for long enough. Times are made up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from second_brain.vault.settle import Due, Settler


def test_a_change_is_due_once_after_the_last_event() -> None:
    settler = Settler(settle=0.3)
    for tick in range(5):
        settler.changed("a.md", tick * 0.1)
    assert not settler.due(0.6)
    assert settler.next_due() == 0.7
    assert settler.due(0.71) == Due(changed={"a.md"})
    assert not settler.due(100)
    assert settler.next_due() is None


def test_a_file_that_never_rests_is_due_all_the_same() -> None:
    settler = Settler(settle=0.3, longest=5)
    tick = 0
    while not (due := settler.due(tick / 10)):
        settler.changed("a.md", tick / 10)
        tick += 1
    assert due.changed == {"a.md"}
    assert 5 <= tick / 10 <= 5.2


def test_a_deletion_waits_and_a_file_that_comes_back_was_changed() -> None:
    settler = Settler()
    settler.deleted("gone.md", 0)
    settler.deleted("back.md", 0)
    settler.created("back.md", 1.0)
    settler.changed("back.md", 1.1)
    assert settler.due(1.45) == Due(changed={"back.md"})
    assert settler.due(1.6) == Due(deleted={"gone.md"})


def test_a_long_edited_file_that_is_deleted_still_waits_for_its_return() -> None:
    settler = Settler()
    for tick in range(49):
        settler.changed("a.md", tick / 10)
    settler.deleted("a.md", 4.9)
    assert not settler.due(5.2)
    settler.changed("a.md", 5.3)
    assert settler.due(6) == Due(changed={"a.md"})


def test_a_move_keeps_both_names_and_moves_are_chained() -> None:
    settler = Settler()
    settler.moved("a.md", "b.md", 0)
    settler.moved("b.md", "c/d.md", 0.1)
    settler.changed("c/d.md", 0.2)
    assert not settler.due(0.45)
    assert settler.due(0.51) == Due(moved=[("a.md", "c/d.md")])
    assert settler.due(2) == Due(deleted={"b.md"})  # It may have been there before.


def test_a_move_there_and_back_is_a_change() -> None:
    settler = Settler()
    settler.moved("a.md", "b.md", 0)
    settler.moved("b.md", "a.md", 0.1)
    assert settler.due(1) == Due(changed={"a.md"})


def test_two_notes_that_swap_names_are_two_moves() -> None:
    settler = Settler()
    settler.moved("a.md", "t.md", 0)
    settler.moved("b.md", "a.md", 0)
    settler.moved("t.md", "b.md", 0)
    due = settler.due(1)
    assert sorted(due.moved) == [("a.md", "b.md"), ("b.md", "a.md")]
    assert not due.changed


def test_a_temporary_note_that_replaces_a_note_is_a_change_of_it() -> None:
    settler = Settler()
    settler.created("a new.md", 0)
    settler.changed("a new.md", 0.01)
    settler.moved("a new.md", "a.md", 0.02)
    assert settler.due(1) == Due(changed={"a.md"})
    assert settler.due(2) == Due(deleted={"a new.md"})


def test_a_backup_made_by_renaming_is_not_a_rename() -> None:
    settler = Settler()
    settler.moved("a.md", "a backup.md", 0)
    settler.created("a.md", 0.2)
    assert settler.due(0.35) == Due(changed={"a backup.md"})
    assert settler.due(1) == Due(changed={"a.md"})


def test_a_note_that_was_moved_and_deleted_is_deleted_under_its_old_name() -> None:
    settler = Settler()
    settler.moved("a.md", "b.md", 0)
    settler.deleted("b.md", 0.1)
    assert settler.due(2) == Due(deleted={"a.md", "b.md"})


def test_folders_and_lost_events() -> None:
    settler = Settler()
    settler.subtree("new", 0)
    settler.subtree("old", 0, gone=True)
    settler.rescan(1)
    assert settler.due(0.4) == Due(subtrees={"new"})
    assert settler.due(1.35) == Due(rescan=True)
    assert settler.due(1.6) == Due(subtrees={"old"})


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["created", "changed", "deleted", "moved"]),
        st.sampled_from("abcd"),
        st.sampled_from("abcd"),
        st.floats(0, 0.6),
    ),
    max_size=40,
)


@given(EVENTS)
def test_every_path_that_had_an_event_is_looked_at_after_its_last_event(events) -> None:  # type: ignore[no-untyped-def]
    settler = Settler()
    now = 0.0
    last: dict[str, float] = {}
    looked: dict[str, float] = {}

    def look(due: Due) -> None:
        for old, new in due.moved:
            looked[old] = looked[new] = now
        for path in due.changed | due.deleted:
            looked[path] = now

    for kind, path, other, pause in events:
        now += pause
        look(settler.due(now))
        if kind == "moved":
            if path == other:
                continue
            settler.moved(path, other, now)
            last[path] = last[other] = now
        else:
            getattr(settler, kind)(path, now)
            last[path] = now
    while (at := settler.next_due()) is not None:
        now = max(now, at)
        look(settler.due(now))
    assert set(last) == set(looked)
    assert all(looked[path] >= last[path] for path in last)
    assert now <= sum(event[3] for event in events) + 5.01
