"""Text to terms for full-text search, the same for every language and for note and query.

A term never contains white space, so the index needs nothing but a white-space tokenizer. Words
are folded (NFKC, case, accents) and stemmed as English and as French: a note in either language is
found by a query in it. Identifiers are findable whole (`v1.9`, `#149`, `ADR-016`, `C++`, e-mail,
URL) and by their parts. Scripts without spaces become pairs of characters.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

from second_brain.index.stopwords import STOP_WORDS

MAX_TERM = 80
"""Characters kept of one term; longer ones (data URLs, hashes in a row) are cut on both sides."""

MAX_QUERY_TERMS = 64
"""Distinct terms of one query: a page pasted as a query must not cost seconds."""

# Scripts written without spaces, and Hangul, whose particles are glued to the words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
)
# `\w` lacks combining marks, which are inside the words of Indic and vocalised Semitic scripts.
_MARKS = "".join(
    chr(code)
    for code in (*range(0x0300, 0x0E00), *range(0x0F00, 0x1000), *range(0xA800, 0xAC00))
    if unicodedata.category(chr(code)) in ("Mn", "Mc", "Me")
)
_LETTERS_RUN = rf"(?:[^\W{_UNSPACED}]++|[{_MARKS}])++"
_TOKEN = re.compile(
    r"(?P<url>(?:https?|ftp|obsidian)://[^\s<>()\[\]\"'`|]+)"
    rf"|(?P<run>[{_UNSPACED}]+)"
    rf"|(?P<word>\#?{_LETTERS_RUN}(?:(?:[.\-/:&@+'’]|(?<=\d),(?=\d)){_LETTERS_RUN})*+(?:\+\+|\#(?!\w))?)"
    r"|(?P<sign>[\u2600-\u27bf\U0001f000-\U0001faff])"
)
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|«([^»]+)»")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OUTER = re.compile(r"[/@:&+]")
_INNER = re.compile(r"[._\-'’,]")
_VERSION = re.compile(r"v\d")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
# l'été, d'accord, qu'il
_ELISIONS = frozenset([*"ldjmtscn", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "presqu"])
_LETTERS = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th"})
_DIACRITICS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")


@dataclass(frozen=True, slots=True)
class Query:
    """A query as terms any of which may match, and phrases (terms in a row) that must.

    `terms` include those of the phrases; `phrases` are joined by single spaces. `words` are the
    same terms by the word that they are spellings of: its English and its French stem, its parts.
    `parts` are those that are only a piece of an identifier (`016` of `ADR-016`).
    """

    terms: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()
    parts: frozenset[str] = frozenset()


def terms(text: str) -> str:
    """The terms of a text in order, joined by spaces; repeated as often as the text has them."""
    return " ".join(term for word in _words(text) for term in _terms_of(*word))


def parse_query(query: str) -> Query:
    """A query's terms and its phrases in quotes; both empty when it has no word at all."""
    phrases = []
    for match in _QUOTED.finditer(query):
        if phrase := terms(next(filter(None, match.groups()))):
            phrases.append(phrase)
    words = _query_words(query)
    found = tuple(_distinct(words))
    kept = frozenset(found)
    fitting = (tuple(term for term in word if term in kept) for word in words)
    return Query(
        found,
        tuple(dict.fromkeys(phrases)),
        tuple(filter(None, dict.fromkeys(fitting))),
        _parts(words),
    )


def _parts(words: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """The terms that stand for nothing but a piece of something with a digit in it."""
    pieces: set[str] = set()
    wholes: set[str] = set()
    for word in filter(None, words):
        named = any(char.isdigit() for char in word[0])
        pieces.update(word[1:] if named else ())
        wholes.update(word[:1] if named else word)
    return frozenset(pieces - wholes)


def query_terms(query: str) -> list[str]:
    """The distinct terms to search by, without stop words unless there is nothing else."""
    return _distinct(_query_words(query))


def _query_words(query: str) -> list[tuple[str, ...]]:
    words = list(_words(query))
    telling = [word for word in words if word[0] != "word" or _fold(word[1]) not in STOP_WORDS]
    found: list[tuple[str, ...]] = []
    for kind, text in telling or words:
        if kind == "run":
            found += [(pair,) for pair in _pairs(text)]
        else:
            found.append(_terms_of(kind, text))
    return found


def _distinct(words: Iterable[tuple[str, ...]]) -> list[str]:
    return list(dict.fromkeys(term for word in words for term in word))[:MAX_QUERY_TERMS]


def _words(text: str) -> Iterator[tuple[str, str]]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        assert kind is not None
        yield kind, match.group()


@lru_cache(maxsize=32_768)
def _terms_of(kind: str, text: str) -> tuple[str, ...]:
    if kind == "run":
        found: list[str] = []
        for place, char in enumerate(text):
            found += (char, text[place : place + 2])
        found.pop()
        return tuple(found)
    if kind == "sign":
        return (text,)
    if kind == "url":
        text = text.partition("://")[2].rstrip("/.,;:!?*_").removeprefix("www.")
        found = [_fold(text), *(t for w in _words(text) for t in _terms_of(*w))]
    else:
        found = list(_word(text))
    return tuple(dict.fromkeys(term[:MAX_TERM] for term in found if term))


def _pairs(run: str) -> tuple[str, ...]:
    if len(run) == 1:
        return (run,)
    return tuple(run[place : place + 2] for place in range(len(run) - 1))


def _word(text: str) -> Iterator[str]:
    """The terms of what stands between white space and punctuation: whole first, then parts."""
    bare = text.removeprefix("#").strip("_")
    if text.startswith("#") or bare.endswith(("++", "#")):
        yield _fold(text.strip("_"))
        bare = bare.rstrip("+#")
    yield from _compound(bare)


def _compound(text: str) -> Iterator[str]:
    segments = [segment for segment in _OUTER.split(text) if segment]
    if len(segments) > 1:
        yield _fold(text)
        for segment in segments:
            if len(segment) > 1:
                yield from _compound(segment)
        return
    text = _without_elision(text)
    parts = [part for part in _INNER.split(text.replace("_", "-")) if part]
    if len(parts) > 1:
        whole = _whole(text)
        yield whole
        if _VERSION.match(whole):
            yield whole[1:]
        if whole.isdecimal() and "," in text:
            return
    for part in parts:
        if len(part) == 1 and len(parts) > 1:
            continue
        humps = _HUMP.split(part)
        yield from _stems(part)
        if len(humps) > 1:
            for hump in humps:
                if len(hump) > 1:
                    yield from _stems(hump)


def _without_elision(text: str) -> str:
    head, mark, tail = text.replace("’", "'").partition("'")
    if mark and head.casefold() in _ELISIONS and len(tail) > 1:
        return _without_elision(tail)
    return text.replace("’", "'").removesuffix("'s")


def _whole(text: str) -> str:
    """One spelling for the whole of a compound, so that `e-mail` and `email` are the same."""
    folded = _fold(text)
    if _THOUSANDS.fullmatch(folded):
        return folded.replace(",", "")
    return folded.replace(",", ".").replace("-", "")


def _stems(word: str) -> Iterator[str]:
    folded = _fold(word)
    if not folded.isalpha():
        yield folded
        if folded.isdecimal() and folded.startswith("0"):
            yield folded.lstrip("0")
        return
    english, french = _stemmers()
    yield english.stemWord(folded)
    yield french.stemWord(folded)
    if not word.isascii():
        # French endings are told apart by their accents: fold after stemming as well.
        yield _fold(french.stemWord(word.casefold().translate(_LETTERS)))


@lru_cache(maxsize=32_768)
def _fold(text: str) -> str:
    """Case, accents and ligatures removed; `text` is NFKC already."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    stripped = _DIACRITICS.sub("", unicodedata.normalize("NFD", folded.translate(_LETTERS)))
    return unicodedata.normalize("NFC", stripped)


class _Local(threading.local):
    """PyStemmer's objects must not be shared between threads."""

    def __init__(self) -> None:
        # The caches above make the stemmers' own ones superfluous.
        self.pair = (Stemmer.Stemmer("english", 0), Stemmer.Stemmer("french", 0))


_local = _Local()


def _stemmers() -> tuple[Stemmer.Stemmer, Stemmer.Stemmer]:
    return _local.pair
