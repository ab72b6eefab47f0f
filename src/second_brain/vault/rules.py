"""Which files are memories: sync tags, opt-out, excluded paths, temporary and conflict files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from second_brain.vault.links import fold_path
from second_brain.vault.model import Note
from second_brain.vault.note import is_binary, opted_out
from second_brain.vault.tags import fold

DEFAULT_TAGS = ("brain", "second-brain")

_TEMPORARY = re.compile(
    r".*(?:~|\.tmp|\.temp|\.part|\.crdownload|\.sw[a-p]|\.bak|\.orig)|4913|~\$.*|\.#.*|#.*#"
    r"|.*\.tmp\.[0-9.]+",
    re.IGNORECASE | re.DOTALL,
)

# Dropbox, Nextcloud and Obsidian Sync, in the languages of their clients.
_CONFLICT_WORDS = (
    r"conflicted copy|conflicting copy|case conflict|unicode encoding conflict|"
    r"selective sync conflict|white ?space conflict|copie en conflit|conflit de copie|"
    r"copie conflictuelle|in konflikt stehende kopie|konfliktkopie|copia en conflicto|"
    r"copia conflictiva|copia in conflitto|cópia em conflito|cópia conflitante|"
    r"conflicterende kopie|kopia powodująca konflikt|kopia konfliktu|konfliktkopia|"
    r"motstridig kopi|konfliktkopi|modstridende kopi|ristiriitainen kopio|konfliktní kopie|"
    r"конфликтующая копия|конфліктна копія|競合コピー|競合するコピー|冲突副本|衝突複本|"
    r"衝突的副本|충돌하는 사본|충돌 사본|çakışan kopya"
)
_CONFLICTS = (
    re.compile(rf".*\([^()]*(?:{_CONFLICT_WORDS})[^()]*\)(?: ?\(?\d+\)?)?", re.IGNORECASE),
    re.compile(r".*[._ -]conflict(?:ed[._ -]copy)?[._ -]\d{8}[._ -]\d{6}.*", re.IGNORECASE),
    re.compile(r".*\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]+)?", re.IGNORECASE),
)
# OneDrive appends the machine's name; only Windows' own default names tell it from a title.
_ONEDRIVE = re.compile(r"(?P<base>.+)-(?:(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{6,})(?:-\d+)?")
_NUMBERED = re.compile(r"(?P<base>.*\S) (?:[2-9]|[1-9]\d)")


@dataclass(frozen=True, slots=True)
class ObsidianSettings:
    """What the vault's own settings say. Folders are vault-relative, without a final `/`."""

    templates: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    daily_folder: str = ""
    daily_format: str = "YYYY-MM-DD"


@dataclass(frozen=True, slots=True)
class SyncRule:
    """Decides what is a memory. Tags are without `#`; a tag covers those nested in it.

    `exclude` are globs on whole path parts without case: `Private/` is a folder of that name
    anywhere, `Work/*.md` and `**/draft-*.md` start at the vault's root. `templates` are folders;
    `ignored` are Obsidian's "Excluded files": path prefixes, or `/regular expressions/`.
    """

    tags: tuple[str, ...] = DEFAULT_TAGS
    mode: Literal["tagged", "all"] = "tagged"
    exclude: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """Changes whenever a note that did not change may be a memory no more, or now."""
        return " ".join((self.mode, *sorted(map(fold, self.tags))))

    def path_reason(self, path: str) -> str | None:
        """Why a file at this vault-relative path cannot be a memory; None when it can."""
        parts = path.split("/")
        for part in parts[:-1]:
            if reason := _folder_reason(part):
                return reason
        name = parts[-1]
        if name.startswith("."):
            return "It is a hidden file."
        if is_temporary(path):
            return "It is a temporary file."
        if name[-3:].casefold() != ".md":
            return "It is not a Markdown note (.md)."
        for folder in self.templates:
            if _inside(path, folder):
                return f"It is in the templates folder {folder}."
        for pattern in self.exclude:
            if _glob(pattern).match(fold_path(path)):
                return f"It is excluded by {pattern} in the settings."
        for entry in self.ignored:
            if _ignored(entry, path):
                return f"It is among Obsidian's excluded files ({entry})."
        return None

    def folder_reason(self, path: str) -> str | None:
        """Why no file in this folder can be a memory, so that a scan need not enter it."""
        for part in path.split("/"):
            if reason := _folder_reason(part):
                return reason
        for folder in self.templates:
            if _inside(path + "/x", folder):
                return f"It is in the templates folder {folder}."
        return None

    def note_reason(self, note: Note) -> str | None:
        """Why a note at an allowed path is no memory; None when it is one."""
        if opted_out(note):
            return "Its property second-brain is false."
        if is_binary(note):
            return "It is not UTF-8 text."
        if self.mode == "all" or any(self._syncs(tag) for tag in note.tags):
            return None
        return f"It has no sync tag ({', '.join('#' + tag for tag in self.tags)})."

    def own_tags(self, note: Note) -> tuple[str, ...]:
        """The note's tags without the bare sync tags; a nested one such as `brain/work` stays."""
        markers = {fold(tag) for tag in self.tags}
        return tuple(tag for tag in note.tags if fold(tag) not in markers)

    def _syncs(self, tag: str) -> bool:
        folded = fold(tag)
        return any(folded == sync or folded.startswith(sync + "/") for sync in map(fold, self.tags))


def is_temporary(path: str) -> bool:
    """Whether the name is one that an editor, browser or sync client gives to passing files."""
    return _TEMPORARY.fullmatch(path.rpartition("/")[2]) is not None


def conflict_copy(path: str, exists: Callable[[str], bool]) -> bool:
    """Whether the name says that a sync client kept two versions and this is the other one.

    `exists` tells whether a vault-relative path is there; a name that is only telling beside its
    original counts only then. iCloud's `Name 2.md` is not decided here, see `numbered_copy`.
    """
    folder, slash, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not dot:
        return False
    folded = fold_path(stem)
    if any(pattern.fullmatch(folded) for pattern in _CONFLICTS):
        return True
    onedrive = _ONEDRIVE.fullmatch(stem)
    return onedrive is not None and exists(f"{folder}{slash}{onedrive['base']}.{extension}")


def numbered_copy(path: str) -> str | None:
    """The original that `Name 2.md` may be iCloud's conflict copy of; None for another name.

    A user's second note and one that the daemon named have the same form, so the name alone
    decides nothing: compare the contents.
    """
    folder, slash, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    match = _NUMBERED.fullmatch(stem)
    return f"{folder}{slash}{match['base']}{dot}{extension}" if match else None


def load_obsidian_settings(root: Path) -> ObsidianSettings:
    """What `.obsidian` says; defaults for whatever is missing or unreadable. Never raises."""
    config = root / ".obsidian"
    templates = _json(config / "templates.json").get("folder")
    templater = _json(config / "plugins" / "templater-obsidian" / "data.json")
    ignored = _json(config / "app.json").get("userIgnoreFilters")
    daily = _json(config / "daily-notes.json")
    return ObsidianSettings(
        templates=tuple(dict.fromkeys(_folders([templates, templater.get("templates_folder")]))),
        ignored=tuple(item for item in ignored if isinstance(item, str) and item)
        if isinstance(ignored, list)
        else (),
        daily_folder=next(iter(_folders([daily.get("folder")])), ""),
        daily_format=str(daily.get("format") or "YYYY-MM-DD"),
    )


def _folder_reason(part: str) -> str | None:
    if part.startswith("."):
        return f"It is in the hidden folder {part}."
    if part == "node_modules":
        return "It is in node_modules."
    return None


def _inside(path: str, folder: str) -> bool:
    folded = fold_path(folder.strip("/"))
    return bool(folded) and fold_path(path).startswith(folded + "/")


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    """A glob as an expression on folded paths; what it names covers all that lies below."""
    folded = fold_path(pattern.strip().replace("\\", "/"))
    only_folders = folded.endswith("/")
    parts = [part for part in folded.split("/") if part]
    anchored = "/" in folded.rstrip("/")
    regex = "" if anchored else "(?:[^/]+/)*"
    for n, part in enumerate(parts):
        last = n == len(parts) - 1
        if part == "**":
            regex += ".+" if last else "(?:[^/]+/)*"
        else:
            regex += _part(part) + ("" if last else "/")
    regex += "/" if only_folders else r"(?:/|\Z)"
    return re.compile(regex if parts else r"(?!)", re.DOTALL)


def _part(part: str) -> str:
    regex = ""
    at = 0
    while at < len(part):
        character = part[at]
        end = part.find("]", at + 2)
        if character == "*":
            regex += "[^/]*"
        elif character == "?":
            regex += "[^/]"
        elif character == "[" and end > 0:
            negated = part[at + 1] in "!^"
            inner = part[at + 1 + negated : end].replace("[", r"\[")
            characters = f"[{'^' if negated else ''}{inner}]"
            regex += characters if _expression(characters) else re.escape(part[at : end + 1])
            at = end
        else:
            regex += re.escape(character)
        at += 1
    return regex


def _ignored(entry: str, path: str) -> bool:
    if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
        expression = _expression(entry[1:-1])
        return expression is not None and expression.search(path) is not None
    folded = fold_path(entry.strip("/"))
    whole = fold_path(path)
    return bool(folded) and (whole == folded or whole.startswith(folded + "/"))


@lru_cache(maxsize=64)
def _expression(source: str) -> re.Pattern[str] | None:
    try:
        return re.compile(source, re.IGNORECASE)
    except re.error:
        return None


def _json(path: Path) -> dict[str, object]:
    try:
        value = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _folders(values: Iterable[object]) -> list[str]:
    """Folder settings as paths: `/` and an empty one mean the whole vault and say nothing."""
    return [
        folder
        for value in values
        if isinstance(value, str) and (folder := value.strip().strip("/"))
    ]
