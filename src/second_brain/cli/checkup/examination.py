"""Runs all checks on one vault, beside its running daemon or without one. Changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from second_brain import __version__
from second_brain.cli.checkup import machine, notes, places, running, stores, tools
from second_brain.cli.checkup.finding import Finding
from second_brain.config import Settings
from second_brain.errors import SecondBrainError
from second_brain.instance import DaemonInfo, VaultFolder, vault_folder
from second_brain.integrations.connect.places import own_places
from second_brain.vault.rules import SyncRule, load_obsidian_settings
from second_brain.vault.scan import scan

SUBJECTS = {
    "config": "the settings can be used",
    "vault": "the vault is there, and can be read and written",
    "data": "the data directory lies in a good place",
    "disk": "there is room on the disks",
    "permissions": "token and history are there for their owner alone",
    "catalogue": "the catalogue is whole",
    "state": "history and counters are whole",
    "index": "the index can be read and agrees with the catalogue",
    "model": "the embedding model is ready",
    "daemon": "the running daemon is well",
    "port": "a daemon could listen on its port",
    "watching": "the system lets the vault be watched",
    "readable": "every note can be read",
    "properties": "the notes' properties can be read",
    "ids": "no two notes have one id",
    "conflicts": "no sync client left conflict copies",
    "links": "links and relations lead somewhere",
    "leftovers": "no temporary files are left",
    "tools": "the AI tools that are connected find this brain",
}
"""What is looked at, in this order, and what is so when nothing is found."""

_ATTEMPTS, _PAUSE_SECONDS = 4, 0.7

Ask = Callable[[], Any]
"""The answer of the running daemon's /health. Raises SecondBrainError."""


@dataclass(frozen=True, slots=True)
class Examination:
    """`checked` are the subjects that were looked at, in order; `findings` in the same order."""

    checked: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def is_well(self) -> bool:
        return not any(finding.is_wrong for finding in self.findings)


Check = tuple[tuple[str, ...], Callable[[], Iterable[Finding]]]
"""The subjects that a check speaks of, and the check."""


def examine(settings: Settings, info: DaemonInfo | None, ask: Ask) -> Examination:
    """Look at everything; `info` is the running daemon, None if there is none."""
    checked = {"config"}
    findings: list[Finding] = []
    for subjects, check in _checks(settings, info, ask):
        checked |= set(subjects)
        try:
            findings += check()
        except (SecondBrainError, OSError) as error:
            findings.append(
                Finding(subjects[0], "warning", f"It could not be looked at: {error}", "Try again.")
            )
    order = list(SUBJECTS)
    findings.sort(key=lambda finding: order.index(finding.check))
    return Examination(tuple(name for name in order if name in checked), tuple(findings))


def _checks(settings: Settings, info: DaemonInfo | None, ask: Ask) -> Iterator[Check]:
    root = settings.vault
    yield ("vault",), lambda: places.vault(root, settings.sync.folder)
    yield ("data",), lambda: places.data_folder(settings.data_dir, root, _folders(settings))
    yield ("model",), lambda: machine.model(settings)
    url = info.url if info is not None else settings.server.url
    yield ("tools",), lambda: tools.connected(own_places(), url)
    if root is None:
        return
    folder = vault_folder(settings)
    yield (
        ("disk",),
        lambda: places.room([("the data directory", settings.data_dir), ("the vault", root)]),
    )
    yield ("permissions",), lambda: _secrets(settings, folder)
    yield ("catalogue", "state"), lambda: stores.databases(folder)
    yield ("links",), lambda: _links(folder)
    if info is not None:
        yield ("daemon", "index"), lambda: _daemon(folder, info, ask)
    else:
        yield ("index",), lambda: _index(settings, folder)
        yield ("port",), lambda: machine.port(settings.server.host, settings.server.port)
    if not root.is_dir():
        return
    yield ("watching",), lambda: machine.watches(root)
    yield ("leftovers",), lambda: places.leftovers(root)
    rule = _rule(settings, root)
    yield ("readable", "properties", "ids", "conflicts"), lambda: notes.all_notes(root, rule)
    if info is None:
        yield ("vault",), lambda: _absence(folder, root, rule)


def _folders(settings: Settings) -> list[tuple[str, Path]]:
    folders = [("The model directory", settings.model_dir)]
    if settings.index.uri is not None and "://" not in settings.index.uri:
        folders.append(("The index", Path(settings.index.uri)))
    return folders


def _secrets(settings: Settings, folder: VaultFolder) -> Iterator[Finding]:
    files = [settings.data_dir / "token"]
    for database in (folder.state, folder.catalog):
        files += [database.with_name(database.name + tail) for tail in ("", "-wal", "-shm")]
    yield from places.permissions(files)
    if settings.server.auth_token is None:
        yield from places.token(files[0])


def _links(folder: VaultFolder) -> Iterator[Finding]:
    view = stores.catalog_view(folder)
    if view is not None:
        yield from stores.links(view)


def _index(settings: Settings, folder: VaultFolder) -> Iterator[Finding]:
    view = stores.catalog_view(folder)
    if view is not None:
        yield from stores.index_alone(view, stores.index_folder(settings.index.uri, folder))


def _daemon(folder: VaultFolder, info: DaemonInfo, ask: Ask) -> Iterator[Finding]:
    try:
        report = ask()
    except SecondBrainError as error:
        yield Finding("daemon", "error", str(error), "Restart the daemon.")
        return
    yield from running.health(report, info, __version__)
    differs: Finding | None = None
    for attempt in range(_ATTEMPTS):
        if attempt:  # the two are not read in one instant, and the vault is in use
            time.sleep(_PAUSE_SECONDS)
            report = ask()
        view = stores.catalog_view(folder)
        passages = sum(view.chunks.values()) if view is not None else 0
        differs = running.index_differs(report, passages) if view is not None else None
        if differs is None:
            return
    if differs is not None:
        yield differs


def _absence(folder: VaultFolder, root: Path, rule: SyncRule) -> Iterator[Finding]:
    view = stores.catalog_view(folder)
    if view is not None:
        found = scan(root, rule.path_reason, folder_reason=rule.folder_reason)
        yield from stores.absence(view, frozenset(each.path for each in found.found))


def _rule(settings: Settings, root: Path) -> SyncRule:
    return SyncRule(
        tags=settings.sync.tags,
        mode=settings.sync.mode,
        exclude=settings.sync.exclude,
        templates=load_obsidian_settings(root).templates,
    )
