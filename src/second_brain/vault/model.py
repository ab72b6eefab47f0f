"""What a parsed note is: plain values, no behaviour beyond reading them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

PropertyValue = str | int | float | bool | None | list["PropertyValue"] | dict[str, "PropertyValue"]
"""A frontmatter value after YAML 1.2's rules; dates and times stay text."""

Provenance = Literal["explicit", "inferred", "system"]


@dataclass(frozen=True, slots=True)
class Heading:
    """An ATX or setext heading of the body; `start` is the character offset of its line."""

    level: int
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a note: from the text (`property` is None) or from a property.

    `target` is what stands before `#` and `|`, percent-decoded for Markdown links, without `.md`
    being removed; empty for a link inside the same note. `markdown` tells `[text](target)` from
    `[[target]]`: the two resolve differently.
    """

    target: str
    heading: str | None = None
    alias: str | None = None
    embed: bool = False
    markdown: bool = False
    type: str = "relates_to"
    property: str | None = None
    provenance: Provenance = "explicit"


@dataclass(frozen=True, slots=True)
class Note:
    """One Markdown file, parsed. `path` is vault-relative with `/`, spelled as on disk.

    `body` is the text after the frontmatter, exactly as in the file, line endings included.
    `problems` are sentences for the user: why something could not be read.
    """

    path: str
    title: str
    body: str
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    headings: tuple[Heading, ...] = ()
    problems: tuple[str, ...] = ()
