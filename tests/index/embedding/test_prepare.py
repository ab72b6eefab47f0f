from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from second_brain.errors import ModelUnavailable
from second_brain.index.embedding import (
    DEFAULT_MODEL,
    Embedder,
    available_models,
    e5,
    export,
    load_model,
    models,
    prepare,
    prepare_model,
    prepared,
)
from second_brain.index.embedding.models import ENGLISH_MODEL, Source
from second_brain.index.embedding.onnx import OnnxEmbedder
from second_brain.index.embedding.torch import TorchEmbedder
from unprivileged import run_unprivileged

# The exporter warns of every branch that it traces; the child process of a preparation is silent.
pytestmark = pytest.mark.filterwarnings("ignore::Warning")

TEXTS = ["the cat is on the plan", "le chien", "", "the dog was not at the plan . " * 20]


def quietly(step: str, share: float) -> None:
    del step, share


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


@pytest.fixture(scope="module")
def tiny_prepared(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models into which two callers prepared the tiny model at the same time."""
    folder = tmp_path_factory.mktemp("models")
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(prepare_model, str(tiny_model), folder) for _ in range(2)]
        first, second = (call.result() for call in calls)
    assert first == second
    return folder


@pytest.fixture(scope="module")
def original(tiny_model: Path) -> Embedder:
    """The tiny model by torch, never prepared."""
    return load_model(str(tiny_model), tiny_model / "none")


def test_two_preparations_at_once_leave_one_complete_model(tiny_prepared: Path) -> None:
    (name,) = visible(tiny_prepared)
    meta = prepared.read_meta(tiny_prepared / name)
    assert meta is not None
    assert meta.runtime == "onnx"
    assert sorted(path.name for path in tiny_prepared.glob(".preparing-*")) == []


def test_the_prepared_model_gives_the_originals_vectors(
    tiny_prepared: Path, tiny_model: Path, original: Embedder
) -> None:
    model = load_model(str(tiny_model), tiny_prepared)
    assert isinstance(model, OnnxEmbedder)
    agreement = np.sum(model.embed_documents(TEXTS) * original.embed_documents(TEXTS), axis=1)
    assert agreement.min() > 0.95
    assert model.embed_query("cat") @ original.embed_query("cat") > 0.95


def test_what_is_prepared_is_not_prepared_again(tiny_prepared: Path, tiny_model: Path) -> None:
    steps: list[str] = []
    before = sorted(path.stat().st_mtime_ns for path in tiny_prepared.rglob("*"))
    info = prepare_model(str(tiny_model), tiny_prepared, lambda step, share: steps.append(step))
    assert steps == []
    assert info.prepared
    assert before == sorted(path.stat().st_mtime_ns for path in tiny_prepared.rglob("*"))


def test_a_prepared_model_is_listed_after_the_known_ones(
    tiny_prepared: Path, tiny_model: Path
) -> None:
    listed = available_models(tiny_prepared)
    assert [model.name for model in listed] == [DEFAULT_MODEL, ENGLISH_MODEL, str(tiny_model)]
    assert [model.prepared for model in listed] == [False, False, True]
    assert listed[2].dimension == 32


def test_a_caller_that_gives_up_ends_the_work_and_leaves_nothing(
    tiny_model: Path, tmp_path: Path
) -> None:
    class GaveUp(Exception):
        pass

    def stop_soon(step: str, share: float) -> None:
        if share > 0.1:
            raise GaveUp

    with pytest.raises(GaveUp):
        prepare_model(str(tiny_model), tmp_path, stop_soon)
    assert [path.name for path in tmp_path.iterdir()] == [".prepare.lock"]


def test_progress_rises_and_ends_at_one(tiny_model: Path, tmp_path: Path) -> None:
    shares: list[float] = []
    prepare.prepare_here(str(tiny_model), tmp_path, lambda step, share: shares.append(share))
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] <= 1


def test_leftovers_of_a_killed_preparation_are_swept(tiny_model: Path, tmp_path: Path) -> None:
    leftover = tmp_path / ".preparing-1-x"
    leftover.mkdir()
    (leftover / "full.onnx").write_bytes(b"half")
    prepare.prepare_here(str(tiny_model), tmp_path, quietly)
    assert not leftover.exists()
    assert len(visible(tmp_path)) == 1


def test_a_model_that_cannot_be_exported_runs_on_torch(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, original: Embedder
) -> None:
    def refuse(*_: object) -> None:
        raise export.NotExportable("no")

    monkeypatch.setattr(export, "_export_full", refuse)
    prepare.prepare_here(str(tiny_model), tmp_path, quietly)
    model = load_model(str(tiny_model), tmp_path)
    assert isinstance(model, TorchEmbedder)
    assert model.fingerprint == original.fingerprint
    assert np.allclose(model.embed_documents(TEXTS), original.embed_documents(TEXTS), atol=1e-6)
    assert model.embed_documents([]).shape == (0, 32)


def test_an_export_that_disagrees_is_not_taken(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = export._original_vectors
    monkeypatch.setattr(export, "_original_vectors", lambda *args: -honest(*args))
    prepare.prepare_here(str(tiny_model), tmp_path, quietly)
    assert isinstance(load_model(str(tiny_model), tmp_path), TorchEmbedder)


def test_without_package_and_network_english_is_used_and_said(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(e5, "find", lambda: None)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    here = Source("folder", str(tiny_model), model=ENGLISH_MODEL)
    monkeypatch.setattr(models, "_minilm", lambda: here)
    prepare.prepare_here(DEFAULT_MODEL, tmp_path, quietly)
    model = load_model(DEFAULT_MODEL, tmp_path)
    assert model.name == ENGLISH_MODEL
    assert model.notice is not None
    assert "English" in model.notice
    assert load_model(ENGLISH_MODEL, tmp_path).notice is None


def test_a_known_model_must_be_prepared_first(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="brain model prepare"):
        load_model(DEFAULT_MODEL, tmp_path)


def test_a_broken_folder_says_what_to_do(tiny_model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(tiny_model, broken)
    (broken / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        prepare.prepare_here(str(broken), tmp_path / "models", quietly)
    assert visible(tmp_path / "models") == []


def test_a_damaged_graph_says_what_to_do(
    tiny_prepared: Path, tiny_model: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "models"
    shutil.copytree(tiny_prepared, copy)
    (graph,) = copy.rglob("model.onnx")
    graph.write_bytes(bytes(graph.stat().st_size))
    with pytest.raises(ModelUnavailable, match="Delete that folder"):
        load_model(str(tiny_model), copy)


def test_a_hub_name_without_network_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailable, match="HF_HUB_OFFLINE"):
        prepare.prepare_here("nobody/no-such-model", tmp_path, quietly)


def test_a_folder_that_cannot_be_written_says_so(tiny_model: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    def attempt() -> str:
        try:
            prepare_model(str(tiny_model), tmp_path / "models")
        except ModelUnavailable as error:
            return str(error)
        return "no error"

    assert "cannot be" in run_unprivileged(attempt)


def test_a_models_folder_that_is_a_file_says_so(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("")
    with pytest.raises(ModelUnavailable, match="cannot be made"):
        prepare_model(str(tiny_model), tmp_path / "models")


def test_what_the_child_says_of_a_failure_reaches_the_caller(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        prepare_model(str(tmp_path), tmp_path / "models")
