"""What a sentence states: its words, names, numbers, dates, links, and what it denies or doubts.

English and French, by shape and word lists, without a model. Two spellings of one thing get one
key (`3 pm`, `15h` and `15:00`; `two` and `2`; `kilos` and `kg`), so that keys can be compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import Stemmer

from second_brain.memory.statement_words import (
    DATES,
    DIRECTIONS,
    ELISIONS,
    NUMBER_WORDS,
    POLARITY,
    STOP_WORDS,
    UNITS,
)

_ENDINGS = " .!…,;:。！，；："
_QUOTES = str.maketrans("’‘“”−", "''\"\"-")

Kind = Literal["numbers", "names", "dates", "links", "identifiers", "words", "polarity", "elision"]


@dataclass(frozen=True, slots=True)
class Token:
    """`key` is what is compared, `shown` what stands in the text."""

    kind: Kind
    key: str
    shown: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence read. `verbatim` is its normalised text.

    `polarity` holds the words that deny, doubt or limit, and `?` for a question; `directed` tells
    that a word gives the others their roles; `stems` finds it among other sentences.
    """

    verbatim: str
    tokens: tuple[Token, ...]
    polarity: frozenset[str]
    directed: bool
    stems: frozenset[str]


_LIST_ITEM = r"(?:[-*+]|\d{1,3}[.)])\s"
_BREAKS = re.compile(
    rf"\n\s*\n|\n(?=\s*(?:{_LIST_ITEM}|#{{1,6}}\s|>|\|))|(?<=[.!?…])[\"'»”)\]]*\s+(?=\S)"
)
_MARKUP = re.compile(rf"^\s*(?:>\s*)*(?:{_LIST_ITEM}|#{{1,6}}\s)?\s*")
_TASK = re.compile(r"^\[(.)\]\s")

_HALF = r"[aApP](?:\.\s?[mM]\.|[mM]\b)"
_TIME = rf"\d{{1,2}}\s?(?:[hH:]\s?[0-5]\d(?::[0-5]\d)?(?!\d)(?:\s?{_HALF})?|[hH]\b|{_HALF})"
_NUMBER = (
    r"[$€£¥]?(?<![\w.])[+\-±~]?(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d{1,40})"
    r"(?:[.,]\d{1,40}){0,9}(?:\^-?\d{1,9})?(?:\s?[%‰°$€£¥](?:[CF]\b)?)?"
)
_TOKEN = re.compile(
    rf"(?P<link>(?:[a-z][a-z+.\-]{{1,20}}://|www\.)[^\s<>\"]+|[\w.+\-]{{1,64}}@[\w\-]+\.[\w.\-]+)"
    rf"|(?P<date>\d{{4}}-\d\d(?:-\d\d)?|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}|\d{{1,2}}/\d{{1,2}})(?![\w\-])"
    rf"|(?P<time>(?<![\w.]){_TIME})"
    rf"|(?P<number>{_NUMBER})(?![\w.]{{0,40}}[^\W\d_]|_)"
    r"|(?P<word>[#@]?\w+(?:[._/\-@:]\w+|['](?=\w)\w+)*[+#]*)"
    r"|(?P<symbol>[^\w\s])",
    re.IGNORECASE,
)
_MEASURE = re.compile(r"[+\-]?(\d+(?:[.,]\d+)?)([^\W\d_]+)")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th|er|re|e|ème|eme|nd|nde)", re.IGNORECASE)
_SPOKEN = frozenset(["words", "names", "polarity", "elision"])
_NEGATED = {"can": "", "won": "will", "shan": "shall"}
_BARE = re.compile(r"[~±\-]?\d[\d.,]*")
_SIGNIFICANT = frozenset("<>=+×÷±≠≤≥→←↔⇒")
_STRUCK = re.compile(r"~~[^~\n]+~~")


def sentences(text: str) -> list[str]:
    """Cut at sentence ends, blank lines, list items, headings, quotes and table rows."""
    unified = text.replace("\r\n", "\n").translate(_QUOTES)
    return [part for part in _BREAKS.split(unified) if part.strip()]


def read(sentence: str) -> Statement:
    """Read one sentence. Never raises."""
    text = unicodedata.normalize("NFKC", _keep_powers(_MARKUP.sub("", sentence, count=1)))
    polarity: set[str] = set()
    task = _TASK.match(text)
    if task is not None:
        polarity.add("open" if task[1] == " " else "done")
        text = text[task.end() :]
    if _STRUCK.search(text):
        polarity.add("struck out")
    if text.rstrip("\"'»”)] ").endswith("?"):
        polarity.add("?")
    tokens = list(_tokens(text))
    words = [token.key for token in tokens if token.kind in _SPOKEN]
    polarity |= {token.key for token in tokens if token.kind == "polarity"}
    polarity |= _french_negation(words)
    kept = tuple(token for place, token in enumerate(tokens) if _counts(token, place))
    return Statement(
        verbatim=normalise(sentence),
        tokens=kept,
        polarity=frozenset(polarity),
        directed=any(word in DIRECTIONS for word in words) or "->" in text or "→" in text,
        stems=frozenset(stem for token in kept for stem in stems_of(token.key)),
    )


def _tokens(text: str) -> Iterable[Token]:
    """Read a sentence from left to right; a unit joins the number before it."""
    pending: Token | None = None
    for match in _TOKEN.finditer(text):
        unit = UNITS.get(match[0].casefold()) if match.lastgroup == "word" else None
        if pending is not None and unit is not None:
            pending = Token("numbers", f"{pending.key} {unit}", f"{pending.shown} {match[0]}")
            yield pending
            pending = None
            continue
        for token in _tokens_of(match):
            if pending is not None:
                yield pending
            pending = token if token.kind == "numbers" and _BARE.fullmatch(token.key) else None
            if pending is None:
                yield token
    if pending is not None:
        yield pending


def _tokens_of(match: re.Match[str]) -> Iterable[Token]:
    shown = match[0]
    match match.lastgroup:
        case "number":
            return [Token("numbers", _number(shown), shown)]
        case "word":
            return _words(shown)
        case "link":
            shown = shown.rstrip(".,;:!?)'\"")
            return [Token("links", shown.rstrip("/"), shown)]
        case "time":
            return [Token("numbers", _clock(shown), shown)]
        case "date":
            return [Token("dates", shown, shown)]
    if shown in _SIGNIFICANT or unicodedata.category(shown) == "So":
        return [Token("words", shown, shown)]
    return []


def _words(shown: str) -> Iterable[Token]:
    """One run of word characters: a word or several, a name, a code, or a number spelled out."""
    key = shown.casefold()
    measure, ordinal = _MEASURE.fullmatch(key), _ORDINAL.fullmatch(key)
    if ordinal is not None:
        yield Token("numbers", f"{ordinal[1]} th", shown)
    elif measure is not None and measure[2] in UNITS:
        yield Token("numbers", f"{_number(measure[1])} {UNITS[measure[2]]}", shown)
    elif _is_code(shown):
        yield Token("identifiers", key, shown)
    elif key in POLARITY:
        yield Token("polarity", POLARITY[key], shown)
    elif "'" in key or "-" in key or "/" in key or ":" in key:
        parts = [part for part in re.split(r"[-/:]", shown) if part]
        for part in parts:
            yield from _elided(part)
    elif key in NUMBER_WORDS:
        yield Token("numbers", NUMBER_WORDS[key], shown)
    elif key in DATES:
        yield Token("dates", DATES[key], shown)
    else:
        yield Token("names" if shown[:1].isupper() else "words", key, shown)


def _elided(part: str) -> Iterable[Token]:
    """`l'été` is `été`, `don't` is `do` and `not`, `Anna's` is `Anna`."""
    if "'" not in part:
        yield from _words(part)
        return
    head, _, tail = part.partition("'")
    low_head, low_tail = head.casefold(), tail.casefold()
    if part.casefold() in POLARITY:
        yield Token("polarity", POLARITY[part.casefold()], part)
    elif low_head.endswith("n") and low_tail == "t":
        yield Token("polarity", "not", part)
        verb = _NEGATED.get(low_head, head[:-1])
        if verb:
            yield from _words(verb)
    elif low_head in ELISIONS:
        yield Token("elision", low_head, head)
        yield from _elided(tail)
    else:
        yield from _words(head)
        if low_tail not in {"s", "re", "m", "d", ""}:
            yield from _elided(tail)


def _is_code(shown: str) -> bool:
    letters, digits = any(map(str.isalpha, shown)), any(map(str.isdigit, shown))
    if (letters and digits) or "_" in shown or "@" in shown or "#" in shown or shown.endswith("+"):
        return True
    if re.search(r"\w\.\w", shown) or any(part.isdigit() for part in re.split(r"[-/:.]", shown)):
        return True
    return re.search(r"[a-z][A-Z]", shown) is not None


def _number(shown: str) -> str:
    """`1 600` is `1600`, `3,5` is `3.5`; `1,600` stays, for it may be either."""
    key = re.sub(r"[ \u00a0\u202f]", "", shown).casefold().removeprefix("+")
    if re.fullmatch(r"[^,.]*\d,\d{1,2}\D*", key):
        key = key.replace(",", ".")
    key = re.sub(r"^([$€£¥])(.*)$", r"\2\1", key)
    return re.sub(r"([%‰°$€£¥].*)$", r" \1", key)


def _clock(shown: str) -> str:
    """A time of day as HH:MM, so that `3 pm`, `15h` and `15:00` are one."""
    hour, minute, *_ = [*map(int, re.findall(r"\d+", shown)), 0]
    half = re.search(r"([ap])\.?\s?m", shown.casefold())
    if half is not None:
        hour = hour % 12 + (12 if half[1] == "p" else 0)
    seconds = re.findall(r"\d+", shown)[2:]
    return ":".join([f"{hour:02d}", f"{minute:02d}", *seconds])


def _keep_powers(text: str) -> str:
    """Set apart what NFKC would melt into the digits beside it: `10²`, `H₂O`, `1½`, `①`."""
    return text if text.isascii() else text.translate(_POWERS)


class _Powers(dict[int, str]):
    """A table for `str.translate` that learns each character the first time that it is met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        tag = unicodedata.decomposition(char).partition(">")[0]
        if tag == "<super" and unicodedata.normalize("NFKC", char).isalnum():
            mark = "^"
        else:
            mark = {"<sub": "_", "<fraction": " ", "<circle": " "}.get(tag, "")
        self[code] = mark + char
        return self[code]


_POWERS = _Powers()


def _french_negation(words: Sequence[str]) -> set[str]:
    """`ne … plus` and `ne … que` deny or limit; `plus` and `que` alone do not."""
    if not {"ne", "n"} & set(words):
        return set()
    return {f"ne {word}" for word in ("plus", "que") if word in words}


def _counts(token: Token, place: int) -> bool:
    """Small words do not, unless capitals make a name of them: `Plan A`, `the IT room`."""
    if token.kind in ("polarity", "elision"):
        return False
    if token.kind not in ("words", "names") or token.key not in STOP_WORDS:
        return True
    return place > 0 and token.shown.isupper()


def normalise(text: str) -> str:
    """The form in which exact duplicates are equal.

    NFKC, case folded, white space collapsed, punctuation at the end dropped except `?`. Digits,
    signs and powers stay what they are: `10²` does not become `102`. Idempotent.
    """
    while True:
        folded = unicodedata.normalize("NFKC", _keep_powers(text.translate(_QUOTES))).casefold()
        folded = " ".join(unicodedata.normalize("NFKC", folded).split()).rstrip(_ENDINGS)
        if folded == text:
            return folded
        text = folded


@lru_cache(maxsize=8192)
def stems_of(key: str) -> tuple[str, ...]:
    """English and French stems: the language of a short sentence is a guess, so both count."""
    return tuple(
        {key, Stemmer.Stemmer("english").stemWord(key), Stemmer.Stemmer("french").stemWord(key)}
    )
