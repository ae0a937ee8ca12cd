"""`threeup play`: a game at the terminal."""

from __future__ import annotations

import secrets
import shlex
import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from .. import play
from ..errors import InvalidConfigError
from ..registration import rules_of
from .app import app
from .record import override_rules

DEFAULT_ENV: Final = "ThreeUp/2p-v0"
"""What is played where nobody names an environment."""


@app.command("play")
def play_game(
    env: Annotated[
        str | None, typer.Option("--env", metavar="ID", help="Environment ID.", show_default="ThreeUp/2p-v0")
    ] = None,
    agents: Annotated[
        str | None,
        typer.Option(
            "--agents",
            metavar="A,B,..",
            help="One agent for all other seats, or one for each; or all seats, with `human` for every person.",
            show_default="greedy",
        ),
    ] = None,
    seat: Annotated[int | None, typer.Option("--seat", metavar="K", help="Your seat.", show_default="0")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The same seed gives the same deals.", show_default="drawn")
    ] = None,
    rules: Annotated[
        str | None, typer.Option("--rules", metavar="JSON", help="Switches that override those of the environment.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", help="Where games are kept.", show_default=play.DEFAULT_FILE),
    ] = None,
    go_on: Annotated[bool, typer.Option("--continue", help="Go on with the last game of the file.")] = False,
) -> None:
    """Play a game at the terminal, against agents or other people; it is saved after every decision."""
    file = play.GameFile(play.DEFAULT_FILE if save is None else save)
    console = Console(highlight=False)
    if go_on:
        given = {"--env": env, "--agents": agents, "--seat": seat, "--seed": seed, "--rules": rules}
        if extra := [name for name, value in given.items() if value is not None]:
            raise InvalidConfigError(f"{', '.join(extra)}: not with --continue, which takes the game as it was saved")
        played = file.resume()
        if played.changed:
            console.print(f"note: agents would now decide otherwise at {played.changed} decisions of this game")
    else:
        played_rules = override_rules(rules_of(env or DEFAULT_ENV), rules)
        players = play.seat_players(agents or "greedy", seat, played_rules.num_players)
        played = play.PlayedGame(played_rules, players, secrets.randbits(32) if seed is None else seed)
        file.begin(played)
    ask = play.terminal_ask() if sys.stdin.isatty() else play.stream_ask(console, sys.stdin)
    over = play.Sitting(played, file, console, ask).play()
    name = shlex.quote(str(file.path))
    typer.echo(f"{'game' if over else 'unfinished game'} of seed {played.seed} saved to {file.path}")
    typer.echo(f"look at it: threeup replay {name}" if over else f"go on: threeup play --continue --save {name}")
