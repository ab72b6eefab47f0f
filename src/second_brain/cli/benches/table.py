"""The table that a measurement prints: figures beside their targets, and what the machine did."""

from __future__ import annotations

import json
import math
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import click
import psutil

Bound = Literal["at most", "at least"]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `target` None: there is none, the figure explains others."""

    label: str
    value: float
    unit: str
    target: float | None = None
    bound: Bound = "at most"
    note: str = ""

    @property
    def reached(self) -> bool | None:
        if self.target is None:
            return None
        return self.value <= self.target if self.bound == "at most" else self.value >= self.target


@dataclass(slots=True)
class Table:
    """What one command measured. `context` says under which conditions."""

    title: str
    context: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def add(
        self,
        label: str,
        value: float,
        unit: str,
        target: float | None = None,
        *,
        bound: Bound = "at most",
        note: str = "",
    ) -> None:
        self.rows.append(Row(label, value, unit, target, bound, note))

    def add_times(
        self, label: str, seconds: Sequence[float], target: float | None = None, *, ms: bool = False
    ) -> None:
        """The median, which the target is about, and the slowest one in twenty, of some times."""
        scale, unit = (1000, "ms") if ms else (1, "s")
        ordered = sorted(seconds)
        self.add(f"{label}, median", statistics.median(ordered) * scale, unit, target)
        self.add(f"{label}, p95", _slow(ordered) * scale, unit)


def _slow(ordered: Sequence[float]) -> float:
    """The value that 95 % do not exceed; the largest of few."""
    return ordered[math.ceil(0.95 * len(ordered)) - 1]


def machine_load() -> str:
    """One line on how busy the machine was."""
    cores = os.cpu_count() or 1
    one, five = psutil.getloadavg()[:2]
    return f"{cores} cores; load average {one:.1f} over 1 minute, {five:.1f} over 5"


def show(table: Table, *, as_json: bool) -> None:
    """Print it: JSON, a drawn table on a terminal, else one plain line a figure."""
    if as_json:
        click.echo(json.dumps(_as_data(table), ensure_ascii=False, indent=2))
    elif sys.stdout.isatty():
        _draw(table)
    else:
        click.echo("\n".join(_lines(table)))


def with_load(measure: Callable[[Table], None], table: Table) -> Table:
    """Measure into the table, and write down the machine's load before and after."""
    table.context.append(f"before: {machine_load()}")
    measure(table)
    table.context.append(f"after: {machine_load()}")
    return table


def _as_data(table: Table) -> dict[str, Any]:
    rows = [
        {
            "label": row.label,
            "value": row.value,
            "unit": row.unit,
            "target": row.target,
            "bound": row.bound if row.target is not None else None,
            "reached": row.reached,
            "note": row.note,
        }
        for row in table.rows
    ]
    return {"title": table.title, "context": table.context, "rows": rows}


def _cells(row: Row) -> tuple[str, str, str, str]:
    target = "" if row.target is None else f"{row.bound} {_number(row.target)} {row.unit}"
    verdict = {None: "", True: "reached", False: "missed"}[row.reached]
    return row.label, f"{_number(row.value)} {row.unit}".strip(), target, verdict


def _number(value: float) -> str:
    if (value == int(value) and abs(value) >= 10) or value == 0:
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _lines(table: Table) -> list[str]:
    lines = [table.title, *(f"  {line}" for line in table.context)]
    wide = max((len(row.label) for row in table.rows), default=0)
    for row in table.rows:
        label, value, target, verdict = _cells(row)
        rest = "  ".join(part for part in (target and f"({target})", verdict, row.note) if part)
        lines.append(f"{label:<{wide}}  {value:>12}  {rest}".rstrip())
    return lines


def _draw(table: Table) -> None:
    from rich.console import Console
    from rich.table import Table as Drawn

    console = Console()
    drawn = Drawn(title=table.title, caption="\n".join(table.context), caption_justify="left")
    drawn.add_column("figure")
    drawn.add_column("measured", justify="right")
    drawn.add_column("target", justify="right")
    drawn.add_column("")
    drawn.add_column("remark", style="dim")
    colour = {None: "", True: "green", False: "red"}
    for row in table.rows:
        label, value, target, verdict = _cells(row)
        style = colour[row.reached]
        shown = f"[{style}]{verdict}[/{style}]" if style else verdict
        drawn.add_row(label, value, target, shown, row.note)
    console.print(drawn)
