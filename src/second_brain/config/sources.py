"""Reading settings: flags before environment before TOML file before defaults.

Every value that cannot be used ends in one `SettingsError` of one sentence that names where the
value came from, what was found and what is expected.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from second_brain.config.options import GROUPS, OPTIONS, PREFIX, Kind, Option
from second_brain.config.profiles import PROFILE_VARIABLE, existing_profile
from second_brain.config.settings import Settings, default_config_file
from second_brain.errors import SettingsError

CONFIG_VARIABLE = f"{PREFIX}CONFIG"
_SWITCHES = {"1": True, "true": True, "yes": True, "on": True}
_SWITCHES |= {"0": False, "false": False, "no": False, "off": False}
_BY_KEY = {option.key: option for option in OPTIONS}


def load_settings(
    flags: Mapping[str, str | None] | None = None,
    *,
    config_file: Path | None = None,
    profile: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Settings from all sources; `flags` maps a setting's key (`server.port`) to its text.

    Only the values themselves are looked at: whether the vault is there is `validate`'s business.
    """
    environ = os.environ if environ is None else environ
    given = {key: text for key, text in (flags or {}).items() if text is not None}
    file = config_file_in_use(config_file, environ, profile=profile)
    values = _from_toml(file)
    for option in OPTIONS:
        if option.key in given:
            values[option.key] = _from_text(option, given[option.key], option.flag or option.key)
        elif environ.get(option.env):
            values[option.key] = _from_text(option, environ[option.env], option.env)
    settings = _build(values)
    if settings.index.chunk_overlap >= settings.index.chunk_size:
        raise SettingsError(
            f"index.chunk_overlap ({settings.index.chunk_overlap}) must be smaller than "
            f"index.chunk_size ({settings.index.chunk_size})."
        )
    return settings


def config_file_in_use(
    named: Path | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    profile: str | None = None,
) -> Path:
    """The TOML file that applies: the one named, the profile's, or that at the default place.

    What is named here goes before SECOND_BRAIN_CONFIG and SECOND_BRAIN_PROFILE. Only the file at
    the default place may be missing.
    """
    environ = os.environ if environ is None else environ
    config_from, profile_from = "--config", "--profile"
    if named is None and profile is None:
        config_from, profile_from = CONFIG_VARIABLE, PROFILE_VARIABLE
        named = Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None
        profile = environ.get(PROFILE_VARIABLE) or None
    if named is not None and profile is not None:
        raise SettingsError(
            f"{config_from} and {profile_from} both name a configuration; give one of them."
        )
    if profile is not None:
        return existing_profile(profile, profile_from)
    if named is None:
        return default_config_file()
    file = _absolute(named, Path.cwd(), config_from)
    try:
        file.stat()
    except FileNotFoundError:
        raise SettingsError(f"{config_from}: there is no file {file}.") from None
    except OSError as error:
        raise SettingsError(f"{config_from}: {file} cannot be read: {error.strerror}.") from error
    return file


def _build(values: Mapping[str, Any]) -> Settings:
    top = {key: value for key, value in values.items() if "." not in key}
    defaults = Settings()
    groups = {}
    for group in GROUPS:
        part = {k.split(".")[1]: v for k, v in values.items() if k.startswith(f"{group}.")}
        groups[group] = dataclasses.replace(getattr(defaults, group), **part)
    return dataclasses.replace(defaults, **top, **groups)


def _from_text(option: Option, text: str, origin: str) -> object:
    """A flag's or a variable's text as the setting's type."""
    value: object = text
    match option.kind:
        case Kind.INTEGER:
            try:
                value = int(text)
            except ValueError:
                raise _wrong(option, origin, option.kind, text) from None
        case Kind.SWITCH:
            if text.strip().lower() not in _SWITCHES:
                raise _wrong(option, origin, option.kind, text)
            value = _SWITCHES[text.strip().lower()]
        case Kind.LIST:
            value = [part.strip() for part in text.split(",") if part.strip()]
    return _checked(option, value, origin, Path.cwd())


def _checked(option: Option, value: object, origin: str, base: Path) -> object:
    """`value` in the form that `Settings` holds, or a `SettingsError`."""
    match option.kind, value:
        case Kind.INTEGER, int() if not isinstance(value, bool):
            _check_range(option, value, origin)
        case Kind.SWITCH, bool():
            pass
        case Kind.CHOICE, str():
            value = value.strip().lower()
            if value not in option.choices:
                raise _wrong(option, origin, " or ".join(option.choices), value)
        case Kind.LIST, list() if all(isinstance(item, str) for item in value):
            value = tuple(value)
        case Kind.PATH, str() if value.strip() and "\0" not in value:
            value = _absolute(Path(value), base, origin)
        case Kind.TEXT, str():
            if _names_a_folder(option, value):
                value = str(_absolute(Path(value), base, origin))
        case _:
            expected = option.kind if not option.choices else " or ".join(option.choices)
            raise _wrong(option, origin, expected, value)
    complaint = option.check(value) if option.check else None
    if complaint:
        raise _wrong(option, origin, complaint, value)
    return value


def _names_a_folder(option: Option, value: str) -> bool:
    """Whether this text is a path after all: a local index, or a model in a folder."""
    if option.key == "index.uri":
        return bool(value.strip()) and "://" not in value
    return option.key == "embedding.model" and value.startswith(("~", "./", "../"))


def _check_range(option: Option, value: int, origin: str) -> None:
    low, high = option.minimum, option.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        raise _wrong(option, origin, f"between {low} and {high}", value)


def _absolute(path: Path, base: Path, origin: str) -> Path:
    try:
        expanded = path.expanduser()
    except RuntimeError:
        raise SettingsError(
            f"{origin}: there is no user whose home {path.parts[0]} could be."
        ) from None
    return Path(os.path.normpath(base / expanded))


def _wrong(option: Option, origin: str, expected: str, found: object) -> SettingsError:
    shown = "something else" if option.secret else _describe(found)
    return SettingsError(f"{origin} must be {expected}, but is {shown}.")


def _describe(value: object) -> str:
    match value:
        case str():
            return json.dumps(value if len(value) <= 60 else value[:60] + "…", ensure_ascii=False)
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case list() | tuple():
            items = ", ".join(map(_describe, value[:5]))
            return f"the list [{items}{', …' if len(value) > 5 else ''}]"
        case dict():
            return "a table"
        case _:
            return f"the date or time {value}"


def _from_toml(file: Path) -> dict[str, object]:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SettingsError(f"{file}, line {line}: the text is not UTF-8.") from error
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file} is not valid TOML: {error}.") from error
    values: dict[str, object] = {}
    for key, value in _flatten(document):
        place = f"{file}, line {_line_of(text, key)}"
        option = _BY_KEY.get(key)
        if option is not None:
            values[key] = _checked(option, value, f"{place}: {key}", file.parent)
        elif key in GROUPS:
            raise SettingsError(
                f"{place}: {key} must be a table ([{key}]), but is {_describe(value)}."
            )
        else:
            raise SettingsError(f"{place}: there is no setting {key}{_suggestion(key)}.")
    return values


def _flatten(document: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Keys as dotted paths; an unknown table counts as one key."""
    flat: list[tuple[str, object]] = []
    for key, value in document.items():
        if key in GROUPS and isinstance(value, dict):
            flat.extend((f"{key}.{name}", inner) for name, inner in value.items())
        else:
            flat.append((key, value))
    return flat


def _suggestion(key: str) -> str:
    import difflib  # noqa: PLC0415 - for a mistake alone, and every command reads the settings

    names = [*_BY_KEY, *GROUPS]
    name = key.rpartition(".")[2]
    same_name = [known for known in _BY_KEY if known.rpartition(".")[2] == name]
    close = same_name or difflib.get_close_matches(key, names, n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _line_of(text: str, key: str) -> int:
    """The line where `key` is set: the first line by which the parser knows of it."""
    path = key.split(".", 1)
    lines = text.splitlines(keepends=True)
    complete = 0
    for count in range(1, len(lines) + 1):
        try:
            part: Any = tomllib.loads("".join(lines[:count]))
        except tomllib.TOMLDecodeError:
            continue  # inside a value that spans lines
        for name in path:
            part = part.get(name) if isinstance(part, dict) else None
        if part is not None:
            return complete + 1
        complete = count
    return 1
