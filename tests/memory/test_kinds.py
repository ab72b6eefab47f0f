"""Events are told from lasting knowledge; written values win and wrong ones are ignored."""

from __future__ import annotations

import pytest

from second_brain.memory.kinds import importance_of, kind_of, status_of
from second_brain.vault.model import PropertyValue


@pytest.mark.parametrize(
    ("tags", "title", "path"),
    [
        ((), "2026-03-12", "Daily/2026-03-12.md"),
        ((), "2026-03-12", "2026-03-12.md"),
        ((), "2026-03-12 Chantier", "Boat/2026-03-12 Chantier.md"),
        ((), "20260312", "20260312.md"),
        ((), "2026-W11", "Weeks/2026-W11.md"),
        ((), "Thursday", "Journal/Thursday.md"),
        ((), "Budget", "Work/Réunions/Budget.md"),
        (("session",), "Editor work", "Second Brain/Editor work.md"),
        (("work/meeting",), "Budget", "Budget.md"),
        (("Réunion",), "Budget", "Budget.md"),
        ((), "Meeting with the harbour office", "x.md"),
        ((), "Call - insurance", "x.md"),
        ((), "Compte rendu du conseil", "x.md"),
        ((), "Réunion de chantier", "x.md"),
        ((), "Entretien avec Salomé", "x.md"),
        ((), "Retro", "x.md"),
    ],
)
def test_events_are_episodic(tags: tuple[str, ...], title: str, path: str) -> None:
    assert kind_of({}, tags, title, path) == "episodic"


@pytest.mark.parametrize(
    ("tags", "title", "path"),
    [
        ((), "Epoxy", "Boat/Epoxy.md"),
        (("boat", "howto"), "Varnish the deck", "Boat/Varnish the deck.md"),
        ((), "Call stack", "Code/Call stack.md"),
        ((), "Session storage in browsers", "x.md"),
        ((), "Session tools", "x.md"),
        ((), "Visit all lighthouses", "x.md"),
        ((), "Meetings cost money", "x.md"),
        ((), "Part 20260399", "x.md"),
        ((), "Invoice 12026-03-12", "x.md"),
        ((), "Entretenir un moteur", "x.md"),
        ((), "Daily", "Daily.md"),
        ((), "", ""),
    ],
)
def test_the_rest_is_semantic(tags: tuple[str, ...], title: str, path: str) -> None:
    assert kind_of({}, tags, title, path) == "semantic"


@pytest.mark.parametrize("value", ["semantic", " Semantic ", "SEMANTIC"])
def test_the_property_wins(value: str) -> None:
    assert kind_of({"second-brain-kind": value}, ("session",), "2026-03-12") == "semantic"
    assert kind_of({"Second-Brain-Kind": "episodic"}, (), "Epoxy") == "episodic"


@pytest.mark.parametrize("value", ["other", "", None, 3, True, ["episodic"]])
def test_a_wrong_kind_is_no_kind(value: PropertyValue) -> None:
    assert kind_of({"second-brain-kind": value}, (), "Epoxy") == "semantic"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1),
        (5, 5),
        (4.0, 4),
        ("3", 3),
        (" 2 ", 2),
        (0, None),
        (6, None),
        (-1, None),
        (2.5, None),
        ("2.5", None),
        ("high", None),
        ("9" * 5000, None),
        ("²", None),
        (True, None),
        (None, None),
        ([3], None),
        (float("nan"), None),
        (float("inf"), None),
    ],
)
def test_importance_is_one_to_five_or_nothing(value: PropertyValue, expected: int | None) -> None:
    assert importance_of({"second-brain-importance": value}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("canonical", "canonical"),
        ("Draft", "draft"),
        (" deprecated ", "deprecated"),
        ("done", None),
        ("", None),
        (None, None),
        (["draft"], None),
    ],
)
def test_status_is_one_of_three_or_nothing(value: PropertyValue, expected: str | None) -> None:
    assert status_of({"second-brain-status": value}) == expected


def test_absent_properties_say_nothing_and_a_users_own_status_does_not_count() -> None:
    assert importance_of({}) is None
    assert status_of({"status": "draft"}) is None
