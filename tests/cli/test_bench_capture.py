"""No text that says something new is refused, and the rules tell the kinds of pairs apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from second_brain.cli.benches.capture.measure import Compared, wrongly_refused
from second_brain.cli.benches.capture.pairs import KINDS, WITH_NEWS, Pair, read
from second_brain.cli.main import main
from second_brain.errors import InvalidInput
from second_brain.index.embedding import Similarity
from second_brain.memory.describe import text_key
from second_brain.memory.novelty import says_something_new

PAIRS = Path(__file__).parents[1] / "pairs" / "capture_pairs.json"


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return read(PAIRS)


def test_the_set_is_large_and_its_halves_share_no_text(pairs: list[Pair]) -> None:
    assert len(pairs) >= 600
    for language in ("en", "fr"):
        for kind in KINDS:
            assert sum(p.language == language and p.kind == kind for p in pairs) >= 40
    tune = {p.known for p in pairs if p.half == "tune"}
    assert not tune & {p.known for p in pairs if p.half == "test"}


def test_what_is_new_is_found_whatever_a_model_says(pairs: list[Pair]) -> None:
    """A model that takes all texts for the same would still have nothing new refused."""
    for pair in pairs:
        if pair.kind in WITH_NEWS:
            assert says_something_new(pair.new, pair.known), pair
            assert text_key(pair.new) != text_key(pair.known), pair
    scale = Similarity(unrelated=0.1, related=0.5, similar=0.6, same=0.7)
    blind = [
        Compared(p, 1.0, bool(says_something_new(p.new, p.known)), same_words=False) for p in pairs
    ]
    assert wrongly_refused(blind, scale) == []


def test_what_is_only_retyped_says_nothing_new(pairs: list[Pair]) -> None:
    restated = [pair for pair in pairs if pair.kind == "restated"]
    assert not [pair for pair in restated if says_something_new(pair.new, pair.known)]


def test_the_measurement_with_the_real_model(model_dir: Path, tmp_path: Path) -> None:
    templates = json.loads(PAIRS.read_text("utf-8"))
    for template in templates:
        template["fills"] = template["fills"][:1]
    file = tmp_path / "pairs.json"
    file.write_text(json.dumps(templates), "utf-8")
    options = ["--pairs", str(file), "--model-dir", str(model_dir), "--json"]
    result = CliRunner().invoke(main, ["bench", "capture", *options])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["refused with news"] == []
    shares = {
        line["kind"]: {
            what: line[what] / line["pairs"] for what in ("refused", "flagged", "stored")
        }
        for line in found["lines"]
        if line["language"] == "all"
    }
    assert shares["restated"]["refused"] >= 0.9
    for kind in ("reworded", "updated", "contradicted", "elaborated"):
        assert shares[kind]["flagged"] >= 0.9, kind
    for kind in ("sibling", "unrelated"):
        assert shares[kind]["stored"] >= 0.9, kind
    in_use, best = found["limits"]["in use"], found["limits"]["best on tune"]
    assert in_use["test"] >= best["test"] - 0.02


def test_a_file_that_holds_no_templates_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pairs.json"
    file.write_text('[{"language": "en"}]', "utf-8")
    with pytest.raises(InvalidInput, match="no file of templates"):
        read(file)
