from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from second_brain.index.embedding import Embedder
from second_brain.index.embedding.calibrate import measure, scale


@pytest.fixture(scope="module")
def cosines(embedder: Embedder) -> dict[str, np.ndarray]:
    return measure(embedder.embed_documents)


def test_the_default_models_scale_parts_the_kinds_of_pairs(
    embedder: Embedder, cosines: dict[str, np.ndarray]
) -> None:
    at = embedder.similarity
    assert np.mean(cosines["reworded"] >= at.same) >= 0.9
    assert np.mean(cosines["paraphrase"] >= at.same) <= 0.1
    assert np.mean(cosines["paraphrase"] >= at.similar) >= 0.9
    assert np.mean(cosines["topic"] >= at.similar) <= 0.05
    assert np.mean(cosines["unrelated"] >= at.related) <= 0.05


def test_a_measured_scale_is_close_to_the_one_written_down(
    embedder: Embedder, cosines: dict[str, np.ndarray]
) -> None:
    found = scale(cosines)
    assert found.same == pytest.approx(embedder.similarity.same, abs=0.01)
    assert found.similar == pytest.approx(embedder.similarity.similar, abs=0.01)
    assert found.related == pytest.approx(embedder.similarity.related, abs=0.01)


def test_a_model_that_tells_nothing_apart_still_gets_a_rising_scale() -> None:
    def constant(texts: Sequence[str]) -> np.ndarray:
        return np.tile(np.array([1, 0, 0], np.float32), (len(texts), 1))

    found = scale(measure(constant))
    assert found.unrelated < found.similar < found.same < 1
