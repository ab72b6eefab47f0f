"""`brain init`: from nothing to a brain that runs, by questions or by flags, as often as asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NoReturn

import click

from second_brain.cli.options import Chosen, choose, with_configuration
from second_brain.cli.reach import as_json
from second_brain.cli.setup import CLIENTS, SetUp, Step, clients_here, configured, port_for
from second_brain.config import Settings, profile_file, validate
from second_brain.config.settings import default_config_file
from second_brain.config.sources import CONFIG_VARIABLE
from second_brain.errors import SettingsError


@click.command(
    epilog="Exit codes: 0 done, or nothing was to be done; 1 a part that was asked for did not "
    "work; 2 a setting or an argument is wrong."
)
@with_configuration
@click.option("--vault", type=click.Path(path_type=Path), metavar="DIR",
              envvar="SECOND_BRAIN_VAULT", help="The vault. [SECOND_BRAIN_VAULT]")  # fmt: skip
@click.option("--port", type=click.IntRange(1, 65535), metavar="N",
              help="Port of its daemon; by default 8787, or the next that is free.")  # fmt: skip
@click.option("--data-dir", type=click.Path(path_type=Path), metavar="DIR",
              help="Folder for index, token and history; by default the platform's.")  # fmt: skip
@click.option("--model/--no-model", default=None, help="Prepare the embedding model, or not.")
@click.option("--service/--no-service", default=None,
              help="Have the daemon started now and at every login, or not.")  # fmt: skip
@click.option("--client", "clients", multiple=True, type=click.Choice(CLIENTS),
              help="Connect this tool; may be given several times.")  # fmt: skip
@click.option("--no-clients", is_flag=True, help="Connect none.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing; take up every offer.")
@click.option("--json", "as_json_", is_flag=True, help="Ask nothing; print JSON.")
@click.pass_context
def init(
    ctx: click.Context,
    *,
    config: Path | None,
    profile: str | None,
    vault: Path | None,
    port: int | None,
    data_dir: Path | None,
    model: bool | None,
    service: bool | None,
    clients: tuple[str, ...],
    no_clients: bool,
    yes: bool,
    as_json_: bool,
) -> None:
    """Set up a vault: write its configuration, make the token, offer the model, the service and
    the tools.

    Without --vault, offers the vaults that Obsidian knows. Run it again whenever you like: what is
    done already stays as it is. With --profile NAME, sets up a further vault beside the first.
    Without a terminal it asks nothing, and does what the flags say.
    """
    now = choose(config, profile)
    file = _file(now)
    talk = _Talk(asking=not (yes or as_json_) and sys.stdin.isatty(), yes=yes)
    before = configured(file) or Settings()
    if data_dir is not None:
        before = replace(before, data_dir=data_dir.expanduser().absolute())
    root = _Wanted(talk, before).vault(vault, file, now.profile_in_use)
    values: dict[str, str | int] = {"vault": str(root)}
    values["server.port"] = port or port_for(root, file)
    if data_dir is not None:
        values["data_dir"] = str(before.data_dir)
    setup = SetUp(now, file, root, show=None if as_json_ else _print_step)
    setup.write(values)
    question = "Prepare the embedding model, for search by meaning? It takes a minute, once."
    if talk.offer(model, question, not setup.has_model()):
        setup.prepare(insisted=model is True)
    if talk.offer(service, "Start the daemon now and at every login?", setup.can_serve()):
        setup.serve(insisted=service is True)
    for name in _tools(talk, clients, no_clients):
        setup.connect(name, insisted=name in clients)
    if as_json_:
        click.echo(as_json({**setup.summary(), "steps": [asdict(one) for one in setup.steps]}))
    else:
        click.echo("\nNext:")
        for line in setup.next():
            click.echo(f"  {line}")
    ctx.exit(1 if setup.failed else 0)


def _file(now: Chosen) -> Path:
    """The configuration that is to be written; it may be missing."""
    from_variable = os.environ.get(CONFIG_VARIABLE)
    config = now.config or (Path(from_variable) if from_variable and not now.profile else None)
    profile = now.profile_in_use
    if config is not None and profile is not None:
        raise SettingsError(f"Both {config} and the profile {profile} are named; name one of them.")
    if config is not None:
        return config.expanduser().absolute()
    return profile_file(profile) if profile is not None else default_config_file()


def _tools(talk: _Talk, named: Sequence[str], none: bool) -> list[str]:
    if named or none:
        return list(named)
    return [one.name for one in clients_here() if talk.offer(None, f"Connect {one.title}?", True)]


def _print_step(step: Step) -> None:
    click.echo(f"{step.about:<14} {step.said}")


class _Talk:
    """Asks where there is somebody to ask. `yes`: every offer is taken up."""

    def __init__(self, *, asking: bool, yes: bool) -> None:
        self.asking = asking
        self.yes = yes

    def offer(self, decided: bool | None, question: str, possible: bool) -> bool:
        """Whether the user wants it; by default what can be done is, and nothing without a word."""
        if decided is not None:
            return decided
        if not possible:
            return False
        return click.confirm(question, default=True) if self.asking else self.yes

    def choice(self, vaults: Sequence[Path]) -> Path:
        """One of the vaults, by its number, or the path of another folder."""
        click.echo("Obsidian knows these vaults:" if vaults else "Obsidian knows no vault here.")
        for number, path in enumerate(vaults, 1):
            click.echo(f"  {number}  {path}")
        ask = "Number of your vault, or its folder" if vaults else "The folder of your vault"
        answer = click.prompt(ask, default="1" if vaults else None).strip()
        if answer.isdigit() and 1 <= int(answer) <= len(vaults):
            return vaults[int(answer) - 1]
        return Path(answer)


class _Wanted:
    """Finds out which vault is meant. `before` are the settings as they are."""

    def __init__(self, talk: _Talk, before: Settings) -> None:
        self._talk = talk
        self._before = before

    def vault(self, named: Path | None, file: Path, profile: str | None) -> Path:
        kept = self._before.vault
        if named is None and kept is not None:
            return self._usable(kept)
        if named is not None:
            root = self._usable(named)
            if kept is not None and kept != root:
                self._replace(kept, root, file)
            return root
        return self._chosen(profile)

    def _chosen(self, profile: str | None) -> Path:
        from second_brain.integrations.connect.places import own_places
        from second_brain.integrations.obsidian import known_vaults

        known = [one.path for one in known_vaults(own_places())]
        if not self._talk.asking:
            if len(known) == 1 and profile is None:
                return self._usable(known[0])
            listed = "".join(f"\n  {path}" for path in known)
            raise SettingsError(
                f"Say which vault with --vault DIR; Obsidian knows {'these:' if known else 'none.'}"
                f"{listed}"
            )
        while True:
            try:
                return self._usable(self._talk.choice(known))
            except SettingsError as error:
                click.echo(f"{error}\n")

    def _usable(self, path: Path) -> Path:
        try:
            root = path.expanduser().absolute()
        except RuntimeError:
            raise SettingsError(f"There is no user whose home {path.parts[0]} could be.") from None
        validate(replace(self._before, vault=root))
        return root

    def _replace(self, old: Path, new: Path, file: Path) -> None:
        """Another vault in a configuration that has one: only if that is what is wanted."""
        question = f"{file} names the vault {old}. Put {new} in its place?"
        if self._talk.asking and click.confirm(question, default=False):
            return
        if not self._talk.asking and self._talk.yes:
            return
        _refuse_replacing(old, file)


def _refuse_replacing(old: Path, file: Path) -> NoReturn:
    raise SettingsError(
        f"{file} names the vault {old}. A second vault is a profile of its own: add "
        "--profile NAME. To put the new one in its place, add --yes."
    )
