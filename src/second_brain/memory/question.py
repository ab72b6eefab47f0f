"""The question of a recall: whether it may be asked, and whether it is about anything. Pure."""

from __future__ import annotations

from second_brain.errors import InvalidInput
from second_brain.index.analyze import query_terms
from second_brain.index.stopwords import STOP_WORDS
from second_brain.memory.model import KINDS, RecallQuery

# A question of nothing but these and a month asks for all that was written in that month.
_ABOUT_NOTHING = frozenset(
    query_terms(
        "note notes noted memory memories remember write wrote written happen happened happens"
        " decide decided decision discuss discussed say said tell told know new things everything"
        " anything something list show give find recall went going made make work worked"
        " souvenir souvenirs écrire écrit écrite noté passer passé décidé décidée dit raconte fait"
        " faire chose choses tout quelque montre donne trouve rappelle nouveau"
    )
)
_LONGEST_QUERY = 2_000


def checked(query: RecallQuery) -> str:
    """The text to search for. Raises InvalidInput for what a recall cannot be asked."""
    if not query.query.strip():
        raise InvalidInput("query", "query must not be empty")
    if not 1 <= query.top_k <= 20:
        raise InvalidInput("topK", "topK must be between 1 and 20")
    if not 0 <= query.hops <= 3:
        raise InvalidInput("hops", "hops must be between 0 and 3")
    if query.kind is not None and query.kind not in KINDS:
        raise InvalidInput("kind", f"kind must be one of: {', '.join(KINDS)}")
    if query.max_chars < 1:
        raise InvalidInput("max_chars", "max_chars must be at least 1")
    return query.query.strip()[:_LONGEST_QUERY]


def is_about_something(words: str) -> bool:
    """Whether there is a word that tells what to look for, besides when it was."""
    return any(term not in STOP_WORDS and term not in _ABOUT_NOTHING for term in query_terms(words))
