"""`threeup evaluate`: measure an agent in duplicate games."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from ..evaluate import evaluate
from .app import EnvOption, JsonOption, SeedOption, app
from .show import print_figures


@app.command("evaluate")
def evaluate_agent(
    env: EnvOption,
    agent: Annotated[str, typer.Option("--agent", metavar="A", help="The agent to measure.")],
    opponent: Annotated[str, typer.Option("--opponent", metavar="B", help="Who holds all other seats.")] = "greedy",
    games: Annotated[int, typer.Option("--games", min=1, help="Games, rounded up to groups of all players.")] = 10_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure an agent against an opponent in duplicate games: the same deals from every seat."""
    figures = evaluate(env, agent, opponent, games, seed, progress=sys.stderr.isatty()).to_dict()
    if as_json:
        typer.echo(json.dumps(figures))
        return
    print_figures(figures, digits=4)
