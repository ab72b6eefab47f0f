"""Reads the JSON that was asked for out of what a model wrote around it, and checks its shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from second_brain.intelligence.provider import ModelConfused

_MOST_CHARS = 400_000
_MOST_TRIES = 40
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_BEGINNING = re.compile(r"[{\[]")


def read_json(text: str, schema: Mapping[str, Any]) -> Any:
    """The first value in `text` that has the shape of `schema`. Raises ModelConfused.

    Models put JSON into fences, behind thoughts and between sentences; what looks like JSON there
    and is of another shape is passed over.
    """
    # Imported here: it costs a tenth of a second, and a daemon without a model never needs it.
    from jsonschema import (  # type: ignore[import-untyped]  # noqa: PLC0415
        Draft202012Validator,
    )

    validator = Draft202012Validator(dict(schema))
    complaint = "there is none"
    for value in _values(without_thoughts(text)):
        try:
            wrong = next(validator.iter_errors(value), None)
        except RecursionError:
            complaint = "it is nested too deeply"
            continue
        if wrong is None:
            return value
        complaint = wrong.message[:200]
    raise ModelConfused(f"The model did not answer with the JSON that was asked for: {complaint}")


def without_thoughts(text: str) -> str:
    """A text without what a reasoning model thought aloud."""
    return _THOUGHTS.sub("", text)


def _values(text: str) -> Iterator[Any]:
    text = text.strip()
    if len(text) > _MOST_CHARS:
        return
    decoder = json.JSONDecoder(parse_constant=_no_number)
    place = 0
    for _ in range(_MOST_TRIES):
        found = _BEGINNING.search(text, place)
        if found is None:
            return
        try:
            value, place = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            place = found.end()
            continue
        yield value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
