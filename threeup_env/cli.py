"""The command `threeup`: record and replay games, measure agents and speed, and look up environments and rules.

Results go to standard output; progress bars and errors to standard error. Exit status: 0; 1 for an error of
this package or of the system, told in one line; 2 for an option that has a wrong value.
"""

from __future__ import annotations

import errno
import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, track
from rich.table import Table
from typer.core import TyperGroup

from . import __version__
from .agents import act_game, make_agent
from .errors import InvalidConfigError, InvalidRulesError, ThreeUpError, UnknownAgentError, UnknownEnvError
from .evaluate import evaluate
from .game import Game
from .observation import observation_layout
from .record import End, GameRecord, Step, read_records, write_records
from .registration import ENV_RULES, rules_of
from .render.table import look
from .render.text import NOTHING, draw_table, write_cards
from .rules import Rules

FAILED: Final = 1
BAD_OPTION: Final = 2
_FROM_OPTIONS: Final = (InvalidConfigError, InvalidRulesError, UnknownAgentError, UnknownEnvError)
"""Errors that only the value of an option can cause: replay names wrong rules in a file as a wrong record."""
ACTION_WIDTH: Final = 11
"""The longest action in written form, `play C+1x7`, and a space."""


class _Commands(TyperGroup):
    """All commands; what goes wrong in any of them is told in one line here."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ThreeUpError as error:
            _complain(str(error))
            raise typer.Exit(BAD_OPTION if isinstance(error, _FROM_OPTIONS) else FAILED) from None
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader has seen enough, as in `threeup replay FILE | head`
                raise
            place = "" if error.filename is None else f"{error.filename}: "
            _complain(f"{place}{error.strerror or error}")
            raise typer.Exit(FAILED) from None


def _complain(message: str) -> None:
    typer.echo("error: " + " ".join(message.splitlines()), err=True)


app = typer.Typer(
    name="threeup",
    cls=_Commands,
    help="3UP 3DOWN for reinforcement learning.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Preset(StrEnum):
    """The presets of `Rules` (docs/rules.md section 9)."""

    STANDARD = "standard"
    GAMERULES = "gamerules"
    GEEKY = "geeky"
    HOUSE = "house"
    MATCH = "match"
    MINI = "mini"


EnvOption = Annotated[str, typer.Option("--env", metavar="ID", help="Environment ID, as `threeup envs` lists them.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same games.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs to read.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """3UP 3DOWN for reinforcement learning."""


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
    played_rules = _override(rules_of(env), rules)
    specs = _split_agents(agents, played_rules.num_players)
    summary = _Summary(specs)
    sequence = np.random.SeedSequence(seed)
    records = (_play_game(played_rules, specs, sequence.spawn(1)[0]) for _ in range(games))
    write_records(out, summary.count(_show_progress(records, "games", games)))
    summary.show(f"{games} games of {env}, written to {out}")


def _override(rules: Rules, switches: str | None) -> Rules:
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
    seeds = [int(child.generate_state(1, np.uint64)[0]) for child in sequence.spawn(len(specs))]
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
            [str(seat), _printable(spec), f"{self._won[seat]:g}", f"{self._points[seat] / max(self._games, 1):.2f}"]
            for seat, spec in enumerate(self._specs)
        ]
        _print_table(title, ["seat", "agent", "won", "mean score"], rows)


@app.command("replay")
def replay_records(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Records, as `threeup record` writes them.")],
    as_json: JsonOption = False,
) -> None:
    """Check every record of a file and print the games: each decision, then the result."""
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
        names = "" if players is None else f" ({', '.join(map(_printable, players))})"
        return f"game {number}{names}, rules {json.dumps(self._record.rules.to_dict())}"


def _write_json_result(end: End) -> str:
    result = end.result
    if result is None:
        return "unfinished"
    places = " ".join(NOTHING if place is None else str(place) for place in result.places)
    return f"{result.ended}; places {places}; scores {' '.join(map(str, result.scores))}"


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
    rows = [[name, f"{value:.4f}" if isinstance(value, float) else str(value)] for name, value in figures.items()]
    _print_table(None, ["figure", "value"], rows)


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
    from . import bench  # no other command needs it

    settings = bench.make_settings(runs, threads, quick)
    selected = bench.select_cases(cases or (), peers)
    machine = bench.describe_machine()
    with bench.open_outputs(out, plot) as write:
        with _show_runs(len(selected) * runs) as progress:
            results = bench.measure(selected, settings, progress)
        report = bench.make_report(machine, settings, results, shlex.join(["threeup", *sys.argv[1:]]))
        _print_report(report, bench.write_rows(results))
        write(report)


def _print_report(report: Mapping[str, Any], rows: list[list[str]]) -> None:
    from . import bench

    machine = report["machine"]
    _print_table(f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']}", list(bench.TABLE), rows)
    typer.echo(", ".join(f"{name} {version}" for name, version in report["versions"].items()))
    if report["ratios"]:
        columns = ["peer", "our nearest case", "ratio", bench.BATCH]
        ratios = [
            [one["peer"], one["nearest"], f"{one['ratio']:.3g}", f"{one['batch_ratio']:.3g}"]
            for one in report["ratios"]
        ]
        _print_table("how many times as fast as others", columns, ratios)


@contextmanager
def _show_runs(total: int) -> Iterator[Callable[[str, int], None]]:
    """A progress bar; what it hands out is told the case and how many of its runs are done."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        done: dict[str, int] = {}

        def progress(case: str, runs: int) -> None:
            done[case] = runs
            bar.update(task, description=case, completed=sum(done.values()))

        yield progress


@app.command("envs")
def list_envs(as_json: JsonOption = False) -> None:
    """List every environment ID with its rules and the sizes of its spaces."""
    if as_json:
        typer.echo(json.dumps([_describe_env(env, rules) for env, rules in ENV_RULES.items()]))
        return
    rows = []
    for env, rules in ENV_RULES.items():
        switches = {name: value for name, value in rules.to_dict().items() if name != "num_players"}
        written = ", ".join(f"{name}={_write_value(value)}" for name, value in switches.items())
        sizes = (rules.num_players, rules.num_actions, observation_layout(rules).size)
        rows.append([env, *map(str, sizes), written])
    _print_table(None, ["ID", "players", "actions", "observation", "switches not at their default"], rows)


def _describe_env(env: str, rules: Rules) -> dict[str, Any]:
    return {
        "id": env,
        "rules": rules.to_dict(),
        "num_actions": rules.num_actions,
        "observation_size": observation_layout(rules).size,
    }


@app.command("rules")
def show_rules(
    preset: Annotated[Preset, typer.Argument(metavar="PRESET", help=f"One of {', '.join(Preset)}.")] = Preset.STANDARD,
    players: Annotated[int, typer.Option("--players", help="How many play.")] = 2,
    as_json: JsonOption = False,
) -> None:
    """Print every switch of a preset (docs/rules.md section 9)."""
    rules: Rules = getattr(Rules, preset.value)(players)
    if as_json:
        typer.echo(json.dumps(rules.to_dict(defaults=True)))
        return
    defaults = Rules().to_dict(defaults=True)
    rows = [
        [name, _write_value(value), NOTHING if value == defaults[name] else _write_value(defaults[name])]
        for name, value in rules.to_dict(defaults=True).items()
    ]
    _print_table(f"Rules.{preset.value}({players})", ["switch", "value", "default, where it differs"], rows)


def _write_value(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{card}x{count}" for card, count in value.items())
    return json.dumps(value)


def _printable(name: str) -> str:
    """A name that a terminal cannot take for commands, and any encoding can write."""
    return name if name.isascii() and name.isprintable() else ascii(name)


def _print_table(title: str | None, columns: list[str], rows: list[list[str]]) -> None:
    if title is not None:
        typer.echo(title)
    table = Table()
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*row)
    Console(markup=False, highlight=False).print(table)


_T = TypeVar("_T")


def _show_progress(items: Iterable[_T], what: str, total: int) -> Iterable[_T]:
    console = Console(stderr=True)
    return track(items, what, total=total, console=console, transient=True, disable=not console.is_terminal)


def main() -> None:
    """Run the command `threeup`."""
    app(prog_name="threeup")


if __name__ == "__main__":
    main()
