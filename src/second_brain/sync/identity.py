"""Which id a note has: the stored one, the one that the catalogue knows, or one from its path.

Pure: the rows that matter come in as values. A derived id is the same on every machine that holds
the same vault, because it depends on the vault-relative path only.
"""

from __future__ import annotations

import unicodedata
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

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


def derived_id(path: str, salt: int = 0) -> str:
    """The id of a note without a stored one, from its path when it was first seen."""
    name = unicodedata.normalize("NFC", path)
    return str(uuid.uuid5(NAMESPACE, name if salt == 0 else f"{name}\0{salt}"))


def assign_ids(
    seen: Iterable[Seen], known: Iterable[Known], is_taken: Callable[[str], bool]
) -> dict[str, str]:
    """Give every seen file its id; no two get the same.

    `known` holds the catalogue's rows at the seen paths, with the seen stored ids and with the
    seen digests; `is_taken` tells whether a row outside `known` has an id. In this order: a
    stored id, unless another present file has it (then this one is the copy); the id of the row
    at the same path if the text is unchanged; the id of the only vacated row with the same text
    (a rename or a swap); the id of the row at the same path; an id derived from the path.
    """
    files = sorted(seen, key=lambda file: file.path)
    rows = list(known)
    by_path = {row.path: row for row in rows}
    by_id = {row.id: row for row in rows}
    ids: dict[str, str] = {}
    given: set[str] = set()

    def give(path: str, id: str) -> None:
        ids[path] = id
        given.add(id)

    _give_stored(files, by_id, give, given)
    for file in files:
        row = by_path.get(file.path)
        if (
            file.path not in ids
            and row is not None
            and row.digest == file.digest
            and row.id not in given
        ):
            give(file.path, row.id)
    _give_renamed([file for file in files if file.path not in ids], rows, give, given)
    for file in files:
        if file.path in ids:
            continue
        row = by_path.get(file.path)
        if row is not None and row.id not in given:
            give(file.path, row.id)
            continue
        salt = 0
        while True:
            id = derived_id(file.path, salt)
            owner = by_id.get(id)
            foreign = owner is not None and owner.path != file.path
            if id not in given and not foreign and (owner is not None or not is_taken(id)):
                break
            salt += 1
        give(file.path, id)
    return ids


def _give_stored(
    files: list[Seen],
    by_id: Mapping[str, Known],
    give: Callable[[str, str], None],
    given: set[str],
) -> None:
    holders: dict[str, list[Seen]] = {}
    for file in files:
        if file.stored_id:
            holders.setdefault(file.stored_id, []).append(file)
    for id, candidates in holders.items():
        row = by_id.get(id)
        if row is not None:
            if any(file.path == row.path for file in candidates):
                give(row.path, id)
                continue
            if not row.vacated:
                continue  # a present file elsewhere has it: these are copies
        if id not in given:
            give(candidates[0].path, id)


def _give_renamed(
    files: list[Seen],
    rows: list[Known],
    give: Callable[[str, str], None],
    given: set[str],
) -> None:
    wanting: dict[str, list[Seen]] = {}
    for file in files:
        if file.size > 0:
            wanting.setdefault(file.digest, []).append(file)
    for digest, candidates in wanting.items():
        homeless = [
            row for row in rows if row.vacated and row.digest == digest and row.id not in given
        ]
        if len(candidates) == 1 and len(homeless) == 1:
            give(candidates[0].path, homeless[0].id)
