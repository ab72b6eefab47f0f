"""The notes themselves, as they are in the vault: ids, properties, conflict copies. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from second_brain.cli.checkup.finding import Finding
from second_brain.errors import NoteChanged, ReadFailed
from second_brain.vault.files import VaultFiles
from second_brain.vault.frontmatter import read_properties, split
from second_brain.vault.note import BINARY, ID_KEY, UNCLOSED, find_property
from second_brain.vault.rules import SyncRule, conflict_copy
from second_brain.vault.scan import scan


def all_notes(root: Path, rule: SyncRule) -> Iterator[Finding]:
    """Everything that is wrong with single files. Raises VaultOffline."""
    files = VaultFiles(root)
    found = scan(root, rule.path_reason, folder_reason=rule.folder_reason)
    for item in found.unreadable:
        yield _unreadable(item.path or ".", f"cannot be read: {item.reason}")
    paths = {each.path for each in found.found}
    ids: dict[str, list[str]] = {}
    for each in found.found:
        if conflict_copy(each.path, paths.__contains__):
            yield Finding(
                "conflicts", "warning", "A sync client made this conflict copy; it is no memory.",
                "Merge it into the note that it is a copy of, then delete it.", each.path,
            )  # fmt: skip
            continue
        try:
            data = files.read(each.path).data
        except (ReadFailed, NoteChanged) as error:
            yield _unreadable(each.path, f"cannot be read: {error}")
            continue
        except FileNotFoundError:
            continue
        id, findings = examine(each.path, data)
        if id is not None:
            ids.setdefault(id, []).append(each.path)
        yield from findings
    yield from shared_ids(ids)


def examine(path: str, data: bytes) -> tuple[str | None, list[Finding]]:
    """The id that a note states, and what is wrong with its text and its properties."""
    if b"\0" in data or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None, [_unreadable(path, BINARY)]
    findings = []
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        findings.append(_unreadable(path, f"It is not UTF-8 text (line {line})."))
    parts = split(data)
    if parts.unclosed and b":" in parts.body[:400]:
        findings.append(_properties(path, UNCLOSED))
    properties, problems = read_properties(parts.yaml.decode("utf-8", "replace"))
    findings += [_properties(path, problem) for problem in problems]
    id = find_property(properties, ID_KEY)
    usable = isinstance(id, str | int | float) and not isinstance(id, bool)
    return (str(id).strip() or None) if usable else None, findings


def shared_ids(ids: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Ids that several files state: `ids` gives the paths of each."""
    for id, paths in sorted(ids.items()):
        if len(paths) > 1:
            yield Finding(
                "ids", "warning",
                f"{len(paths)} notes have the {ID_KEY} {id}: {', '.join(sorted(paths))}.",
                "One of them keeps it; remove the property from the copies.", sorted(paths)[1],
            )  # fmt: skip


def _unreadable(path: str, message: str) -> Finding:
    hint = "Check its permissions, and save it as UTF-8 Markdown."
    return Finding("readable", "warning", message, hint, path)


def _properties(path: str, message: str) -> Finding:
    hint = "Mend it in your editor; until then agents cannot change this note."
    return Finding("properties", "warning", message, hint, path)
