"""A prepared model on disk: one folder, complete or not there, described by its meta.json."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from second_brain.index.embedding.models import Source, known
from second_brain.index.embedding.protocol import Similarity

FORMAT = 1
"""Raised whenever a preparation gives other vectors or files than before."""

META = "meta.json"
MODEL_FILE = "model.onnx"
WEIGHTS_FILE = "weights.bin"
TOKENIZER_FILE = "tokenizer.json"


@dataclass(frozen=True, slots=True)
class Meta:
    """What is known of a prepared model.

    `source` and `digest` tell which weights went in, `precision` how they are kept (int8,
    int8-reduced, fp32). A model of runtime `torch` could not be exported and has no files here:
    it is loaded from `location` each time. `files` maps each file's name to its size in bytes.
    """

    name: str
    source: str
    location: str
    digest: str
    runtime: Literal["onnx", "torch"]
    precision: str
    dimension: int
    max_tokens: int
    query_prefix: str
    document_prefix: str
    tokenizer: Literal["unigram", "library"]
    similarity: Similarity
    notice: str | None = None
    agreement: float | None = None
    files: dict[str, int] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change whenever the vectors would."""
        parts = (
            self.format,
            self.source,
            self.digest,
            self.runtime,
            self.precision,
            self.dimension,
            self.max_tokens,
            self.query_prefix,
            self.document_prefix,
        )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    @property
    def folder_name(self) -> str:
        return f"{slug(self.name)}-{self.fingerprint}"


def slug(name: str) -> str:
    """`name` as part of a folder name: its last path segment, lower case, safe everywhere."""
    last = name.rstrip("/").rsplit("/", 1)[-1].lower()
    return re.sub(r"[^a-z0-9.-]+", "-", last).strip("-.")[:60] or "model"


def write_meta(folder: Path, meta: Meta) -> None:
    text = json.dumps({**asdict(meta), "fingerprint": meta.fingerprint}, indent=1)
    (folder / META).write_text(text + "\n", encoding="utf-8")


def read_meta(folder: Path) -> Meta | None:
    """The description of a complete prepared model, or None if anything of it is missing."""
    try:
        values: dict[str, Any] = json.loads((folder / META).read_text(encoding="utf-8"))
        fingerprint = values.pop("fingerprint")
        meta = Meta(**{**values, "similarity": Similarity(**values["similarity"])})
        complete = all((folder / f).stat().st_size == size for f, size in meta.files.items())
    except (OSError, ValueError, TypeError, KeyError):
        return None
    if not complete or meta.format != FORMAT or meta.fingerprint != fingerprint:
        return None
    return meta


def find(model_dir: Path, source: Source) -> tuple[Path, Meta] | None:
    """The newest prepared model in `model_dir` that was made from `source`, with its notice.

    A registered model is known by its name wherever its package lies; any other by its location.
    """
    found = [
        (folder, dataclasses.replace(meta, notice=source.notice))
        for folder, meta in all_prepared(model_dir)
        if (meta.source, meta.name) == (source.kind, source.model)
        and (known(meta.name) is not None or meta.location == source.location)
        and source.digest in (None, meta.digest)
    ]
    return max(found, key=lambda item: (item[0] / META).stat().st_mtime_ns, default=None)


def all_prepared(model_dir: Path) -> Iterator[tuple[Path, Meta]]:
    """Every complete prepared model in `model_dir`; temporary and broken folders are passed by."""
    if not model_dir.is_dir():
        return
    for folder in sorted(model_dir.iterdir()):
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        meta = read_meta(folder)
        if meta is not None:
            yield folder, meta
