"""What clients were promised, and whether the vault keeps it: pure bookkeeping over texts.

Every piece of text that is written carries a marker that occurs nowhere else, and ends with
`end-<marker>`: so a piece that is lost, torn or there twice is seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

SOURCE = "reliability"
"""The `second-brain-source` of the notes that the clients make."""

_BEGUN = re.compile(r"(?<!end-)\bzq\w+")
_ENDED = re.compile(r"end-(zq\w+)")
_PROPERTIES = re.compile(r"---\n(?:.+\n)+?---\n")
_ID = re.compile(r"^second-brain-id: *(\S+)", re.MULTILINE)


@dataclass(slots=True)
class Claim:
    """What may be expected of one note that a client made.

    `body` are the markers that were acknowledged to be in it, `maybe` those of a request that was
    never answered, `replaced` those that an update took away. `forgotten` is None after a request
    for that which was never answered. `writes` of it were acknowledged since the history began.
    """

    marker: str
    id: str | None = None
    body: list[str] = field(default_factory=list)
    maybe: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    forgotten: bool | None = False
    writes: int = 0
    status: str | None = ""
    """As a client set it; None while that is not known."""

    @property
    def settled(self) -> bool:
        """Whether it is known what is in the note, and it is there."""
        return self.id is not None and self.forgotten is False and not self.maybe


@dataclass(slots=True)
class Ledger:
    """All claims, and the files that the user's side wrote, with their whole texts.

    `vanished`: when it moved or deleted one lately, by `time.monotonic`.
    """

    claims: list[Claim] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    vanished: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Findings:
    """What is wrong, in words, one a thing."""

    lost: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lost or self.torn or self.twice)


def findings(ledger: Ledger, vault: Mapping[str, bytes], ids: Mapping[str, str]) -> Findings:
    """Check a vault's files (path to bytes, all of them) against the ledger.

    `ids` are the paths of the memories by their ids, as the catalogue says.
    """
    found = Findings()
    found.torn += [f"a temporary file was left: {path}" for path in vault if _temporary(path)]
    found.torn += [f"{path} is empty" for path, data in vault.items() if not data]
    notes = {
        path: data.decode("utf-8", "replace")
        for path, data in vault.items()
        if path.endswith(".md") and not path.startswith(".")
    }
    for path, text in notes.items():
        _check_whole(path, text, found)
    _check_ids(notes, found)
    where: dict[str, list[str]] = {}
    for path, text in notes.items():
        for marker in set(_BEGUN.findall(_below(text))):
            where.setdefault(marker, []).append(path)
    found.twice += [
        f"{marker} is in {len(paths)} notes: {', '.join(paths)}"
        for marker, paths in where.items()
        if len(paths) > 1
    ]
    for claim in ledger.claims:
        _check_claim(claim, where, ids, found)
    for path, text in ledger.files.items():
        if notes.get(path) != text:
            found.lost.append(f"{path} is not as the editor left it: {notes.get(path)!r}")
    return found


def _temporary(path: str) -> bool:
    return path.endswith(".second-brain.tmp")


def _check_whole(path: str, text: str, found: Findings) -> None:
    if not _PROPERTIES.match(text):
        found.torn.append(f"{path} has no whole properties: {text[:120]!r}")
    begun, ended = Counter(_BEGUN.findall(_below(text))), Counter(_ENDED.findall(_below(text)))
    if begun != ended:
        found.torn.append(f"{path} holds half a text: {begun - ended or ended - begun}")
    found.twice += [f"{marker} is {n} times in {path}" for marker, n in begun.items() if n > 1]


def _below(text: str) -> str:
    """A note without its properties."""
    match = _PROPERTIES.match(text)
    return text[match.end() :] if match else text


def _check_ids(notes: Mapping[str, str], found: Findings) -> None:
    seen: dict[str, str] = {}
    for path, text in notes.items():
        head = _PROPERTIES.match(text)
        for id in _ID.findall(head.group() if head else ""):
            if id in seen:
                found.twice.append(f"{path} and {seen[id]} have one id, {id}")
            seen[id] = path


def _check_claim(
    claim: Claim, where: Mapping[str, list[str]], ids: Mapping[str, str], found: Findings
) -> None:
    present = [marker for marker in claim.body if where.get(marker)]
    if claim.forgotten is True:
        if present or claim.id in ids:
            found.lost.append(f"{claim.marker} was forgotten, and is there")
        return
    found.lost += [
        f"{marker} was replaced, and is there" for marker in claim.replaced if where.get(marker)
    ]
    if claim.id is None or claim.forgotten is None:
        return
    if not present and any(where.get(marker) for marker in claim.maybe):
        return  # an update that was not answered went through
    place = ids.get(claim.id)
    if place is None:
        found.lost.append(f"the memory {claim.id} ({claim.marker}) is not in the catalogue")
    found.lost += [
        f"{marker} is not in {place}"
        for marker in claim.body
        if place is not None and place not in where.get(marker, ())
    ]


def resolve(ledger: Ledger, there: Mapping[str, str], ids: Mapping[str, str]) -> None:
    """Requests that were never answered either went through or not: by what is there now.

    `there` tells in which note each marker is, `ids` are the ids of the memories by their paths.
    """
    for claim in ledger.claims:
        if claim.forgotten is None:
            claim.forgotten = not any(marker in there for marker in claim.body)
        arrived = [marker for marker in claim.maybe if marker in there]
        if arrived:
            claim.replaced += [marker for marker in claim.body if marker not in there]
            claim.body = [marker for marker in claim.body if marker in there] + arrived
            claim.id = claim.id or ids.get(there[arrived[0]])
        claim.maybe = []
    # What was never answered and did not go through is nobody's.
    ledger.claims[:] = [claim for claim in ledger.claims if claim.id is not None]


def markers(vault: Mapping[str, bytes]) -> dict[str, str]:
    """Every marker in the notes of a vault, and the note that it is in."""
    return {
        marker: path
        for path, data in vault.items()
        if path.endswith(".md") and not path.startswith(".")
        for marker in _BEGUN.findall(_below(data.decode("utf-8", "replace")))
    }
