"""`brain version`."""

from __future__ import annotations

import platform
import sys

import click

from second_brain import __version__


@click.command()
def version() -> None:
    """Print the versions of Second Brain and of what it runs on."""
    click.echo(f"Second Brain for Obsidian {__version__}")
    click.echo(f"Python {platform.python_version()} ({sys.executable})")
    click.echo(f"{platform.system()} {platform.release()} {platform.machine()}")
