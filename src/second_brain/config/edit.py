"""Changing settings in the configuration file, with everything else in it left as it is."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
import tomlkit.exceptions
from tomlkit.items import InlineTable, Table

from second_brain.errors import SettingsError


def with_values(text: str, values: Mapping[str, str | int]) -> str:
    """`text` with `server.port = 1` for each key; comments, order and layout stay.

    Raises `SettingsError` where `text` is not TOML or a table of a key is something else.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    try:
        document = tomlkit.parse(text.removeprefix(mark))
    except tomlkit.exceptions.ParseError as error:
        raise SettingsError(f"The configuration is not valid TOML: {error}.") from error
    for key, value in values.items():
        table, _, name = key.rpartition(".")
        place: Any = document
        if table:
            place = document.get(table)
            if place is None:
                place = document[table] = tomlkit.table()
            if not isinstance(place, Table | InlineTable):
                raise SettingsError(f"The configuration's {table} is not a table.")
        if place.get(name) != value:
            place[name] = value
    return mark + tomlkit.dumps(document)


def set_values(file: Path, values: Mapping[str, str | int]) -> bool:
    """Set values in `file`, which is made if it is missing; whole or not at all.

    Whether that changed anything.
    """
    try:
        # The file itself where dotfiles are symlinks into some other folder.
        real = Path(os.path.realpath(file))
        old = real.read_bytes().decode("utf-8") if real.exists() else ""
        new = with_values(old, values)
        if new == old:
            return False
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
    return True
