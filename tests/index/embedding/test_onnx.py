from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from second_brain.index.embedding import DEFAULT_MODEL, Embedder, load_model, onnx

TEXTS = [
    "Anna prefers meetings in the morning.",
    "Ok",
    "Le train pour Lyon part de la voie 5 à 7h12. " * 12,
    "The deploy script fails if the SSH agent is not running.",
    "",
]


def in_a_process(code: str, *arguments: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_vectors_have_the_promised_shape_type_and_length(embedder: Embedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    query = embedder.embed_query("when does Anna like to meet?")
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert query.shape == (embedder.dimension,)
    assert vectors.dtype == query.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(query) == pytest.approx(1.0, abs=1e-5)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, embedder.dimension)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_vector_does_not_depend_on_the_texts_beside_it(model_dir: Path, threads: int) -> None:
    model = load_model(DEFAULT_MODEL, model_dir, threads)
    together = model.embed_documents(TEXTS)
    for row, text in enumerate(TEXTS):
        assert np.array_equal(together[row], model.embed_documents([text])[0])


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what time of day does Anna like to meet?", 0),
        ("à quelle heure est le train ?", 1),
        ("pourquoi le déploiement échoue-t-il ?", 2),
    ],
)
def test_the_answer_is_nearest_in_both_languages_and_across(
    embedder: Embedder, question: str, answer: int
) -> None:
    facts = embedder.embed_documents([TEXTS[0], TEXTS[2], TEXTS[3]])
    assert int(np.argmax(facts @ embedder.embed_query(question))) == answer


@pytest.mark.parametrize(
    "text",
    ["", " \n", "\0", "a\0b", "\ud800", "ok \udfff ok", "\ufeff", "👩‍👩‍👧", "</s><s>", "\x07"],
    ids=ascii,
)
def test_odd_texts_have_vectors(embedder: Embedder, text: str) -> None:
    for vector in (embedder.embed_documents([text])[0], embedder.embed_query(text)):
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


@examples(30)  # each is a run of the model
@given(st.text(st.characters(), max_size=80))
def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1.0, abs=1e-5)


def test_a_text_of_many_megabytes_is_cut_not_read(embedder: Embedder) -> None:
    start = "The first words count. "
    huge = start + "and so on, " * 2_000_000
    same = start + "and so on, " * 2_000
    assert np.array_equal(embedder.embed_query(huge), embedder.embed_query(same))


def test_queries_during_indexing_are_right(embedder: Embedder) -> None:
    question = "when does Anna like to meet?"
    alone = embedder.embed_query(question)
    texts = [f"{text} {n}" for n in range(12) for text in TEXTS[:2]]
    expected = embedder.embed_documents(texts)
    found: list[np.ndarray] = []
    workers = [
        threading.Thread(target=lambda: found.append(embedder.embed_documents(texts)))
        for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    for _ in range(20):
        assert np.array_equal(embedder.embed_query(question), alone)
    for worker in workers:
        worker.join()
    assert len(found) == 2
    assert all(np.array_equal(vectors, expected) for vectors in found)


def test_embedding_imports_no_torch_and_stays_small(model_dir: Path) -> None:
    code = """
import json, sys, psutil
from second_brain.index.embedding import DEFAULT_MODEL, load_model
from pathlib import Path
model = load_model(DEFAULT_MODEL, Path(sys.argv[1]), 2)
model.embed_documents(["un deux trois " * n for n in (1, 3, 10, 30, 60, 100, 200)])
model.embed_query("question")
heavy = [m for m in ("torch", "transformers", "sentence_transformers", "scipy") if m in sys.modules]
print(json.dumps({"heavy": heavy, "rss": psutil.Process().memory_info().rss}))
"""
    found = in_a_process(code, str(model_dir))
    assert found["heavy"] == []
    assert isinstance(found["rss"], int)
    assert found["rss"] < 330 * 2**20


def test_importing_the_package_loads_no_runtime() -> None:
    code = """
import json, sys
import second_brain.index.embedding
heavy = ("torch", "transformers", "sentence_transformers", "onnxruntime", "onnx", "tokenizers")
print(json.dumps({"heavy": [m for m in heavy if m in sys.modules]}))
"""
    assert in_a_process(code)["heavy"] == []


def test_a_question_has_the_same_vector_on_a_quiet_and_on_a_busy_machine(
    model_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load_model(DEFAULT_MODEL, model_dir)
    monkeypatch.setattr(onnx.OtherLoad, "threads", lambda _: 99.0)
    alone = [model.embed_query(text) for text in TEXTS]
    monkeypatch.setattr(onnx.OtherLoad, "threads", lambda _: 0.0)
    model.embed_query(TEXTS[0])
    opening = next(thread for thread in threading.enumerate() if thread.name == "embed-wide")
    opening.join()
    wide, used = onnx._open_session, []
    monkeypatch.setattr(onnx, "_open_session", lambda *_: used.append("again") or wide(*_))
    for text, vector in zip(TEXTS, alone, strict=True):
        assert np.array_equal(model.embed_query(text), vector)
    assert not used, "the second session is opened once"
