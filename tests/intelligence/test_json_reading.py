"""JSON is found in whatever a model writes around it; another shape is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.intelligence.json_reading import read_json
from second_brain.intelligence.provider import ModelConfused

SCHEMA = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"type": "string"}},
        "n": {"type": "integer"},
    },
    "required": ["items", "n"],
    "additionalProperties": False,
}
VALUES = st.fixed_dictionaries(
    {"items": st.lists(st.text(max_size=20), max_size=4), "n": st.integers()}
)
NOISE = st.text(alphabet=st.characters(exclude_characters="{[<"), max_size=60)


@given(
    VALUES,
    NOISE,
    NOISE,
    st.sampled_from(["", "```json\n", '{"n": "wrong"} ', "[1] { ", "<think>{}</think>"]),
)
def test_it_is_found_between_words(value: Any, before: str, after: str, mark: str) -> None:
    text = f"{before}{mark}{json.dumps(value)}\n```{after}"
    assert read_json(text, SCHEMA) == value


@given(
    st.text(max_size=300)
    | st.recursive(st.none() | st.booleans() | st.text(max_size=5), st.lists).map(json.dumps)
)
def test_anything_else_is_refused_and_nothing_crashes(text: str) -> None:
    with pytest.raises(ModelConfused):
        read_json(text, SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"items": [], "n": NaN}',
        '{"items": [], "n": 1e400}',
        "x" * 500_000,
    ],
)
def test_what_is_made_to_hurt(text: str) -> None:
    with pytest.raises(ModelConfused):
        read_json(text, SCHEMA)
