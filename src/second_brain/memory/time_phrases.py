"""Time phrases in a query, English and French: what stretch of time they mean, and what is left.

`parse("boat notes from last week", now)` gives last week's bounds and the query "boat notes". Weeks
start on Monday; days begin at midnight in the time zone of `now`. Only phrases that stand as words
count, and words in quotation marks never do. Where a phrase names no year, the latest such time
that has begun is meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from functools import cache

AROUND_DAYS = 3
"""How far "around March 12" reaches to either side."""

_MOST_CHARS = 2_000
"""A longer text is something pasted, not a question with a time in it."""


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """What was understood. `after_ms` and `before_ms` are Unix milliseconds, both inclusive.

    `phrase` is the part of the query that was understood, None if there was none; `rest` is the
    query without it, and the query itself where nothing was understood. `named` tells a month, a
    year or a day called by its name: that may as well be what a memory speaks of ("the crane in
    April") as when it was written. "Last week", "since March" and "around March 12" are not.
    """

    after_ms: int | None
    before_ms: int | None
    rest: str
    phrase: str | None
    named: bool = False


Span = tuple[date | None, date | None]
"""First day, and the day after the last; None is open."""


def parse(query: str, now: datetime) -> TimePhrase:
    """Understand the first time phrase of a query. Never raises.

    `now` should carry a zone with its rules (`zoneinfo`): a fixed offset is an hour off beyond a
    change of summer time. A naive `now` is taken as the machine's local time.
    """
    moment = now if now.tzinfo is not None else now.astimezone()
    text = unicodedata.normalize("NFC", query) if len(query) <= _MOST_CHARS else ""
    found: list[tuple[int, int, Span, bool]] = []
    for pattern, meaning in _compiled():
        for match in pattern.finditer(text):
            if _is_quoted(text, match.start(), match.end()):
                continue
            span = _span(meaning, match, moment.date())
            if span is not None:
                found.append((match.start(), -match.end(), span, _is_named(meaning, match)))
                break
    if not found:
        return TimePhrase(None, None, query, None)
    start, minus_end, (first, until), named = min(found, key=lambda item: item[:2])
    after, before = _midnight(first, moment.tzinfo), _midnight(until, moment.tzinfo)
    if after is None and before is None:
        return TimePhrase(None, None, query, None)
    return TimePhrase(
        after,
        None if before is None else before - 1,
        _without(text, start, -minus_end),
        text[start:-minus_end].strip(),
        named,
    )


def _span(
    meaning: Callable[[re.Match[str], date], Span | None], match: re.Match[str], today: date
) -> Span | None:
    try:
        return meaning(match, today)
    except (ValueError, OverflowError):  # No such day, or before the first one of the calendar.
        return None


def _is_named(meaning: Callable[[re.Match[str], date], Span | None], match: re.Match[str]) -> bool:
    groups = match.groupdict()
    return meaning in (_day, _iso_day, _month, _year) and not (
        groups.get("around") or groups.get("since")
    )


def _midnight(day: date | None, zone: tzinfo | None) -> int | None:
    if day is None:
        return None
    try:
        return round(datetime.combine(day, time.min, tzinfo=zone).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def _without(text: str, start: int, end: int) -> str:
    rest = " ".join((text[:start] + " " + text[end:]).split())
    rest = re.sub(r"\s+([?!.,;:])", r"\1", rest)
    return rest.strip(" ,;:.-–—") if rest.strip(" ,;:.-–—?!") else ""


def _is_quoted(text: str, start: int, end: int) -> bool:
    before, after = text[:start].rstrip()[-1:], text[end:].lstrip()[:1]
    return bool(before) and before in '"“«`' and bool(after) and after in '"”»`'


# --- words ---------------------------------------------------------------------------------------

_EN_NUMBERS = "one two three four five six seven eight nine ten eleven twelve"
_FR_NUMBERS = "un deux trois quatre cinq six sept huit neuf dix onze douze"
_NUMBERS = {
    **{word: n for n, word in enumerate(_EN_NUMBERS.split(), 1)},
    **{word: n for n, word in enumerate(_FR_NUMBERS.split(), 1)},
    **{"a": 1, "an": 1, "une": 1, "couple of": 2, "fifteen": 15, "quinze": 15},
    **{"twenty": 20, "vingt": 20, "thirty": 30, "trente": 30},
}
_FEW = {"d": 7, "w": 4, "m": 4, "y": 3}
_UNITS = {"d": "d", "j": "d", "w": "w", "s": "w", "m": "m", "y": "y", "a": "y"}

_EN_MONTHS = "january february march april may june july august september october november december"
_FR_MONTHS = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
_SHORT_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_SHORT_FR = "janv févr mars avr mai juin juil août sept oct nov déc"
_EN_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_FR_DAYS = "lundi mardi mercredi jeudi vendredi samedi dimanche"


def _plain(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in parts if not unicodedata.combining(char))


_MONTH_NUMBERS = {
    _plain(name): n
    for names in (_EN_MONTHS, _FR_MONTHS, _SHORT_MONTHS, _SHORT_FR)
    for n, name in enumerate(names.split(), 1)
}
_WEEKDAYS = {name: n for names in (_EN_DAYS, _FR_DAYS) for n, name in enumerate(names.split())}


def _any(names: str) -> str:
    """Alternatives, longest first, each also without its accents."""
    words = {*names.split(), *(_plain(name) for name in names.split())}
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


# --- meanings ------------------------------------------------------------------------------------


def _count(match: re.Match[str], unit: str) -> int:
    said = match["n"]
    if said is None:
        return 1
    word = " ".join(said.casefold().split()).removeprefix("a ")
    if word in {"few", "several", "quelques"}:
        return _FEW[unit]
    return int(word) if word.isdecimal() else _NUMBERS[word or "a"]


def _unit(match: re.Match[str]) -> str:
    return _UNITS[match["unit"][0].casefold()]


def _back(day: date, count: int, unit: str) -> date:
    """The day `count` units before, shortened to the month's length where it must be."""
    if unit in "dw":
        return day - timedelta(days=count * (7 if unit == "w" else 1))
    months = day.year * 12 + day.month - 1 - count * (12 if unit == "y" else 1)
    first = date(months // 12, months % 12 + 1, 1)
    return min(date.fromordinal(first.toordinal() + day.day - 1), _next(first, "m") - timedelta(1))


def _floor(day: date, unit: str) -> date:
    if unit == "w":
        return day - timedelta(days=day.weekday())
    if unit == "d":
        return day
    return day.replace(day=1) if unit == "m" else day.replace(month=1, day=1)


def _next(first: date, unit: str) -> date:
    """First day after the unit that begins on `first`."""
    if unit in "dw":
        return first + timedelta(days=7 if unit == "w" else 1)
    if unit == "y" or first.month == 12:
        return date(first.year + 1, 1 if unit == "y" else first.month % 12 + 1, 1)
    return date(first.year, first.month + 1, 1)


def _whole(day: date, unit: str) -> Span:
    first = _floor(day, unit)
    return first, _next(first, unit)


def _last_n(match: re.Match[str], today: date) -> Span:
    unit = _unit(match)
    try:
        return _back(today, _count(match, unit), unit), None
    except (ValueError, OverflowError):
        return date.min, None


def _last_few(match: re.Match[str], today: date) -> Span:
    """ "Ces derniers jours": a plural without a number."""
    unit = _unit(match)
    return _back(today, _FEW[unit], unit), None


def _ago(match: re.Match[str], today: date) -> Span:
    unit = _unit(match)
    return _since(match, _whole(_back(today, _count(match, unit), unit), unit))


def _previous(match: re.Match[str], today: date) -> Span:
    unit = _unit(match)
    return _since(match, _whole(_back(_floor(today, unit), 1, unit), unit))


def _current(match: re.Match[str], today: date) -> Span:
    return _since(match, _whole(today, _unit(match)))


def _near_day(back: int) -> Callable[[re.Match[str], date], Span]:
    return lambda match, today: _since(match, _whole(today - timedelta(days=back), "d"))


def _weekday(match: re.Match[str], today: date) -> Span:
    back = (today.weekday() - _WEEKDAYS[match["weekday"].casefold()]) % 7 or 7
    return _since(match, _whole(today - timedelta(days=back), "d"))


def _day(match: re.Match[str], today: date) -> Span:
    month, number = _month_number(match), int(match["day"])
    if match["year"]:
        day = date(int(match["year"]), month, number)
    else:
        reach = today + timedelta(days=AROUND_DAYS if match["around"] else 0)
        day = _latest(month, number, reach)
    return _around(match, day)


def _iso_day(match: re.Match[str], today: date) -> Span:
    return _around(match, date(int(match["year"]), int(match["month"]), int(match["day"])))


def _month(match: re.Match[str], today: date) -> Span:
    month = _month_number(match)
    year = int(match["year"]) if match["year"] else today.year - (month > today.month)
    return _since(match, _whole(date(year, month, 1), "m"))


def _year(match: re.Match[str], today: date) -> Span:
    return _since(match, _whole(date(int(match["year"]), 1, 1), "y"))


def _latest(month: int, number: int, today: date) -> date:
    """The latest such day that is not after `today`; February 29 may lie eight years back."""
    for year in range(today.year, today.year - 9, -1):
        try:
            day = date(year, month, number)
        except ValueError:
            continue
        if day <= today:
            return day
    raise ValueError("no such day")


def _month_number(match: re.Match[str]) -> int:
    return _MONTH_NUMBERS[_plain(match["month"]).rstrip(".")]


def _since(match: re.Match[str], span: Span) -> Span:
    return (span[0], None) if match.groupdict().get("since") else span


def _around(match: re.Match[str], day: date) -> Span:
    if match["around"]:
        reach = timedelta(days=AROUND_DAYS)
        return day - reach, day + reach + timedelta(days=1)
    return _since(match, _whole(day, "d"))


# --- rules ---------------------------------------------------------------------------------------


_N = (
    r"(?P<n>\d{1,7}|(?:a )?couple of|(?:a )?few|several|quelques|"
    + _any(" ".join(word for word in _NUMBERS if " " not in word))
    + ")"
)
_EN_UNIT = "(?P<unit>days?|weeks?|months?|years?)"
_FR_UNIT = "(?P<unit>jours?|semaines?|mois|ans?|années?|annees?)"
_EN_IN = "(?:(?:(?P<since>since)|in|over|during|within|for|from|of|on) )?"
_FR_IN = r"(?:(?:(?P<since>depuis)|pendant|durant|de|dans|pour|en|au cours de) |d['’])?"
_ABOUT = "(?:(?P<around>around|circa)|(?P<since>since))"
_ABOUT_FR = (
    "(?:(?P<around>vers|autour|aux alentours|aux environs)|(?P<since>depuis|à partir))"
    "(?: (?:le|du))?"
)
_ABOUT_ISO = (
    "(?:(?:(?P<around>around|circa|vers|autour du)|(?P<since>since|depuis)|on|le|du|of|from)"
    "(?: le)? )?"
)
_EXACTLY = "(?P<around>(?!))?"
_FR_LAST = "derni(?:er|ère|ere)"
_FR_DURING = f"{_FR_IN}(?:au cours |lors )?"
_FR_CALENDAR = r"(?:la |le |l['’])?(?P<unit>semaine|mois|année|annee|an)"
_NOT_THERE_IS = r"(?! (?:de|dans|pour|entre|par)\b| d['’])"
_FR_MONTHLY = "(?:(?P<since>depuis)|en|durant|pendant|courant|(?:au|du) mois de)"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_NTH = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er)?"
_EN_MONTH = f"(?P<month>{_any(_EN_MONTHS)})"
_FR_MONTH = f"(?P<month>{_any(_FR_MONTHS)})"
_ANY_EN_MONTH = rf"(?P<month>(?:{_any(_EN_MONTHS)}|{_any(_SHORT_MONTHS + ' sept')})\.?)"
_ANY_FR_MONTH = rf"(?P<month>(?:{_any(_FR_MONTHS)}|{_any(_SHORT_FR)})\.?)"
_PART_OF_DAY = "(?: (?:morning|afternoon|evening|night|matin|soir|après-midi|apres-midi))?"

_RULES: tuple[tuple[str, Callable[[re.Match[str], date], Span | None]], ...] = (
    # English
    (f"{_EN_IN}(?:the )?(?:last|past|previous) {_N} {_EN_UNIT}", _last_n),
    (f"{_EN_IN}(?:the )?past(?P<n>(?!))? {_EN_UNIT}", _last_n),
    (f"{_EN_IN}(?:the )?(?:last|previous) (?P<unit>week|month|year)", _previous),
    (f"{_EN_IN}this (?P<unit>week|month|year)", _current),
    (f"{_EN_IN}{_N} {_EN_UNIT} ago", _ago),
    (f"{_EN_IN}(?:the )?day before yesterday", _near_day(2)),
    (f"{_EN_IN}(?:yesterday{_PART_OF_DAY}|last night)", _near_day(1)),
    (f"{_EN_IN}today", _near_day(0)),
    (f"{_EN_IN}last (?P<weekday>{_any(_EN_DAYS)})", _weekday),
    (f"(?P<since>since) (?P<weekday>{_any(_EN_DAYS)})", _weekday),
    (f"{_ABOUT} (?:the )?{_ANY_EN_MONTH} (?:the )?{_NTH}(?:,? {_YEAR})?", _day),
    (f"{_ABOUT} (?:the )?{_NTH}(?: of)? {_ANY_EN_MONTH}(?:,? {_YEAR})?", _day),
    (f"{_EXACTLY}{_EN_IN}{_ANY_EN_MONTH} {_NTH},? {_YEAR}", _day),
    (f"{_EXACTLY}{_EN_IN}(?:the )?{_NTH}(?: of)? {_ANY_EN_MONTH},? {_YEAR}", _day),
    (f"(?:(?P<since>since)|in|during|from) {_EN_MONTH}(?:,? (?:of )?{_YEAR})?", _month),
    (f"{_EN_IN}{_ANY_EN_MONTH},? {_YEAR}", _month),
    (f"(?:(?P<since>since)|in|during) {_YEAR}", _year),
    # French
    (
        f"{_FR_DURING}(?:(?:les|ces|des) )?{_N} {_FR_LAST}s? {_FR_UNIT}",
        _last_n,
    ),
    (
        f"{_FR_DURING}(?:les|ces|des) (?:quelques )?{_FR_LAST}s {_FR_UNIT}",
        _last_few,
    ),
    (f"(?P<since>depuis) {_N} {_FR_UNIT}", _last_n),
    (
        f"{_FR_IN}{_FR_CALENDAR} (?:{_FR_LAST}|passée?|passee)",
        _previous,
    ),
    (f"{_FR_IN}(?:cette (?P<unit>semaine|année|annee)(?:-ci)?)", _current),
    (f"{_FR_IN}ce (?P<unit>mois)(?:-ci)?", _current),
    (
        rf"(?:(?P<since>depuis) )?il y a {_N} {_FR_UNIT}{_NOT_THERE_IS}",
        _ago,
    ),
    (f"{_FR_IN}avant-hier{_PART_OF_DAY}", _near_day(2)),
    (f"{_FR_IN}hier{_PART_OF_DAY}", _near_day(1)),
    ((rf"{_FR_IN}aujourd['’]hui"), _near_day(0)),
    (f"{_FR_IN}(?:le )?(?P<weekday>{_any(_FR_DAYS)}) (?:dernier|passé|passe)", _weekday),
    (f"(?P<since>depuis) (?:le )?(?P<weekday>{_any(_FR_DAYS)})", _weekday),
    (f"{_ABOUT_FR} {_NTH} {_ANY_FR_MONTH}(?: {_YEAR})?", _day),
    (f"{_EXACTLY}(?:(?:du|le|au) )?{_NTH} {_ANY_FR_MONTH} {_YEAR}", _day),
    (f"{_FR_MONTHLY} {_FR_MONTH}(?: {_YEAR})?", _month),
    (f"{_FR_IN}{_ANY_FR_MONTH} {_YEAR}", _month),
    (f"(?:(?P<since>depuis)|en|durant) {_YEAR}", _year),
    # Both
    (_ABOUT_ISO + r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)", _iso_day),
)


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Span | None]], ...]:
    """The rules; compiled at the first question, since a daemon's start need not wait for it.

    Words are separated by any white space; the phrase must stand as words.
    """
    return tuple(
        (
            re.compile(
                r"(?<![\w\-/.'’#@])"
                + pattern.replace(" ", r"\s+")
                + r"(?:['’]s(?!\w))?(?![\w\-/@'’]|\.\w)",
                re.IGNORECASE,
            ),
            meaning,
        )
        for pattern, meaning in _RULES
    )
