"""The edges that notes state, and what their targets mean in the vault as it is now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from second_brain.index.catalog import Catalog
from second_brain.index.edges import Resolution
from second_brain.index.rows import EdgeRow
from second_brain.vault.links import Resolver, key
from second_brain.vault.model import Link, Note

_WEIGHTS = {"explicit": 1.0, "inferred": 0.7, "system": 0.8}


class LinkGraph:
    """Keeps the catalogue's edges resolved. Belongs to one thread at a time."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.resolver = Resolver(catalog.paths())

    @contextmanager
    def in_step(self) -> Iterator[None]:
        """Around a transaction: what is known here goes back with it if it fails."""
        try:
            yield
        except BaseException:
            self.resolver = Resolver(self._catalog.paths())
            raise

    def stated(self, id: str, note: Note, now: int) -> list[EdgeRow]:
        """The edges of a note, unresolved; links to places in the note itself are none."""
        return [
            EdgeRow(
                source_id=id,
                target=link.target,
                target_key=key(link.target),
                type=link.type,
                property=link.property,
                provenance=link.provenance,
                weight=_WEIGHTS[link.provenance],
                created=now,
                markdown=link.markdown,
            )
            for link in note.links
            if link.target.strip()
        ]

    def moved(self, gone: Iterable[str], there: Iterable[str]) -> set[str]:
        """Take in paths that vanished and paths that are there; the link keys they touch."""
        keys: set[str] = set()
        for path in gone:
            if path in self.resolver:
                self.resolver.remove(path)
                keys.add(key(path))
        for path in there:
            if path not in self.resolver:
                self.resolver.add(path)
                keys.add(key(path))
        return keys

    def keys_of(self, paths: Iterable[str]) -> set[str]:
        """The link keys by which these paths may be meant."""
        return {key(path) for path in paths}

    def resolve(self, sources: Iterable[str], keys: Iterable[str]) -> None:
        """Resolve the edges that these notes state, and all edges with these link keys."""
        edges = [edge for id in sources for edge in self._catalog.edges.stated_by(id)]
        edges += self._catalog.edges.by_key(keys)
        ids = {edge.source_id for edge in edges}
        places = {id: row.path for id, row in self._catalog.by_ids(ids).items()}
        found: list[Resolution] = []
        for edge in edges:
            source = places.get(edge.source_id)
            if source is None:
                continue
            link = Link(edge.target, markdown=edge.markdown)
            path = self.resolver.resolve(link, source)
            row = self._catalog.by_path(path) if path is not None else None
            if row is not None and row.missing_since is not None:
                row = None
            target = (path, row.id) if row is not None else (None, None)
            if target != (edge.target_path, edge.target_id):
                found.append(Resolution(edge.source_id, edge.target, *target))
        if found:
            self._catalog.edges.resolve(found)
