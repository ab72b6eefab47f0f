"""The default model's tokenizer on a plain dict, exact and a fifth of the memory.

The library's own Unigram model keeps 250,000 pieces in a tree of hash maps: 250 MB and 0.7 s at
start, more than the network itself. The same segmentation (the likeliest one, by dynamic
programming, word by word) needs a dict, and words repeat, so most are answered from a cache.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

import numpy as np

_MARK = "\u2581"
"""Stands for the space before a word in the pieces."""
_UNKNOWN_PENALTY = 10.0
_LONGEST_CACHED = 40
_CACHED_WORDS = 20_000

# What the tokenizer drops and what it turns into a space, beyond NFKC. To it zero-width and
# direction marks are spaces, and so is the replacement character.
DROPPED = "\x00-\x08\x0b\x0e-\x1f\x7f\x8f\x9f"
SPACES = "\t\n\x0c\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd"

_dropped = re.compile(f"[{DROPPED}]")
_spaces = re.compile(f"[{SPACES}]")
_runs = re.compile(" {2,}")

PIECES_FILE = "pieces.txt"
SCORES_FILE = "scores.npy"


def normalise(text: str) -> str:
    """The text as the vocabulary was learnt on: NFKC, no control characters, single spaces."""
    text = _spaces.sub(" ", _dropped.sub("", text))
    return _runs.sub(" ", unicodedata.normalize("NFKC", text))


def save(folder: Path, vocabulary: list[tuple[str, float]]) -> None:
    """Write the pieces (one a line, its number is its id) and their log probabilities."""
    pieces = [piece for piece, _ in vocabulary]
    if any("\n" in piece for piece in pieces):
        raise ValueError("a piece holds a line break")
    (folder / PIECES_FILE).write_text("\n".join(pieces), encoding="utf-8", newline="\n")
    np.save(folder / SCORES_FILE, np.array([score for _, score in vocabulary], np.float64))


class UnigramTokenizer:
    """Token ids of a text: `bos`, the likeliest pieces, `eos`. Safe for several threads."""

    def __init__(self, folder: Path, *, bos: int, eos: int, unknown: int, special: int) -> None:
        """`special` counts the ids at the start that never match text."""
        pieces = (folder / PIECES_FILE).read_bytes().decode("utf-8").split("\n")
        scores = np.load(folder / SCORES_FILE)
        self._ids = {piece: n for n, piece in enumerate(pieces) if n >= special}
        self._scores = scores
        self._longest = max(map(len, self._ids))
        self._unknown = unknown
        self._unknown_score = float(scores.min()) - _UNKNOWN_PENALTY
        self._bos = bos
        self._eos = eos
        self._cached = lru_cache(maxsize=_CACHED_WORDS)(self._segment)

    def encode(self, text: str, max_tokens: int) -> list[int]:
        """At most `max_tokens` ids, `bos` and `eos` included; reads no further than needed."""
        room = max_tokens - 2
        ids: list[int] = []
        for word in normalise(text).removeprefix(" ").split(" "):
            marked = _MARK + word
            short = len(marked) <= _LONGEST_CACHED
            ids.extend(self._cached(marked) if short else self._segment(marked))
            if len(ids) >= room:
                break
        return [self._bos, *ids[:room], self._eos]

    def _segment(self, word: str) -> tuple[int, ...]:
        """The likeliest pieces of one word; neighbouring unknown characters are one token."""
        size = len(word)
        best = [0.0] + [-np.inf] * size
        start = [0] * (size + 1)
        piece_at = [self._unknown] * (size + 1)
        ids, scores, longest = self._ids, self._scores, self._longest
        for begin in range(size):
            base = best[begin]
            for end in range(begin + 1, min(size, begin + longest) + 1):
                piece = ids.get(word[begin:end])
                if piece is None:
                    continue
                score = base + float(scores[piece])
                if score > best[end]:
                    best[end], start[end], piece_at[end] = score, begin, piece
            if word[begin] not in ids and base + self._unknown_score > best[begin + 1]:
                best[begin + 1] = base + self._unknown_score
                start[begin + 1], piece_at[begin + 1] = begin, self._unknown
        found: list[int] = []
        at = size
        while at > 0:
            if not (found and found[-1] == piece_at[at] == self._unknown):
                found.append(piece_at[at])
            at = start[at]
        found.reverse()
        return tuple(found)
