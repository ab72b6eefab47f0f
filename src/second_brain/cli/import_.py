"""`brain import`: takes over memories from another program, or from a folder of notes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
import httpx2

from second_brain.cli.options import with_settings
from second_brain.cli.reach import Brain, as_json, reached
from second_brain.config import Settings
from second_brain.integrations.importing.entries import Entry, ImportRefused, Source, names
from second_brain.integrations.importing.exports import read_json
from second_brain.integrations.importing.folder import read_folder

_NOTES = 200  # in one request: an answer well within its time, also on a slow disk
_NAMES = 2000
_BYTES = 2_000_000
_SHOWN = 10
T = TypeVar("T")


@click.command(
    "import", epilog="Exit codes: 0 done; 1 it did not work; 2 a setting or an argument is wrong."
)
@click.argument("source", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--from", "url", metavar="URL", help="Read it from a Second Brain that runs there.")
@click.option("--token", envvar="SECOND_BRAIN_IMPORT_TOKEN", metavar="T",
              help="The token of that one. [SECOND_BRAIN_IMPORT_TOKEN]")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what would be made; write nothing.")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
@with_settings("vault", "data_dir", "model_dir")
def import_(
    settings: Settings,
    *,
    source: Path | None,
    url: str | None,
    token: str | None,
    dry_run: bool,
    as_json_: bool,
) -> None:
    """Import memories from SOURCE: an export in JSON, or a folder of Markdown.

    Reads what `brain export` and the original's /export write, the JSON of mcp-memory-service, and
    any folder of notes, such as basic-memory's. What is there already, by its id or in the same
    words, is not made again: an import that was interrupted is simply run once more.
    """
    if (source is None) == (url is None):
        raise click.UsageError("Give one SOURCE, or --from URL.")
    found = _downloaded(url, token) if url is not None else _read(source)
    with reached(settings) as brain:
        done = _Import(brain, found).run(dry_run=dry_run)
    if as_json_:
        click.echo(as_json({**asdict(done), "left_out": found.left_out}))
        return
    for sentence in found.left_out[:_SHOWN]:
        click.echo(f"Left out: {sentence}", err=True)
    if len(found.left_out) > _SHOWN:
        click.echo(f"Left out: {len(found.left_out) - _SHOWN:,} more.", err=True)
    click.echo(done.sentence)


@dataclass(frozen=True)
class _Done:
    """What was imported, or would be."""

    memories: int
    relations: int
    there: int
    dry_run: bool

    @property
    def sentence(self) -> str:
        if self.dry_run:
            return (
                f"{self.memories:,} notes would be made; {self.there:,} memories are there already."
            )
        return (
            f"Imported {self.memories:,} memories and {self.relations:,} relations; "
            f"{self.there:,} memories were there already."
        )


class _Import:
    def __init__(self, brain: Brain, source: Source) -> None:
        self._brain = brain
        self._source = source

    def run(self, *, dry_run: bool) -> _Done:
        places = self._places()
        # Two entries with the same text become one: the first that says it.
        first: dict[str, str] = {}
        for entry in self._source.entries:
            if not places[entry.id]["known"] and entry.key:
                places[entry.id] = places[first.setdefault(entry.key, entry.id)]
        new = [
            entry
            for entry in self._source.entries
            if not places[entry.id]["known"] and places[entry.id]["id"] == entry.id
        ]
        there = len(self._source.entries) - len(new)
        if dry_run:
            return _Done(len(new), len(self._source.relations), there, dry_run=True)
        self._write(new, places)
        edges = [
            {
                "source": a,
                "target": b,
                "type": r.type,
                "created": r.created,
                "weight": r.weight,
                "inferred": r.inferred,
            }
            for r in self._source.relations
            if (a := places[r.source]["id"]) != (b := places[r.target]["id"])
        ]
        with _progress("Relations", len(edges)) as advance:
            for batch in _batches(edges, _NAMES // 10, lambda _: 200):
                self._brain.post("/import/edges", edges=batch)
                advance(len(batch))
        return _Done(len(new), len(edges), there, dry_run=False)

    def _places(self) -> dict[str, Any]:
        entries, called = self._source.entries, names(self._source.entries)
        places: dict[str, Any] = {}
        for batch in _batches(entries, _NAMES, lambda _: 500):
            asked = [{"id": e.id, "name": called[e.id], "key": e.key} for e in batch]
            answer = self._brain.post("/import/places", entries=asked)
            places.update({e.id: p for e, p in zip(batch, answer["places"], strict=True)})
        return places

    def _write(self, new: Sequence[Entry], places: dict[str, Any]) -> None:
        links: dict[str, list[dict[str, object]]] = {}
        for relation in self._source.relations:
            target = places[relation.target]
            if target["id"] != places[relation.source]["id"] and not target["known"]:
                link = {
                    "type": relation.type,
                    "path": target["path"],
                    "inferred": relation.inferred,
                }
                links.setdefault(relation.source, []).append(link)
        with _progress("Memories", len(new)) as advance:
            for batch in _batches(new, _NOTES, lambda e: 2000 + 3 * len(e.content)):
                values = [
                    {**e.as_json(), "path": places[e.id]["path"], "links": links.get(e.id, [])}
                    for e in batch
                ]
                self._brain.post("/import/notes", entries=values)
                advance(len(batch))


def _read(source: Path | None) -> Source:
    assert source is not None
    if source.is_dir():
        return read_folder(source)
    try:
        return read_json(source.read_bytes())
    except OSError as error:
        raise ImportRefused(f"{source} cannot be read: {error.strerror}.") from error


def _downloaded(url: str, token: str | None) -> Source:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = httpx2.get(url.rstrip("/") + "/export", headers=headers, timeout=120)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ImportRefused(f"{url} does not answer: {error}.") from error
    if answer.status_code == httpx2.codes.UNAUTHORIZED:
        raise ImportRefused(f"{url} does not accept the token; give its own with --token.")
    if answer.status_code != httpx2.codes.OK:
        raise ImportRefused(f"{url} answered /export with {answer.status_code}.")
    return read_json(answer.content)


def _batches(items: Sequence[T], most: int, size: Callable[[T], int]) -> Iterator[list[T]]:
    batch: list[T] = []
    total = 0
    for item in items:
        if batch and (len(batch) == most or total + size(item) > _BYTES):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size(item)
    if batch:
        yield batch


@contextmanager
def _progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=total, label=label, file=sys.stderr) as bar:
        yield bar.update
