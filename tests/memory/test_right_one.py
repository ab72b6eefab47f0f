"""Of several memories about one thing the right one comes first, with the real model.

`stale_facts.json`: what was decided last, the canonical one of a note and a draft, what replaced
another; and an old note that answers beside a new one that does not. `other_language.json`: English
notes asked in French and the other way round, beside notes in the question's language that only
share a name with it; identifiers; other scripts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from live import Brain

from second_brain.index.embedding import Embedder

HERE = Path(__file__).parent
STALE: list[dict[str, Any]] = json.loads((HERE / "stale_facts.json").read_text("utf-8"))
OTHER: dict[str, list[dict[str, str]]] = json.loads(
    (HERE / "other_language.json").read_text("utf-8")
)


def note(fact: Mapping[str, Any], supersedes: str | None) -> str:
    created = datetime.now() - timedelta(days=fact["days"])
    lines = [f"tags: [brain{', ' + fact['tags'] if 'tags' in fact else ''}]"]
    lines.append(f"created: {created:%Y-%m-%dT%H:%M:%S}")
    if "status" in fact:
        lines.append(f"second-brain-status: {fact['status']}")
    if supersedes is not None:
        lines.append(f"supersedes: ['[[{supersedes}]]']")
    return "---\n" + "\n".join(lines) + f"\n---\n{fact['text']}\n"


@pytest.fixture(scope="module")
def stale(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Brain]:
    folder = tmp_path_factory.mktemp("stale")
    brain = Brain(folder / "vault", folder / "data", lambda name: embedder)
    for case in STALE:
        right, wrong = case["right"], case["wrong"]
        replaced = wrong["title"] if case["kind"] == "supersedes" else None
        brain.write(f"{right['title']}.md", note(right, replaced))
        brain.write(f"{wrong['title']}.md", note(wrong, None))
    with brain:
        yield brain


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Brain]:
    folder = tmp_path_factory.mktemp("mixed")
    brain = Brain(folder / "vault", folder / "data", lambda name: embedder)
    for case in (entry for kind in OTHER.values() for entry in kind):
        brain.write(f"{case['title']}.md", f"---\ntags: [brain]\n---\n{case['text']}\n")
    with brain:
        yield brain


def places(brain: Brain, asked: Mapping[str, str]) -> dict[str, int]:
    """For each question where its note stands among the first five, 99 if it does not."""
    found: dict[str, int] = {}
    for question, title in asked.items():
        paths = brain.found(question, top_k=5)
        path = f"{title}.md"
        found[question] = paths.index(path) + 1 if path in paths else 99
    return found


def share(found: Mapping[str, int], within: int) -> float:
    return sum(place <= within for place in found.values()) / len(found)


def test_what_holds_now_comes_before_what_held_once(stale: Brain) -> None:
    found = places(stale, {case["question"]: case["right"]["title"] for case in STALE})
    assert share(found, 1) >= 0.94, found
    assert share(found, 2) == 1, found


def test_a_deprecated_note_does_not_show(stale: Brain) -> None:
    deprecated = [case for case in STALE if case["wrong"].get("status") == "deprecated"]
    assert deprecated
    for case in deprecated:
        paths = stale.found(case["question"], top_k=20)
        assert f"{case['wrong']['title']}.md" not in paths


def test_a_question_in_one_language_finds_the_note_in_the_other(mixed: Brain) -> None:
    found = places(mixed, {case["question"]: case["title"] for case in OTHER["questions"]})
    assert share(found, 1) >= 0.68, found
    assert share(found, 5) >= 0.88, found


def test_identifiers_and_other_scripts_are_found_at_the_first_place(mixed: Brain) -> None:
    found = places(mixed, {case["question"]: case["title"] for case in OTHER["exact"]})
    assert share(found, 1) == 1, found
