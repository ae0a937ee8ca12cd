"""The benchmark protocol: how often an agent wins against others, with the luck of the deal taken out.

Games are played in groups of `num_players`. A group plays one deck (in a match: one sequence of decks) once
from each seating, so that the agent holds every seat of the same deal once: duplicate play. Games of a group
depend on each other, so the interval is that of the means of the groups.
"""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .actions import ACTIONS
from .agents import Agent, AgentSpec, act_states, compiled_code, make_agent
from .core import duel
from .core.choose import EXTERNAL
from .core.state import STATE, pack_rules
from .errors import IllegalActionError, InvalidConfigError
from .observation import observation_layout
from .rules import Rules

CHUNK: Final = 4096
"""About how many games are played side by side."""
CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Evaluation:
    """What a number of duplicate games say of an agent.

    All but the speed is the same again for the same arguments and version.

    Attributes:
        env: ID of the environment.
        agent: The agent that was measured.
        opponent: Who held all other seats.
        games: Games played, a multiple of the number of players.
        seed: Seed of the deals and of both sides.
        win_rate: Share of games won, 1 / num_players where all are equally good; a first place shared by k is 1/k.
        ci_low: Lower end of its 95 % interval, from the variance between groups.
        ci_high: Upper end.
        mean_place: Mean place of the agent, from 1; None where it never had one (6.3, truncated).
        mean_score: Mean points against it (8.7), of all deals together in a match.
        limit_games: Games in which a deal met its limit (6.3).
        decisions_per_game: Mean number of decisions of all seats.
        decisions_per_second: Decisions of the agent by the time they took: to choose them and, where it plays
            in compiled code, to carry them out.
    """

    env: str
    agent: str
    opponent: str
    games: int
    seed: int
    win_rate: float
    ci_low: float
    ci_high: float
    mean_place: float | None
    mean_score: float
    limit_games: int
    decisions_per_game: float
    decisions_per_second: float

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values, by the names above."""
        return dataclasses.asdict(self)


def evaluate(
    env: str,
    agent: AgentSpec,
    opponent: AgentSpec = "greedy",
    games: int = 10_000,
    seed: int = 0,
    *,
    progress: bool = False,
    rules: Rules | None = None,
) -> Evaluation:
    """Play `games` duplicate games of `agent` against `opponent` in all other seats.

    Args:
        env: ID of the environment.
        agent: A name, the path of a policy file, or an agent.
        opponent: The same, for all other seats.
        games: At least this many games; rounded up to whole groups of `num_players`.
        seed: Seeds the deals and both sides, each game on its own: a number of at least 0.
        progress: Draw a progress bar on the error stream.
        rules: The rules, where `env` is only a name for them.

    Raises:
        UnknownEnvError: There is no such ID.
        UnknownAgentError: One of the agents is unknown, or for other rules.
        InvalidPolicyError: A policy file cannot be read or is for other rules.
        InvalidConfigError: `games` or `seed` is out of range.
        IllegalActionError: An agent chose an illegal action.
    """
    if rules is None:
        from .registration import rules_of

        rules = rules_of(env)
    games, seed = _integer("games", games, 1), _integer("seed", seed, 0)
    players = rules.num_players
    groups = -(-games // players)
    sides = (make_agent(agent, rules, seed), make_agent(opponent, rules, seed + 1))
    match = _Duel(rules, sides, seed)
    chunk = max(1, CHUNK // players)
    with _progress_bar(groups * players, progress) as advance:
        for first in range(0, groups, chunk):
            match.play_groups(first, min(chunk, groups - first), advance)
    shares = match.column("share").reshape(groups, players).mean(axis=1)
    low, high = interval(shares)
    place = match.column("place")
    mine, seconds = match.agent_decisions, match.agent_seconds
    return Evaluation(
        env=env,
        agent=_name(agent),
        opponent=_name(opponent),
        games=groups * players,
        seed=seed,
        win_rate=float(shares.mean()),
        ci_low=low,
        ci_high=high,
        mean_place=float(place[place > 0].mean()) if (place > 0).any() else None,
        mean_score=float(match.column("score").mean()),
        limit_games=int(match.column("met_limit").sum()),
        decisions_per_game=float(match.column("decisions").mean()),
        decisions_per_second=mine / seconds if seconds > 0 else 0.0,
    )


def _integer(name: str, value: object, low: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InvalidConfigError(f"{name}: {value!r} is wrong; allowed: an integer of at least {low}")
    return int(value)


def interval(means: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % interval of a rate (Student's t), from the means of independent groups, float64 `(groups,)`.

    One group says nothing of the variance: its interval is (0, 1).
    """
    if len(means) < 2:
        return 0.0, 1.0
    mean = float(means.mean())
    half = _student(len(means) - 1) * float(means.std(ddof=1)) / math.sqrt(len(means))
    return max(0.0, mean - half), min(1.0, mean + half)


def _student(freedom: int) -> float:
    """Quantile of Student's t for `CONFIDENCE`, by its expansion about the normal one (Abramowitz, Stegun 26.7.5)."""
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / freedom ** (i + 1) for i, term in enumerate(terms))


class _Duel:
    """Duplicate games between two sides, in chunks, and what came of them."""

    def __init__(self, rules: Rules, sides: tuple[Agent, Agent], seed: int) -> None:
        self._rules = rules
        self._sides = sides
        self._seed = seed
        self._switches = pack_rules(rules)
        self._layout = observation_layout(rules)
        self._codes = np.array([compiled_code(agent) for agent in sides], np.int64)
        self._columns: list[dict[str, npt.NDArray[Any]]] = []
        self.agent_decisions = 0
        self.agent_seconds = 0.0
        # Compiles what is not compiled yet, which is not to be timed.
        self.play_groups(0, 0, lambda games: None)
        self.agent_seconds = 0.0

    def column(self, name: str) -> npt.NDArray[Any]:
        """One figure of every game so far, in order: groups one after the other, in each the seats from 0."""
        return np.concatenate([chunk[name] for chunk in self._columns])

    def play_groups(self, first: int, groups: int, advance: Callable[[int], None]) -> None:
        """Play groups `first` to `first + groups - 1` to their ends and keep their figures."""
        players = self._rules.num_players
        games = groups * players
        seats = np.arange(games) % players
        deals, rngs = self._seed_games(first, groups)
        states = np.zeros(games, STATE)
        waiting = np.empty(games, np.int64)
        decisions = np.zeros((games, duel.SIDES), np.int64)
        met_limit = np.zeros(games, np.bool_)
        rows = np.empty(games, np.int64)
        observations = np.empty((games, self._layout.size), np.int8)
        masks = np.empty((games, self._rules.num_actions), np.int8)

        duel.deal_duplicates(states, self._switches, deals)
        compiled_seconds, done = 0.0, 0
        while True:
            start = time.perf_counter()
            duel.advance(states, self._switches, seats, self._codes, rngs, waiting, decisions, met_limit)
            compiled_seconds += time.perf_counter() - start
            over = int(np.count_nonzero(waiting == duel.DONE))
            advance(over - done)
            done = over
            if done == games:
                break
            for side in range(duel.SIDES):
                count = duel.show_waiting(states, self._switches, waiting, side, rows, observations, masks)
                if count:
                    start = time.perf_counter()
                    asked = states[rows[:count]]
                    actions = act_states(self._sides[side], asked, observations[:count], masks[:count])
                    if side == 0:
                        self.agent_seconds += time.perf_counter() - start
                    wrong = duel.play_waiting(states, self._switches, side, rows[:count], actions, decisions, met_limit)
                    if wrong >= 0:
                        raise IllegalActionError(_refusal(self._sides[side], int(actions[wrong]), masks[wrong]))
        mine = int(decisions[:, 0].sum())
        self.agent_decisions += mine
        if self._codes[0] != EXTERNAL:
            # Both sides may share the compiled loop; each decision takes about the same time there.
            played = mine + (int(decisions[:, 1].sum()) if self._codes[1] != EXTERNAL else 0)
            self.agent_seconds += compiled_seconds * mine / max(played, 1)
        self._columns.append(_figures(states, players, seats) | {"decisions": decisions.sum(1), "met_limit": met_limit})

    def _seed_games(self, first: int, groups: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Generators of the deals, uint64 `(groups, 2)`, and of both sides in each game, uint64 `(games, 2, 2)`."""
        players = self._rules.num_players
        words = np.empty((groups, 1 + players * duel.SIDES, 2), np.uint64)
        for i in range(groups):
            sequence = np.random.SeedSequence(self._seed, spawn_key=(first + i,))
            words[i].flat = sequence.generate_state(words[i].size, np.uint64)
        # A generator must not be all zeros; once in 2^128 it would be.
        words[(words == 0).all(axis=2), 0] = 1
        deals = np.ascontiguousarray(words[:, 0])
        return deals, words[:, 1:].reshape(groups * players, duel.SIDES, 2)


def _figures(states: npt.NDArray[np.void], players: int, seats: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
    """Share of the first place, place and points of the measured seat in each finished game."""
    games = np.arange(len(states))
    places = states["place"][:, :players]
    place = places[games, seats].astype(np.int64)
    sharing = np.count_nonzero(places == 1, axis=1)
    share = np.where(place == 1, 1 / np.maximum(sharing, 1), 0.0)
    return {"share": share, "place": place, "score": states["total"][games, seats]}


def _refusal(agent: Agent, action: int, mask: npt.NDArray[np.int8]) -> str:
    legal = ", ".join(ACTIONS[legal] for legal in np.flatnonzero(mask))
    written = f" ({ACTIONS[action]!r})" if 0 <= action < len(ACTIONS) else ""
    return f"{agent!r} chose action {action}{written}, which is illegal; legal: {legal}"


def _name(spec: AgentSpec) -> str:
    return str(spec) if isinstance(spec, str | os.PathLike) else repr(spec)


@contextmanager
def _progress_bar(total: int, shown: bool) -> Iterator[Callable[[int], None]]:
    """A bar over `total` games; what it hands out moves it on by a number of games."""
    if not shown:
        yield lambda games: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("games", total=total)
        yield lambda games: bar.advance(task, games)
