"""Does a text say something that a known one does not? English and French, pure, on the safe side.

Two texts of almost the same vector may differ in the one thing that matters: "the meeting is at
4 pm" after "at 3 pm", "prefers tea over coffee" after the reverse. Such a text is stored and
flagged, never refused as a duplicate. So each sentence of the new text must be covered by one
sentence of the known text: its numbers, names, dates, links and words are all there, in the same
roles, and neither denies, doubts or limits what the other states. In doubt it says something new.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from second_brain.memory.statement_words import INFLECTIONS
from second_brain.memory.statements import (
    Statement,
    Token,
    normalise,
    read,
    sentences,
    stems_of,
)

__all__ = ["Novelty", "normalise", "says_something_new", "unmatched"]

_MOST_CHARS = 200_000
"""Of either text; what lies behind is taken as new."""
_MOST_COMPARED = 50
"""Known sentences that a new one is compared with: those that share most with it."""
_MOST_NEW = 20
"""New sentences after which the answer is clear and looking on adds nothing."""
_WORDS_A_NEW_ONE = 25
"""Only in a sentence this long may one new word (not a name, not a number) go unnoticed."""


@dataclass(frozen=True, slots=True)
class Novelty:
    """What the new text brings, each as it is written there; true when it brings anything.

    `negations` holds every word that denies, doubts or limits and that only one of the two has;
    `order` the words that changed roles.
    """

    numbers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    order: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, kind.name) for kind in fields(self))

    @property
    def reason(self) -> str:
        """The findings in a few words for a message: `numbers: 4 pm; names: Salomé`."""
        found = ((kind.name, getattr(self, kind.name)) for kind in fields(self))
        return "; ".join(f"{name}: {', '.join(values[:5])}" for name, values in found if values)


def says_something_new(new_text: str, known_text: str) -> Novelty:
    """Compare sentence by sentence; an empty (false) answer means that nothing is new."""
    if normalise(new_text) == normalise(known_text):
        return Novelty()
    known = [read(sentence) for sentence in sentences(known_text[:_MOST_CHARS])]
    verbatim = {sentence.verbatim for sentence in known}
    by_key: defaultdict[str, list[int]] = defaultdict(list)
    for place, sentence in enumerate(known):
        for key in sentence.stems:
            by_key[key].append(place)
    found: list[Novelty] = []
    for text in sentences(new_text[:_MOST_CHARS]):
        sentence = read(text)
        if sentence.verbatim in verbatim or not (sentence.tokens or sentence.polarity):
            continue
        novelty = _least_new(sentence, [known[place] for place in _nearest(sentence, by_key)])
        if novelty:
            found.append(novelty)
        if len(found) == _MOST_NEW:
            break
    if not found and len(new_text) > _MOST_CHARS:
        return Novelty(words=("a long text",))
    return _together(found)


def _nearest(sentence: Statement, by_key: dict[str, list[int]]) -> list[int]:
    shared = Counter(place for stem in sentence.stems if stem in by_key for place in by_key[stem])
    return [place for place, _ in shared.most_common(_MOST_COMPARED)]


def _least_new(sentence: Statement, known: Sequence[Statement]) -> Novelty:
    """What is new against the known sentence that covers most."""
    if not known:
        return _as_novelty(sentence.tokens, sentence.polarity, ())
    best: Novelty | None = None
    least = 0
    for other in known:
        novelty = _compare(sentence, other)
        if not novelty:
            return novelty
        size = sum(len(getattr(novelty, kind.name)) for kind in fields(novelty))
        if best is None or size < least:
            best, least = novelty, size
    return best or Novelty()


def unmatched(new: Statement, known: Statement) -> tuple[list[Token], tuple[str, ...]]:
    """What one sentence names that the other does not, and what changed roles in it."""
    keys = {token.key for token in known.tokens}
    words = [token.key for token in known.tokens if token.kind in ("words", "names")]
    places: dict[str, int] = {}
    for place, token in enumerate(known.tokens):
        places.setdefault(token.key, place)
    by_stem: defaultdict[str, list[str]] = defaultdict(list)
    for word in words:
        for stem in stems_of(word):
            by_stem[stem].append(word)
    unknown: list[Token] = []
    path: list[tuple[int, Token]] = []
    for token in new.tokens:
        match = token.key if token.key in keys else _inflected(token, by_stem)
        if match is None:
            unknown.append(token)
        else:
            path.append((places[match], token))
    return unknown, _swapped(path, new.directed or known.directed)


def _compare(new: Statement, known: Statement) -> Novelty:
    unknown, order = unmatched(new, known)
    plain = [token for token in unknown if token.kind == "words"]
    if len(plain) <= len(new.tokens) // _WORDS_A_NEW_ONE:
        unknown = [token for token in unknown if token.kind != "words"]
    return _as_novelty(unknown, new.polarity ^ known.polarity, order)


def _inflected(token: Token, by_stem: dict[str, list[str]]) -> str | None:
    """A known word that is the same one in another number or person; a tense is another word."""
    if token.kind not in ("words", "names"):
        return None
    for stem in stems_of(token.key):
        for word in by_stem.get(stem, ()):
            common = len(_common_prefix(word, token.key))
            if common >= 3 and {word[common:], token.key[common:]} <= INFLECTIONS:
                return word
    return None


def _swapped(path: Sequence[tuple[int, Token]], directed: bool) -> tuple[str, ...]:
    """Words that stand in another order: names, numbers, or any where a word gives a direction."""
    for kinds in (("numbers", "dates"), ("names",), ("numbers", "dates", "names", "words")):
        if len(kinds) > 2 and not directed:
            continue
        seen: dict[int, str] = {}
        for place, token in path:
            if token.kind in kinds and place not in seen:
                if seen and place < max(seen):
                    return (seen[max(seen)], token.shown)
                seen[place] = token.shown
    return ()


def _as_novelty(
    tokens: Iterable[Token], polarity: Iterable[str], order: tuple[str, ...]
) -> Novelty:
    kinds: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for token in tokens:
        kinds[token.kind].setdefault(token.key, token.shown)
    found = {kind: tuple(shown.values()) for kind, shown in kinds.items()}
    return Novelty(**found, negations=tuple(sorted(polarity)), order=order)


def _together(found: Sequence[Novelty]) -> Novelty:
    return Novelty(
        **{
            kind.name: tuple(
                dict.fromkeys(value for novelty in found for value in getattr(novelty, kind.name))
            )
            for kind in fields(Novelty)
        }
    )


def _common_prefix(one: str, other: str) -> str:
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return one[:place]
    return min(one, other, key=len)
