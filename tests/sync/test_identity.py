from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from hypothesis import example, given
from hypothesis import strategies as st

from second_brain.sync.identity import Known, Seen, assign_ids, derived_id


def seen(path: str, text: str = "text", stored: str | None = None) -> Seen:
    return Seen(path, text, len(text), stored)


def known(path: str, id: str, text: str = "text", *, vacated: bool = False) -> Known:
    return Known(path, id, text, vacated)


def nobody(id: str) -> bool:
    return False


def test_a_note_seen_for_the_first_time_gets_the_same_id_on_every_machine() -> None:
    files = [seen("A.md"), seen("b/É.md", "other")]
    one = assign_ids(files, [], nobody)
    two = assign_ids(reversed(files), [], nobody)
    decomposed = seen(unicodedata.normalize("NFD", "b/É.md"), "other")
    assert one == two == {"A.md": derived_id("A.md"), "b/É.md": derived_id("b/É.md")}
    assert list(assign_ids([decomposed], [], nobody).values()) == [one["b/É.md"]]


def test_a_stored_id_wins_over_the_one_that_the_catalogue_knows() -> None:
    row = known("A.md", "old")
    assert assign_ids([seen("A.md", stored="mine")], [row], nobody) == {"A.md": "mine"}


def test_an_edit_keeps_the_id() -> None:
    assert assign_ids([seen("A.md", "new text")], [known("A.md", "1", vacated=True)], nobody) == {
        "A.md": "1"
    }


def test_a_rename_keeps_the_id() -> None:
    rows = [known("A.md", "1", vacated=True)]
    assert assign_ids([seen("z/B.md")], rows, nobody) == {"z/B.md": "1"}
    assert assign_ids([seen("a.md")], rows, nobody) == {"a.md": "1"}


def test_a_note_that_was_moved_and_edited_keeps_its_id_if_an_event_told_of_it() -> None:
    rows = [known("A.md", "1", vacated=True)]
    file = seen("B.md", "edited on the way")
    assert assign_ids([file], rows, nobody, {"B.md": "A.md"}) == {"B.md": "1"}
    assert assign_ids([file], rows, nobody) == {"B.md": derived_id("B.md")}


def test_a_move_is_not_believed_while_the_note_is_still_where_it_was() -> None:
    rows = [known("A.md", "1")]
    assert assign_ids([seen("B.md")], rows, nobody, {"B.md": "A.md"}) == {
        "B.md": derived_id("B.md")
    }


def test_two_notes_that_swapped_their_names() -> None:
    rows = [known("A.md", "1", "a", vacated=True), known("B.md", "2", "b", vacated=True)]
    swapped = [seen("A.md", "b"), seen("B.md", "a")]
    assert assign_ids(swapped, rows, nobody) == {"A.md": "2", "B.md": "1"}
    moves = {"A.md": "B.md", "B.md": "A.md"}
    edited = [seen("A.md", "b!"), seen("B.md", "a!")]
    assert assign_ids(edited, rows, nobody, moves) == {"A.md": "2", "B.md": "1"}


def test_a_copy_gets_an_id_of_its_own() -> None:
    rows = [known("A.md", "1")]
    assert assign_ids([seen("A copy.md")], rows, nobody) == {"A copy.md": derived_id("A copy.md")}


def test_of_two_files_with_one_stored_id_the_known_one_keeps_it() -> None:
    row = known("Z.md", "mine")
    copy = seen("A.md", stored="mine")
    assert assign_ids([copy], [row], nobody) == {"A.md": derived_id("A.md")}
    both = [copy, seen("Z.md", "edited", stored="mine")]
    assert assign_ids(both, [row], nobody) == {"A.md": derived_id("A.md"), "Z.md": "mine"}
    assert assign_ids(both, [], nobody) == {"A.md": "mine", "Z.md": derived_id("Z.md")}


def test_a_stored_id_follows_its_note_when_the_old_place_is_empty() -> None:
    row = known("A.md", "mine", vacated=True)
    assert assign_ids([seen("B.md", "edited", "mine")], [row], nobody) == {"B.md": "mine"}


def test_a_deleted_note_that_comes_back_is_the_same() -> None:
    row = known("A.md", "1", vacated=True)
    assert assign_ids([seen("A.md")], [row], nobody) == {"A.md": "1"}
    assert assign_ids([seen("Restored/Else.md")], [row], nobody) == {"Restored/Else.md": "1"}


def test_equal_notes_of_a_renamed_folder_are_told_apart_by_their_names() -> None:
    rows = [known("old/A.md", "1", vacated=True), known("old/B.md", "2", vacated=True)]
    files = [seen("new/B.md"), seen("new/A.md")]
    assert assign_ids(files, rows, nobody) == {"new/A.md": "1", "new/B.md": "2"}


def test_equal_notes_under_new_names_are_not_guessed_at() -> None:
    rows = [known("A.md", "1", vacated=True), known("B.md", "2", vacated=True)]
    assert assign_ids([seen("C.md")], rows, nobody) == {"C.md": derived_id("C.md")}


def test_an_empty_note_is_nobodys_rename() -> None:
    row = known("A.md", "1", "", vacated=True)
    assert assign_ids([seen("B.md", "")], [row], nobody) == {"B.md": derived_id("B.md")}


def test_a_derived_id_that_a_renamed_note_took_along_is_not_given_again() -> None:
    taken = derived_id("A.md")
    assert assign_ids([seen("A.md", "new")], [], lambda id: id == taken) == {
        "A.md": derived_id("A.md", 1)
    }
    moved_on = known("B.md", taken)
    assert assign_ids([seen("A.md")], [moved_on], nobody) == {"A.md": derived_id("A.md", 1)}


def test_a_copy_that_is_given_its_own_id_leaves_the_one_that_it_had() -> None:
    files = [seen("A.md", "one", "i1"), seen("B.md", "two", "i2")]
    assert assign_ids(files, [known("A.md", "i2", "one")], nobody) == {"A.md": "i1", "B.md": "i2"}


PATHS = st.sampled_from(["A.md", "a.md", "B.md", "x/A.md", "x/B.md", "y/A.md"])
TEXTS = st.sampled_from(["", "one", "two", "three"])
IDS = st.sampled_from(["i1", "i2", "i3", derived_id("A.md"), derived_id("B.md")])
FILES = st.lists(
    st.builds(seen, PATHS, TEXTS, st.none() | IDS), unique_by=lambda file: file.path, max_size=6
)


@st.composite
def rows_for(draw: st.DrawFn, files: list[Seen]) -> list[Known]:
    """Rows of a catalogue: each path and each id once; vacated as the files say."""
    texts = {file.path: file.digest for file in files}
    rows = draw(
        st.lists(
            st.tuples(PATHS, IDS, TEXTS, st.booleans()),
            unique_by=(lambda row: row[0], lambda row: row[1]),
            max_size=5,
        )
    )
    return [
        Known(path, id, text, texts[path] != text if path in texts else vacated)
        for path, id, text, vacated in rows
    ]


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[Seen], list[Known], dict[str, str]]:
    files = draw(FILES)
    moves = draw(st.dictionaries(PATHS, PATHS, max_size=3))
    return files, draw(rows_for(files)), moves


Situation = tuple[list[Seen], list[Known], dict[str, str]]


@given(situations(), st.sets(IDS))
def test_every_file_gets_one_id_and_no_two_get_the_same(case: Situation, taken: set[str]) -> None:
    files, rows, moves = case
    ids = assign_ids(files, rows, taken.__contains__, moves)
    assert ids.keys() == {file.path for file in files}
    assert len(set(ids.values())) == len(ids)


@given(situations())
def test_a_note_that_is_where_and_what_it_was_keeps_its_id(case: Situation) -> None:
    files, rows, _ = case
    stored = {file.stored_id for file in files}
    ids = assign_ids(files, rows, nobody)
    for file in files:
        for row in rows:
            same = (file.path, file.digest) == (row.path, row.digest)
            if (
                same
                and file.stored_id in (None, row.id)
                and row.id not in stored - {file.stored_id}
            ):
                assert ids[file.path] == row.id


@given(situations())
def test_nobody_takes_the_id_of_a_note_that_is_still_there(case: Situation) -> None:
    files, rows, moves = case
    ids = assign_ids(files, rows, nobody, moves)
    stored = {file.path: file.stored_id for file in files}
    here = {row.id: row for row in rows if not row.vacated}
    left = {row.path: row.id for row in rows if row.vacated}
    for path, id in ids.items():
        home = here[id].path if id in here else path
        # A note that was given the id that stands in it, or came with the one of the place that it
        # was moved from, leaves its own to others.
        brought = stored.get(home), left.get(moves.get(home, ""))
        assert home == path or (ids[home] != id and ids[home] in brought)


@given(situations())
@example(
    # A note is moved onto one of the same text, and a copy of that one takes its place.
    (
        [Seen("B.md", "", 0, None), Seen("a.md", "", 0, "i1")],
        [Known("a.md", "i2", "one", vacated=True), Known("B.md", "i1", "", vacated=False)],
        {"B.md": "a.md"},
    )
)
def test_what_was_decided_stays(case: Situation) -> None:
    files, rows, moves = case
    first = assign_ids(files, rows, nobody, moves)
    digests = {file.path: file.digest for file in files}
    after = [Known(path, id, digests[path], vacated=False) for path, id in first.items()]
    after += [row for row in rows if not row.vacated and row.path not in first]
    assert assign_ids(files, after, nobody) == first


@given(situations(), st.randoms())
def test_the_order_of_files_and_rows_does_not_matter(case: Situation, random: object) -> None:
    files, rows, moves = case
    expected = assign_ids(files, rows, nobody, moves)
    assert assign_ids(_shuffled(files, random), _shuffled(rows, random), nobody, moves) == expected


def _shuffled(items: Iterable[object], random: object) -> list:  # type: ignore[type-arg]
    found = list(items)
    random.shuffle(found)  # type: ignore[attr-defined]
    return found
