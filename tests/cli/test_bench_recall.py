"""Rankings are scored as the words say; a tiny made-up set goes through the whole measurement."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from second_brain.cli.benches.recall.baselines import Baselines
from second_brain.cli.benches.recall.data import DataSet, Document, chosen_set, read
from second_brain.cli.benches.recall.measure import WAYS
from second_brain.cli.benches.recall.scoring import mean, score
from second_brain.cli.main import main
from second_brain.errors import InvalidInput
from second_brain.index.embedding import Embedder

TALK = [
    ("a", 0, "Ann: I bought a kayak last week."),
    ("b", 1, "Ben: Nice! Which colour?"),
    ("c", 2, "Ann: Yellow, with a black paddle."),
    ("d", 900, "Ben: My sister moved to Lisbon."),
    ("e", 901, "Ann: How does she like the trams there?"),
]
QUESTIONS = [
    ("q1", "Where did Ben's sister move to?", ["d"], "tune", "single-hop"),
    ("q2", "What did Ann buy?", ["a"], "test", "single-hop"),
    ("q3", "What colour is the kayak?", ["c"], "test", "multi-hop"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "data" / "talk"
    place.mkdir(parents=True)
    documents = [
        {
            "id": f"{group}{id}",
            "text": text,
            "created": 1_700_000_000_000 + minute * 60_000,
            "conversation": group,
        }
        for group in (0, 1)
        for id, minute, text in TALK
    ]
    questions = [
        {
            "id": f"{group}{id}",
            "text": text,
            "relevant": [f"{group}{one}" for one in relevant],
            "split": split,
            "type": type,
            "conversation": group,
        }
        for group in (0, 1)
        for id, text, relevant, split, type in QUESTIONS
    ]
    for name, entries in (("corpus", documents), ("queries", questions)):
        lines = "".join(json.dumps(entry) + "\n" for entry in entries)
        (place / f"{name}.jsonl").write_text(lines, "utf-8")
    return place.parent


# Scores


def test_one_relevant_document_is_scored_by_its_place() -> None:
    third = score(["x", "y", "a"], ["a"])
    assert (third.recall_1, third.recall_5, third.hit_5) == (0, 1, 1)
    assert third.mrr == pytest.approx(1 / 3)
    assert third.ndcg_10 == pytest.approx(1 / math.log2(4))


def test_of_several_each_counts() -> None:
    found = score(["a", "x", "b", *"nopqrs", "t", "c"], ["a", "b", "c", "never"])
    assert (found.recall_1, found.recall_5, found.recall_20) == (0.25, 0.5, 0.75)
    assert (found.hit_5, found.mrr) == (1, 1)
    best = 1 + 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    assert found.ndcg_10 == pytest.approx((1 + 1 / math.log2(4)) / best)


def test_what_comes_after_the_twentieth_is_not_found() -> None:
    late = score([*map(str, range(20)), "a"], ["a"])
    assert (late.recall_20, late.hit_20, late.mrr, late.ndcg_10) == (0, 0, 0, 0)


def test_the_mean_is_over_questions() -> None:
    both = mean([score(["a"], ["a"]), score(["x", "a"], ["a"])])
    assert both.recall_1 == 0.5
    assert both.mrr == 0.75


# Data


def test_conversations_are_sets_of_their_own(folder: Path) -> None:
    data = read(folder, "talk")
    first, second = data.groups()
    assert [d.id for d in first.documents] == ["0a", "0b", "0c", "0d", "0e"]
    assert [q.id for q in second.questions] == ["1q1", "1q2", "1q3"]
    assert len(data.sampled(2).questions) == 2
    assert data.sampled(2) == data.sampled(2)
    assert data.sampled(None) is data


def test_a_set_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"corpus\.jsonl cannot be read"):
        read(tmp_path, "nothing")


# Other ways


def test_the_baselines_rank_by_words_and_by_meaning(embedder: Embedder) -> None:
    data = DataSet("made up", tuple(Document(id, text) for id, _, text in TALK), ())
    made = Baselines(data, embedder).rank({"q": "Which city did Ben's sister move to?"})
    assert set(made) == {"BM25 alone", "dense alone", "RRF", "original"}
    for name, rankings in made.items():
        assert rankings["q"][0] == "d", name
    assert set(made["BM25 alone"]["q"]) < {id for id, _, _ in TALK}


# The whole


@pytest.mark.timeout(300)
def test_a_set_goes_through_the_product_in_every_way(
    folder: Path, tmp_path: Path, model_dir: Path
) -> None:
    def run(*arguments: str) -> str:
        given = ["--data", str(folder), "--work", str(tmp_path / "work")]
        given += ["--model-dir", str(model_dir), *arguments]
        result = CliRunner().invoke(main, ["bench", "recall", *given])
        assert result.exit_code == 0, (result.output, result.exception)
        return result.stdout

    lines = json.loads(run("--set", "talk", "--json"))["lines"]
    every = {line["way"]: line for line in lines if line["part"] == "all"}
    assert every.keys() >= {*WAYS, "BM25 alone", "dense alone", "RRF", "original"}
    assert {line["questions"] for line in every.values()} == {6}
    assert every["recall"]["scores"]["recall_5"] == 1
    assert every["recall"]["scores"]["mrr"] > 0.6
    parts = {line["part"]: line["questions"] for line in lines if line["way"] == "recall"}
    assert parts == {"all": 6, "tune": 2, "test": 4, "single-hop": 4, "multi-hop": 2}
    shown = run("--set", "talk-global", "--sample", "2")
    assert "talk global: 2 questions" in shown
    assert "without episodes" in shown

    ways = ("--way", "recall", "--way", "RRF")
    some = json.loads(run("--set", "talk-sessions", "--json", *ways))["lines"]
    assert {line["set"] for line in some} == {"talk-sessions conv"}
    assert {line["way"] for line in some} == {"recall", "RRF"}
    given = ["--data", str(folder), "--model-dir", str(model_dir), "--set", "talk"]
    refused = CliRunner().invoke(main, ["bench", "recall", *given, "--way", "magic"])
    assert refused.exit_code != 0
    assert "magic is none of: recall, without meaning" in refused.output


def test_a_session_becomes_one_note_of_the_users_own(folder: Path) -> None:
    lines = (folder / "talk" / "corpus.jsonl").read_text("utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    for entry in entries:
        entry["session"] = 1 if entry["id"][1] in "abc" else 2
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    (folder / "talk" / "corpus.jsonl").write_text(text, "utf-8")
    notes = chosen_set(folder, "talk-sessions")
    assert [note.id for note in notes.documents] == ["0-1", "0-2", "1-1", "1-2"]
    first = notes.documents[0]
    assert (first.created, first.group) == (None, "0")
    assert first.text == "# Session 1\n\n" + "".join(f"{said}\n" for _, _, said in TALK[:3])
    assert [question.relevant for question in notes.questions[:3]] == [("0-2",), ("0-1",), ("0-1",)]
