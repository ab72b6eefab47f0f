"""From a loaded sentence-transformers model to the files of the onnxruntime runtime.

The whole pipeline is exported (transformer, pooling, dense layers, normalisation), so whatever a
model does after its last layer is done by the graph. The result is measured against the original
on texts of every length before anybody uses it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from second_brain.errors import ModelUnavailable
from second_brain.index.embedding.onnx import OnnxEmbedder, normalised
from second_brain.index.embedding.prepared import (
    MODEL_FILE,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    Meta,
)
from second_brain.index.embedding.protocol import Vectors
from second_brain.index.embedding.text import clean

OPSET = 17
PRECISIONS = ("int8", "int8-reduced", "fp32")
"""Tried in this order. `int8-reduced` keeps 7 bits: CPUs without VNNI may overflow with 8."""

_AGREEMENT = {"int8": (0.98, 0.95), "int8-reduced": (0.98, 0.95), "fp32": (0.9999, 0.999)}
"""The mean and the least cosine to the original that a precision must reach over the probes."""
_EXTERNAL_FROM = 1 << 20
"""Tensors of this size in bytes lie in a file beside the graph, which is mapped, not read."""

PROBES = (
    "",
    "Ok.",
    "Dentist on Thursday at 15:30, bring the X-rays.",
    "Le mot de passe du wifi de l'atelier est sur le frigo, pas dans le carnet.",
    "# Réunion\n\n- [ ] relancer Paul\n- [x] envoyer le devis (#149)\n\n> fini à 17h",
    "東京への旅行は四月の第二週に決まりました。",
    "We decided to keep SQLite for the counters and LanceDB for the vectors, because a row that is "
    "written on every recall would make a new version of the table each time. " * 3,
    "Une phrase assez longue pour dépasser la limite du modèle et vérifier la coupure. " * 60,
)
"""Empty, tiny, two languages, Markdown, another script, long, and longer than the limit."""


class NotExportable(Exception):
    """The model cannot be turned into a graph that gives its vectors; torch has to run it."""


def export(model: Any, meta: Meta, folder: Path, progress: Callable[[str, float], None]) -> Meta:
    """Write `model` into `folder` in the best precision that agrees with it; its completed meta.

    `folder` exists and may already hold the tokenizer's files. Raises `NotExportable`.
    """
    if meta.tokenizer == "library":
        _save_tokenizer(model, folder / TOKENIZER_FILE)
    expected = _original_vectors(model, meta)
    full = folder / "full.onnx"
    progress("Exporting the network", 0.0)
    _export_full(model, full)
    for step, precision in enumerate(PRECISIONS):
        progress(f"Writing it as {precision}", 0.4 + 0.2 * step)
        _write_precision(full, folder, precision)
        candidate = dataclasses.replace(meta, precision=precision)
        mean, least = _agreement(folder, candidate, expected)
        if mean >= _AGREEMENT[precision][0] and least >= _AGREEMENT[precision][1]:
            for file in folder.glob("full.onnx*"):
                file.unlink()
            files = {file.name: file.stat().st_size for file in sorted(folder.iterdir())}
            return dataclasses.replace(candidate, agreement=round(mean, 5), files=files)
    raise NotExportable(f"the exported model disagrees with the original ({least:.4f})")


def _save_tokenizer(model: Any, file: Path) -> None:
    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise NotExportable("its tokenizer has no stand-alone form")
    backend.save(str(file), pretty=False)


def _original_vectors(model: Any, meta: Meta) -> Vectors:
    texts = [meta.document_prefix + clean(text, meta.max_tokens) for text in PROBES]
    return normalised(
        np.asarray(model.encode(texts, prompt="", show_progress_bar=False), np.float32)
    )


def _export_full(model: Any, file: Path) -> None:
    import torch  # noqa: PLC0415 - seconds

    class Pipeline(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            features = {"input_ids": input_ids, "attention_mask": attention_mask}
            return self.model(features)["sentence_embedding"]

    # Two rows of unequal length, so that nothing of the trace depends on a full mask.
    ids = torch.full((2, 7), 5, dtype=torch.long)
    mask = torch.ones((2, 7), dtype=torch.long)
    mask[1, 5:] = 0
    axes = {0: "texts", 1: "tokens"}
    try:
        with torch.no_grad():
            torch.onnx.export(
                Pipeline(),
                (ids, mask),
                str(file),
                input_names=["input_ids", "attention_mask"],
                output_names=["embedding"],
                dynamic_axes={"input_ids": axes, "attention_mask": axes, "embedding": {0: "texts"}},
                opset_version=OPSET,
                dynamo=False,
            )
    except (RuntimeError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise NotExportable(
            str(error).splitlines()[0] if str(error) else "export failed"
        ) from error


def _write_precision(full: Path, folder: Path, precision: str) -> None:
    """Write `full` as the graph and its large tensors into `folder`, replacing earlier ones."""
    import onnx  # noqa: PLC0415 - slow
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415 - slow

    for name in (MODEL_FILE, WEIGHTS_FILE):
        (folder / name).unlink(missing_ok=True)
    small = folder / "full.onnx.int8"
    if precision != "fp32":
        quantize_dynamic(
            str(full),
            str(small),
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=precision == "int8-reduced",
        )
    graph = onnx.load(str(full if precision == "fp32" else small))
    onnx.save_model(
        graph,
        str(folder / MODEL_FILE),
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=WEIGHTS_FILE,
        size_threshold=_EXTERNAL_FROM,
    )


def _agreement(folder: Path, meta: Meta, expected: Vectors) -> tuple[float, float]:
    """The mean and the least cosine between the exported model's vectors and the original's."""
    try:
        found = OnnxEmbedder(folder, meta).embed_documents(PROBES)
    except ModelUnavailable as error:
        raise NotExportable(f"the exported model does not run ({error})") from error
    cosines = np.sum(found * expected, axis=1)
    return float(np.mean(cosines)), float(np.min(cosines))
