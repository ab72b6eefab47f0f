"""Puts one table into a TOML text, and takes it out again, with every other byte left as it is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import tomlkit
import tomlkit.exceptions

from second_brain.integrations.connect.refusal import CannotEdit

Values = Mapping[str, str | list[str]]

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def table_at(text: str, parent: str, name: str) -> dict[str, Any] | None:
    """The table `[parent.name]`, or None."""
    tables = _parsed(text).get(parent, {})
    if not isinstance(tables, dict):
        raise CannotEdit(f"its {parent} is not a table")
    found = tables.get(name)
    return found if isinstance(found, dict) else None


def with_table(text: str, parent: str, name: str, values: Values, owned: frozenset[str]) -> str:
    """`text` with `[parent.name]` holding `values`; of a table that is there, `owned` keys go."""
    before = _parsed(text)
    there = table_at(text, parent, name)
    kept = {key: value for key, value in (there or {}).items() if key not in owned}
    wanted = {**kept, **values}
    if there == wanted:
        return text
    new = _appended(text, parent, name, values) if there is None else text
    if there is not None:
        document: Any = tomlkit.parse(text)
        table = document[parent][name]
        for key in owned & there.keys() - values.keys():
            del table[key]
        for key, value in values.items():
            table[key] = value
        new = tomlkit.dumps(document)
    _check(new, {**before, parent: {**before.get(parent, {}), name: wanted}})
    return new


def without_table(text: str, parent: str, name: str) -> str:
    """`text` without `[parent.name]` and the tables below it."""
    while table_at(text, parent, name) is not None:
        before = _parsed(text)
        rest = {key: value for key, value in before[parent].items() if key != name}
        expected = {key: value for key, value in before.items() if key != parent}
        for new in _cuts(text, parent, name):
            found = _parsed_or_none(new)
            if found is None:
                continue
            if found in ({**expected, parent: rest}, expected if not rest else None):
                return new
            if _fewer(found, before, parent, name):
                text = new
                break
        else:
            raise CannotEdit(f"its [{parent}.{name}] has an unusual form; remove it by hand")
    return text


def _appended(text: str, parent: str, name: str, values: Values) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    table = tomlkit.table()
    for key, value in values.items():
        table[key] = value
    lines = [f"[{parent}.{name}]", *tomlkit.dumps(table).strip().split("\n")]
    block = newline.join(lines)
    if not text:
        return block + newline
    # What had no line break at its end has none afterwards: by that it can be put back.
    if text.endswith("\n"):
        return text + newline + block + newline
    return text + newline + newline + block


def _cuts(text: str, parent: str, name: str) -> Iterator[str]:
    """`text` without each section whose header may be the table's, the first one first."""
    part = rf"""(?:{re.escape(name)}|"{re.escape(name)}"|'{re.escape(name)}')"""
    header = re.compile(rf"^[ \t]*\[[ \t]*{re.escape(parent)}[ \t]*\.[ \t]*{part}[ \t]*[.\]]", re.M)
    for found in header.finditer(text):
        following = [next_.start() for next_ in _HEADER.finditer(text, found.end())]
        for end in [*following, len(text)]:
            yield _cut(text, found.start(), end)


def _cut(text: str, start: int, end: int) -> str:
    section = text[start:end]
    if end < len(text):
        # Comments and blank lines above the next header belong to that one.
        lines = section.splitlines(keepends=True)
        while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
            lines.pop()
        section = "".join(lines)
    before, after = text[:start], text[start + len(section) :]
    breaks = 1 if section.endswith("\n") else 2
    for _ in range(breaks):
        blank = re.search(r"(?:^|(?<=\n))\r?\n\Z" if breaks == 1 else r"\r?\n\Z", before)
        before = before[: blank.start()] if blank else before
    return before + after


def _fewer(found: dict[str, Any], before: dict[str, Any], parent: str, name: str) -> bool:
    """Whether a cut took away a part of the table, and nothing else."""
    left = {**found.get(parent, {})}
    part = left.pop(name, None)
    rest = {key: value for key, value in before[parent].items() if key != name}
    others = {key: value for key, value in found.items() if key != parent}
    same = left == rest and others == {k: v for k, v in before.items() if k != parent}
    return same and part != before[parent][name]


def _check(text: str, expected: dict[str, Any]) -> None:
    if _parsed_or_none(text) != expected:
        raise CannotEdit("its form does not allow another table; add it by hand")


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CannotEdit(f"it is not valid TOML ({error})") from error


def _parsed_or_none(text: str) -> dict[str, Any] | None:
    try:
        return _parsed(text)
    except CannotEdit:
        return None
