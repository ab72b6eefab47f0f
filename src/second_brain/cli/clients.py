"""`brain clients`: the applications that the owner has let in."""

from __future__ import annotations

import click

from second_brain.cli.options import with_settings
from second_brain.cli.plain import local_time, on_terminal, print_rows, printable
from second_brain.cli.reach import as_json, reached
from second_brain.config import Settings

_COLUMNS = ("id", "name", "logins", "registered", "last used")


@click.group(
    invoke_without_command=True,
    epilog="Exit codes: 0 done; 1 it did not work; 2 a setting or an argument is wrong.",
)
@with_settings("vault", "data_dir")
@click.option("--all", "everyone", is_flag=True, help="Also those that only registered.")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
@click.pass_context
def clients(ctx: click.Context, settings: Settings, everyone: bool, as_json_: bool) -> None:
    """Show the applications that are connected by a login of yours, the newest first.

    What uses the token itself is not among them. In a pipe: one application a line, with tabs
    between id, name, number of logins, time of registration, and last use.
    """
    if ctx.invoked_subcommand is not None:
        return
    with reached(settings, current=False) as brain:
        found = brain.get("/clients", all="true" if everyone else None)["clients"]
    if as_json_:
        click.echo(as_json({"clients": found}))
        return
    if not found and on_terminal():
        click.echo("No application is connected by a login.")
        return
    print_rows(
        _COLUMNS,
        [
            (
                client["id"],
                client["name"],
                client["logins"],
                local_time(client["registered_at"]),
                local_time(client["last_used"]) if client["last_used"] else "",
            )
            for client in found
        ],
    )


@clients.command(epilog="Exit codes: 0 done; 1 no such application; 2 an argument is wrong.")
@click.argument("id")
@with_settings("vault", "data_dir")
@click.option("--json", "as_json_", is_flag=True, help="Print JSON.")
def revoke(settings: Settings, id: str, as_json_: bool) -> None:
    """End every login of the application ID, as `brain clients` shows it, at once.

    The beginning of an id is enough if no other begins so. The application must ask you again
    before it can do anything.
    """
    with reached(settings, current=False) as brain:
        done = brain.post("/clients/revoke", id=id)
    if as_json_:
        click.echo(as_json(done))
    else:
        logins = "1 login" if done["revoked"] == 1 else f"{done['revoked']} logins"
        click.echo(f"Ended {logins} of {printable(done['name'])}.")
