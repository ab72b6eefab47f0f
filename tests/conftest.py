"""Fixtures that several layers share."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest
from hypothesis import HealthCheck, settings

from second_brain.index.embedding import (
    DEFAULT_MODEL,
    Embedder,
    available_models,
    default_model_dir,
    load_model,
    prepare_model,
)

# The same examples at every run, so that a red build means a change: what chance can find is
# looked for with HYPOTHESIS_PROFILE=nightly. A busy machine is no reason to fail.
_PATIENT = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=_PATIENT
)
settings.register_profile(
    "nightly", max_examples=10_000, deadline=None, suppress_health_check=_PATIENT
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def prepared_models() -> Path:
    """A folder in which the default model is prepared; kept between runs, made when missing.

    SECOND_BRAIN_MODEL_DIR names it; otherwise the user's own prepared models are used if there
    are any (they are only read), else a folder in the user's cache.
    """
    chosen = os.environ.get("SECOND_BRAIN_MODEL_DIR")
    if chosen:
        folder = Path(chosen)
    elif available_models()[0].prepared:
        folder = default_model_dir()
    else:
        folder = Path(platformdirs.user_cache_dir("second-brain-tests", appauthor=False)) / "models"
    prepare_model(DEFAULT_MODEL, folder)
    return folder


@pytest.fixture(scope="session")
def model_dir(prepared_models: Path) -> Path:
    """Where the prepared default model lies; to be read only."""
    return prepared_models


@pytest.fixture(scope="session")
def embedder(model_dir: Path) -> Embedder:
    """The default model, loaded once."""
    return load_model(DEFAULT_MODEL, model_dir)
