"""The ways of indexing between which a daemon is switched: models, or else lengths of passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from second_brain.config import Settings
from second_brain.index.embedding import DEFAULT_MODEL, available_models

_OTHER_SIZE = 400


@dataclass(frozen=True, slots=True)
class Way:
    """A model and a length of passages. `flags` and `environment` are those of `brain serve`."""

    model: str
    chunk_size: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def flags(self) -> tuple[str, ...]:
        return ("--model", self.model)

    def settings(self, vault: Path, data: Path, model_dir: Path) -> Settings:
        """The settings of a daemon that indexes so."""
        base = Settings(vault=vault, data_dir=data, model_dir=model_dir)
        base = replace(base, embedding=replace(base.embedding, model=self.model))
        if self.chunk_size is None:
            return base
        return replace(
            base, index=replace(base.index, chunk_size=self.chunk_size, chunk_overlap=50)
        )

    def is_in_force(self, health: dict[str, Any]) -> bool:
        """Whether a daemon that was started so has finished changing over, by its /health."""
        index = health["index"]
        return bool(index.get("state") == "ready" and index.get("model") == self.model)


def ways(model_dir: Path) -> list[Way]:
    """Two of them or more, the default one first."""
    ready = [model.name for model in available_models(model_dir) if model.prepared]
    others = [Way(name) for name in ready if name != DEFAULT_MODEL]
    if others:
        return [Way(DEFAULT_MODEL), *others]
    shorter = {"SECOND_BRAIN_CHUNK_SIZE": str(_OTHER_SIZE), "SECOND_BRAIN_CHUNK_OVERLAP": "50"}
    return [Way(DEFAULT_MODEL), Way(DEFAULT_MODEL, _OTHER_SIZE, shorter)]
