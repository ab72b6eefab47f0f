"""`brain service`: the daemon as a service of the user's session."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from second_brain.cli.options import with_settings
from second_brain.cli.reach import as_json
from second_brain.config import OPTIONS, Settings, load_settings, validate
from second_brain.config.settings import default_config_file
from second_brain.config.sources import config_file_in_use
from second_brain.errors import SettingsError
from second_brain.instance import ensure_token
from second_brain.integrations.service.definition import Service
from second_brain.integrations.service.manager import system_manager

_EXITS = "Exit codes: 0 done; 1 it did not work; 2 a setting or an argument is wrong."
_SERVED = ("vault", "data_dir", "model_dir", "server.host", "server.port", "sync.mode",
           "embedding.model", "log.level")  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")


def _checked_name(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _NAME.fullmatch(value):
        raise click.BadParameter("use letters, digits, - and _")
    return value


def _named(command: Any) -> Any:
    return click.option(
        "--name", "profile", metavar="NAME", callback=_checked_name,
        help="Which of several services: NAME.toml in the folder of profiles.",
    )(command)  # fmt: skip


@click.group(epilog=_EXITS)
def service() -> None:
    """Run the daemon in the background, from login to logout.

    A systemd user unit on Linux, a launchd agent on macOS. For a second vault, write its
    configuration to profiles/NAME.toml beside config.toml, and add --name NAME.
    """


@service.command(epilog=_EXITS)
@_named
@click.option("--dry-run", is_flag=True, help="Print the files, write nothing.")
@with_settings(*_SERVED)
def install(settings: Settings, profile: str | None, dry_run: bool) -> None:
    """Have the daemon started now and at every login.

    It runs with the configuration file and with the flags given here; variables of this shell do
    not reach it, so what they set is passed on as flags.
    """
    config = _config_file(profile)
    if profile is not None:
        settings = load_settings(config_file=config, environ={})
    validate(settings)
    made = described(settings, profile, config)
    manager = system_manager()
    if dry_run:
        for file, data in manager.files(made).items():
            click.echo(f"# {file}\n{data.decode()}")
        return
    ensure_token(settings)
    manager.install(made)
    click.echo(f"Installed and started: it serves {settings.vault_root} at {settings.server.url}.")
    click.echo("See how it is with `brain service status` and `brain status`.")


@service.command(epilog=_EXITS)
@_named
@with_settings()
def uninstall(settings: Settings, profile: str | None) -> None:
    """Stop the daemon and start it no more. The vault and the data directory stay."""
    system_manager().uninstall(_meant(settings, profile))
    click.echo("Uninstalled. The vault is untouched; the index and the history stay.")


@service.command(epilog=_EXITS)
@_named
@with_settings()
def start(settings: Settings, profile: str | None) -> None:
    """Start the installed service."""
    system_manager().start(_meant(settings, profile))


@service.command(epilog=_EXITS)
@_named
@with_settings()
def stop(settings: Settings, profile: str | None) -> None:
    """Stop the installed service until the next login."""
    system_manager().stop(_meant(settings, profile))


@service.command(epilog="Exit codes: 0 it runs; 1 it does not; 2 an argument is wrong.")
@_named
@with_settings()
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
@click.pass_context
def status(ctx: click.Context, settings: Settings, profile: str | None, as_json_: bool) -> None:
    """Say whether the service runs."""
    made = _meant(settings, profile)
    runs, said = system_manager().status(made)
    click.echo(as_json({"running": runs, "name": made.unit}) if as_json_ else said)
    ctx.exit(0 if runs else 1)


@service.command(epilog=_EXITS)
@_named
@click.option("-f", "--follow", is_flag=True, help="Go on as more is logged.")
@with_settings()
@click.pass_context
def logs(ctx: click.Context, settings: Settings, profile: str | None, follow: bool) -> None:
    """Show the service's log."""
    command = system_manager().logs(_meant(settings, profile), follow=follow)
    try:
        ctx.exit(subprocess.run(command, check=False).returncode)
    except KeyboardInterrupt:
        ctx.exit(0)


def described(settings: Settings, profile: str | None, config: Path) -> Service:
    """The service that runs these settings; `config` is its file, which may be missing."""
    own = load_settings(config_file=config, environ={}) if config.exists() else Settings()
    command = [sys.executable, "-m", "second_brain", "serve"]
    if profile is None:
        command += _flags(settings, own)
        if config.exists() and config != default_config_file():
            command += ["--config", str(config)]
    else:
        command += ["--config", str(config)]
    folders = [settings.vault_root, settings.data_dir, settings.model_dir]
    if settings.server.auth_token is not None and own.server.auth_token is None:
        raise SettingsError(
            "The token is set by a variable of this shell, which the service does not see; "
            f"write it into {config}, or unset it to use the one in {settings.data_dir}."
        )
    return Service(
        profile,
        tuple(command),
        tuple(dict.fromkeys(folder.resolve() for folder in folders)),
        settings.data_dir / "logs" / f"{profile or 'daemon'}.log",
    )


def _flags(settings: Settings, own: Settings) -> list[str]:
    """The flags that make of the file's settings those that are wanted."""
    flags = []
    for option in OPTIONS:
        if option.key in _SERVED and option.flag:
            wanted = _value(settings, option.key)
            if wanted != _value(own, option.key):
                flags += [option.flag, str(wanted)]
    return flags


def _value(settings: Settings, key: str) -> object:
    found: Any = settings
    for part in key.split("."):
        found = getattr(found, part)
    return found


def _config_file(profile: str | None) -> Path:
    if profile is None:
        return config_file_in_use(click.get_current_context().params.get("config"))
    file = default_config_file().parent / "profiles" / f"{profile}.toml"
    if not file.exists():
        raise SettingsError(f"There is no {file}; write the vault and a port of its own into it.")
    return file


def _meant(settings: Settings, profile: str | None) -> Service:
    """An installed service by its name; what it runs does not matter."""
    command = ("brain", "serve", "--config", str(_place(profile)))
    return Service(profile, command, (), settings.data_dir / "logs" / f"{profile or 'daemon'}.log")


def _place(profile: str | None) -> Path:
    return default_config_file().parent / "profiles" / f"{profile or ''}.toml"
