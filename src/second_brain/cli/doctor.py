"""`brain doctor`: what is wrong with a vault and its brain, and how to mend it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from second_brain.cli.daemons import daemon_meant, get_json
from second_brain.cli.options import with_settings
from second_brain.cli.plain import on_terminal, printable
from second_brain.cli.reach import as_json, token_of
from second_brain.config import Settings
from second_brain.errors import SettingsError

if TYPE_CHECKING:
    from second_brain.cli.checkup.examination import Examination
    from second_brain.cli.checkup.finding import Finding

_MOST_SHOWN = 10
_SIGNS = {"error": ("✗", "red"), "warning": ("!", "yellow"), "note": ("·", "cyan")}


@click.command(
    epilog="Exit codes: 0 nothing is wrong; 1 something is, and was not mended; "
    "2 an argument is wrong."
)
@with_settings(
    "vault", "data_dir", "model_dir", "server.host", "server.port", "embedding.model", deferred=True
)
@click.option("--fix", is_flag=True, help="Mend what can be mended without touching any note.")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(ctx: click.Context, settings: Callable[[], Settings], fix: bool, as_json_: bool) -> None:
    """Look at the vault, the stores, the model and the machine, and say what to mend and how.

    Works beside a running daemon and without one, and changes nothing. With --fix it builds the
    index anew, prepares the model, removes temporary files and corrects permissions where that is
    needed; it never touches a note. In a pipe: one finding a line, with tabs between severity,
    subject, path, message and hint.
    """
    from second_brain import logs

    logs.configure("error")
    done: list[str] = []
    try:
        found = _examined(given := settings())
    except SettingsError as error:
        found = _unusable(error)
    else:
        if fix and any(finding.mend for finding in found.findings):
            from second_brain.cli.checkup.mending import mend

            for sentence in mend(_of_the_daemon(given), found.findings):
                done.append(sentence)
                click.echo(printable(sentence), err=True)
            found = _examined(given)
    if as_json_:
        click.echo(as_json(_as_dict(found, done)))
    elif on_terminal():
        _print_screen(found)
    else:
        for f in found.findings:
            cells = (f.severity, f.check, f.path or "", f.message, f.hint)
            click.echo("\t".join(map(printable, cells)))
    ctx.exit(0 if found.is_well else 1)


def _examined(settings: Settings) -> Examination:
    from second_brain.cli.checkup.examination import examine

    settings = _of_the_daemon(settings)
    info = daemon_meant(settings) if settings.vault is not None else None
    return examine(
        settings, info, lambda: info and get_json(info, "/health", token_of(info, settings))
    )


def _of_the_daemon(settings: Settings) -> Settings:
    """The settings with the vault of the one daemon that runs, if they name none."""
    if settings.vault is not None or (info := daemon_meant(settings)) is None:
        return settings
    return dataclasses.replace(settings, vault=Path(info.vault))


def _unusable(error: SettingsError) -> Examination:
    from second_brain.cli.checkup.examination import Examination
    from second_brain.cli.checkup.finding import Finding

    hint = "Correct it; a daemon does not start with it."
    return Examination(("config",), (Finding("config", "error", str(error), hint),))


def _as_dict(found: Examination, done: Sequence[str]) -> dict[str, object]:
    return {
        "ok": found.is_well,
        "checked": found.checked,
        "findings": [dataclasses.asdict(finding) for finding in found.findings],
        "mended": done,
    }


def _print_screen(found: Examination) -> None:
    from rich.console import Console
    from rich.text import Text

    from second_brain.cli.checkup.examination import SUBJECTS

    console = Console(highlight=False)
    for subject in found.checked:
        own = [finding for finding in found.findings if finding.check == subject]
        if not any(finding.is_wrong for finding in own):
            console.print(Text.assemble(("✓ ", "green"), f"{subject}: {SUBJECTS[subject]}"))
        for finding in own[:_MOST_SHOWN]:
            console.print(_line(finding))
        if len(own) > _MOST_SHOWN:
            console.print(f"  … and {len(own) - _MOST_SHOWN} more: see brain doctor --json")
    wrong = sum(finding.is_wrong for finding in found.findings)
    fixable = sum(finding.mend is not None for finding in found.findings)
    said = "Nothing is wrong." if not wrong else f"{wrong} findings."
    if fixable:
        said += f" `brain doctor --fix` mends {fixable} of them."
    console.print(said)


def _line(finding: Finding) -> object:
    from rich.text import Text

    sign, colour = _SIGNS[finding.severity]
    where = f"{finding.path}: " if finding.path and finding.path not in finding.message else ""
    return Text.assemble(
        (f"{sign} {finding.check}: ", colour),
        printable(f"{where}{finding.message}"),
        ("\n    " + printable(finding.hint), "dim"),
    )
