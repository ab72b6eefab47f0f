"""One Markdown file as a `Note`, and what our own properties in it say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo

import frontmatter

from second_brain.vault.frontmatter import ObsidianHandler, Parts, split
from second_brain.vault.links import RELATION_TYPES, property_links, text_links
from second_brain.vault.markdown import MAX_SCANNED, mask, scan
from second_brain.vault.model import Note, PropertyValue
from second_brain.vault.tags import inline_tags, property_tags, unique

BINARY = "The file is binary or UTF-16, not UTF-8 text; it was not read."
UNCLOSED = "The note begins with --- but has no closing ---; its properties were not read."
TOO_LONG = (
    f"The note is very long; tags, links and headings were read from its first "
    f"{MAX_SCANNED // 1024} KiB only."
)

ID_KEY = "second-brain-id"
SOURCE_KEY = "second-brain-source"
KIND_KEY = "second-brain-kind"
STATUS_KEY = "second-brain-status"
IMPORTANCE_KEY = "second-brain-importance"
OPT_OUT_KEY = "second-brain"
CREATED_KEY = "created"

_ALIAS_KEYS = frozenset({"aliases", "alias"})
_LINKED_DATE = re.compile(r"\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]\Z")
_LOOKS_LIKE_KEY = re.compile(r"---[ \t]*(?:\r\n|\n|\r)[A-Za-z][\w -]*:(?:\s|\Z)")


def parse_note(path: str, data: bytes, *, relation_types: frozenset[str] = RELATION_TYPES) -> Note:
    """The note in `data`. Never raises: what cannot be read is told in `problems`.

    `path` is vault-relative with `/`. A property whose name is in `relation_types` gives its
    links that type.
    """
    title = _title(path)
    if b"\x00" in data or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Note(path, title, "", problems=(BINARY,))
    parts = split(data)
    body, problem = _decode(data, parts)
    problems = [problem] if problem else []
    if parts.unclosed and _LOOKS_LIKE_KEY.match(body):
        problems.append(UNCLOSED)

    properties: Mapping[str, PropertyValue] = {}
    if parts.opening:
        handler = ObsidianHandler()
        # python-frontmatter strips what it is given at both ends: it gets to see the block only.
        block = (parts.opening + parts.yaml + parts.closing).decode("utf-8", "replace")
        properties, _ = frontmatter.parse(block, handler=handler)
        problems += handler.problems

    scanned = scan(body)
    if scanned.cut:
        problems.append(TOO_LONG)
    links, spans = text_links(scanned.text, body)
    tags = property_tags(properties)
    if "#" in scanned.text:
        tags += inline_tags(mask(scanned.text, spans))
    return Note(
        path=path,
        title=title,
        body=body,
        properties=properties,
        tags=unique(tags),
        aliases=_aliases(properties),
        links=tuple(dict.fromkeys([*property_links(properties, relation_types), *links])),
        headings=scanned.headings,
        problems=tuple(problems),
    )


def property_value(note: Note, key: str) -> PropertyValue:
    """The value of a property, its name compared without case; None when absent or empty."""
    return find_property(note.properties, key)


def find_property(properties: Mapping[str, PropertyValue], key: str) -> PropertyValue:
    """As `property_value`, in the properties alone; `key` is in lower case."""
    return next((v for name, v in properties.items() if name.strip().casefold() == key), None)


def note_id(note: Note) -> str | None:
    """`second-brain-id`, or None."""
    return _text(note, ID_KEY)


def note_source(note: Note) -> str | None:
    """`second-brain-source`: who wrote the note through the daemon; None for a user's own."""
    return _text(note, SOURCE_KEY)


def note_created(note: Note, zone: tzinfo | None = None) -> datetime | None:
    """`created` as an aware time; without an offset in `zone`, the machine's zone by default.

    A date alone is its first moment. None when there is none, or none that is a time.
    """
    text = _text(note, CREATED_KEY)
    if text is None:
        return None
    if linked := _LINKED_DATE.match(text):
        text = linked[1].strip()
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone) if zone else moment.astimezone()
        moment.astimezone(UTC)  # the first and last years have no UTC time
    except (ValueError, OverflowError, OSError):
        return None
    return moment


def opted_out(note: Note) -> bool:
    """Whether `second-brain: false` keeps the note out."""
    value = property_value(note, OPT_OUT_KEY)
    return value is False or (
        isinstance(value, str) and value.strip().casefold() in {"false", "no"}
    )


def is_binary(note: Note) -> bool:
    """Whether the file could not be read as text at all."""
    return BINARY in note.problems


def _title(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[:-3] if name[-3:].casefold() == ".md" else name


def _decode(data: bytes, parts: Parts) -> tuple[str, str | None]:
    """The body as text, and the problem when the file is not UTF-8."""
    try:
        if parts.opening:
            parts.yaml.decode("utf-8")
        return parts.body.decode("utf-8"), None
    except UnicodeDecodeError:
        pass
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\n|\r", data[: error.start])) + 1
        problem = f"The file is not UTF-8 (line {line}); unreadable characters are shown as \ufffd."
        return parts.body.decode("utf-8", "replace"), problem
    return parts.body.decode("utf-8", "replace"), None


def _text(note: Note, key: str) -> str | None:
    value = property_value(note, key)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None


def _aliases(properties: Mapping[str, PropertyValue]) -> tuple[str, ...]:
    aliases: list[str] = []
    for key, value in properties.items():
        if key.strip().casefold() not in _ALIAS_KEYS:
            continue
        items: list[PropertyValue] = []
        if isinstance(value, str):
            items.extend(value.split(","))
        elif isinstance(value, list):
            items = value
        else:
            items = [value]
        for item in items:
            if isinstance(item, str | int | float) and not isinstance(item, bool):
                aliases.append(str(item).strip())
    return tuple(dict.fromkeys(alias for alias in aliases if alias))
