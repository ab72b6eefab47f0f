"""`brain extension`: writes the browser extension out, ready to be loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from second_brain.cli.options import with_settings
from second_brain.cli.reach import as_json
from second_brain.config import Settings

if TYPE_CHECKING:
    from second_brain.integrations.extension.writing import Browser

_NEXT = {
    "chrome": "Open chrome://extensions, switch on “Developer mode”, press “Load unpacked” and "
    "choose {folder}.",
    "edge": "Open edge://extensions, switch on “Developer mode”, press “Load unpacked” and "
    "choose {folder}.",
    "firefox": "Open about:debugging#/runtime/this-firefox, press “Load Temporary Add-on” and "
    "choose {folder}/manifest.json. Firefox forgets it at its end; to keep it, have it signed at "
    "addons.mozilla.org, unlisted.",
}


@click.command(epilog="Exit codes: 0 done; 1 it did not work; 2 a setting or an argument is wrong.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=True), metavar="DIR")
@click.option("--browser", type=click.Choice(list(_NEXT)), default="chrome", show_default=True,
              help="The browser that it is for.")  # fmt: skip
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
@with_settings("vault", "data_dir", "server.host", "server.port")
def extension(settings: Settings, folder: Path, browser: Browser, as_json_: bool) -> None:
    """Write the browser extension into DIR, ready to be loaded.

    A folder that it was written into before is brought up to date; one that holds something else
    is left alone. The daemon's address is filled in; the token is not, it is pasted once.
    """
    from second_brain.cli.daemons import daemon_meant
    from second_brain.integrations.extension.writing import write_extension

    daemon = daemon_meant(settings)
    address = daemon.url if daemon is not None else settings.server.url
    target = folder.expanduser().absolute()
    written = write_extension(target, browser, address)
    if as_json_:
        shown = {"folder": str(target), "browser": browser, "address": address}
        click.echo(as_json({**shown, "files": written.total, "changed": written.changed}))
        return
    done = (
        f"{written.changed} of {written.total} files are new" if written.changed else "up to date"
    )
    click.echo(f"The extension is in {target}: {done}.\n")
    click.echo(f"1. {_NEXT[browser].format(folder=target)}")
    click.echo(
        f"2. In its settings the address is {address}; paste what `brain token show` prints."
    )
