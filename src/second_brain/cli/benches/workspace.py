"""Where a measurement's vaults and indexes lie: a folder that is kept, or one that goes away."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from second_brain.cli.benches.made_up import MadeUp, Sizes, notes, write_vault
from second_brain.cli.benches.process import DaemonProcess

_INDEXED = "indexed.json"


@dataclass(frozen=True, slots=True)
class Bed:
    """A made-up vault with the data directory of its daemon."""

    vault: Path
    data: Path
    made: list[MadeUp]
    model_dir: Path

    def daemon(self) -> DaemonProcess:
        return DaemonProcess(self.vault, self.data, self.model_dir)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Whatever is done to the vault inside is taken back at the end."""
        written = {note.path: note.text for note in self.made}
        try:
            yield
        finally:
            for file in [f for f in self.vault.rglob("*") if f.is_file()]:
                text = written.get(file.relative_to(self.vault).as_posix())
                if text is None:
                    file.unlink()
                elif file.read_text(encoding="utf-8") != text:
                    file.write_text(text, encoding="utf-8", newline="\n")


class Workspace:
    """Makes beds, and remembers in a kept folder which are there already."""

    def __init__(self, root: Path, model_dir: Path) -> None:
        self._root = root
        self._model_dir = model_dir

    def bed(self, name: str, count: int, sizes: Sizes) -> Bed:
        """A vault of `count` notes, not indexed unless it was before."""
        place = self._root / f"{name}-{count}"
        recipe = place / "vault.json"
        made = list(notes(count, sizes))
        wanted = json.dumps({"count": count, **asdict(sizes)})
        if not recipe.exists() or recipe.read_text(encoding="utf-8") != wanted:
            shutil.rmtree(place, ignore_errors=True)
            write_vault(place / "vault", iter(made))
            recipe.write_text(wanted, encoding="utf-8")
        return Bed(place / "vault", place / "data", made, self._model_dir)

    def is_indexed(self, name: str, count: int, sizes: Sizes) -> bool:
        """Whether the folder holds this vault with its index already."""
        return (self.bed(name, count, sizes).data / _INDEXED).exists()

    def indexed(self, name: str, count: int, sizes: Sizes) -> tuple[Bed, dict[str, Any]]:
        """The same with its index; says on standard error that it takes a while. Also /health."""
        bed = self.bed(name, count, sizes)
        marker = bed.data / _INDEXED
        if not marker.exists():
            click.echo(f"Indexing {count:,} made-up notes first …", err=True)
        with bed.daemon() as daemon:
            health = daemon.wait_ready()
        marker.write_text(json.dumps(health), encoding="utf-8")
        return bed, health


@contextmanager
def workspace(kept: Path | None, model_dir: Path) -> Iterator[Workspace]:
    """In the folder `kept`, or in a temporary one."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield Workspace(kept.resolve(), model_dir)
        return
    with tempfile.TemporaryDirectory(prefix="brain-bench-") as folder:
        yield Workspace(Path(folder).resolve(), model_dir)
