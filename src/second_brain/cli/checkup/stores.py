"""The databases and the index: whole, and agreeing with each other and with the vault."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

from second_brain.cli.checkup.finding import Finding
from second_brain.errors import IndexUnavailable
from second_brain.index.database import StoreDamaged
from second_brain.index.inspection import (
    CatalogView,
    Unresolved,
    damage,
    indexed_chunks,
    read_catalog,
)
from second_brain.instance import VaultFolder
from second_brain.sync.absence import reason_to_hold
from second_brain.vault.links import RELATION_TYPES

_NAMED = 5


def databases(folder: VaultFolder) -> Iterator[Finding]:
    """Whether SQLite finds its files whole, and whether some were put aside."""
    if folder.catalog.exists() and (wrong := damage(folder.catalog)):
        yield Finding(
            "catalogue", "error", f"The catalogue is damaged: {wrong}",
            "Restart the daemon: it is built anew from the vault, and nothing is lost.",
            str(folder.catalog),
        )  # fmt: skip
    if folder.state.exists() and (wrong := damage(folder.state)):
        yield Finding(
            "state", "error", f"The history and the counters are damaged: {wrong}",
            "Restart the daemon: the file is put aside and a new one begun. No note is lost, but"
            " earlier writes can no longer be undone; a backup of the file would bring them back.",
            str(folder.state),
        )  # fmt: skip
    for file in (folder.catalog, folder.state):
        aside = file.with_name(f"{file.name}.damaged")
        if aside.exists():
            yield Finding(
                "state" if file == folder.state else "catalogue", "note",
                f"{aside} could not be read once and was put aside.",
                "Delete it if you miss nothing.", str(aside),
            )  # fmt: skip


def catalog_view(folder: VaultFolder) -> CatalogView | None:
    """What the catalogue says; None if there is none, or none that can be read."""
    if not folder.catalog.exists():
        return None
    try:
        return read_catalog(folder.catalog)
    except StoreDamaged:
        return None  # `databases` tells


def index_alone(view: CatalogView, uri: str) -> Iterator[Finding]:
    """Open the index, while no daemon works on it, and compare it with the catalogue."""
    if view.generation is None:
        return
    try:
        held = asyncio.run(indexed_chunks(uri, view.generation))
    except IndexUnavailable as error:
        yield Finding(
            "index", "error", f"The index cannot be read: {error}",
            "Run: brain reindex; it is built anew from the vault.", uri, "rebuild-index",
        )  # fmt: skip
        return
    if held is None and view.chunks:
        yield Finding(
            "index", "error", f"There is no index, but {len(view.chunks):,} memories.",
            "Run: brain reindex", uri, "rebuild-index",
        )  # fmt: skip
    elif held is not None and (count := differing(view.chunks, held)):
        yield Finding(
            "index", "warning", f"The index differs from the catalogue in {count:,} memories.",
            "Run: brain reindex; the daemon also mends it when it starts.", uri, "rebuild-index",
        )  # fmt: skip


def differing(known: Mapping[str, int], held: Mapping[str, int]) -> int:
    """In how many memories two counts of passages differ; none is as good as zero."""
    return sum(known.get(id, 0) != held.get(id, 0) for id in known.keys() | held.keys())


def absence(view: CatalogView, there: frozenset[str]) -> Iterator[Finding]:
    """Notes that are known and not in the vault (`there`: the paths that are), and new ones."""
    missing = view.paths - there
    reason = reason_to_hold(len(view.paths), len(missing), root_present=True, root_empty=not there)
    if reason is not None:
        yield Finding(
            "vault", "error", f"The vault would be taken for offline: {reason}.",
            "Mount or restore it. If the notes are deleted indeed: brain reindex"
            " --accept-deletions",
        )  # fmt: skip
    elif changed := len(missing) + len(there - view.paths):
        yield Finding(
            "vault", "note", f"{changed:,} notes came or went since a daemon last ran.",
            "The next one reads them when it starts.",
        )  # fmt: skip


def links(view: CatalogView) -> Iterator[Finding]:
    """Links of memories that lead nowhere. In the text they may be meant so; a relation is not."""
    relations = [link for link in view.unresolved if link.property in RELATION_TYPES]
    others = len(view.unresolved) - len(relations)
    for link in relations:
        yield Finding(
            "links", "warning", f"{link.property} leads to [[{link.target}]], which is no note.",
            "Correct the link, restore the note, or remove the relation.", link.path,
        )  # fmt: skip
    if others:
        yield Finding(
            "links", "note", f"{others:,} other links lead to no note: {_some(view.unresolved)}.",
            "Nothing, if those notes are still to be written.",
        )  # fmt: skip


def _some(unresolved: tuple[Unresolved, ...]) -> str:
    targets = [link.target for link in unresolved if link.property not in RELATION_TYPES]
    names = list(dict.fromkeys(targets))
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def index_folder(uri: str | None, folder: VaultFolder) -> str:
    """Where the index lies."""
    return uri or str(Path(folder.index))
