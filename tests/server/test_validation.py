from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.errors import InvalidInput
from second_brain.server.validation import Fields, parse_object

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(value=JSON | st.text(alphabet="0123456789-T:Z.+e", max_size=30), lenient=st.booleans())
def test_any_value_is_read_or_refused_by_name(value: object, lenient: bool) -> None:
    fields = Fields({"x": value}, lenient=lenient)
    refused: list[InvalidInput] = []
    for read in (
        lambda: fields.text("x"),
        lambda: fields.identifier("x"),
        lambda: fields.optional_text("x"),
        lambda: fields.strings("x"),
        lambda: fields.integer("x", default=1, low=0, high=9),
        lambda: fields.required_integer("x"),
        lambda: fields.time("x"),
        lambda: fields.choice("x", of=("a", "b")),
        lambda: fields.flag("x"),
    ):
        try:
            read()
        except InvalidInput as error:
            refused = error
            assert (refused.field, "x" in str(refused)) == ("x", True)


@given(st.text())
def test_text_that_is_storable_comes_back_as_it_was(text: str) -> None:
    fields = Fields({"x": text}, lenient=False)
    try:
        assert fields.text("x") == text
    except InvalidInput:
        assert not text.strip() or "\0" in text


@given(st.integers())
def test_integers_stay_in_their_bounds(value: int) -> None:
    fields = Fields({"x": value}, lenient=False)
    assert fields.integer("x", default=5, low=1, high=20) == max(1, min(20, value))
    assert abs(fields.required_integer("x")) <= 2**63
    assert 0 <= (fields.time("x") or 0) < 2**48


@pytest.mark.parametrize("value", ["5", " 5 ", "+5", 5, 5.0])
def test_numbers_in_quotes_are_read_leniently(value: object) -> None:
    assert Fields({"n": value}, lenient=True).integer("n", default=1, low=1, high=20) == 5


@pytest.mark.parametrize("value", ["5", True, 5.5, math.inf, math.nan, [5]])
def test_and_strictly_not(value: object) -> None:
    with pytest.raises(InvalidInput):
        Fields({"n": value}, lenient=False).integer("n", default=1, low=1, high=20)


@pytest.mark.parametrize(
    "value", ["a, b", '["a", "b"]', ["a", " b ", ""], "a,,b,", ' ["a","b"] ', ["a", "b"]]
)
def test_lists_as_a_model_writes_them(value: object) -> None:
    assert Fields({"tags": value}, lenient=True).strings("tags") == ("a", "b")


def test_a_text_that_only_looks_like_a_list() -> None:
    assert Fields({"tags": "[a, b"}, lenient=True).strings("tags") == ("[a", "b")
    assert Fields({"tags": [2026]}, lenient=True).strings("tags") == ("2026",)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-01", 1_767_225_600_000),
        ("2026-01-01T01:00:00+01:00", 1_767_225_600_000),
        ("2026-01-01T00:00:00Z", 1_767_225_600_000),
        ("1767225600000", 1_767_225_600_000),
        (-5, 0),
        ("", None),
        (10**17, 253_402_300_799_999),
    ],
)
def test_times(value: object, expected: int | None) -> None:
    assert Fields({"after": value}, lenient=True).time("after") == expected


def test_other_names_of_a_parameter() -> None:
    assert Fields({"q": "x"}, lenient=True).text("query", "q") == "x"
    assert Fields({"query": "", "q": "x"}, lenient=True).text("query", "q") == "x"
    with pytest.raises(InvalidInput, match="'query' is required"):
        Fields({}, lenient=True).text("query", "q")


@given(JSON)
def test_only_objects_are_bodies(value: object) -> None:
    text = json.dumps(value)
    parsed = parse_object(text.encode())
    if isinstance(value, dict) and "NaN" not in text and "Infinity" not in text:
        assert parsed == json.loads(text)
    elif not isinstance(value, dict):
        assert parsed is None


@given(st.binary())
def test_any_bytes_are_a_body_or_none(body: bytes) -> None:
    assert parse_object(body) is None or isinstance(parse_object(body), dict)
