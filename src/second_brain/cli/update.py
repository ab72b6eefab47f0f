"""`brain update`: another text for a memory."""

from __future__ import annotations

import sys
import tempfile

import click

from second_brain.cli.ids import full_id
from second_brain.cli.options import with_settings
from second_brain.cli.reach import Brain, as_json, reached
from second_brain.cli.texts import given_text
from second_brain.config import Settings
from second_brain.errors import SecondBrainError


@click.command(epilog="Exit codes: 0 replaced; 1 not replaced; 2 a setting or argument is wrong.")
@click.argument("id")
@click.argument("text", nargs=-1)
@with_settings("vault", "data_dir", "model_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def update(settings: Settings, id: str, text: tuple[str, ...], as_json_: bool) -> None:
    """Replace the text of the memory ID by TEXT; its properties stay.

    Without TEXT it is read from a pipe, or the present text is edited in $EDITOR. The beginning of
    an id is enough if no other begins so. `brain undo` takes it back.
    """
    with reached(settings) as brain:
        whole = full_id(brain, id)
        if _by_hand(text):
            before = _text(brain, whole)
            content = given_text((), template=before)
            if content == before:
                click.echo("Nothing was changed.")
                return
            if _text(brain, whole) != before:
                raise _changed_meanwhile(content)
        else:
            content = given_text(text)
        done = brain.post("/update", id=whole, content=content)
    click.echo(as_json(done) if as_json_ else f"Replaced: {whole}")


def _by_hand(text: tuple[str, ...]) -> bool:
    return not text and sys.stdin.isatty()


def _text(brain: Brain, id: str) -> str:
    return str(brain.get("/get", id=id)["content"])


def _changed_meanwhile(content: str) -> SecondBrainError:
    with tempfile.NamedTemporaryFile(
        "w", prefix="brain-", suffix=".md", delete=False, encoding="utf-8"
    ) as kept:
        kept.write(content)
    return SecondBrainError(
        "The note was changed while you edited it; nothing was replaced. "
        f"Your text is in {kept.name}."
    )
