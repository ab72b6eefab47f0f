"""Which id a note has: the stored one, the one that the catalogue knows, or one from its path.

Pure: the rows that matter come in as values. A derived id is the same on every machine that holds
the same vault, because it depends on the vault-relative path only.
"""

from __future__ import annotations

import unicodedata
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

NAMESPACE = uuid.UUID("6f1d2f0e-7c7b-5c55-9d0e-3a5c0f6c9b11")


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it is on disk now. `stored_id` is its `second-brain-id`; `size` is in bytes."""

    path: str
    digest: str
    size: int
    stored_id: str | None


@dataclass(frozen=True, slots=True)
class Known:
    """What the catalogue knows. `vacated`: no file, or another text, is at `path` now."""

    path: str
    id: str
    digest: str
    vacated: bool


_Item = TypeVar("_Item", Seen, Known)


def derived_id(path: str, salt: int = 0) -> str:
    """The id of a note without a stored one, from its path when it was first seen."""
    name = unicodedata.normalize("NFC", path)
    return str(uuid.uuid5(NAMESPACE, name if salt == 0 else f"{name}\0{salt}"))


def assign_ids(
    seen: Iterable[Seen],
    known: Iterable[Known],
    is_taken: Callable[[str], bool],
    moved: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Give every seen file its id; no two get the same.

    `known` holds the catalogue's rows at the seen paths, with the seen stored ids, with the seen
    digests, and at the paths that files were `moved` from (new path to old path, as events
    reported it); `is_taken` tells whether a row outside `known` has an id. In this order: a stored
    id, unless another present file has it (then this one is the copy); the id of the vacated row
    that the file was moved from; the id of the row at the same path if the text is unchanged; the
    id of the only vacated row with the same text, or with the same text and file name (a rename or
    a swap); the id of the row at the same path; an id derived from the path.
    """
    files = sorted(seen, key=lambda file: file.path)
    rows = sorted(known, key=lambda row: row.path)
    by_path = {row.path: row for row in rows}
    by_id = {row.id: row for row in rows}
    given: dict[str, str] = {}  # id to path
    ids: dict[str, str] = {}

    def give(path: str, row: Known | None) -> None:
        if row is not None and path not in ids and row.id not in given:
            ids[path] = row.id
            given[row.id] = path

    def without() -> list[Seen]:
        return [file for file in files if file.path not in ids]

    for path, id in _stored(files, by_id).items():
        ids[path] = id
        given[id] = path
    for file in without():
        row = by_path.get(moved.get(file.path, ""))
        give(file.path, row if row is not None and row.vacated else None)
    for file in without():
        row = by_path.get(file.path)
        give(file.path, row if row is not None and row.digest == file.digest else None)
    for file, row in _renamed(without(), [row for row in rows if row.id not in given]):
        give(file.path, row)
    for file in without():
        give(file.path, by_path.get(file.path))
    for file in without():
        id = _fresh_id(file.path, given, by_id, is_taken)
        ids[file.path] = id
        given[id] = file.path
    return _settled(ids, files, rows)


def _settled(ids: dict[str, str], files: Sequence[Seen], rows: Sequence[Known]) -> dict[str, str]:
    """The ids as the next look at the same files would leave them: what was moved has left its own
    id, and that may be the one that stands in another file."""
    elsewhere = {row.id: row for row in rows if not row.vacated and row.path not in ids}
    while True:
        here = {id: Known(path, id, "", vacated=False) for path, id in ids.items()}
        stored = _stored(files, {**elsewhere, **here})
        if all(ids[path] == id for path, id in stored.items()):
            return ids
        ids = {**ids, **stored}


def _stored(files: Sequence[Seen], by_id: Mapping[str, Known]) -> dict[str, str]:
    """Which files have the id that stands in them: of several, the one that had it before."""
    holders: dict[str, list[Seen]] = {}
    for file in files:
        if file.stored_id:
            holders.setdefault(file.stored_id, []).append(file)
    found: dict[str, str] = {}
    granted: set[str] = set()
    before = -1
    while len(found) > before:  # A file that is given another id leaves its own to others.
        before = len(found)
        for id, candidates in holders.items():
            row = by_id.get(id)
            if id in granted:
                continue
            if row is not None and any(file.path == row.path for file in candidates):
                found[row.path] = id
            elif row is None or row.vacated or row.path in found:
                found[candidates[0].path] = id
            else:
                continue
            granted.add(id)
            # Else a present file elsewhere has it: these are copies.
    return found


def _renamed(files: Sequence[Seen], rows: Sequence[Known]) -> list[tuple[Seen, Known]]:
    """Files and the vacated rows that can only be theirs, by text; among equals by file name."""
    wanting = _grouped((file for file in files if file.size > 0), lambda file: file.digest)
    homeless = _grouped((row for row in rows if row.vacated), lambda row: row.digest)
    pairs: list[tuple[Seen, Known]] = []
    for digest, candidates in wanting.items():
        rest = homeless.get(digest, [])
        if len(candidates) == 1 and len(rest) == 1:
            pairs.append((candidates[0], rest[0]))
            continue
        named = _grouped(rest, lambda row: _name(row.path))
        for name, same in _grouped(candidates, lambda file: _name(file.path)).items():
            if len(same) == 1 and len(named.get(name, [])) == 1:
                pairs.append((same[0], named[name][0]))
    return pairs


def _grouped(items: Iterable[_Item], key: Callable[[_Item], str]) -> dict[str, list[_Item]]:
    groups: dict[str, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _fresh_id(
    path: str,
    given: Mapping[str, str],
    by_id: Mapping[str, Known],
    is_taken: Callable[[str], bool],
) -> str:
    salt = 0
    while True:
        id = derived_id(path, salt)
        owner = by_id.get(id)
        free = owner.path == path if owner is not None else not is_taken(id)
        if free and id not in given:
            return id
        salt += 1
