from __future__ import annotations

from pathlib import Path

import pytest

from second_brain.errors import ModelUnavailable
from second_brain.index.embedding import DEFAULT_MODEL, e5, models
from second_brain.index.embedding.models import ENGLISH_MODEL, Prefixes


def test_the_default_comes_from_its_package_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(e5, "find", lambda: tmp_path / "e5.bin")
    (source,) = models.sources(DEFAULT_MODEL)
    assert (source.kind, source.digest, source.notice) == ("e5-package", e5.SHA256, None)


def test_without_its_package_the_hub_is_tried_then_english_with_a_notice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(e5, "find", lambda: None)
    hub, english = models.sources(DEFAULT_MODEL)
    assert (hub.kind, hub.location, hub.notice) == ("hub", "intfloat/multilingual-e5-small", None)
    assert english.model == ENGLISH_MODEL
    assert english.notice is not None
    assert "English" in english.notice


def test_a_folder_with_a_model_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text("[]")
    (source,) = models.sources(str(tmp_path))
    assert (source.kind, source.location) == ("folder", str(tmp_path.resolve()))


def test_any_other_name_is_one_of_the_hub() -> None:
    (source,) = models.sources("BAAI/bge-small-en-v1.5")
    assert (source.kind, source.location) == ("hub", "BAAI/bge-small-en-v1.5")


@pytest.mark.parametrize("name", ["/no/such/folder", "./x", "a/b/c", "two words", "", "~/m"])
def test_a_name_that_can_be_no_model_is_refused(name: str) -> None:
    with pytest.raises(ModelUnavailable, match="No embedding model"):
        models.sources(name)


@pytest.mark.parametrize(
    ("name", "prompts", "expected"),
    [
        ("intfloat/multilingual-e5-large", {}, Prefixes("query: ", "passage: ")),
        ("/models/e5-base-v2", {}, Prefixes("query: ", "passage: ")),
        (
            "BAAI/bge-small-en-v1.5",
            {},
            Prefixes("Represent this sentence for searching relevant passages: "),
        ),
        ("BAAI/bge-m3", {}, Prefixes()),
        ("sentence-transformers/all-MiniLM-L6-v2", {}, Prefixes()),
        ("x/e5-y", {"query": "ask: ", "passage": "tell: "}, Prefixes("ask: ", "tell: ")),
        ("x/y", {"query": "", "document": ""}, Prefixes()),
    ],
)
def test_prefixes(name: str, prompts: dict[str, str], expected: Prefixes) -> None:
    assert models.prefixes(name, prompts) == expected
