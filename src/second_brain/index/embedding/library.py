"""The models of this machine: which there are, preparing one, loading one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from second_brain.errors import ModelUnavailable
from second_brain.index.embedding import models, prepared
from second_brain.index.embedding.prepared import Meta
from second_brain.index.embedding.protocol import Embedder


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model as `brain model list` shows it.

    `installed`: its weights are on this machine; `prepared`: it can be loaded at once. `size_bytes`
    is what it takes on disk when prepared. `note` is a few words, possibly empty.
    """

    name: str
    languages: str
    dimension: int
    prepared: bool
    installed: bool
    size_bytes: int
    note: str
    fingerprint: str | None = None


def default_model_dir() -> Path:
    """Where prepared models lie unless the caller says otherwise; they are not of one vault."""
    from platformdirs import user_data_dir  # noqa: PLC0415 - keeps the package's import cheap

    return Path(user_data_dir("second-brain", appauthor=False)) / "models"


def available_models(model_dir: Path | None = None) -> list[ModelInfo]:
    """The known models, default first, then any other that is prepared in `model_dir`."""
    ready = {meta.name: meta for _, meta in prepared.all_prepared(model_dir or default_model_dir())}
    listed = [
        ModelInfo(
            name=model.name,
            languages=model.languages,
            dimension=model.dimension,
            prepared=model.name in ready,
            installed=models.installed(model),
            size_bytes=_size(ready.get(model.name)) or model.size,
            note=model.note,
            fingerprint=ready[model.name].fingerprint if model.name in ready else None,
        )
        for model in models.KNOWN
    ]
    others = (meta for name, meta in sorted(ready.items()) if models.known(name) is None)
    for meta in others:
        note = "runs on torch: slower to start" if meta.runtime == "torch" else ""
        listed.append(
            ModelInfo(
                name=meta.name,
                languages="as its makers say",
                dimension=meta.dimension,
                prepared=True,
                installed=True,
                size_bytes=_size(meta),
                note=note,
                fingerprint=meta.fingerprint,
            )
        )
    return listed


def prepare_model(
    name: str,
    model_dir: Path | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> ModelInfo:
    """Make `name` loadable from `model_dir`: once, for half a minute or more, in a child process.

    Does nothing if that has been done. `progress` gets a sentence and the share done, 0 to 1, at
    least twice a second while it works; an exception that it raises ends the work and is passed
    on. Raises `ModelUnavailable` with what to do. Several processes may call this at once.
    """
    from second_brain.index.embedding import prepare  # noqa: PLC0415 - rarely needed

    folder = model_dir or default_model_dir()
    meta = prepare.prepare_model(name, folder, progress)
    known = models.known(meta.name)
    return ModelInfo(
        name=meta.name,
        languages=known.languages if known else "as its makers say",
        dimension=meta.dimension,
        prepared=True,
        installed=True,
        size_bytes=_size(meta),
        note=meta.notice or "",
        fingerprint=meta.fingerprint,
    )


def is_prepared(name: str, model_dir: Path | None = None) -> bool:
    """Whether `load_model` finds it prepared. Raises `ModelUnavailable` for what is no model."""
    folder = model_dir or default_model_dir()
    return any(prepared.find(folder, source) is not None for source in models.sources(name))


def load_model(name: str, model_dir: Path | None = None, threads: int | None = None) -> Embedder:
    """The prepared model called `name`, ready to embed.

    `threads` bounds the cores that one call uses (default: half of them). A registered model must
    have been prepared; any other that has not been is loaded by torch, which takes seconds.
    Raises `ModelUnavailable` with what to do.
    """
    folder = model_dir or default_model_dir()
    sources = models.sources(name)
    for source in sources:
        found = prepared.find(folder, source)
        if found is not None:
            return _open(found[0], _with_measured_scale(found[1]), threads)
    if models.known(name) is not None:
        raise ModelUnavailable(
            f"The embedding model {name} has not been prepared yet; run `brain model prepare`."
        )
    from second_brain.index.embedding import prepare  # noqa: PLC0415 - imports torch below

    return prepare.load_unprepared(sources[0])


def _open(folder: Path, meta: Meta, threads: int | None) -> Embedder:
    if meta.runtime == "torch":
        from second_brain.index.embedding.torch import TorchEmbedder  # noqa: PLC0415 - as needed

        return TorchEmbedder(meta)
    from second_brain.index.embedding.onnx import OnnxEmbedder  # noqa: PLC0415 - as needed

    return OnnxEmbedder(folder, meta, threads)


def _with_measured_scale(meta: Meta) -> Meta:
    """A registered model's scale is the program's, so that it can be corrected without work."""
    known = models.known(meta.name)
    return dataclasses.replace(meta, similarity=known.similarity) if known else meta


def _size(meta: Meta | None) -> int:
    return sum(meta.files.values()) if meta else 0
