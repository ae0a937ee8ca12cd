"""What `threeup bench` says of its measurements: rows to print, a report as JSON, a picture.

It reads results alone (`bench_timing.Result`): it neither runs a case nor knows how one is measured.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import importlib.util
import json
import math
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

from . import __version__
from .bench_peers import PEERS
from .bench_timing import BATCH, BY_GAMES, BY_PLAYERS, DECISIONS, GAMES, LEARNER_STEPS, Result, Settings
from .errors import InvalidConfigError
from .files import replacing

FORMAT: Final = "threeup-bench/1"
PACKAGES: Final = ("numpy", "numba", "gymnasium", "pettingzoo")
OPTIONAL_PACKAGES: Final = (
    "torch",
    "stable-baselines3",
    "sb3-contrib",
    "rlcard",
    "open_spiel",
    "pgx",
    "jax",
    "pufferlib",
)


@dataclass(frozen=True)
class Ratio:
    """How many times as fast as a peer this package is.

    Attributes:
        peer: Case of the peer.
        nearest: Our case that is called most similarly.
        ratio: Its rate divided by the peer's.
        batch_ratio: The rate of `BATCH` divided by the peer's.
    """

    peer: str
    nearest: str
    ratio: float
    batch_ratio: float


def compare(results: Sequence[Result]) -> list[Ratio]:
    """The ratios to each peer that was measured."""
    medians = {result.case: result.median for result in results}
    ratios = []
    for case in PEERS:
        theirs, ours, batch = (medians.get(str(name)) for name in (case.name, case.nearest, BATCH))
        if theirs and ours and batch:
            ratios.append(Ratio(case.name, str(case.nearest), ours / theirs, batch / theirs))
    return ratios


def describe_machine() -> dict[str, Any]:
    """What everything is measured on, as JSON values; the load is that of the last minute, in running processes."""
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    return {"cpu": _cpu_name(), "cores": os.cpu_count(), "system": platform.platform(), "load": load}


def make_report(machine: dict[str, Any], settings: Settings, results: Sequence[Result], command: str) -> dict[str, Any]:
    """All that was measured, where and with what, as JSON values."""
    return {
        "format": FORMAT,
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine,
        "versions": {"threeup-env": __version__, "python": platform.python_version()} | _versions(),
        "settings": asdict(settings),
        "results": [asdict(result) for result in results],
        "ratios": [asdict(ratio) for ratio in compare(results)],
    }


def _versions() -> dict[str, str]:
    found = {}
    for package in (*PACKAGES, *OPTIONAL_PACKAGES):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def _cpu_name() -> str:
    """What the processor calls itself; Python alone does not know it on Linux."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


TABLE: Final = ("case", "unit", "median", "lowest to highest", "runs", "threads")


def write_rows(results: Sequence[Result]) -> list[list[str]]:
    """The rows under `TABLE`."""
    rows = []
    for one in results:
        if one.median is None or one.low is None or one.high is None:
            rows.append([one.case, one.unit, f"skipped ({one.skipped})", "", "0", str(one.threads)])
        else:
            spread = f"{_write(one.low)} to {_write(one.high)}"
            rows.append([one.case, one.unit, _write(one.median), spread, str(len(one.values)), str(one.threads)])
    return rows


def _write(value: float) -> str:
    """Four digits, as more say nothing beside the spread."""
    if value >= 1e6:
        return f"{value / 1e6:.4g} M"
    if value >= 1e4:
        return f"{value / 1e3:.4g} k"
    return f"{float(f'{value:.4g}'):,.10g}"


@contextlib.contextmanager
def open_outputs(report: Path | None, plot: Path | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Make sure that files can be written before anything is measured; what it hands out writes a report to them.

    Files that are there are replaced once the new ones are complete, or stay as they were.

    Raises:
        OSError: A file cannot be written.
        InvalidConfigError: matplotlib is not installed, or knows no such format.
    """
    with contextlib.ExitStack() as stack:
        if plot is not None:
            _check_plot(plot)
        files = {path: stack.enter_context(replacing(path)) for path in (report, plot) if path is not None}

        def write(figures: dict[str, Any]) -> None:
            if report is not None:
                files[report].write((json.dumps(figures, indent=2) + "\n").encode())
            if plot is not None:
                draw_plot(figures, files[plot], plot.suffix[1:])

        yield write


def _check_plot(path: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        raise InvalidConfigError("--plot: matplotlib is not installed; pip install matplotlib")
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix[1:] not in known:
        raise InvalidConfigError(
            f"--plot: {path.name!r} is no picture; allowed: names that end in .{', .'.join(known)}"
        )


OUR_COLOR: Final = "#2a6f97"
PEER_COLOR: Final = "#adb5bd"


def draw_plot(figures: dict[str, Any], file: IO[bytes], picture: str) -> None:
    """Draw a report: all rates, and how the time of a decision grows with games and with players.

    Args:
        figures: What `make_report` made.
        file: Where the picture goes.
        picture: Its format, such as `"svg"`.
    """
    import matplotlib
    from matplotlib.figure import Figure

    measured = {one["case"]: one for one in figures["results"] if one["median"] is not None}
    # Text as text, and the same file for the same figures.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": FORMAT}):
        figure = Figure(figsize=(11, 6.5), layout="constrained")
        axes = figure.subplot_mosaic([["rates", "games"], ["rates", "players"]], width_ratios=(3, 2))
        _draw_rates(axes["rates"], [one for one in measured.values() if one["unit"] in (DECISIONS, LEARNER_STEPS)])
        for name, cases in (("games", BY_GAMES), ("players", BY_PLAYERS)):
            _draw_growth(axes[name], name, {n: measured[case] for n, case in cases.items() if case in measured})
        figure.suptitle(f"threeup_env {figures['versions']['threeup-env']} on {figures['machine']['cpu']}", fontsize=11)
        figure.savefig(file, format=picture, metadata={"Date": None} if picture == "svg" else None)


def _draw_rates(axes: Any, results: Sequence[dict[str, Any]]) -> None:
    peers = {case.name for case in PEERS}
    results = sorted(results, key=lambda one: float(one["median"]))
    names = [one["case"] + (f" ({one['threads']} threads)" if one["threads"] > 1 else "") for one in results]
    medians = [one["median"] for one in results]
    spread = [[one["median"] - one["low"] for one in results], [one["high"] - one["median"] for one in results]]
    colors = [PEER_COLOR if one["case"] in peers else OUR_COLOR for one in results]
    axes.barh(names, medians, xerr=spread, color=colors, ecolor="#495057")
    for place, median in enumerate(medians):
        axes.annotate(_write(median), (median, place), (5, 0), textcoords="offset points", va="center", fontsize=7)
    axes.set(xlabel="a second: decisions, or the learner's steps")
    if results:  # a logarithmic axis must have something on it
        axes.set(xscale="log", xlim=(10 ** math.floor(math.log10(medians[0])) / 2, 4 * medians[-1]))
    axes.tick_params(axis="y", labelsize=8)
    axes.grid(axis="x", alpha=0.3)


def _draw_growth(axes: Any, what: str, results: dict[int, dict[str, Any]]) -> None:
    numbers = sorted(results)
    nanoseconds = [1e9 / results[number]["median"] for number in numbers]
    axes.plot(numbers, nanoseconds, "o-", color=OUR_COLOR)
    axes.set(xlabel=what, ylabel="ns a decision", ylim=(0, None))
    if numbers and numbers[-1] >= GAMES:
        axes.set_xscale("log", base=2)
    axes.grid(alpha=0.3)
