from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.index.embedding import Similarity
from second_brain.index.embedding.models import KNOWN

SCALE = Similarity(unrelated=0.79, related=0.9, similar=0.92, same=0.97)


@pytest.mark.parametrize(
    ("cosine", "score"), [(0.79, 30.0), (0.92, 85.0), (0.97, 95.0), (1.0, 100.0)]
)
def test_anchors_have_their_scores(cosine: float, score: float) -> None:
    assert SCALE.score(cosine) == pytest.approx(score)
    assert SCALE.cosine(score) == pytest.approx(cosine)


def test_score_stays_within_0_and_100() -> None:
    assert SCALE.score(-1.0) == 0.0
    assert SCALE.score(0.0) == 0.0
    assert SCALE.score(1.0000002) == 100.0


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_score_rises_with_the_cosine(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert SCALE.score(low) <= SCALE.score(high)


@given(st.floats(1, 100))
def test_cosine_is_the_inverse_of_score(score: float) -> None:
    assert SCALE.score(SCALE.cosine(score)) == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize(
    "anchors", [(0.9, 0.9, 0.8, 0.95), (0.1, 0.5, 0.9, 0.8), (0.1, 0.5, 0.9, 1.0)]
)
def test_anchors_that_do_not_rise_are_refused(
    anchors: tuple[float, float, float, float],
) -> None:
    with pytest.raises(ValueError, match="must rise"):
        Similarity(*anchors)


@pytest.mark.parametrize("model", KNOWN, ids=lambda model: model.name)
def test_registered_scales_link_between_unrelated_and_similar(model: object) -> None:
    scale = model.similarity  # type: ignore[attr-defined]
    assert 50 < scale.score(scale.related) <= 85
