"""The benchmark protocol: how often an agent wins against others, with the luck of the deal taken out.

Games are played in duplicate (`threeup_env.duplicate`): a group plays one deck (in a match: one sequence of decks)
once from each seating, so that the agent holds every seat of the same deal once. Games of a group depend on each
other, so the interval is that of the means of the groups.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .agents import Agent, AgentSpec, make_agent
from .duplicate import DuplicateGames, Played, progress_bar
from .errors import InvalidConfigError
from .rules import Rules

CHUNK: Final = 4096
"""About how many games are played side by side."""
CONFIDENCE: Final = 0.95
AGENT: Final = 0
OPPONENT: Final = 1
"""The sides of a game."""


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
    games, seed = integer("games", games, 1), integer("seed", seed, 0)
    players = rules.num_players
    groups = -(-games // players)
    sides = (make_agent(agent, rules, seed), make_agent(opponent, rules, seed + 1))
    duel = DuplicateGames(rules, sides, seed)
    lineup = np.array([AGENT] + [OPPONENT] * (players - 1))
    chunk = max(1, CHUNK // players)
    with progress_bar(groups * players, progress) as advance:
        played = Played.join(
            duel.play(first, np.tile(lineup, (min(chunk, groups - first), 1)), advance)
            for first in range(0, groups, chunk)
        )
    shares = played.column("share", AGENT).reshape(groups, players).mean(axis=1)
    low, high = interval(shares)
    place = played.column("place", AGENT)
    mine, seconds = duel.decisions[AGENT], duel.seconds[AGENT]
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
        mean_score=float(played.column("score", AGENT).mean()),
        limit_games=int(played.met_limit.sum()),
        decisions_per_game=float(played.decisions.sum(axis=1).mean()),
        decisions_per_second=float(mine / seconds) if seconds > 0 else 0.0,
    )


def integer(name: str, value: object, low: int) -> int:
    """A whole number of at least `low`.

    Raises:
        InvalidConfigError: `value` is none; the message names it.
    """
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


def _name(spec: AgentSpec) -> str:
    return repr(spec) if isinstance(spec, Agent) else str(spec)
