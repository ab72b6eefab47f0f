"""Typed readers of what a caller sent: values of the right type, or `InvalidInput` for a field.

A JSON body is read strictly: a number in quotes is a caller's mistake. A query string has nothing
but text, and a language model is generous with quotes, so both are read leniently. A number out of
range is brought into it; a value of a wrong kind is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from second_brain.errors import InvalidInput

# Years 1970 to 9999 in Unix milliseconds: every instant that a note can have.
_LAST_INSTANT = 253_402_300_799_999
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}.*")
_YES = frozenset({"true", "1", "yes", "on"})
_NO = frozenset({"false", "0", "no", "off"})
_MAX_TAGS = 100


class Fields:
    """The parameters of one call. Absent, null and (where not required) empty are the same.

    Each method takes the parameter's name, followed by other names under which it may come.
    """

    def __init__(self, values: Mapping[str, object], *, lenient: bool) -> None:
        self._values = values
        self._lenient = lenient

    def text(self, *names: str) -> str:
        """Return a required text as it was sent.

        Raises:
            InvalidInput: it is missing, blank, not a string, or not storable as UTF-8 text.
        """
        value = self._text(names)
        if value is None or not value.strip():
            raise InvalidInput(names[0], f"'{names[0]}' is required and must be a non-empty string")
        return value

    def identifier(self, *names: str) -> str:
        """Return a required text without the white space around it."""
        return self.text(*names).strip()

    def optional_text(self, *names: str) -> str | None:
        """Return a text without the white space around it, or None."""
        value = self._text(names)
        return (value.strip() or None) if value is not None else None

    def strings(self, *names: str) -> tuple[str, ...]:
        """Return a list of texts without blank ones; leniently also `"a, b"` and `'["a"]'`."""
        name, value = self._find(names)
        if value is None:
            return ()
        if self._lenient and isinstance(value, str):
            value = _listed(value)
        if not isinstance(value, list):
            raise InvalidInput(name, f"'{name}' must be a list of strings")
        if len(value) > _MAX_TAGS:
            raise InvalidInput(name, f"'{name}' must have at most {_MAX_TAGS} items")
        items: list[str] = []
        for item in value:
            if self._lenient and isinstance(item, int) and not isinstance(item, bool):
                items.append(str(item))
            elif isinstance(item, str):
                items.append(_storable(name, item).strip())
            else:
                raise InvalidInput(name, f"'{name}' must be a list of strings")
        return tuple(item for item in items if item)

    def objects(self, name: str) -> list[Fields]:
        """Return the objects of a list, each as fields; none when absent."""
        value = self._values.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise InvalidInput(name, f"'{name}' must be a list of objects")
        return [Fields(item, lenient=self._lenient) for item in value]

    def integer(self, *names: str, default: int, low: int, high: int) -> int:
        """Return a whole number, brought into `low` to `high`."""
        value = self._integer(names)
        return default if value is None else max(low, min(high, value))

    def required_integer(self, *names: str) -> int:
        """Return a required whole number of at most 64 bits."""
        value = self._integer(names)
        if value is None:
            raise InvalidInput(names[0], f"'{names[0]}' is required and must be a whole number")
        return max(-(2**63), min(2**63 - 1, value))

    def share(self, *names: str) -> float | None:
        """Return a number above 0 and up to 1, or None."""
        name, value = self._find(names)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise InvalidInput(name, f"'{name}' must be a number above 0 and up to 1")
        return float(value)

    def time(self, *names: str) -> int | None:
        """Return Unix milliseconds; leniently an ISO 8601 date is understood (UTC)."""
        name, value = self._find(names)
        if self._lenient and isinstance(value, str) and _DATE.fullmatch(value.strip()):
            try:
                moment = datetime.fromisoformat(value.strip())
            except ValueError:
                raise InvalidInput(name, f"'{name}' is not a date that exists") from None
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return max(0, int(moment.timestamp() * 1000))
        number = self._integer(names, "a time in Unix milliseconds")
        return None if number is None else max(0, min(_LAST_INSTANT, number))

    def choice(self, *names: str, of: Iterable[str]) -> str | None:
        """Return one of the allowed words, or None."""
        value = self.optional_text(*names)
        allowed = tuple(of)
        if value is None or value in allowed:
            return value
        if self._lenient and value.lower() in allowed:
            return value.lower()
        raise InvalidInput(names[0], f"'{names[0]}' must be one of: {', '.join(allowed)}")

    def required_choice(self, *names: str, of: Iterable[str]) -> str:
        """Return one of the allowed words."""
        allowed = tuple(of)
        value = self.choice(*names, of=allowed)
        if value is None:
            raise InvalidInput(names[0], f"'{names[0]}' must be one of: {', '.join(allowed)}")
        return value

    def flag(self, *names: str) -> bool:
        """Return a truth value, False when absent."""
        name, value = self._find(names)
        if value is None or isinstance(value, bool):
            return bool(value)
        if self._lenient and isinstance(value, str | int):
            word = str(value).strip().lower()
            if word in _YES:
                return True
            if word in _NO:
                return False
        raise InvalidInput(name, f"'{name}' must be true or false")

    def _find(self, names: tuple[str, ...]) -> tuple[str, object]:
        for name in names:
            value = self._values.get(name)
            if value is not None and not (self._lenient and value == ""):
                return name, value
        return names[0], None

    def _text(self, names: tuple[str, ...]) -> str | None:
        name, value = self._find(names)
        if value is None:
            return None
        if not isinstance(value, str):
            raise InvalidInput(name, f"'{name}' must be a string")
        return _storable(name, value)

    def _integer(self, names: tuple[str, ...], what: str = "a whole number") -> int | None:
        name, value = self._find(names)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if self._lenient and isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
            return int(value)
        raise InvalidInput(name, f"'{name}' must be {what}")


def parse_object(body: bytes) -> dict[str, object] | None:
    """Return the JSON object in `body`, or None if it is not one.

    NaN and Infinity are not JSON; numbers of thousands of digits and nesting beyond the
    interpreter's limit are refused by the parser itself.
    """
    try:
        value = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _storable(name: str, value: str) -> str:
    """Return `value` if it can be written to a Markdown file exactly as it is."""
    if "\0" in value:
        raise InvalidInput(name, f"'{name}' must not contain NUL characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(name, f"'{name}' must be valid Unicode text") from None
    return value


def _listed(text: str) -> list[object]:
    """Read a list that a model wrote as text."""
    if text.lstrip().startswith("["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, list):
            return value
    return [part.strip() for part in text.split(",")]
