"""Obsidian's tags: the grammar, where they are found, and how they compare."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from second_brain.vault.model import PropertyValue

_NOT_IN_TAG = r"\u2000-\u206F\u2E00-\u2E7F'!\"#$%&()*+,.:;<=>?@^`{}|~\[\]\\\s"
_INLINE = re.compile(rf"(?<!\S)#([^{_NOT_IN_TAG}]+)")
_INVALID = re.compile(rf"[{_NOT_IN_TAG}]+")
_EDGES = re.compile(rf"\A[{_NOT_IN_TAG}]+|[{_NOT_IN_TAG}]+\Z")
_SLASHES = re.compile(r"//+")
_SPACED_SLASH = re.compile(r"\s*/\s*")
_SEPARATORS = re.compile(r"[,\s]+")
_KEYS = frozenset({"tags", "tag"})


def fold(tag: str) -> str:
    """The form in which two spellings of one tag are equal."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", tag).casefold())


def with_parents(tag: str) -> list[str]:
    """A nested tag and all it lies in, outermost first: `a/b` gives `a`, `a/b`."""
    parts = tag.split("/")
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def clean_tag(text: str) -> str:
    """`text` as a tag that Obsidian accepts, without `#`: "two words" gives `two-words`.

    Empty when nothing is left, or only digits: those are no tag.
    """
    tag = _INVALID.sub("-", _EDGES.sub("", _SPACED_SLASH.sub("/", text)))
    tag = _SLASHES.sub("/", tag).strip("/")
    return tag if _is_tag(tag) else ""


def unique(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags without repetitions in another casing; the first spelling stays."""
    found: dict[str, str] = {}
    for tag in tags:
        found.setdefault(fold(tag), tag)
    return tuple(found.values())


def inline_tags(masked: str) -> list[str]:
    """The tags in a text whose code, links and the like are masked, in order, without `#`."""
    tags = (_SLASHES.sub("/", match[1]).strip("/") for match in _INLINE.finditer(masked))
    return [tag for tag in tags if _is_tag(tag)]


def property_tags(properties: Mapping[str, PropertyValue]) -> list[str]:
    """The tags in `tags` and `tag`, in whatever form they are written; never raises.

    A list, a string with commas or spaces, items with `#`. What is no text is no tag.
    """
    tags: list[str] = []
    for key, value in properties.items():
        if key.strip().casefold() not in _KEYS:
            continue
        if isinstance(value, str):
            items = _SEPARATORS.split(value)
        elif isinstance(value, list):
            items = [part for item in value if isinstance(item, str) for part in item.split(",")]
        else:
            continue
        # `[[x]]` among the tags is a link that went astray.
        tags += (tag for item in items if "[[" not in item and (tag := clean_tag(item)))
    return tags


def _is_tag(tag: str) -> bool:
    return bool(tag) and not tag.isdigit()
