"""Time phrases in English and French give the right days, in the right zone, and leave the rest."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.memory.time_phrases import parse

PARIS = ZoneInfo("Europe/Paris")
NOW = datetime(2026, 6, 17, 15, 30, tzinfo=PARIS)  # A Wednesday.


def days(query: str, now: datetime = NOW) -> tuple[str | None, str | None, str]:
    """First and last day of what was understood, as ISO dates, and the rest of the query."""
    found = parse(query, now)

    def day(ms: int | None) -> str | None:
        zone = now.tzinfo
        return None if ms is None else datetime.fromtimestamp(ms / 1000, zone).date().isoformat()

    return day(found.after_ms), day(found.before_ms), found.rest


@pytest.mark.parametrize(
    ("query", "first", "last", "rest"),
    [
        # The contract's list
        ("boat notes from the last 3 days", "2026-06-14", None, "boat notes"),
        ("last 2 weeks boat", "2026-06-03", None, "boat"),
        ("what changed over the past 6 months?", "2025-12-17", None, "what changed?"),
        ("what did we decide last week?", "2026-06-08", "2026-06-14", "what did we decide?"),
        ("this week", "2026-06-15", "2026-06-21", ""),
        ("invoices last month", "2026-05-01", "2026-05-31", "invoices"),
        ("this month's invoices", "2026-06-01", "2026-06-30", "invoices"),
        ("yesterday's meeting", "2026-06-16", "2026-06-16", "meeting"),
        ("What happened today", "2026-06-17", "2026-06-17", "What happened"),
        ("engine trouble around March 12", "2026-03-09", "2026-03-15", "engine trouble"),
        ("around the 12th of March 2024", "2024-03-09", "2024-03-15", ""),
        # More English
        ("the day before yesterday", "2026-06-15", "2026-06-15", ""),
        ("who called last night", "2026-06-16", "2026-06-16", "who called"),
        ("in the last couple of weeks", "2026-06-03", None, ""),
        ("recipes from the last few days", "2026-06-10", None, "recipes"),
        ("in the past week", "2026-06-10", None, ""),
        ("last three months", "2026-03-17", None, ""),
        ("3 days ago", "2026-06-14", "2026-06-14", ""),
        ("a week ago", "2026-06-08", "2026-06-14", ""),
        ("two months ago", "2026-04-01", "2026-04-30", ""),
        ("last year", "2025-01-01", "2025-12-31", ""),
        ("ideas since Monday", "2026-06-15", None, "ideas"),
        ("since Wednesday", "2026-06-10", None, ""),
        ("last Friday", "2026-06-12", "2026-06-12", ""),
        ("since last week", "2026-06-08", None, ""),
        ("since yesterday", "2026-06-16", None, ""),
        ("books read in March", "2026-03-01", "2026-03-31", "books read"),
        ("books read in October", "2025-10-01", "2025-10-31", "books read"),
        ("in March 2024", "2024-03-01", "2024-03-31", ""),
        ("budget of March 2024", "2024-03-01", "2024-03-31", "budget"),
        ("since March", "2026-03-01", None, ""),
        ("since 12 March", "2026-03-12", None, ""),
        ("on Sept. 3, 2025", "2025-09-03", "2025-09-03", ""),
        ("in 2024", "2024-01-01", "2024-12-31", ""),
        ("2024-03-12", "2024-03-12", "2024-03-12", ""),
        ("notes on 2024-03-12", "2024-03-12", "2024-03-12", "notes"),
        ("since 2024-03-12", "2024-03-12", None, ""),
        ("around 2024-03-12", "2024-03-09", "2024-03-15", ""),
        ("around February 29", "2024-02-26", "2024-03-03", ""),
        ("around June 19", "2026-06-16", "2026-06-22", ""),
        # French
        ("qu'ai-je fait hier ?", "2026-06-16", "2026-06-16", "qu'ai-je fait?"),
        ("la réunion d'hier", "2026-06-16", "2026-06-16", "la réunion"),
        ("avant-hier", "2026-06-15", "2026-06-15", ""),
        ("aujourd'hui", "2026-06-17", "2026-06-17", ""),
        ("les courses d’aujourd’hui", "2026-06-17", "2026-06-17", "les courses"),
        ("la semaine dernière", "2026-06-08", "2026-06-14", ""),
        ("décisions de la semaine passée", "2026-06-08", "2026-06-14", "décisions"),
        ("décisions de la semaine derniere", "2026-06-08", "2026-06-14", "décisions"),
        ("cette semaine", "2026-06-15", "2026-06-21", ""),
        ("le mois dernier", "2026-05-01", "2026-05-31", ""),
        ("factures de ce mois-ci", "2026-06-01", "2026-06-30", "factures"),
        ("l'année dernière", "2025-01-01", "2025-12-31", ""),
        ("les 3 derniers jours", "2026-06-14", None, ""),
        ("idées des deux dernières semaines", "2026-06-03", None, "idées"),
        ("ces derniers jours", "2026-06-10", None, ""),
        ("il y a 3 jours", "2026-06-14", "2026-06-14", ""),
        ("il y a une semaine", "2026-06-08", "2026-06-14", ""),
        ("depuis trois jours", "2026-06-14", None, ""),
        ("panne moteur vers le 12 mars", "2026-03-09", "2026-03-15", "panne moteur"),
        ("vers le 12 mars 2024", "2024-03-09", "2024-03-15", ""),
        ("livres lus en mars", "2026-03-01", "2026-03-31", "livres lus"),
        ("en mars 2024", "2024-03-01", "2024-03-31", ""),
        ("en août", "2025-08-01", "2025-08-31", ""),
        ("en aout 2024", "2024-08-01", "2024-08-31", ""),
        ("depuis lundi", "2026-06-15", None, ""),
        ("mardi dernier", "2026-06-16", "2026-06-16", ""),
        ("depuis le 1er mai", "2026-05-01", None, ""),
        ("le 3 février 2025", "2025-02-03", "2025-02-03", ""),
    ],
)
def test_phrases(query: str, first: str | None, last: str | None, rest: str) -> None:
    assert days(query) == (first, last, rest)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "boat",
        "todayish plans",
        "usa-today archive",
        "file today.md",
        "#today",
        "yesterdays",
        "#149 and v1.9",
        "backup-2024-03-12",
        "2024-03-12T10:00",
        "2024-13-45",
        "1900-02-30",
        "version 2024.3",
        "the march to the sea",
        "may I borrow it",
        "may 5 people come",
        "meeting every Monday",
        "birthday on March 12",
        "rendez-vous le 12 mars",
        "birthday on 40 March",
        "the last days of Pompeii",
        "il y a 3 semaines de congés",
        "last",
        'the song "Yesterday" by ear',
        "le roman « Hier »",
        "mars et la lune",
        "chier",
        "in mars",
    ],
)
def test_no_phrase_leaves_the_query_alone(query: str) -> None:
    found = parse(query, NOW)
    assert (found.after_ms, found.before_ms, found.rest, found.phrase) == (None, None, query, None)


def test_the_phrase_is_told() -> None:
    assert parse("What did we decide last week?", NOW).phrase == "last week"


def test_the_first_phrase_counts() -> None:
    found = parse("yesterday or last week", NOW)
    assert found.phrase == "yesterday"
    assert found.rest == "or last week"


def test_decomposed_letters_are_understood() -> None:
    assert days("la semaine dernie\u0300re")[0] == "2026-06-08"


def test_bounds_are_inclusive_milliseconds_of_local_days() -> None:
    found = parse("yesterday", NOW)
    assert found.after_ms == datetime(2026, 6, 16, tzinfo=PARIS).timestamp() * 1000
    assert found.before_ms == datetime(2026, 6, 17, tzinfo=PARIS).timestamp() * 1000 - 1


@pytest.mark.parametrize(
    ("now", "hours"),
    [
        (datetime(2026, 3, 30, 9, tzinfo=PARIS), 23),  # Summer time began the day before.
        (datetime(2026, 10, 26, 9, tzinfo=PARIS), 25),  # It ended the day before.
        (datetime(2018, 11, 5, 9, tzinfo=ZoneInfo("America/Sao_Paulo")), 23),  # No midnight.
    ],
)
def test_days_have_their_real_length_when_the_clock_changes(now: datetime, hours: int) -> None:
    found = parse("yesterday", now)
    assert found.after_ms is not None
    assert found.before_ms is not None
    assert (found.before_ms - found.after_ms + 1) / 3_600_000 == hours


def test_the_same_moment_is_another_day_elsewhere() -> None:
    moment = datetime(2026, 6, 17, 23, 30, tzinfo=UTC)
    assert days("today", moment)[0] == "2026-06-17"
    assert days("today", moment.astimezone(ZoneInfo("Asia/Tokyo")))[0] == "2026-06-18"


@pytest.mark.parametrize("offset", range(0, 800, 13))
def test_this_and_last_fit_together(offset: int) -> None:
    now = NOW + timedelta(days=offset)
    for unit in ("week", "month", "year"):
        last, this = parse(f"last {unit}", now), parse(f"this {unit}", now)
        assert last.before_ms is not None
        assert last.before_ms + 1 == this.after_ms
        assert this.after_ms <= now.timestamp() * 1000 <= (this.before_ms or 0)
    assert date.fromisoformat(days("this week", now)[0] or "").weekday() == 0


def test_a_stretch_longer_than_the_calendar_is_no_bound() -> None:
    assert parse("last 9999999 days", datetime(2026, 1, 1, tzinfo=UTC)).rest == ""
    assert parse("9999999 years ago", NOW).phrase is None


PIECES = (
    "last this past week weeks month days 3 99999 a couple of few ago since yesterday today around "
    "march mars may mai 12 31 2024 2024-02-30 0001-01-01 9999-12-31 il y a jours semaine dernière "
    "depuis lundi monday le vers en in derniers les ces , ? ' d'hier aujourd'hui"
)


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(PIECES.split()), max_size=9).map(" ".join)),
    st.datetimes(
        timezones=st.sampled_from(
            [PARIS, UTC, timezone(timedelta(hours=-12)), ZoneInfo("Asia/Tokyo")]
        )
    ),
)
def test_nothing_raises_and_bounds_are_in_order(query: str, now: datetime) -> None:
    found = parse(query, now)
    if found.phrase is None:
        assert found.rest == query
        assert found.after_ms is None
        assert found.before_ms is None
    elif found.after_ms is not None and found.before_ms is not None:
        assert found.after_ms < found.before_ms


def test_a_long_pasted_text_is_no_question() -> None:
    assert parse("yesterday " + "la " * 2000, NOW).phrase is None


def test_a_naive_now_is_local_time() -> None:
    assert parse("today", datetime(2026, 6, 17, 15, 30)).phrase == "today"
