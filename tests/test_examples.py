"""The example vault shows what it is meant to show, and its questions have their answers in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from second_brain.vault.links import Resolver
from second_brain.vault.model import Note
from second_brain.vault.note import note_id, note_source, opted_out, parse_note
from second_brain.vault.rules import SyncRule, load_obsidian_settings

VAULT = Path(__file__).parents[1] / "examples" / "vault"
QUESTIONS = json.loads((Path(__file__).parent / "example_questions.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def notes() -> Mapping[str, Note]:
    paths = sorted(path for path in VAULT.rglob("*.md"))
    names = [path.relative_to(VAULT).as_posix() for path in paths]
    return {name: parse_note(name, (VAULT / name).read_bytes()) for name in names}


@pytest.fixture(scope="module")
def memories(notes: Mapping[str, Note]) -> Mapping[str, Note]:
    rule = SyncRule(templates=load_obsidian_settings(VAULT).templates)
    return {
        path: note
        for path, note in notes.items()
        if rule.path_reason(path) is None and rule.note_reason(note) is None
    }


def test_most_notes_are_memories_and_some_are_not(
    notes: Mapping[str, Note], memories: Mapping[str, Note]
) -> None:
    assert len(memories) == 24
    left_out = set(notes) - set(memories)
    assert {path for path in left_out if path.startswith("Templates/")} == {
        "Templates/Daily.md",
        "Templates/Person.md",
    }
    assert {path for path in left_out if opted_out(notes[path])} == {"Boat/Insurance.md"}
    assert len(left_out) == 10


def test_every_memory_can_be_read_without_a_problem(memories: Mapping[str, Note]) -> None:
    assert {path: note.problems for path, note in memories.items() if note.problems} == {}


def test_all_links_lead_somewhere_but_two(notes: Mapping[str, Note]) -> None:
    resolver = Resolver([*notes, "Attachments/sail-plan.svg"])
    lost = {
        link.target
        for path, note in notes.items()
        for link in note.links
        if link.target and resolver.resolve(link, path) is None
    }
    assert lost - {"sail-plan.svg"} == {"Winter cover", "Île aux Moines"}


def test_links_tags_and_relations_of_every_form_occur(memories: Mapping[str, Note]) -> None:
    links = [link for note in memories.values() for link in note.links]
    assert any(link.embed for link in links)
    assert any(link.markdown for link in links)
    assert any(link.alias for link in links)
    assert any(link.heading and link.heading.startswith("^") for link in links)
    assert {link.type for link in links} >= {
        "relates_to",
        "supersedes",
        "caused_by",
        "decided",
        "about_person",
        "part_of_project",
        "follows",
    }
    tags = {tag for note in memories.values() for tag in note.tags}
    assert {"brain", "second-brain", "brain/cuisine", "boat/refit"} <= tags
    assert not {tag for tag in tags if "not-a-tag" in tag or tag in {"obsolete", "hardener"}}
    assert "boat/refit" in memories["Daily/2026-09-14.md"].tags


def test_files_of_odd_shapes_occur(notes: Mapping[str, Note]) -> None:
    data = {path: (VAULT / path).read_bytes() for path in notes}
    assert [path for path in data if b"\r\n" in data[path]] == ["Boat/Moteur hors-bord.md"]
    assert [path for path in data if not data[path].endswith(b"\n")] == ["People/Priya.md"]
    long = notes["Boat/Refit 2026.md"]
    assert len(long.body) > 4_000
    assert len(long.headings) > 8


def test_agents_memories_carry_their_marks(memories: Mapping[str, Note]) -> None:
    made = {path: note for path, note in memories.items() if note_source(note)}
    assert {path.split("/")[0] for path in made} == {"Second Brain"}
    assert len(made) == 4
    assert len({note_id(note) for note in made.values()} - {None}) == 4
    assert all(note.properties.get("created") for note in made.values())


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: str(question["question"]))
def test_the_answer_to_each_question_stands_in_one_memory(
    question: Mapping[str, str], memories: Mapping[str, Note]
) -> None:
    bodies = {path: " ".join(note.body.split()) for path, note in memories.items()}
    assert question["answer"] in bodies[question["path"]]
    assert [path for path, body in bodies.items() if question["answer"] in body] == [
        question["path"]
    ]


def test_questions_are_asked_in_both_languages_and_across_them() -> None:
    pairs = {(question["language"], question["note_language"]) for question in QUESTIONS}
    assert pairs == {("en", "en"), ("fr", "fr"), ("en", "fr"), ("fr", "en")}
