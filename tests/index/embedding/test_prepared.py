from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from second_brain.index.embedding import Similarity, prepared
from second_brain.index.embedding.models import DEFAULT_MODEL, Source
from second_brain.index.embedding.prepared import Meta

META = Meta(
    name=DEFAULT_MODEL,
    source="e5-package",
    location="/somewhere/e5.bin",
    digest="abc",
    runtime="onnx",
    precision="int8",
    dimension=384,
    max_tokens=512,
    query_prefix="query: ",
    document_prefix="passage: ",
    tokenizer="unigram",
    similarity=Similarity(0.8, 0.9, 0.92, 0.97),
    files={"model.onnx": 4},
)
SOURCE = Source("e5-package", "/elsewhere/e5.bin", "abc", model=DEFAULT_MODEL)


def put(model_dir: Path, meta: Meta, content: bytes = b"1234") -> Path:
    folder = model_dir / meta.folder_name
    folder.mkdir()
    (folder / "model.onnx").write_bytes(content)
    prepared.write_meta(folder, meta)
    return folder


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert prepared.read_meta(put(tmp_path, META)) == META


def test_a_model_is_found_wherever_its_package_lies_now(tmp_path: Path) -> None:
    folder = put(tmp_path, META)
    assert prepared.find(tmp_path, SOURCE) == (folder, META)


def test_the_notice_is_that_of_the_source(tmp_path: Path) -> None:
    put(tmp_path, META)
    found = prepared.find(tmp_path, dataclasses.replace(SOURCE, notice="only a fallback"))
    assert found is not None
    assert found[1].notice == "only a fallback"


def test_other_weights_are_another_model(tmp_path: Path) -> None:
    put(tmp_path, META)
    assert prepared.find(tmp_path, dataclasses.replace(SOURCE, digest="other")) is None


def test_a_users_model_is_known_by_its_location(tmp_path: Path) -> None:
    meta = dataclasses.replace(META, name="~/m", source="folder", location="/home/m")
    put(tmp_path, meta)
    assert prepared.find(tmp_path, Source("folder", "/home/m", model="~/m")) is not None
    assert prepared.find(tmp_path, Source("folder", "/home/n", model="~/m")) is None


def test_the_newest_of_two_is_taken(tmp_path: Path) -> None:
    old = put(tmp_path, META)
    new = put(tmp_path, dataclasses.replace(META, precision="fp32"))
    os.utime(old / prepared.META, (1, 1))
    found = prepared.find(tmp_path, SOURCE)
    assert found is not None
    assert found[0] == new


@pytest.mark.parametrize("damage", ["cut", "missing", "garbled", "no meta", "hidden", "edited"])
def test_an_incomplete_folder_is_never_used(tmp_path: Path, damage: str) -> None:
    folder = put(tmp_path, META)
    meta = folder / prepared.META
    match damage:
        case "cut":
            (folder / "model.onnx").write_bytes(b"12")
        case "missing":
            (folder / "model.onnx").unlink()
        case "garbled":
            meta.write_bytes(b"\x00{")
        case "no meta":
            meta.unlink()
        case "hidden":
            folder.rename(tmp_path / ".preparing-1")
        case "edited":
            meta.write_text(meta.read_text().replace("query: ", "ask: "))
    assert prepared.find(tmp_path, SOURCE) is None


def test_nothing_is_found_where_there_is_no_folder(tmp_path: Path) -> None:
    assert prepared.find(tmp_path / "none", SOURCE) is None


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "b"},
        {"precision": "fp32"},
        {"runtime": "torch"},
        {"query_prefix": ""},
        {"document_prefix": ""},
        {"max_tokens": 256},
        {"dimension": 3},
    ],
)
def test_the_fingerprint_changes_with_whatever_changes_the_vectors(
    change: dict[str, object],
) -> None:
    other = dataclasses.replace(META, **change)  # type: ignore[arg-type]
    assert other.fingerprint != META.fingerprint


def test_the_fingerprint_does_not_depend_on_place_or_scale() -> None:
    other = dataclasses.replace(
        META, location="/x", notice="n", similarity=Similarity(0.1, 0.2, 0.3, 0.4)
    )
    assert other.fingerprint == META.fingerprint


@pytest.mark.parametrize(
    ("name", "expected"),
    [("intfloat/Multilingual-E5", "multilingual-e5"), ("/home/é à/", "model"), ("a b", "a-b")],
)
def test_slugs_are_safe_folder_names(name: str, expected: str) -> None:
    assert prepared.slug(name) == expected
