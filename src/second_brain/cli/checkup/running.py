"""What a running daemon says of itself, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from second_brain.cli.checkup.finding import Finding
from second_brain.instance import DaemonInfo

_OWN = frozenset({"conflict-copy", "unreadable-note", "note-problem", "unreadable", "more"})
"""Problems with single files: the doctor reads those itself."""


def health(report: Mapping[str, Any], info: DaemonInfo, version: str) -> Iterator[Finding]:
    """`report` is the answer of /health; `version` this program's own."""
    if info.version != version:
        yield Finding(
            "daemon", "warning",
            f"The running daemon is version {info.version}, this program {version}.",
            "Restart the daemon.",
        )  # fmt: skip
    for problem in report["problems"]:
        if problem["kind"] not in _OWN:
            yield _from_problem(problem)
    vault, index = report["vault"], report["index"]
    if vault["ok"] and not vault["watching"]:
        yield Finding(
            "watching", "warning", "The daemon does not watch the vault at the moment.",
            "It tries again by itself; until then changes are found by comparing everything.",
        )  # fmt: skip
    if index.get("last_error"):
        yield Finding(
            "index", "note", f"The index had an error: {index['last_error']}",
            "Nothing, if it works now: the daemon mends it by itself.",
        )  # fmt: skip


def _from_problem(problem: Mapping[str, Any]) -> Finding:
    kind = str(problem["kind"])
    check = kind.partition("-")[0]
    return Finding(
        check,
        "note" if kind == "index-rebuilding" else "error",
        str(problem["message"]),
        str(problem["hint"]),
        problem["path"],
        "prepare-model" if kind == "model-missing" else None,
    )


def index_differs(report: Mapping[str, Any], passages: int) -> Finding | None:
    """Whether the index holds another number of passages than the catalogue, while at rest."""
    index = report["index"]
    busy = index["scanning"] or index["pending"] or index["rebuilding"]
    if busy or index["state"] != "ready" or index["rows"] == passages:
        return None
    return Finding(
        "index",
        "warning",
        f"The index holds {index['rows']:,} passages, the catalogue knows {passages:,}.",
        "Run: brain reindex",
        mend="rebuild-index",
    )
