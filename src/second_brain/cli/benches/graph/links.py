"""Links by meaning alone in a conversation, and how many links are right, whoever made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from second_brain.cli.benches.recall.data import DataSet, Document
from second_brain.index.chunk import chunks, embedded_text
from second_brain.index.embedding import Embedder
from second_brain.vault.markdown import scan
from second_brain.vault.names import title_of

MOST_RELATED = 3


@dataclass(frozen=True, slots=True)
class Precision:
    """Of so many links: how many join two turns of one session, how many two that the same
    question needs, and how many either."""

    threshold: float
    memories: int
    linked: int
    links: int
    same_session: int
    same_subject: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.links if self.links else 0.0


class Links:
    """One conversation: its turns in their order, each comparable with those before it."""

    def __init__(self, data: DataSet, model: Embedder) -> None:
        self.documents: Sequence[Document] = sorted(
            data.documents, key=lambda d: (d.created or 0, data.documents.index(d))
        )
        vectors = model.embed_documents([_passage(d.text) for d in self.documents])
        self._cosines: NDArray[np.float32] = np.tril(vectors @ vectors.T, -1)
        self._together = {
            frozenset((one, other))
            for question in data.questions
            for one in question.relevant
            for other in question.relevant
            if one != other
        }

    def related(self, threshold: float) -> dict[str, list[str]]:
        """The ids that each turn is linked to: the nearest ones that are there already."""
        found: dict[str, list[str]] = {}
        for place, document in enumerate(self.documents):
            row = self._cosines[place, :place]
            near = [n for n in np.argsort(-row)[:MOST_RELATED].tolist() if row[n] >= threshold]
            if near:
                found[document.id] = [self.documents[n].id for n in near]
        return found

    def precision(
        self, threshold: float, related: Mapping[str, Sequence[str]] | None = None
    ) -> Precision:
        """How right those links are, or those that are given."""
        session = {document.id: document.session for document in self.documents}
        related = self.related(threshold) if related is None else related
        pairs = [(one, other) for one, others in related.items() for other in others]
        same = [session[one] == session[other] for one, other in pairs]
        subject = [frozenset(pair) in self._together for pair in pairs]
        return Precision(
            threshold,
            len(self.documents),
            sum(bool(others) for others in related.values()),
            len(pairs),
            sum(same),
            sum(subject),
            sum(a or b for a, b in zip(same, subject, strict=True)),
        )

    def by_chance(self) -> float:
        """How right a link between any two turns would be."""
        count = len(self.documents)
        sessions: dict[str | None, int] = {}
        for document in self.documents:
            sessions[document.session] = sessions.get(document.session, 0) + 1
        same = sum(n * (n - 1) // 2 for n in sessions.values())
        return same / (count * (count - 1) // 2) if count > 1 else 0.0


def together(parts: Sequence[Precision]) -> Precision:
    """Several conversations as one."""
    return Precision(
        parts[0].threshold,
        sum(p.memories for p in parts),
        sum(p.linked for p in parts),
        sum(p.links for p in parts),
        sum(p.same_session for p in parts),
        sum(p.same_subject for p in parts),
        sum(p.right for p in parts),
    )


def _passage(text: str) -> str:
    title = title_of(text)
    cut = chunks(title, text, scan(text).headings)
    return embedded_text(title, cut[0])
