"""Loading a sentence-transformers model, quietly, with one clear sentence when it cannot be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from second_brain.errors import ModelUnavailable
from second_brain.index.embedding.models import MAX_TOKENS


def load_sentence_transformer(location: str) -> Any:
    """The SentenceTransformer in a folder or of a hub name, on the CPU, ready to run.

    Takes seconds (torch is imported). Raises `ModelUnavailable`. A folder is never looked up on
    the network; a hub name is, unless HF_HUB_OFFLINE is set.
    """
    local = Path(location).is_dir()
    try:
        from safetensors import SafetensorError  # noqa: PLC0415 - seconds
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - seconds
        from transformers.utils import logging  # noqa: PLC0415 - seconds
    except ImportError as error:
        raise ModelUnavailable(f"sentence-transformers cannot be used: {error}") from error
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        model = SentenceTransformer(
            location,
            device="cpu",
            local_files_only=local or offline(),
            model_kwargs={"attn_implementation": "eager"},
        )
    except (
        OSError,
        ValueError,
        RuntimeError,
        ImportError,
        LookupError,
        AttributeError,
        SafetensorError,
    ) as error:
        raise ModelUnavailable(_explain(location, local, error)) from error
    model.eval()
    limit = model.max_seq_length or MAX_TOKENS
    model.max_seq_length = min(int(limit), MAX_TOKENS)
    return model


def offline() -> bool:
    """Whether the user forbids the network to the hub's library."""
    return os.environ.get("HF_HUB_OFFLINE", "").strip().lower() in {"1", "on", "yes", "true"}


def _explain(location: str, local: bool, error: BaseException) -> str:
    first = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
    if local:
        return f"The model in {location} cannot be loaded: {first}"
    if offline():
        return (
            f"The model {location} is not on this machine, and HF_HUB_OFFLINE forbids "
            "downloading it. Unset that, or choose an installed model (`brain model list`)."
        )
    return (
        f"The model {location} cannot be downloaded ({first}). Check its name and the network, "
        "or choose an installed model (`brain model list`)."
    )
