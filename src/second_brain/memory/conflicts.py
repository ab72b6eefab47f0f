"""What rules can prove of two texts: that they cannot both hold, or that one holds the other. Pure.

English and French. A proof is narrow: two sentences name the same subject and the same attribute
in the same words, and differ in one number, date or name behind the verb, or in a denial alone.
That is never more than a reason to ask the user: both may be true of different times.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from second_brain.memory.novelty import says_something_new, unmatched
from second_brain.memory.statements import Statement, Token, read, sentences

ConflictKind = Literal["value", "denial", "contained"]

_MOST_CHARACTERS = 6_000
"""Of either text: a new memory is compared with several before its client is answered."""
_MOST_COMPARED = 8
_MOST_TOKENS = 3
"""`12 March` becomes `19 April`: a value may be a few words in a row."""
_LEAST_SHARED = 2
_VALUES = frozenset(["numbers", "dates", "names", "identifiers"])
_DENIALS = frozenset(
    [
        *("not", "no", "never", "none", "without", "longer", "stopped", "cancelled", "off"),
        *("jamais", "aucun", "sans", "ne plus", "annulé", "annulée", "arrêté", "arrêtée"),
    ]
)
_ATTRIBUTE = re.compile(
    # Verbs of a state that has one value at a time.
    r"(?<!\w)(?:is|are|'s|has|have|costs?|begins?|starts?|ends?|opens?|closes?|listens?|runs?|lives?"
    r"|works?|comes?|arrives?|leaves?|takes?|needs?|uses?|weighs?|measures?|lasts?|expires?|equals?"
    r"|stands?|lies|sits|belongs?|allows?|every"
    r"|est|sont|a|ont|coûte(?:nt)?|commence(?:nt)?|débute(?:nt)?|finit|finissent|ouvre(?:nt)?"
    r"|ferme(?:nt)?|écoute(?:nt)?|tourne(?:nt)?|vit|vivent|habite(?:nt)?|travaille(?:nt)?|vient"
    r"|viennent|arrive(?:nt)?|part|partent|prend|prennent|utilise(?:nt)?|pèse(?:nt)?|mesure(?:nt)?"
    r"|dure(?:nt)?|expire(?:nt)?|se trouve(?:nt)?|toutes les|tous les)"
    r"(?!\w)",
    re.IGNORECASE,
)
_SIGN = re.compile(r"[:=→]|->")


@dataclass(frozen=True, slots=True)
class Conflict:
    """`value`: another number, date or name; `denial`: what one says the other denies;
    `contained`: the new text says all that the known one says, and more. The sentences are those
    that show it, `was` and `now` the values."""

    kind: ConflictKind
    known: str
    new: str
    was: str = ""
    now: str = ""

    @property
    def reason(self) -> str:
        """One sentence for the user."""
        if self.kind == "value":
            return f"“{self.was}” became “{self.now}”; all else is the same."
        if self.kind == "denial":
            return "One of the two denies what the other says."
        return "The newer text says all that the older one says, and more."


def conflict_of(new_text: str, known_text: str) -> Conflict | None:
    """The first conflict that is proven; what is only contained comes last."""
    known = [(text, read(text)) for text in sentences(known_text[:_MOST_CHARACTERS])]
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, (_, statement) in enumerate(known):
        for stem in statement.stems:
            places[stem].append(place)
    written = {statement.verbatim for _, statement in known}
    for text in sentences(new_text[:_MOST_CHARACTERS]):
        new = read(text)
        if new.verbatim in written:
            continue
        shared = Counter(place for stem in new.stems for place in places.get(stem, ()))
        for place, _ in shared.most_common(_MOST_COMPARED):
            known_sentence, statement = known[place]
            found = _between(text, new, known_sentence, statement)
            if found is not None:
                return found
    if len(known_text) > _MOST_CHARACTERS or not known_text.strip():
        return None
    if says_something_new(new_text, known_text) and not says_something_new(known_text, new_text):
        return Conflict("contained", known_text.strip()[:300], new_text.strip()[:300])
    return None


def _between(new_text: str, new: Statement, known_text: str, known: Statement) -> Conflict | None:
    if {"?", "open", "done", "struck out"} & (new.polarity | known.polarity):
        return None
    now, order = unmatched(new, known)
    was, _ = unmatched(known, new)
    shared = len(new.tokens) - len(now)
    apart = new.polarity ^ known.polarity
    if "not" in apart:
        apart -= {"ne que"}  # `n'est pas … que`: the `que` belongs to something else.
    if "ne plus" in apart:
        now, was = [[t for t in side if t.key != "plus"] for side in (now, was)]
    named = {token.key for token in now}
    plain = any(token.kind == "words" and token.key not in named for token in new.tokens)
    if order or shared < _LEAST_SHARED or not plain:
        return None
    kind: ConflictKind
    if not now and not was and apart and apart <= _DENIALS:
        kind = "denial"
    elif (
        not apart
        and _one_value(now, new.tokens)
        and _one_value(was, known.tokens)
        and {token.kind for token in now} == {token.kind for token in was}
        and _is_value(new_text, new.tokens, now)
        and _is_value(known_text, known.tokens, was)
    ):
        kind = "value"
    else:
        return None
    return Conflict(
        kind,
        known_text.strip(),
        new_text.strip(),
        " ".join(token.shown for token in was),
        " ".join(token.shown for token in now),
    )


def _one_value(tokens: Sequence[Token], sentence: Sequence[Token]) -> bool:
    """Whether these are one number, date or name: a few tokens of such kinds in a row."""
    if not 1 <= len(tokens) <= _MOST_TOKENS or any(t.kind not in _VALUES for t in tokens):
        return False
    first = sentence.index(tokens[0])
    return list(sentence[first : first + len(tokens)]) == list(tokens)


def _is_value(text: str, sentence: Sequence[Token], value: Sequence[Token]) -> bool:
    """Whether a verb that gives the subject its one value stands before, or a colon or the like
    and nothing comes after: what stands before the verb tells what is spoken of, and another one
    there is another thing."""
    place = text.casefold().find(value[0].shown.casefold())
    before = text[: max(0, place)]
    last = sentence[-1] == value[-1]
    return bool(_ATTRIBUTE.search(before) or (last and _SIGN.search(before)))
