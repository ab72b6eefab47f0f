"""What rules prove of two texts, and what they must not claim."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from second_brain.cli.benches.capture.pairs import read
from second_brain.memory.conflicts import conflict_of

PAIRS = read(Path(__file__).parents[1] / "pairs" / "capture_pairs.json")


def test_on_the_pairs_nothing_is_claimed_that_is_not_so() -> None:
    right = {"updated": "value", "contradicted": "denial", "elaborated": "contained"}
    found = [(pair, conflict_of(pair.new, pair.known)) for pair in PAIRS]
    wrong = [pair for pair, c in found if c is not None and right.get(pair.kind) != c.kind]
    assert wrong == []
    proven = Counter(pair.kind for pair, c in found if c is not None)
    provable = Counter(p.kind for p in PAIRS if p.kind in right and p.value != "word")
    assert proven["contradicted"] >= 85
    assert proven["elaborated"] >= 70
    assert proven["updated"] >= 0.9 * provable["updated"]


@pytest.mark.parametrize(
    ("known", "new", "kind", "was", "now"),
    [
        ("The mast is 14 m long.", "The mast is 15 m long.", "value", "14 m", "15 m"),
        (
            "Notes.\n\n- gateway port: 8080\n- host: Ada",
            "- gateway port: 8443",
            "value",
            "8080",
            "8443",
        ),
        ("Ada lives in Bath.", "Ada lives in York.", "value", "Bath", "York"),
        ("Le cours commence à 9 h.", "Le cours commence à 10 h.", "value", "9 h", "10 h"),
        ("The sail is insured.", "The sail is not insured.", "denial", "", ""),
        ("Le gaz est ouvert.", "Le gaz n'est plus ouvert.", "denial", "", ""),
        ("The rope is blue.", "The rope is blue. It has a red mark.", "contained", "", ""),
    ],
)
def test_what_is_proven(known: str, new: str, kind: str, was: str, now: str) -> None:
    conflict = conflict_of(new, known)
    assert conflict is not None
    assert (conflict.kind, conflict.was, conflict.now) == (kind, was, now)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Bus 12 leaves at 8:00.", "Bus 14 leaves at 8:00."),
        ("The contact at Acme is Anna.", "The contact at Globex is Anna."),
        ("We met Anna in Bath on 3 May.", "We met Anna in Bath on 4 May."),
        ("Is the mast 14 m long?", "Is the mast 15 m long?"),
        ("- [ ] pay 40 euros for the berth", "- [x] pay 40 euros for the berth"),
        ("Anna: Thanks, Ben!", "Anna: Hey, Ben!"),
        ("The mast is 14 m long.", "The mast is 14 m long."),
        ("The mast is maybe 14 m long.", "The mast is 15 m long."),
        ("", "The mast is 15 m long."),
        ("Tom is tall.", "Ada is tall."),
        ("x" * 50_000, "y" * 50_000),
    ],
)
def test_what_is_not_proven(known: str, new: str) -> None:
    assert conflict_of(new, known) is None
