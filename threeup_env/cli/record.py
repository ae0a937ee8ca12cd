"""`threeup record`: play games and write them down."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ..agents import act_game, agent_seeds, make_agent
from ..errors import InvalidConfigError
from ..game import Game
from ..record import GameRecord, write_records
from ..registration import rules_of
from ..render.text import printable
from ..rules import Rules
from .app import EnvOption, SeedOption, app
from .show import print_table, show_progress


@app.command("record")
def record_games(
    env: EnvOption,
    agents: Annotated[str, typer.Option("--agents", metavar="A,B,..", help="One agent a seat, or one for all.")],
    games: Annotated[int, typer.Option("--games", min=1, help="How many games to play.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write: .jsonl, or .jsonl.gz.")],
    seed: SeedOption = 0,
    rules: Annotated[
        str | None, typer.Option("--rules", metavar="JSON", help="Switches that override those of the environment.")
    ] = None,
) -> None:
    """Play games between agents and write their records."""
    played_rules = override_rules(rules_of(env), rules)
    specs = _split_agents(agents, played_rules.num_players)
    summary = _Summary(specs)
    sequence = np.random.SeedSequence(seed)
    records = (_play_game(played_rules, specs, sequence.spawn(1)[0]) for _ in range(games))
    write_records(out, summary.count(show_progress(records, "games", games)))
    summary.show(f"{games} games of {env}, written to {out}")


def override_rules(rules: Rules, switches: str | None) -> Rules:
    """The rules with some switches changed, written as a JSON object, or none."""
    if switches is None:
        return rules
    try:
        values = json.loads(switches)
    except (ValueError, RecursionError) as error:
        raise InvalidConfigError(f"--rules: {switches!r} is not JSON: {error}") from error
    if not isinstance(values, Mapping):
        raise InvalidConfigError(f"--rules: {switches!r} is wrong; allowed: a JSON object from switch to value")
    return Rules.from_dict(rules.to_dict() | dict(values))


def _split_agents(agents: str, num_players: int) -> list[str]:
    specs = [spec.strip() for spec in agents.split(",")]
    if len(specs) == 1:
        specs *= num_players
    if len(specs) != num_players:
        raise InvalidConfigError(
            f"--agents: {agents!r} names {len(specs)} agents; allowed: {num_players}, one a seat, or one for all seats"
        )
    return specs


def _play_game(rules: Rules, specs: list[str], sequence: np.random.SeedSequence) -> GameRecord:
    """One game. Everything in it hangs on its own seed, so that it is the same in a longer run."""
    game = Game(rules, sequence)
    seeds = agent_seeds(sequence, len(specs))
    agents = [make_agent(spec, rules, seed) for spec, seed in zip(specs, seeds, strict=True)]
    while game.player is not None:
        game.play(act_game(agents[game.player], game))
    return game.record(specs)


class _Summary:
    """How the seats did, for people to look at."""

    def __init__(self, specs: list[str]) -> None:
        self._specs = specs
        self._won = [0.0] * len(specs)
        self._points = [0] * len(specs)
        self._games = 0

    def count(self, records: Iterable[GameRecord]) -> Iterator[GameRecord]:
        """Let records through and count them."""
        for record in records:
            result = record.result
            if result is not None:
                self._games += 1
                for seat, place in enumerate(result.places):
                    self._won[seat] += 1 / result.places.count(1) if place == 1 else 0
                    self._points[seat] += result.scores[seat]
            yield record

    def show(self, title: str) -> None:
        """Print a row a seat; a first place shared counts in shares."""
        rows = [
            [str(seat), printable(spec), f"{self._won[seat]:g}", f"{self._points[seat] / max(self._games, 1):.2f}"]
            for seat, spec in enumerate(self._specs)
        ]
        print_table(title, ["seat", "agent", "won", "mean score"], rows)
