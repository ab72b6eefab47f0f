"""Embedding: texts to vectors, by a model that is prepared once and then starts in a moment.

`Embedder` is all that the rest of the program knows. Importing this package is cheap; a runtime
is imported when a model is loaded, torch only for a model that could not be exported.
"""

from second_brain.index.embedding.library import (
    ModelInfo,
    available_models,
    default_model_dir,
    is_prepared,
    load_model,
    prepare_model,
)
from second_brain.index.embedding.models import DEFAULT_MODEL
from second_brain.index.embedding.protocol import Embedder, Similarity, Vectors

__all__ = [
    "DEFAULT_MODEL",
    "Embedder",
    "ModelInfo",
    "Similarity",
    "Vectors",
    "available_models",
    "default_model_dir",
    "is_prepared",
    "load_model",
    "prepare_model",
]
