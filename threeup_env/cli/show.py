"""What commands print: tables, values and names, and progress bars on the error stream."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TypeVar

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table


def write_value(value: object) -> str:
    """The value of a switch: JSON, but a deck in short."""
    if isinstance(value, Mapping):
        return " ".join(f"{card}x{count}" for card, count in value.items())
    return json.dumps(value)


def print_table(title: str | None, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table whose first column is never broken."""
    if title is not None:
        typer.echo(title)
    table = Table()
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*row)
    Console(markup=False, highlight=False).print(table)


def print_figures(figures: Mapping[str, object], digits: int) -> None:
    """Print figures by name, those that are no whole numbers with so many digits after the point."""
    rows = [
        [name, f"{value:.{digits}f}" if isinstance(value, float) else str(value)] for name, value in figures.items()
    ]
    print_table(None, ["figure", "value"], rows)


_T = TypeVar("_T")


def show_progress(items: Iterable[_T], what: str, total: int) -> Iterable[_T]:
    """The same items, with a progress bar where a person looks on."""
    console = Console(stderr=True)
    if not console.is_terminal:  # before rich 14.3 a disabled bar leaves an empty line
        return items
    return track(items, what, total=total, console=console, transient=True)
