"""What the modules of `threeup bench` share: what a case and its result are, and how work becomes a rate."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from pettingzoo import AECEnv

SEED: Final = 1
DECISIONS: Final = "decisions/s"
LEARNER_STEPS: Final = "learner steps/s"
QUICK_SECONDS: Final = 0.02
GAMES: Final = 1024
"""Games in a batch, where a case does not say otherwise."""
BATCH: Final = "selfplay-step-2p"
"""The case that peers are compared with besides their nearest one: many games, with actions from outside."""
BY_PLAYERS: Final = {players: f"selfplay-{players}p" for players in range(2, 7)}
"""The case of each number of players."""
BY_GAMES: Final = {games: f"selfplay-{games}-games" for games in (64, 256, 4096, 16384)} | {GAMES: BY_PLAYERS[2]}
"""The case of each number of games, for two players."""
LONGEST_GROWTH: Final = 20.0
"""By how much more work a run is tried with, while looking for the amount that lasts long enough."""


@dataclass(frozen=True)
class Settings:
    """How to measure.

    Attributes:
        runs: Runs of each case, at least 1; the median is what counts.
        threads: Threads of the cases that use all cores.
        seconds: How long a run lasts at least.
        quick: Whether to do so little work that the figures only show that everything runs.
    """

    runs: int
    threads: int
    seconds: float = 0.5
    quick: bool = False

    @property
    def games(self) -> int:
        """Games that are played again and again where Python calls for each decision."""
        return 2 if self.quick else 100


@dataclass(frozen=True)
class Case:
    """One row of the table.

    Attributes:
        name: What `--case` knows it by.
        unit: Unit of its values.
        measures: What is measured.
        values: Prepares and warms up before its first value; then each value is one run. It raises ImportError
            where it needs something that is not installed.
        threads: Threads it uses; None for `Settings.threads`.
        nearest: For a peer, the case of this package that is called most similarly.
    """

    name: str
    unit: str
    measures: str
    values: Callable[[Settings], Iterator[float]]
    threads: int | None = 1
    nearest: str | None = None


@dataclass(frozen=True)
class Result:
    """What came of a case.

    Attributes:
        case: Its name.
        measures: What was measured.
        unit: Unit of the values.
        threads: Threads it used.
        values: One value a run; none where it was skipped.
        median: Their median, or None.
        low: The lowest, or None.
        high: The highest, or None.
        skipped: Why it was not measured, or None.
    """

    case: str
    measures: str
    unit: str
    threads: int
    values: tuple[float, ...]
    median: float | None
    low: float | None
    high: float | None
    skipped: str | None


Run = Callable[[int], tuple[float, float]]
"""Does its work a number of times; how much was done, in the unit that is counted, and the seconds it took."""


def rates(settings: Settings, run: Run) -> Iterator[float]:
    """How much a second, run by run, each of at least `settings.seconds`; compiling and warming up come first."""
    run(1)
    times, (_, seconds) = 1, run(1)
    while seconds < settings.seconds:
        growth = 1.2 * settings.seconds / max(seconds, 1e-9)
        times = int(times * min(growth, LONGEST_GROWTH)) + 1
        _, seconds = run(times)
    while True:
        amount, seconds = run(times)
        yield amount / seconds


def clock(work: Callable[[int], object], amount: float) -> Run:
    """Time all of `work(times)`, which does `amount` each time."""

    def run(times: int) -> tuple[float, float]:
        start = time.perf_counter()
        work(times)
        return times * amount, time.perf_counter() - start

    return run


def clock_cycle(env: AECEnv[str, Any, Any], games: int) -> Run:
    """Time PettingZoo's loop of `agent_iter`, `last` and `step`, resets included, over random legal games.

    The actions are drawn when the games are played the first time, and only handed in when they are timed. The
    steps with None at the end of a game are timed, but are no decisions.
    """
    draw = random.Random(SEED)
    script: list[list[Any]] = []
    for game in range(games):
        env.reset(seed=SEED if game == 0 else None)
        script.append([])
        for _ in env.agent_iter():
            seen: Any
            seen, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            action = None if over else int(draw.choice(np.flatnonzero(seen["action_mask"])))
            script[-1].append(action)
            env.step(action)

    def replay(times: int) -> None:
        for _ in range(times):
            for game, actions in enumerate(script):
                env.reset(seed=SEED if game == 0 else None)
                for _, action in zip(env.agent_iter(), actions, strict=True):
                    env.last()
                    env.step(action)

    return clock(replay, sum(action is not None for actions in script for action in actions))
