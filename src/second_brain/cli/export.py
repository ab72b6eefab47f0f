"""`brain export`: every memory, for another program or for keeping."""

from __future__ import annotations

import zipfile
from pathlib import Path

import click

from second_brain.cli.options import with_settings
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings
from second_brain.errors import SecondBrainError


@click.command(epilog="Exit codes: 0 done; 1 it did not work; 2 a setting or an argument is wrong.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write there: JSON, or with the ending .zip the notes themselves.")  # fmt: skip
@with_settings("vault", "data_dir", "model_dir")
def export(settings: Settings, output: Path | None) -> None:
    """Print every memory and relation as JSON (version 2), as `brain import` reads it.

    With `-o notes.zip` the notes themselves are packed, byte for byte, at their paths.
    """
    with reached(settings) as brain:
        found = brain.get("/export")
        if output is not None and output.suffix.casefold() == ".zip":
            # The daemon may be of a vault that the settings do not name.
            vault = Path(brain.get("/health")["vault"]["path"])
            count = _zip(vault, output, [str(entry["path"]) for entry in found["entries"]])
            click.echo(f"Packed {count:,} notes into {output}.", err=True)
            return
    text = as_json(found)
    if output is None:
        click.echo(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise SecondBrainError(f"{output} cannot be written: {error.strerror}.") from error
    click.echo(f"Wrote {len(found['entries']):,} memories to {output}.", err=True)


def _zip(vault: Path, output: Path, paths: list[str]) -> int:
    try:
        with zipfile.ZipFile(output, "x", zipfile.ZIP_DEFLATED) as packed:
            for path in paths:
                packed.write(vault / path, path)
    except FileExistsError:
        raise SecondBrainError(f"{output} is there already; choose another name.") from None
    except OSError as error:
        output.unlink(missing_ok=True)
        raise SecondBrainError(f"{output} cannot be written: {error.strerror}.") from error
    return len(paths)
