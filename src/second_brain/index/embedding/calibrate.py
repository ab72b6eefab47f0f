"""Finding out what a model's cosines mean, from pairs of short memories in English and French.

`calibration.json` holds texts, each with a rewording (a word or two changed, the same fact), a
paraphrase (the same fact in other words) and another fact about the same topic.
"""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from second_brain.index.embedding.protocol import Similarity, Vectors

Embed = Callable[[Sequence[str]], Vectors]
Cosines = dict[str, NDArray[np.float32]]


def measure(embed: Embed) -> Cosines:
    """Cosines of `embed`'s vectors (length 1) by kind of pair, sorted.

    Kinds: `retyped` (case, spaces, punctuation), `reworded`, `paraphrase`, `topic`, `unrelated`
    (each text with every other of its language-mixed list).
    """
    rows = _rows()
    texts = [row["text"] for row in rows]
    base = embed(texts)
    found: Cosines = {}
    retyped = [variant(text) for variant in _VARIANTS for text in texts]
    found["retyped"] = _pairwise(np.tile(base, (len(_VARIANTS), 1)), embed(retyped))
    for kind in ("reworded", "paraphrase", "topic"):
        found[kind] = _pairwise(base, embed([row[kind] for row in rows]))
    upper = np.triu_indices(len(texts), 1)
    found["unrelated"] = np.sort((base @ base.T)[upper])
    return found


def scale(cosines: Cosines) -> Similarity:
    """The similarity scale that `cosines` suggest.

    `same` admits nearly every rewording and keeps nearly every paraphrase out; `similar` lies
    between other facts on the topic and paraphrases; `related` admits few other facts and so
    hardly anything unrelated.
    """

    def at(kind: str, share: float) -> float:
        return float(np.quantile(cosines[kind], share))

    gap = 1e-3  # a model that tells nothing apart still gets a rising scale
    same = min(max(at("reworded", 0.05), at("paraphrase", 0.95)), 1 - gap)
    similar = min((at("topic", 0.95) + at("paraphrase", 0.25)) / 2, same - gap)
    related = min((at("topic", 0.75) + at("topic", 0.95)) / 2, similar)
    return Similarity(min(at("unrelated", 0.5), similar - gap), related, similar, same)


def _rows() -> list[dict[str, str]]:
    file = importlib.resources.files(__package__).joinpath("calibration.json")
    rows: list[dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return rows


def _pairwise(left: Vectors, right: Vectors) -> NDArray[np.float32]:
    cosines: NDArray[np.float32] = np.sort(np.sum(left * right, axis=1))
    return cosines


def _sentence_lower(text: str) -> str:
    return text[0].lower() + text[1:]


def _spread(text: str) -> str:
    return "  " + text.replace(" ", "\n", 2) + "\n\n"


def _without_stop(text: str) -> str:
    return text.rstrip(".")


def _exclaimed(text: str) -> str:
    return "- " + text.replace(",", "").rstrip(".") + "!"


_VARIANTS: tuple[Callable[[str], str], ...] = (
    str.lower,
    str.upper,
    _sentence_lower,
    _spread,
    _without_stop,
    _exclaimed,
)
