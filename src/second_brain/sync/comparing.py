"""What a scan says beside what the catalogue knows: changed, left out, lost.

Pure, but for `look_into`, which scans.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from second_brain.index.rows import Stamp
from second_brain.vault.files import FileStamp
from second_brain.vault.rules import SyncRule, conflict_copy, numbered_copy
from second_brain.vault.scan import Scan, scan

_SLICE_BYTES = 256 * 1024
"""Enough passages for a commit that need not wait for company, little enough to be embedded in
some seconds."""


@dataclass(slots=True)
class Seen:
    """Files that are in some folders, and what is known of them; paths left out now, and lost."""

    there: dict[str, FileStamp] = field(default_factory=dict)
    known: dict[str, Stamp] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def look_into(
    folders: Iterable[str], root: Path, rule: SyncRule, stamps: Mapping[str, Stamp]
) -> Seen:
    """Scan these folders of the vault; `stamps` is all that the catalogue knows. Blocking."""
    seen = Seen()
    for folder in folders:
        found = scan(root, rule.path_reason, folder_reason=rule.folder_reason, under=folder)
        here = {path: stamp for path, stamp in stamps.items() if path.startswith(f"{folder}/")}
        seen.known |= here
        seen.there |= {file.path: file.stamp for file in found.found}
        left_out, lost = sort_missing(
            (path for path in here if path not in seen.there), found, rule
        )
        seen.left_out += left_out
        seen.lost += lost
    return seen


def outermost(folders: Iterable[str]) -> list[str]:
    """The folders that lie in none of the others."""
    found: list[str] = []
    for folder in sorted(folders, key=lambda folder: folder.split("/")):
        if not found or not f"{folder}/".startswith(f"{found[-1]}/"):
            found.append(folder)
    return found


def changed_paths(
    there: Mapping[str, FileStamp], known: Mapping[str, Stamp], copies: Collection[str] = ()
) -> list[str]:
    """Files that are not as the catalogue knows them, or that may mean something else by now.

    A name such as `Plan-LAPTOP-1A2B3C.md` is a conflict copy's only beside `Plan.md`, and `Plan
    2.md` only beside one that says nearly the same; `copies` are taken for such at present.
    """
    return [
        path
        for path, stamp in there.items()
        if path not in known
        or stamp != FileStamp(known[path].mtime_ns, known[path].size, known[path].inode)
        or conflict_copy(path, lambda _: True) != conflict_copy(path, lambda _: False)
        or path in copies
        or numbered_copy(path) in there
    ]


def sort_missing(paths: Iterable[str], found: Scan, rule: SyncRule) -> tuple[list[str], list[str]]:
    """Files that the rules leave out now, and files that are lost; unseen ones are neither."""
    left_out: list[str] = []
    lost: list[str] = []
    skipped = {item.path for item in found.skipped}
    below_skipped = tuple(f"{path}/" for path in skipped)
    unseen = {item.path for item in found.unreadable}
    below_unseen = tuple(f"{path}/" if path else "" for path in unseen)
    for path in paths:
        if path in skipped or path.startswith(below_skipped) or rule.path_reason(path) is not None:
            left_out.append(path)
        elif path not in unseen and not path.startswith(below_unseen):
            lost.append(path)
    return left_out, lost


def in_order(
    changed: Iterable[str], there: Mapping[str, FileStamp], most: int
) -> Iterator[list[str]]:
    """The changed files in slices; what was edited last is asked for first."""
    order = sorted(changed, key=lambda path: (-there[path].mtime_ns, path))
    return slices(order, {path: there[path].size for path in order}, most)


def slices(paths: Iterable[str], sizes: Mapping[str, int], most: int) -> Iterator[list[str]]:
    """At most `most` paths at a time, fewer of large files; `sizes` are in bytes."""
    part: list[str] = []
    total = 0
    for path in paths:
        size = sizes.get(path, 0)
        if part and (len(part) == most or total + size > _SLICE_BYTES):
            yield part
            part, total = [], 0
        part.append(path)
        total += size
    if part:
        yield part
