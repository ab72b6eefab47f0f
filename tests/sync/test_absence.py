from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.sync.absence import reason_to_hold


def hold(known: int, missing: int, *, present: bool = True, empty: bool = False) -> str | None:
    return reason_to_hold(known, missing, root_present=present, root_empty=empty)


@pytest.mark.parametrize(
    ("known", "missing"), [(100, 10), (100, 30), (1000, 300), (3, 3), (10, 10), (1, 1)]
)
def test_a_few_deleted_notes_are_deleted(known: int, missing: int) -> None:
    assert hold(known, missing) is None


@pytest.mark.parametrize(("known", "missing"), [(20, 11), (36, 11), (1000, 301), (11, 11)])
def test_more_than_ten_that_are_more_than_a_third_at_once_are_held(
    known: int, missing: int
) -> None:
    assert hold(known, missing) == f"{missing} of {known} notes vanished at once"


@given(st.integers(1, 1000), st.integers(1, 1000))
def test_a_root_that_is_not_there_deletes_nothing(known: int, missing: int) -> None:
    assert hold(known, missing, present=False) is not None


@given(st.integers(2, 1000), st.integers(1, 1000))
def test_an_empty_root_deletes_nothing(known: int, missing: int) -> None:
    assert hold(known, missing, empty=True) is not None


def test_the_only_note_of_a_vault_can_be_deleted() -> None:
    assert hold(1, 1, empty=True) is None


@given(st.booleans(), st.booleans())
def test_nothing_is_held_when_nothing_is_missing(present: bool, empty: bool) -> None:
    assert hold(50, 0, present=present, empty=empty) is None
