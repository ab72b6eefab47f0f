"""Changing one setting in the configuration file, with everything else in it left as it is."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import tomlkit
import tomlkit.exceptions
from tomlkit.items import Table

from second_brain.errors import SettingsError


def with_value(text: str, table: str, name: str, value: str) -> str:
    """`text` with `name = value` in `[table]`; comments, order and layout stay.

    Raises `SettingsError` where `text` is not TOML or `table` is something else than a table.
    """
    try:
        document = tomlkit.parse(text)
    except tomlkit.exceptions.ParseError as error:
        raise SettingsError(f"The configuration is not valid TOML: {error}.") from error
    found = document.get(table)
    if found is None:
        found = tomlkit.table()
        document[table] = found
    if not isinstance(found, Table | tomlkit.items.InlineTable):
        raise SettingsError(f"The configuration's {table} is not a table.")
    found[name] = value
    return tomlkit.dumps(document)


def set_value(file: Path, table: str, name: str, value: str) -> None:
    """Set one value in `file`, which is made if it is missing; whole or not at all."""
    try:
        # The file itself where dotfiles are symlinks into some other folder.
        real = Path(os.path.realpath(file))
        old = real.read_bytes().decode("utf-8") if real.exists() else ""
        new = with_value(old, table, name, value)
        if new == old:
            return
        real.parent.mkdir(parents=True, exist_ok=True)
        fresh = real.with_name(f".{real.name}.{secrets.token_hex(4)}")
        try:
            # A configuration may hold the token, so a new one is for its owner only.
            fresh.touch(mode=real.stat().st_mode & 0o777 if real.exists() else 0o600)
            fresh.write_bytes(new.encode("utf-8"))
            fresh.replace(real)
        finally:
            fresh.unlink(missing_ok=True)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The configuration {file} cannot be changed: {error}.") from error
