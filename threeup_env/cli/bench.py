"""`threeup bench`: measure speed. What measures is imported by the command alone: no other needs it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .app import app
from .show import print_table


@app.command("bench")
def run_benchmarks(
    cases: Annotated[
        list[str] | None, typer.Option("--case", metavar="NAME", help="Measure this case alone; may be repeated.")
    ] = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs of each case; their median counts.")] = 5,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Threads of the cases that use all cores; otherwise all.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Short runs: do they work? Their figures say little.")] = False,
    peers: Annotated[bool, typer.Option("--peers", help="Measure other environments that are installed too.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write a report as JSON.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it: .svg, .png.")] = None,
) -> None:
    """Measure how fast the environments are on this machine (docs/benchmarks.md)."""
    from .. import bench, bench_report

    settings = bench.make_settings(runs, threads, quick)
    selected = bench.select_cases(cases or (), peers)
    machine = bench_report.describe_machine()
    with bench_report.open_outputs(out, plot) as write:
        with _show_runs(len(selected) * runs) as progress:
            results = bench.measure(selected, settings, progress)
        report = bench_report.make_report(machine, settings, results, shlex.join(["threeup", *sys.argv[1:]]))
        _print_report(report, bench_report.write_rows(results))
        write(report)


def _print_report(report: Mapping[str, Any], rows: list[list[str]]) -> None:
    from ..bench_report import TABLE
    from ..bench_timing import BATCH

    machine = report["machine"]
    print_table(f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']}", list(TABLE), rows)
    typer.echo(", ".join(f"{name} {version}" for name, version in report["versions"].items()))
    if report["ratios"]:
        columns = ["peer", "our nearest case", "ratio", BATCH]
        ratios = [
            [one["peer"], one["nearest"], f"{one['ratio']:.3g}", f"{one['batch_ratio']:.3g}"]
            for one in report["ratios"]
        ]
        print_table("how many times as fast as others", columns, ratios)


@contextmanager
def _show_runs(total: int) -> Iterator[Callable[[str, int], None]]:
    """A progress bar; what it hands out is told the case and how many of its runs are done."""
    console = Console(stderr=True)
    if not console.is_terminal:  # before rich 14.3 a disabled bar leaves an empty line
        yield lambda case, runs: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        done: dict[str, int] = {}

        def progress(case: str, runs: int) -> None:
            done[case] = runs
            bar.update(task, description=case, completed=sum(done.values()))

        yield progress
