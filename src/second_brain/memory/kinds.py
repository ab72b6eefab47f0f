"""Kind, status and importance of a memory, read from its properties, tags, name and place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from second_brain.memory.model import KINDS, STATUSES, Kind, Status
from second_brain.vault.model import PropertyValue
from second_brain.vault.note import IMPORTANCE_KEY, KIND_KEY, STATUS_KEY, find_property

_DATED_NAME = re.compile(
    r"(?<!\d)\d{4}[-._ ]?(?:0[1-9]|1[0-2])[-._ ]?(?:0[1-9]|[12]\d|3[01])(?!\d)"
)
_WEEK_NAME = re.compile(r"\d{4}-?[Ww]\d{2}")

# Compared after folding accents and case.
_EPISODIC_TAGS = frozenset(
    [
        *("session", "meeting", "meetings", "standup", "retro", "retrospective", "call", "event"),
        *("events", "journal", "daily", "daily-note", "daily-notes", "diary", "log", "weekly"),
        *("conversation", "trip", "visit", "incident", "interview"),
        *("reunion", "reunions", "compte-rendu", "appel", "evenement", "evenements", "quotidien"),
        *("voyage", "visite", "entretien", "seance", "rendez-vous"),
    ]
)
_EPISODIC_FOLDERS = frozenset(
    [
        *("daily", "daily notes", "journal", "journals", "diary", "meetings", "sessions", "logs"),
        *("calls", "events", "quotidien", "journaux", "reunions", "comptes rendus", "evenements"),
        *("notes quotidiennes", "agenda"),
    ]
)
_EPISODIC_OPENING = re.compile(
    r"(?:meeting|call|session|stand-?up|retro(?:spective)?|interview|lunch|dinner|trip|visit"
    r"|minutes|conversation|post-?mortem|incident|kick-?off"
    r"|reunion|appel|seance|entretien|compte[ -]rendu|visite|voyage|dejeuner|diner|rendez-vous"
    r"|rdv)\b(?=\s*$|\s*[-–—:]|\s+\d|\s+d'|\s+(?:with|of|from|on|in|at|to|about|notes|avec|de|du|des"
    r"|chez|sur|au|aux|a)\b)"
)


def kind_of(
    properties: Mapping[str, PropertyValue],
    tags: Iterable[str] = (),
    title: str = "",
    path: str = "",
) -> Kind:
    """Tell an event (`episodic`) from knowledge that holds for longer (`semantic`).

    A valid `second-brain-kind` decides. Otherwise a note named by a date or a week, kept in a
    folder of daily notes or meetings, tagged as one, or whose title opens like one is episodic.
    """
    said = _text(properties, KIND_KEY)
    for kind in KINDS:
        if said == kind:
            return kind
    name = PurePosixPath(path)
    folders = {_fold(part) for part in name.parts[:-1]}
    if any(_is_dated(text) for text in (title, name.stem)) or folders & _EPISODIC_FOLDERS:
        return "episodic"
    if any(part in _EPISODIC_TAGS for tag in tags for part in _fold(tag).lstrip("#").split("/")):
        return "episodic"
    return "episodic" if _EPISODIC_OPENING.match(_fold(title)) else "semantic"


def importance_of(properties: Mapping[str, PropertyValue]) -> int | None:
    """`second-brain-importance` as 1 to 5; None where it is absent or anything else."""
    value = find_property(properties, IMPORTANCE_KEY)
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = int(value.strip()[:3])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and 1 <= value <= 5 else None


def status_of(properties: Mapping[str, PropertyValue]) -> Status | None:
    """`second-brain-status` as canonical, draft or deprecated; None where it is anything else."""
    said = _text(properties, STATUS_KEY)
    for status in STATUSES:
        if said == status:
            return status
    return None


def _is_dated(text: str) -> bool:
    """A name that opens with a date (`2026-03-12`, `20260312 Chantier`) or is a week's."""
    return _DATED_NAME.match(text.strip()) is not None or bool(_WEEK_NAME.fullmatch(text.strip()))


def _text(properties: Mapping[str, PropertyValue], name: str) -> str:
    value = find_property(properties, name)
    return value.strip().casefold() if isinstance(value, str) else ""


def _fold(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.replace("’", "'").strip().casefold())
    return "".join(char for char in parts if not unicodedata.combining(char))
