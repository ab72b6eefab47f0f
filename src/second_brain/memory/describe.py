"""What a search filters by and a ranking weighs, read from a note by the domain's rules."""

from __future__ import annotations

import hashlib

from second_brain.memory.kinds import importance_of, kind_of, status_of
from second_brain.memory.novelty import normalise
from second_brain.sync.changes import Facets
from second_brain.vault.model import Note
from second_brain.vault.note import note_source
from second_brain.vault.rules import SyncRule

USER_SOURCE = "obsidian"
"""The source of a note that the daemon did not create."""


def describe(note: Note, rule: SyncRule) -> Facets:
    """The facets of a note; its tags are without the sync tag."""
    tags = rule.own_tags(note)
    return Facets(
        tags=tags,
        kind=kind_of(note.properties, tags, note.title, note.path),
        status=status_of(note.properties),
        importance=importance_of(note.properties),
        source=note_source(note) or USER_SOURCE,
        text_key=text_key(note.body),
    )


def text_version(text: str) -> str:
    """Another one after any change of a memory's text, however small."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def text_key(text: str) -> str:
    """Equal for two texts that say the same in the same words; empty for a text without any."""
    plain = normalise(text)
    return hashlib.blake2b(plain.encode(), digest_size=16).hexdigest() if plain else ""
