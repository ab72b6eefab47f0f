"""`brain service`: the daemon as a service of the user's session."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from second_brain.cli.options import choose, chosen, with_settings
from second_brain.cli.reach import as_json
from second_brain.config import OPTIONS, Settings, load_settings, profile_file, validate
from second_brain.config.settings import default_config_file
from second_brain.errors import SecondBrainError, SettingsError
from second_brain.instance import ensure_token, make_private_folder
from second_brain.integrations.service.definition import Service
from second_brain.integrations.service.manager import Manager, system_manager

_EXITS = "Exit codes: 0 done; 1 it did not work; 2 a setting or an argument is wrong."
_SERVED = ("vault", "data_dir", "model_dir", "server.host", "server.port", "sync.mode",
           "embedding.model", "log.level", "log.file")  # fmt: skip

Load = Callable[[], Settings]


def _named(command: Any) -> Any:
    """`--name`, as `--profile` was called here first."""
    return click.option("--name", "name", metavar="NAME", hidden=True)(command)


@click.group(epilog=_EXITS)
def service() -> None:
    """Run the daemon in the background, from login to logout.

    A systemd user unit on Linux, a launchd agent on macOS. For a second vault, make a profile
    with `brain init --profile NAME`, and add --profile NAME.
    """


@service.command(epilog=_EXITS)
@_named
@click.option("--dry-run", is_flag=True, help="Print the files, write nothing.")
@with_settings(*_SERVED, deferred=True)
def install(settings: Load, name: str | None, dry_run: bool) -> None:
    """Have the daemon started now and at every login.

    It runs with the configuration file and with the flags given here; variables of this shell do
    not reach it, so what they set is passed on as flags.
    """
    profile = _profile(name)
    wanted = settings() if profile is None else _of_profile(profile)
    validate(wanted)
    made = described(wanted, profile, chosen().file)
    manager = system_manager()
    if dry_run:
        for file, data in manager.files(made).items():
            click.echo(f"# {file}\n{data.decode()}")
        return
    put_in_place(wanted, made, manager)
    click.echo(f"Installed and started: it serves {wanted.vault_root} at {wanted.server.url}.")
    click.echo("See how it is with `brain service status` and `brain status`.")


@service.command(epilog=_EXITS)
@_named
@with_settings(deferred=True)
def uninstall(settings: Load, name: str | None) -> None:
    """Stop the daemon and start it no more. The vault and the data directory stay."""
    system_manager().uninstall(_meant(settings, name))
    click.echo("Uninstalled. The vault is untouched; the index and the history stay.")


@service.command(epilog=_EXITS)
@_named
@with_settings(deferred=True)
def start(settings: Load, name: str | None) -> None:
    """Start the installed service."""
    system_manager().start(_meant(settings, name))


@service.command(epilog=_EXITS)
@_named
@with_settings(deferred=True)
def stop(settings: Load, name: str | None) -> None:
    """Stop the installed service until the next login."""
    system_manager().stop(_meant(settings, name))


@service.command(epilog="Exit codes: 0 it runs; 1 it does not; 2 an argument is wrong.")
@_named
@with_settings(deferred=True)
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
@click.pass_context
def status(ctx: click.Context, settings: Load, name: str | None, as_json_: bool) -> None:
    """Say whether the service runs."""
    made = _meant(settings, name)
    runs, said = system_manager().status(made)
    click.echo(as_json({"running": runs, "name": made.unit}) if as_json_ else said)
    ctx.exit(0 if runs else 1)


@service.command(epilog=_EXITS)
@_named
@click.option("-f", "--follow", is_flag=True, help="Go on as more is logged.")
@click.option("-n", "--lines", type=click.IntRange(0), default=200, show_default=True,
              metavar="N", help="How many of the last lines.")  # fmt: skip
@with_settings(deferred=True)
@click.pass_context
def logs(ctx: click.Context, settings: Load, name: str | None, follow: bool, lines: int) -> None:
    """Show the service's log."""
    command = system_manager().logs(_meant(settings, name), follow=follow, lines=lines)
    ctx.exit(show(command))


def show(command: Sequence[str]) -> int:
    """Run a command that shows a log, until it or the user ends it; its exit code."""
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        raise SecondBrainError(f"{command[0]} cannot be run: {error.strerror}.") from error
    except KeyboardInterrupt:
        return 0


def put_in_place(settings: Settings, service: Service, manager: Manager) -> None:
    """Install a service, after what it needs to find when it starts."""
    ensure_token(settings)
    if settings.log.file is not None:
        # The unit can only be let write to a folder that is there.
        make_private_folder(settings.log.file.parent)
    manager.install(service)


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
    if settings.log.file is not None:
        folders.append(settings.log.file.parent)
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


def _profile(name: str | None) -> str | None:
    """The profile in use, by any of its flags or the variable; its name is one."""
    if name is not None:
        choose(profile=name)
    profile = chosen().profile_in_use
    if profile is not None:
        profile_file(profile)
    return profile


def _of_profile(profile: str) -> Settings:
    """What the service will read: the profile alone."""
    return load_settings(profile=profile, environ={})


def _meant(settings: Load, name: str | None) -> Service:
    """An installed service by its name; what it runs does not matter.

    It can be stopped and uninstalled also when its configuration is broken or gone.
    """
    profile = _profile(name)
    try:
        data = settings().data_dir
    except SettingsError:
        data = Settings().data_dir
    return installed(profile, data)


def installed(profile: str | None, data: Path) -> Service:
    """The service of a profile as the system's manager knows it; `data` is the data directory."""
    file = profile_file(profile) if profile is not None else default_config_file()
    command = ("brain", "serve", "--config", str(file))
    return Service(profile, command, (), data / "logs" / f"{profile or 'daemon'}.log")
