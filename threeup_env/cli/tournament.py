"""`threeup tournament`: let many agents play each other and rate them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from ..errors import InvalidConfigError
from ..render.text import NOTHING, printable
from .app import EnvOption, JsonOption, SeedOption, app
from .show import print_table

RESULT: Final = "result.json"
PLOT: Final = "plot.svg"
_LABELLED: Final = re.compile(r"([\w.+-]+)=(.+)")


@app.command("tournament")
def play_tournament(
    env: EnvOption,
    agents: Annotated[
        str, typer.Option("--agents", metavar="A,B,..", help="Who plays; NAME=AGENT gives an agent a name of its own.")
    ],
    games: Annotated[
        int, typer.Option("--games", min=1, help="Games of each table, rounded up to groups of all players.")
    ] = 10_000,
    seed: SeedOption = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder for games, result and plot; the same command again goes on."),
    ] = None,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="How many play side by side; otherwise one for each core.")
    ] = None,
    chunk: Annotated[
        int | None, typer.Option("--chunk", min=1, help="Games written down together: few, where agents are slow.")
    ] = None,
    anchor: Annotated[
        str | None, typer.Option("--anchor", metavar="A", help="Whose rating is 1000; otherwise that of greedy.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Let agents play each other in duplicate and rate them (docs/tournaments.md)."""
    from ..tournament import CHUNK, tournament
    from ..tournament.plot import can_draw, draw_tournament

    outcome = tournament(
        env,
        _name_agents(agents),
        games,
        seed,
        folder=out,
        processes=processes,
        chunk=chunk or CHUNK,
        anchor=anchor,
        progress=sys.stderr.isatty(),
    )
    if out is not None:
        (out / RESULT).write_text(json.dumps(outcome.to_dict(), indent=2) + "\n", encoding="utf-8")
        if can_draw():
            draw_tournament(outcome, out / PLOT)
        else:
            typer.echo(f"no {PLOT}: matplotlib is not installed; pip install 'threeup-env[tournament]'", err=True)
    if as_json:
        typer.echo(json.dumps(outcome.to_dict()))
        return
    fixed = "the mean is 1000" if outcome.anchor is None else f"{printable(outcome.anchor)} is 1000"
    title = f"{env}, {outcome.games} games a table; {fixed}; a fair win rate is {outcome.fair_rate:.1%}"
    rows = [
        [
            printable(one.agent),
            f"{one.rating:.0f}",
            f"{one.rating_low:.0f} to {one.rating_high:.0f}",
            _percent(one.win_rate),
            f"{_percent(one.ci_low)} to {_percent(one.ci_high)}",
            f"{one.mean_score:.1f}",
        ]
        for one in outcome.standings
    ]
    print_table(title, ["agent", "rating", "95 %", "% won", "95 %", "points"], rows)
    order = [outcome.agents.index(one.agent) for one in outcome.standings]
    cross = [
        [printable(outcome.agents[row]), *(_percent(outcome.cross_table[row][column]) for column in order)]
        for row in order
    ]
    names = [printable(outcome.agents[agent]) for agent in order]
    print_table("% won by the row rather than the column", ["", *names], cross)


def _name_agents(agents: str) -> dict[str, str]:
    """Each agent by its name: what stands before `=`, otherwise itself."""
    named: dict[str, str] = {}
    for spec in map(str.strip, agents.split(",")):
        labelled = _LABELLED.fullmatch(spec)
        name, agent = (labelled[1], labelled[2]) if labelled else (spec, spec)
        if name in named:
            raise InvalidConfigError(
                f"--agents: {name!r} stands there twice; allowed: different names, as in NAME=AGENT"
            )
        named[name] = agent
    return named


def _percent(rate: float | None) -> str:
    return NOTHING if rate is None else f"{100 * rate:.1f}"
