"""`threeup replay`: check records and print the games."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from ..agents import Agent, PolicyAgent, make_agent
from ..errors import InvalidConfigError, InvalidRecordError
from ..game import Game
from ..record import End, GameRecord, Step, read_records
from ..render.table import look
from ..render.text import NOTHING, draw_table, printable, write_cards
from .app import JsonOption, app

ACTION_WIDTH: Final = 11
"""The longest action in written form, `play C+1x7`, and a space."""


@app.command("replay")
def replay_records(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Records, as `threeup record` writes them.")],
    as_json: JsonOption = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="OUT", help="Write one page to watch the games in, instead.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="A", help="With --html: whose choice to show at each decision.")
    ] = None,
) -> None:
    """Check every record of a file and print the games: each decision, then the result."""
    if html is not None:
        _write_page(file, html, policy)
        return
    if policy is not None:
        raise InvalidConfigError("--policy: only a page shows what a policy would do; allowed: with --html OUT")
    games = decisions = 0
    for number, record in enumerate(read_records(file)):
        games += 1
        replay = record.replay(number)
        write: Callable[[Step | End], str] = _write_json if as_json else _Transcript(record, replay.game)
        for step in replay:
            decisions += isinstance(step, Step)
            sys.stdout.write(write(step) + "\n")
    if not as_json:
        typer.echo(f"{games} games, {decisions} decisions; all follow the rules")


def _write_page(file: Path, out: Path, policy: str | None) -> None:
    """One self-contained page; `out` stays as it was if anything fails before it is written."""
    from ..web.frames import replay_frames
    from ..web.page import write_page

    games = []
    for number, record in enumerate(read_records(file)):
        agent = None if policy is None else _as_policy(make_agent(policy, record.rules, seed=0), policy)
        games.append(replay_frames(record, number, agent) | {"policy": policy})
    if not games:
        raise InvalidRecordError(f"{file}: there is no record in this file")
    out.write_text(write_page(games), "utf-8")
    typer.echo(f"{len(games)} games, written to {out}")


def _as_policy(agent: Agent, name: str) -> PolicyAgent:
    if not isinstance(agent, PolicyAgent):
        raise InvalidConfigError(f"--policy: {name!r} tells no probabilities; allowed: a trained policy")
    return agent


def _write_json(step: Step | End) -> str:
    return json.dumps(step.to_dict())


class _Transcript:
    """A game to read, line by line. A record tells everything, so the cards of whoever decides are shown."""

    def __init__(self, record: GameRecord, game: Game) -> None:
        self._record = record
        self._game = game
        self._deal = -1

    def __call__(self, step: Step | End) -> str:
        if isinstance(step, End):
            return f"{draw_table(self._game, 'all')}\nresult of game {step.game}: {_write_json_result(step)}\n"
        lines = []
        if step.deal != self._deal:
            if step.deal == 0:
                lines.append(self._heading(step.game))
            self._deal = step.deal
            deal = self._record.deals[step.deal]
            swaps = f"; swaps {' '.join(f'{a}-{b}' for a, b in deal.pile_swaps)}" if deal.pile_swaps else ""
            lines.append(f"deal {step.deal}: player {deal.first_player} begins{swaps}")
        table = look(self._game, step.player)
        seat = table.seats[step.player]
        held = f"hand {write_cards(seat.hand)}" if seat.hand else f"3UP {write_cards(seat.up)}"
        decision = f"{step.decision:5}  player {step.player}  {step.action:{ACTION_WIDTH}}"
        lines.append(f"{decision} pile {write_cards(table.pile)}; {held}")
        return "\n".join(lines)

    def _heading(self, number: int) -> str:
        players = self._record.players
        names = "" if players is None else f" ({', '.join(map(printable, players))})"
        return f"game {number}{names}, rules {json.dumps(self._record.rules.to_dict())}"


def _write_json_result(end: End) -> str:
    result = end.result
    if result is None:
        return "unfinished"
    places = " ".join(NOTHING if place is None else str(place) for place in result.places)
    return f"{result.ended}; places {places}; scores {' '.join(map(str, result.scores))}"
