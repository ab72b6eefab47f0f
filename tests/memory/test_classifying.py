"""What rules say of a memory, and that nothing of the user's is written over for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from live import Brain

from second_brain.intelligence.classify import Batch, classify_pending
from second_brain.memory.marks import ORDINARY, marks_of
from second_brain.vault.note import parse_note

CASES = json.loads((Path(__file__).parents[1] / "pairs" / "classified.json").read_text("utf-8"))


def test_rules_are_silent_rather_than_wrong() -> None:
    """The texts were written together with the rules: this holds what the rules claim to know."""
    told = [marks_of(case["text"]) for case in CASES]
    kinds = [(m.kind, c["kind"]) for m, c in zip(told, CASES, strict=True) if m.kind is not None]
    assert [pair for pair in kinds if pair[0] != pair[1]] == []
    assert len(kinds) >= 0.55 * len(CASES)
    for marks, case in zip(told, CASES, strict=True):
        low, high = case["importance"]
        assert low <= (marks.importance or ORDINARY) <= high, case["text"]
        assert marks.canonical == case["canonical"], case["text"]


@pytest.mark.parametrize(
    "text",
    [
        "No decision has been made on the mast.",
        "Was it decided who takes the helm?",
        "Aucune décision n'est prise pour le mât.",
        "It is not the source of truth any more.",
        "The anchor weighs fifteen kilos.",
        "You must have been tired after that important day.",
        "",
        "…" * 5_000,
    ],
)
def test_what_is_denied_asked_or_said_in_passing_marks_nothing(text: str) -> None:
    marks = marks_of(text)
    assert (marks.importance, marks.canonical) == (None, False)


def test_a_strong_word_far_down_a_long_text_does_not_make_it_weigh() -> None:
    filler = "The hull was sanded with care and painted. " * 40
    assert marks_of(f"{filler}\n\nWe decided to sell her.").importance is None


def properties(brain: Brain, path: str) -> dict[str, object]:
    found = parse_note(path, brain.bytes(path)).properties
    return {key: value for key, value in found.items() if key.startswith("second-brain-")}


@pytest.mark.parametrize(
    ("text", "kind", "importance", "status"),
    [
        ("We decided that the tender gets a new engine.", "semantic", 4, None),
        ("Nous avons décidé de repeindre la coque en bleu.", "semantic", 4, None),
        ("The folder Charts is the source of truth for depths.", "semantic", 5, "canonical"),
        ("Yesterday we met the rigger in Vannes.", "episodic", None, None),
        ("Camille préfère naviguer de nuit.", "semantic", 3, None),
        ("The gooseneck has a bronze pin.", None, None, None),
    ],
)
def test_a_new_memory_carries_what_its_words_tell(
    brain: Brain, text: str, kind: str | None, importance: int | None, status: str | None
) -> None:
    id, path = brain.remembered(text)
    found = properties(brain, path)
    assert found.get("second-brain-kind") == kind
    assert found.get("second-brain-importance") == importance
    assert found.get("second-brain-status") == status
    memory = brain.run(brain.memories.get(id))
    assert (memory.importance, memory.status) == (importance, status)


def pending(brain: Brain) -> Batch:
    return brain.run(classify_pending(brain.memories, most=3))


def test_pending_ones_are_classified_in_batches_that_come_to_an_end(brain: Brain) -> None:
    while pending(brain).remaining:
        pass
    made = [brain.remembered(f"The {w} hangs behind the door.")[1] for w in "ABCD"]
    mine = brain.write(
        "Second Brain/Mine.md",
        "---\ntags: [brain]\nsecond-brain-source: claude\nsecond-brain-kind: episodic # mine\n"
        "second-brain-status: draft\n---\nWe decided that limits.csv is the source of truth.\n",
    )
    brain.take_in(mine)
    users = brain.write("Logbook/Own.md", "---\ntags: [brain]\n---\nWe decided to sail south.\n")
    brain.take_in(users)
    before = brain.bytes(users)
    assert brain.run(brain.memories.stats()).unclassified == 5
    first, second, third = pending(brain), pending(brain), pending(brain)
    assert (first.processed, first.remaining) == (3, 2)
    assert (second.processed, second.remaining) == (2, 0)
    assert third == Batch(0, 0, 0)
    assert brain.run(brain.memories.stats()).unclassified == 0
    for path in made:
        assert properties(brain, path)["second-brain-importance"] == ORDINARY
    assert brain.bytes(users) == before
    text = brain.bytes(mine).decode()
    assert "second-brain-kind: episodic # mine\nsecond-brain-status: draft\n" in text
    assert "second-brain-importance: 5\n" in text
    assert text.endswith("---\nWe decided that limits.csv is the source of truth.\n")


def test_classifying_is_a_write_that_can_be_undone(brain: Brain) -> None:
    id, path = brain.remembered("The spinnaker pole is four metres long.")
    before = brain.bytes(path)
    while pending(brain).remaining:
        pass
    assert brain.bytes(path) != before
    write = brain.run(brain.memories.history(id))[0]
    assert write.tool == "classify"
    brain.run(brain.memories.undo(write.n))
    assert brain.bytes(path) == before


def test_a_batch_is_cut_short_rather_than_keep_its_caller_waiting(brain: Brain) -> None:
    while pending(brain).remaining:
        pass
    for word in "EFG":
        brain.remembered(f"The {word} stands beside the door.")
    times = iter(range(0, 100, 3))
    cut = brain.run(classify_pending(brain.memories, seconds=5.0, clock=lambda: float(next(times))))
    assert (cut.processed, cut.remaining) == (2, 1)
