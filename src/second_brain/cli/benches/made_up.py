"""Makes vaults up: notes as people write them, the same ones for the same seed.

Each has frontmatter, tags, one to five wiki-links, headings and paragraphs in English or French
about a topic of its own, and a question that it answers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from second_brain.cli.benches.words import ENGLISH, FRENCH, Language, coined, sentence

TAGS = ("work", "work/plans", "home", "garden", "reading", "travel", "health", "code", "music")
_FOLDERS = ("Projects", "Journal", "People", "Library", "Home/Garden", "Archive/2024")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How long notes are, in characters of text."""

    shortest: int
    longest: int


REAL = Sizes(500, 4_000)
SHORT = Sizes(250, 650)
"""One passage or two each, so that a large vault is embedded in minutes."""


@dataclass(frozen=True, slots=True)
class MadeUp:
    """A note to be written at `path` of a vault, and what somebody might ask to find it."""

    path: str
    text: str
    question: str


def notes(count: int, sizes: Sizes, *, seed: int = 1) -> Iterator[MadeUp]:
    """The notes of a vault. Lengths lean to the short side, as in real vaults."""
    rng = random.Random(seed)
    names = [f"{coined(rng)} {number}" for number in range(count)]
    for number, name in enumerate(names):
        language = FRENCH if rng.random() < 0.35 else ENGLISH
        topic = rng.sample(language.nouns, 5)
        links = rng.sample(names, min(rng.randint(1, 5), count))
        length = int(rng.triangular(sizes.shortest, sizes.longest, sizes.shortest))
        body = _body(language, topic, name, rng, length=length, links=links)
        tags = rng.sample(TAGS, rng.randint(1, 3))
        head = (
            f"---\ntags: [brain, {', '.join(tags)}]\ncreated: {_date(rng)}\n"
            f"aliases:\n  - {topic[0]} {number}\n---\n"
        )
        yield MadeUp(
            path=f"{rng.choice(_FOLDERS)}/{name}.md",
            text=f"{head}# {name}\n\n{body}",
            question=language.question.format(topic[0], topic[1], name.partition(" ")[0]),
        )


def write_vault(root: Path, made: Iterator[MadeUp]) -> list[MadeUp]:
    """Write the notes below `root`; returns them."""
    written = list(made)
    for note in written:
        file = root / note.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(note.text, encoding="utf-8", newline="\n")
    return written


def _body(
    language: Language,
    topic: list[str],
    name: str,
    rng: random.Random,
    *,
    length: int,
    links: list[str],
) -> str:
    waiting = list(links)
    parts: list[str] = []
    size = 0
    while size < length:
        if size and rng.random() < 0.3:
            parts.append(f"## {rng.choice(language.headings)}\n\n")
        said = [sentence(language, topic, name, rng) for _ in range(rng.randint(1, 4))]
        if waiting:
            said[-1] += f" [[{waiting.pop()}]]"
        listed = len(said) > 2 and rng.random() < 0.3
        part = "\n".join(f"- {line}" for line in said) if listed else " ".join(said)
        parts.append(f"{part}\n\n")
        size += len(part)
    if waiting:
        parts.append(" ".join(f"[[{link}]]" for link in waiting) + "\n")
    return "".join(parts)


def _date(rng: random.Random) -> str:
    return f"{rng.randint(2019, 2026)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
