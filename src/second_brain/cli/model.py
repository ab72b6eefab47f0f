"""`brain model`: prepare, list and choose the embedding model."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from second_brain.cli.options import chosen, with_settings
from second_brain.config import Settings
from second_brain.config.edit import set_values
from second_brain.errors import SettingsError


@click.group()
def model() -> None:
    """Prepare, list and choose the embedding model."""


@model.command()
@click.argument("name", required=False)
@with_settings("model_dir")
def prepare(settings: Settings, name: str | None) -> None:
    """Make the model NAME ready, by default the one that is set; does nothing if it is.

    The first time takes about a minute. Until then recall goes by keywords.
    """
    click.echo(prepared(name or settings.embedding.model, settings.model_dir))


def prepared(name: str, folder: Path) -> str:
    """Make a model ready, with its progress on standard error; a sentence that says so."""
    from second_brain.index.embedding import prepare_model

    with _shown_progress() as progress:
        ready = prepare_model(name, folder, progress)
    if ready.note:
        click.echo(ready.note, err=True)
    return f"The model {ready.name} is ready in {folder}."


@contextmanager
def _shown_progress() -> Iterator[Callable[[str, float], None]]:
    """A receiver of (sentence, share done): a bar on a terminal, a line per sentence elsewhere."""
    if not sys.stderr.isatty():
        yield _lines_to_stderr()
        return
    import rich.console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        console=rich.console.Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("", total=1.0)

    def move(step: str, share: float) -> None:
        bar.start()  # at the first step: a model that is ready has none
        bar.update(task, description=step, completed=share)

    try:
        yield move
    finally:
        bar.stop()


def _lines_to_stderr() -> Callable[[str, float], None]:
    last = ""

    def say(step: str, share: float) -> None:
        nonlocal last
        if step != last:
            click.echo(f"{share:4.0%} {step}", err=True)
        last = step

    return say


@model.command("list")
@with_settings("model_dir")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_models(settings: Settings, as_json: bool) -> None:
    """Show the models that are known; `*` marks the one that is set.

    Any other sentence-transformers model can be used too, by its folder or its name on the
    Hugging Face hub.
    """
    from second_brain.index.embedding import available_models

    found = available_models(settings.model_dir)
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(one) for one in found], indent=2))
        return
    width = max(len(one.name) for one in found)
    for one in found:
        mark = "*" if one.name == settings.embedding.model else " "
        size = f"{one.size_bytes / 1e6:.0f} MB"
        state = "ready" if one.prepared else "installed" if one.installed else "to download"
        about = f"{one.languages} ({one.note})" if one.note else one.languages
        click.echo(f"{mark} {one.name:<{width}}  {size:>6}  {state:<11}  {about}")
    if all(one.name != settings.embedding.model for one in found):
        click.echo(f"* {settings.embedding.model}")


@model.command()
@click.argument("name")
@with_settings("model_dir")
def use(settings: Settings, name: str) -> None:
    """Write the model NAME into the configuration file; the rest of the file stays as it is.

    NAME is a known model, a folder, or a name on the Hugging Face hub such as organisation/model.
    """
    from second_brain.index.embedding import available_models

    full = _full_name(name, [one.name for one in available_models(settings.model_dir)])
    file = chosen().file
    set_values(file, {"embedding.model": full})
    click.echo(f"{file} now names the model {full}.")
    click.echo("Make it ready with `brain model prepare`, and restart the daemon.")


def _full_name(name: str, known: list[str]) -> str:
    """What the configuration should say for `name`; `SettingsError` for what can be no model."""
    if name in known:
        return name
    folder = Path(os.path.expanduser(name))  # noqa: PTH111 - leaves an unknown ~user as it is
    if name and folder.is_dir():
        return str(folder.resolve())
    if re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", name):
        return name
    raise SettingsError(
        f"There is no model {name}; known are {', '.join(known)}, "
        f"and any other is named as organisation/model or by its folder."
    )
