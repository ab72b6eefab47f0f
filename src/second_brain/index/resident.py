"""The passages of a small table in memory, for searching by vector and by words.

A copy of what LanceDB holds, changed with it. Up to some ten thousand passages, one product with a
matrix and a walk through some lists take a fraction of the time and of the processor that asking
the table takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from second_brain.index.analyze import Query
from second_brain.index.passages import ChunkRow, Hit, SearchFilter
from second_brain.index.postings import Postings
from second_brain.index.vectors import Vector

_FIRST_ROWS = 256
_NOWHERE = -2.0
"""Below every cosine: a place without a passage, or one without a vector."""


_EVERYTHING = SearchFilter()

_Head = tuple[str, str, int, str, str, str]
"""The first fields of a `Hit`."""

_NOTHING: _Head = ("", "", 0, "", "", "")


class Resident:
    """Belongs to one thread."""

    def __init__(self, dimension: int, room: int = _FIRST_ROWS) -> None:
        """`room` is how many passages it begins with space for."""
        self._matrix = np.zeros((room, dimension), dtype=np.float32)
        self._rows: list[ChunkRow | None] = []
        self._heads: list[_Head] = []
        self._lengths: NDArray[np.float32] = np.zeros(room, dtype=np.float32)
        self._free: list[int] = []
        self._places: dict[str, list[int]] = {}
        self._by_id: dict[str, int] = {}
        self._postings = Postings()

    def __len__(self) -> int:
        return len(self._rows) - len(self._free)

    def replace(self, rows: Mapping[str, Sequence[ChunkRow]], delete: Iterable[str] = ()) -> None:
        """These notes have exactly these passages now, the deleted ones none."""
        for note_id in {*rows, *delete}:
            for place in self._places.pop(note_id, ()):
                if (row := self._rows[place]) is not None:
                    del self._by_id[row.id]
                self._rows[place], self._heads[place] = None, _NOTHING
                self._lengths[place] = 0.0
                self._postings.remove(place)
                self._free.append(place)
        self._make_room(sum(map(len, rows.values())))
        terms: dict[int, str] = {}
        for note_id, own in rows.items():
            unique = {row.id: row for row in own}
            places = [self._put(row) for row in unique.values()]
            terms.update(zip(places, (row.terms for row in unique.values()), strict=True))
            self._places[note_id] = places
        self._postings.put(terms)

    def search(self, vector: Vector, filter: SearchFilter, limit: int) -> list[Hit]:
        """The passages nearest to a vector that the filter admits, best first."""
        count = len(self._rows)
        lengths = self._lengths[:count]
        unit = vector / np.linalg.norm(vector)
        # Not `@`: BLAS would start threads that spin, on processors that the text search needs.
        products = np.einsum("ij,j->i", self._matrix[:count], unit)
        scores = np.full(count, _NOWHERE, dtype=np.float32)
        np.divide(products, lengths, out=scores, where=lengths > 0)
        return self._best(scores, _NOWHERE, filter, limit)

    def search_text(self, query: Query, filter: SearchFilter, limit: int) -> list[Hit]:
        """The passages with the most telling words of the query that the filter admits, best
        first."""
        words = query.words or tuple((term,) for term in query.terms)
        weights = self._postings.weigh(words, len(self._rows), query.parts)
        return self._best(weights, 0.0, filter, limit)

    def hits(self, scores: Iterable[tuple[str, float]]) -> list[Hit]:
        """The passages with these ids, as found with these scores; unknown ids are left out."""
        found = [(self._by_id[id], score) for id, score in scores if id in self._by_id]
        return self._hits([place for place, _ in found], [score for _, score in found])

    def _best(
        self, scores: NDArray[np.float32], nothing: float, filter: SearchFilter, limit: int
    ) -> list[Hit]:
        """The places with the highest scores; `nothing` is the score of what was not found."""
        everything = filter == _EVERYTHING
        found: list[int] = []
        for place in _best_first(scores, limit if everything else len(scores)).tolist():
            row = self._rows[place]
            if row is None or scores[place] == nothing or len(found) == limit:
                break
            if everything or filter.admits(row):
                found.append(place)
        return self._hits(found, scores[found].tolist())

    def _hits(self, places: Sequence[int], scores: Iterable[float]) -> list[Hit]:
        # One copy: places change hands while the hits are looked at.
        vectors, lengths = self._matrix[list(places)], self._lengths[list(places)].tolist()
        heads = self._heads
        return [
            Hit(*heads[place], score, vector if length > 0 else None)
            for place, score, vector, length in zip(places, scores, vectors, lengths, strict=True)
        ]

    def _make_room(self, more: int) -> None:
        """Grow, by half at least, for so many more passages."""
        room = len(self._matrix)
        if (needed := len(self._rows) + more - len(self._free)) > room:
            grown = max(needed, room + room // 2)
            matrix = np.zeros((grown, self._matrix.shape[1]), dtype=np.float32)
            matrix[:room] = self._matrix
            lengths: NDArray[np.float32] = np.zeros(grown, dtype=np.float32)
            lengths[:room] = self._lengths
            self._matrix, self._lengths = matrix, lengths

    def _put(self, row: ChunkRow) -> int:
        if self._free:
            place = self._free.pop()
        else:
            place = len(self._rows)
            self._rows.append(None)
            self._heads.append(_NOTHING)
        self._by_id[row.id] = place
        self._rows[place] = row.without_vector_and_terms()
        self._heads[place] = (row.id, row.note_id, row.ordinal, row.title, row.heading, row.text)
        if row.vector is not None:
            self._matrix[place] = row.vector
            self._lengths[place] = np.linalg.norm(row.vector)
        return place


def _best_first(scores: NDArray[np.float32], limit: int) -> NDArray[np.intp]:
    """The places of at least the `limit` highest scores, the highest first."""
    if 0 < limit < len(scores):
        best = np.argpartition(-scores, limit - 1)[:limit]
        return best[np.argsort(-scores[best], kind="stable")]
    return np.argsort(-scores, kind="stable")
