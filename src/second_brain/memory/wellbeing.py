"""How the daemon is doing: vault, index and model, and the problems that the user should know."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from second_brain.index.index import Index
from second_brain.index.rows import NoteRow
from second_brain.memory.model import Health, Problem
from second_brain.memory.retiring import Retiring
from second_brain.sync.sync import Sync
from second_brain.vault.rules import SyncRule
from second_brain.vault.stamps import IN_THE_CLOUD

_MOST_PROBLEMS = 200


class Wellbeing:
    """Reads what the parts say of themselves; never raises for a part that is unwell."""

    def __init__(self, sync: Sync, index: Index, retiring: Retiring) -> None:
        self._retiring = retiring
        self._sync = sync
        self._index = index

    async def health(self) -> Health:
        sync, catalog = self._sync, self._sync.engine.catalog
        await asyncio.to_thread(catalog.mend)
        counts = await asyncio.to_thread(catalog.counts)
        done, total = sync.progress
        index = await self._index.stats()
        encoder = self._index.encoder
        model = encoder.model
        waiting = (total - done) if sync.scanning else 0
        return Health(
            vault={
                "ok": sync.online,
                "path": str(sync.root),
                "notes": counts.notes,
                "memories": counts.memories,
                "statuses": dict(counts.statuses),
                "watching": sync.watching,
                "offline": sync.hold_reason,
                "held": len(sync.held),
                "last_scan": int(sync.last_scan * 1000) if sync.last_scan else None,
                "rule": _rule(sync.engine.rule),
            },
            index={
                "ok": index["state"] in ("ready", "building"),
                "name": index.get("table"),
                "scanning": sync.scanning or sync.last_scan is None,
                "rebuilding": sync.rebuilding,
                "pending": waiting + counts.unembedded,
                "progress": {"done": done, "total": total},
                **index,
            },
            embedding={
                "ok": encoder.state == "ready",
                "state": encoder.state,
                "model": model.name if model else None,
                "dimension": model.dimension if model else None,
                "fingerprint": model.fingerprint if model else None,
                "notice": encoder.notice,
                **({"error": encoder.notice} if encoder.state == "unavailable" else {}),
            },
            problems=tuple(await asyncio.to_thread(self._problems, index)),
        )

    def _problems(self, index: dict[str, object]) -> list[Problem]:
        found = list(self._general(index))
        for row in self._sync.engine.catalog.with_problems():
            if len(found) == _MOST_PROBLEMS:
                found.append(Problem("more", None, "There are more problems.", "See GET /notes."))
                break
            found.append(_of_note(row))
        return found

    def _general(self, index: dict[str, object]) -> Iterator[Problem]:
        sync, encoder = self._sync, self._index.encoder
        if sync.hold_reason is not None or not sync.engine.files.online():
            reason = sync.hold_reason or "the vault folder is not there"
            yield Problem(
                "vault-offline",
                str(sync.root),
                f"The vault is taken for offline: {reason}. {len(sync.held)} notes are kept.",
                "Mount or restore the vault; nothing is dropped until it is back.",
            )
        for path, reason in sorted(sync.unreadable.items()):
            yield Problem(
                "unreadable", path, f"{path or 'The vault'} cannot be read: {reason}.",
                "Check its permissions; what is known of it is kept.",
            )  # fmt: skip
        for copy, arrived in self._retiring.differing:
            yield Problem(
                "two-versions", arrived,
                f"{arrived} and {copy} are one note by their id, but say different things.",
                f"Put into {arrived} what only {copy} says, then delete {copy}.",
            )  # fmt: skip
        if encoder.state == "unavailable":
            yield Problem(
                "model-missing", None, encoder.notice or "There is no embedding model.",
                "Run: brain model prepare",
            )  # fmt: skip
        if index["state"] == "building":
            yield Problem(
                "index-rebuilding", None, "The index is being built for another model or layout.",
                "Nothing; recall goes on meanwhile.",
            )  # fmt: skip
        if sync.rebuilding:
            yield Problem(
                "index-rebuilding", None, "What is known of the vault is built anew from it.",
                "Nothing; until it is done, recall does not find everything.",
            )  # fmt: skip
        if (lost := sync.engine.state.lost) is not None:
            yield Problem(
                "history-lost", str(lost),
                "The history of writes could not be read, and is begun anew: older writes cannot be"
                " undone, recall counts begin at 0, and clients log in again. No note is lost.",
                f"Nothing; {lost.name} is of no more use, this is shown until the next start.",
            )  # fmt: skip
        if index["state"] == "unavailable":
            yield Problem(
                "index-unavailable", None, str(index.get("error")),
                "Free disk space or check permissions; it is rebuilt by itself.",
            )  # fmt: skip


def _rule(rule: SyncRule) -> dict[str, object]:
    """What is a memory, for a reader."""
    return {
        "mode": rule.mode,
        "tags": list(rule.tags),
        "exclude": list(rule.exclude),
        "templates": list(rule.templates),
        "ignored": list(rule.ignored),
    }


def _of_note(row: NoteRow) -> Problem:
    if row.status == "conflict-copy":
        return Problem(
            "conflict-copy", row.path, f"{row.path} is a conflict copy and no memory.",
            "Merge it into the note that it is a copy of, then delete it.",
        )  # fmt: skip
    text = " ".join(row.problems) or row.reason or "The note cannot be read."
    if IN_THE_CLOUD in text:
        return Problem(
            "in-the-cloud", row.path, text,
            "Open it, or have the cloud client download it and keep it on this disk; until then"
            " what is known of it is kept.",
        )  # fmt: skip
    if row.status == "failed":
        return Problem(
            "unreadable-note", row.path, f"{row.path}: {text}", "Save it as UTF-8 Markdown."
        )
    return Problem(
        "note-problem", row.path, f"{row.path}: {text}",
        "It is indexed as far as it can be read; mend it in your editor.",
    )  # fmt: skip
