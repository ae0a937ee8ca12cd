"""A picture of a tournament: ratings with their intervals beside the cross table; drawn by matplotlib."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, Final

import numpy as np

from .ratings import ANCHOR
from .standings import Tournament

COLOR: Final = "#2a6f97"
LONGEST_NAME: Final = 24
"""Longer names lose their beginning: of a path, the end tells more."""


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw_tournament(tournament: Tournament, path: Path) -> None:
    """Draw a tournament into a file, whose name tells the format: `.svg`, `.png`."""
    import matplotlib
    from matplotlib.figure import Figure

    agents = len(tournament.agents)
    # Text as text, and the same file for the same figures.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": tournament.env}):
        figure = Figure(figsize=(8 + 0.5 * agents, 2.2 + 0.45 * agents), layout="constrained")
        ratings, cross = figure.subplots(1, 2, width_ratios=(3, 2 + 0.3 * agents))
        _draw_ratings(ratings, tournament)
        _draw_cross_table(cross, tournament)
        figure.suptitle(f"{tournament.env}: {tournament.games:,} games a table, seed {tournament.seed}", fontsize=11)
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def _draw_ratings(axes: Any, tournament: Tournament) -> None:
    best_last = tournament.standings[::-1]
    ratings = [one.rating for one in best_last]
    ends = [
        [one.rating - one.rating_low for one in best_last],
        [one.rating_high - one.rating for one in best_last],
    ]
    places = range(len(best_last))
    axes.errorbar(ratings, places, xerr=np.maximum(ends, 0), fmt="o", color=COLOR, capsize=3)
    axes.set_yticks(places, [_shorten(one.agent) for one in best_last], fontsize=9)
    for place, rating in zip(places, ratings, strict=True):
        axes.annotate(f"{rating:.0f}", (rating, place), (0, 6), textcoords="offset points", ha="center", fontsize=8)
    axes.axvline(ANCHOR, color="#adb5bd", linewidth=1, zorder=0)
    axes.margins(x=0.1, y=0.12)
    axes.set_xlabel(f"rating, {tournament.anchor or 'the mean'} = {ANCHOR:.0f}")
    axes.grid(axis="x", alpha=0.3)


def _draw_cross_table(axes: Any, tournament: Tournament) -> None:
    order = [tournament.agents.index(one.agent) for one in tournament.standings]
    rates = np.array(tournament.cross_table, dtype=np.float64)[np.ix_(order, order)]
    names = [_shorten(tournament.agents[agent]) for agent in order]
    axes.imshow(rates, cmap="RdBu", vmin=0, vmax=1)
    for (row, column), rate in np.ndenumerate(rates):
        if not np.isnan(rate):
            color = "white" if abs(rate - 0.5) > 0.3 else "black"
            axes.text(column, row, f"{100 * rate:.0f}", ha="center", va="center", fontsize=8, color=color)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_title("% won by the row rather than the column", fontsize=9)


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]
