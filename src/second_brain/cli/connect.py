"""`brain connect`: registers this brain with the AI tools of this machine."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli.options import chosen, with_settings
from second_brain.cli.plain import on_terminal, print_rows
from second_brain.cli.reach import as_json
from second_brain.config import Settings, validate
from second_brain.errors import SecondBrainError, SettingsError
from second_brain.integrations.connect.clients import NAME, TRANSPORTS, Client, Launch, client

if TYPE_CHECKING:
    from second_brain.integrations.connect.connecting import Step
    from second_brain.integrations.connect.places import Places

_NAMES = (*TRANSPORTS, "chatgpt")
_STATES = {"connected": "connected", "other": "connected in another way", "none": ""}
_BEARER = re.compile(r"(Bearer\s+)[^\s\"'$]+")
_SECRET = re.compile(r"(?i)([\w-]*(?:token|key|secret|password)[\w-]*[\"']?\s*[:=]\s*[\"'])[^\"']+")


@click.command(
    epilog="Exit codes: 0 done, or nothing was to be done; 1 it did not work; 2 a setting or an "
    "argument is wrong."
)
@click.argument("name", metavar="[CLIENT]", required=False, type=click.Choice(_NAMES))
@click.option("--remove", is_flag=True, help="Take out again what connect put in.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, do nothing.")
@click.option(
    "--transport",
    type=click.Choice(["http", "stdio"]),
    help="http: the running daemon's address. stdio: the client starts `brain mcp`. "
    "Default: http for claude-code, stdio for the others.",
)
@click.option("--no-instructions", is_flag=True, help="Leave the client's instructions alone.")
@click.option(
    "--hooks",
    is_flag=True,
    help="claude-code alone: recall when a session starts, keep its end when it ends.",
)
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
@with_settings("vault", "data_dir", "model_dir", "server.host", "server.port")
def connect(
    settings: Settings,
    *,
    name: str | None,
    remove: bool,
    dry_run: bool,
    transport: str | None,
    no_instructions: bool,
    hooks: bool,
    as_json_: bool,
) -> None:
    """Register this brain with CLIENT, and tell it when to use it.

    CLIENT is claude-code, claude-desktop, codex, gemini, cursor, vscode or chatgpt; without one,
    shows which are connected. The client's own command does it where there is one, else its
    configuration is edited: the rest of it stays as it is, and a backup is put beside it. The
    instructions go between markers into its global file. No token is written anywhere.
    """
    if name is None:
        _show_all(settings, as_json_)
        return
    _check_options(name, transport, hooks)
    if name == "chatgpt":
        _explain_chatgpt(settings, as_json_)
        return
    report = Report(name, dry_run)
    done = Work(settings, name, transport, remove, report)
    done.run(with_instructions=not no_instructions, with_hooks=hooks)
    report.show(as_json_)


@dataclass
class Report:
    """What was done, or would be."""

    client: str
    dry_run: bool
    steps: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    paste: dict[str, str] | None = None

    def show(self, as_json_: bool) -> None:
        if as_json_:
            shown = {"client": self.client, "dry_run": self.dry_run, "steps": self.steps}
            click.echo(as_json({**shown, "notes": self.notes, "paste": self.paste}))
            return
        for step in self.steps:
            about, file = str(step["about"]).capitalize(), step["file"]
            if step["state"] == "unchanged":
                click.echo(f"{about}: nothing to do in {file}.")
            elif self.dry_run:
                click.echo(f"{about}: would run {step['command']}" if step["command"] else about)
                click.echo(step["diff"], nl=False)
            else:
                backup = f" (before: {step['backup']})" if step["backup"] else ""
                click.echo(f"{about}: changed {file}{backup}.")
        for note in self.notes:
            click.echo(note)
        if self.paste is not None:
            click.echo(f"Paste these instructions into {self.paste['into']}:\n")
            click.echo(self.paste["text"], nl=False)


class Work:
    """Connects or disconnects one client."""

    def __init__(
        self, settings: Settings, name: str, transport: str | None, remove: bool, report: Report
    ) -> None:
        from second_brain.integrations.connect.places import own_places

        self._places = own_places()
        self._remove = remove
        self._report = report
        self._settings = settings if remove else _of_the_daemon(settings)
        launch = _no_launch() if remove else _launch(self._settings)
        way = _transport(name, transport)
        self._client: Client = client(name, self._places, launch, way)

    def run(self, *, with_instructions: bool, with_hooks: bool) -> None:
        from second_brain.instance import ensure_token
        from second_brain.integrations.connect import connecting

        if not self._remove and not self._report.dry_run:
            ensure_token(self._settings)
        one, which = self._client, shutil.which
        server = connecting.disconnection if self._remove else connecting.connection
        plans: list[Callable[[], Step | None]] = [lambda: server(one, which)]
        # They are the same for all vaults: those of one profile are still those of the others.
        stay = self._remove and chosen().profile_in_use is not None
        if with_instructions and not stay:
            plans.append(lambda: connecting.instructions(one, remove=self._remove))
        if one.name == "claude-code" and (with_hooks or self._remove):
            file = self._places.claude_code_folder / "settings.json"
            lines = None if self._remove else _hook_lines(self._settings, self._places)
            plans.append(lambda: connecting.hooks(file, lines))
        # All are planned before one is done: a broken file is found before anything is written.
        planned = [(step, plan) for plan in plans if (step := plan()) is not None]
        for step, plan in planned:
            self._take(step, plan)
        if not self._remove:
            self._report.notes += one.notes
            if with_instructions and one.instructions is None:
                self._report.paste = _paste(one.paste, one.source)
        elif stay:
            self._report.notes.append(
                f"The instructions stay for other vaults; `brain connect {one.name} --remove` "
                "without a profile takes them out."
            )
        elif one.instructions is None:
            self._report.notes.append(
                f"If you pasted the instructions into {one.paste}, delete them there."
            )

    def _take(self, step: Step, plan: Callable[[], Step | None]) -> None:
        from second_brain.integrations.connect import connecting

        change = step.change
        backup = change.backup if change is not None and change.before is not None else None
        if change is not None and not self._report.dry_run:
            said = connecting.perform(step, lambda: plan() or step, connecting.run_command)
            if said is not None:
                self._report.notes.append(said)
        words = connecting.shown(step.command, self._places) if step.command and change else None
        self._report.steps.append(
            {
                "about": step.about,
                "state": "unchanged" if change is None else "changed",
                "file": str(step.file),
                "command": words,
                "diff": _harmless(change.diff()) if change and self._report.dry_run else None,
                "backup": str(backup) if backup and (backup.exists() or self._report.dry_run)
                else None,
            }
        )  # fmt: skip


def _check_options(name: str, transport: str | None, hooks: bool) -> None:
    if hooks and name != "claude-code":
        raise SettingsError(f"{name} has no hooks; --hooks is for claude-code.")
    if transport is not None and transport not in TRANSPORTS.get(name, ("http",)):
        raise SettingsError(f"{name} cannot be connected by {transport}.")


def _transport(name: str, chosen: str | None) -> Any:
    return chosen or TRANSPORTS[name][0]


def _of_the_daemon(settings: Settings) -> Settings:
    """The settings with the vault of the daemon that runs, if they name none."""
    import dataclasses

    from second_brain.cli.daemons import daemon_meant

    if settings.vault is None:
        daemon = daemon_meant(settings)
        if daemon is not None:
            from pathlib import Path

            return dataclasses.replace(settings, vault=Path(daemon.vault))
        validate(settings)
    return settings


def _launch(settings: Settings) -> Launch:
    from second_brain.cli.daemons import daemon_meant
    from second_brain.cli.own_command import model_flags, own_program, where_flags

    daemon = daemon_meant(settings)
    own, flags = own_program(), where_flags(settings)
    # The token is one for all vaults, and these commands know of none.
    headers = flags[2:] if flags[:1] == ["--vault"] else flags
    url = daemon.url if daemon is not None else settings.server.url
    return Launch(
        stdio=(*own, "mcp", *flags, *model_flags(settings)),
        token=(*own, "token", "show", *headers),
        headers=(*own, "token", "headers", *headers),
        url=f"{url}/mcp",
        public_url=settings.server.public_url,
        name=entry_name(),
    )


def entry_name() -> str:
    """What a client calls this brain; a profile is another one than that of the main vault."""
    profile = chosen().profile_in_use
    return f"{NAME}-{profile}" if profile else NAME


def _no_launch() -> Launch:
    """To take something out, it need not be known what would be put in."""
    return Launch(("brain",), ("brain",), ("brain",), "", None, entry_name())


def _hook_lines(settings: Settings, places: Places) -> dict[str, str]:
    from second_brain.cli.own_command import own_program, where_flags
    from second_brain.integrations.connect.clients import command_line
    from second_brain.integrations.connect.hooks import EVENTS

    own, flags = own_program(), where_flags(settings)
    return {
        event: command_line((*own, "hook", called, *flags), places)
        for event, called in EVENTS.items()
    }


def _harmless(diff: str) -> str:
    """A diff without the secrets that a client's file may hold, ours or another server's."""
    return _SECRET.sub(r"\1…", _BEARER.sub(r"\1…", diff))


def _paste(into: str, source: str) -> dict[str, str]:
    from second_brain.integrations.instructions.rendering import with_heading

    return {"into": into, "text": with_heading(source)}


def _explain_chatgpt(settings: Settings, as_json_: bool) -> None:
    from second_brain.integrations.connect.clients import chatgpt

    launch = Launch((), (), (), f"{settings.server.url}/mcp", settings.server.public_url)
    steps = chatgpt(launch)
    paste = _paste("Settings, Personalization, Custom instructions", "chatgpt")
    if as_json_:
        click.echo(as_json({"client": "chatgpt", "to_do": steps, "paste": paste}))
        return
    click.echo("ChatGPT runs elsewhere and takes no settings from this machine. Do this:\n")
    for number, step in enumerate(steps, 1):
        click.echo(f"{number}. {step}")
    click.echo(f"\n{paste['text']}", nl=False)


def _show_all(settings: Settings, as_json_: bool) -> None:
    from second_brain.integrations.connect.connecting import check_state
    from second_brain.integrations.connect.places import own_places

    launch = _launch(settings)
    found = []
    for name in TRANSPORTS:
        ways = [client(name, own_places(), launch, way) for way in TRANSPORTS[name]]
        try:
            states = [check_state(one) for one in ways]
        except SecondBrainError as error:
            state = str(error)
        else:
            state = "connected" if "connected" in states else states[0]
        found.append({"client": name, "state": state, "file": str(ways[0].config)})
    if as_json_:
        click.echo(as_json({"clients": found}))
        return
    rows = [(one["client"], _STATES.get(one["state"], one["state"]), one["file"]) for one in found]
    print_rows(("client", "state", "file"), rows)
    if on_terminal():
        click.echo("Connect one with `brain connect CLIENT`.")
