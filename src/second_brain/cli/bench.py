"""`brain bench`: the group of measurements, one module `bench_<name>.py` with a `command` each."""

from __future__ import annotations

import importlib
import pkgutil

import click

from second_brain import cli

_PREFIX = "bench_"


class _Measurements(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        modules = (module.name for module in pkgutil.iter_modules(cli.__path__))
        names = [name.removeprefix(_PREFIX) for name in modules if name.startswith(_PREFIX)]
        return sorted(name.replace("_", "-") for name in names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{cli.__name__}.{_PREFIX}{cmd_name.replace('-', '_')}")
        command = module.command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_Measurements)
def bench() -> None:
    """Measure this machine: each command prints a table."""
