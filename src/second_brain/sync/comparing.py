"""What a scan says beside what the catalogue knows: changed, left out, lost. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from second_brain.index.rows import Stamp
from second_brain.vault.files import FileStamp
from second_brain.vault.rules import SyncRule, conflict_copy, numbered_copy
from second_brain.vault.scan import Scan

_SLICE_BYTES = 256 * 1024
"""Enough passages for a commit that need not wait for company, little enough to be embedded in
some seconds."""


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
