"""What all commands of `brain bench` share: their options, and the run from settings to table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from second_brain.cli.benches.table import Table, show, with_load
from second_brain.cli.benches.workspace import Workspace, workspace
from second_brain.config import Settings
from second_brain.errors import ModelUnavailable
from second_brain.index.embedding import DEFAULT_MODEL, available_models

Measure = Callable[[Table, Workspace], None]


def common_options(command: Callable[..., None]) -> Callable[..., None]:
    """`--work` and `--json`."""
    keeping = click.option(
        "--work",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Make the vaults and indexes there, leave them, and use them again next time."
        " Otherwise a temporary folder.",
    )
    json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    return keeping(json(command))


def notes_option(default: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--notes N`: the size of the made-up vault."""
    return click.option(
        "--notes",
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        metavar="N",
        help="Notes of the made-up vault.",
    )


def run(
    title: str, measure: Measure, *, settings: Settings, work: Path | None, as_json: bool
) -> None:
    """Measure and print. Raises ModelUnavailable while the default model is not prepared."""
    if not any(
        m.name == DEFAULT_MODEL and m.prepared for m in available_models(settings.model_dir)
    ):
        raise ModelUnavailable("The default model is not prepared. Run: brain model prepare")
    with workspace(work, settings.model_dir) as place:
        table = with_load(lambda table: measure(table, place), Table(title))
    show(table, as_json=as_json)
