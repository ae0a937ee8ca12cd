"""`threeup bench`: how fast every face of the game is on this machine (docs/benchmarks.md).

A case is a generator: what it does before its first value prepares and warms up, and each value is one run. Adding a
case is one function, or a call of one that is there, and one entry of `CASES`. Other packages are in `bench_peers`,
what is said of the results in `bench_report`.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import os
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt

from . import threeup_v0
from .agents import SearchAgent
from .bench_peers import PEERS
from .bench_timing import (
    BATCH,
    BY_GAMES,
    BY_PLAYERS,
    DECISIONS,
    GAMES,
    LEARNER_STEPS,
    QUICK_SECONDS,
    SEED,
    Case,
    Result,
    Run,
    Settings,
    clock,
    clock_cycle,
    rates,
)
from .core.batch import random_games
from .core.choose import choose_random_batch
from .core.random import seed_generators, seed_words
from .core.state import OVER, STATE, pack_rules
from .errors import InvalidConfigError
from .game import Game
from .rules import Rules
from .selfplay import SelfPlayBatch
from .vector import ThreeUpVectorEnv

if TYPE_CHECKING:
    from training.config import Config
    from training.speed import RolloutTime

DUEL: Final = "ThreeUp/2p-v0"
SIMULATIONS: Final = "simulations/s"
MICROSECONDS: Final = "µs"
BYTES: Final = "bytes/game"
SHARE: Final = "% of the time"
ROLLOUTS: Final = 2
"""Rollouts with their updates in one run of the training cases."""
Weights = tuple[tuple[str, float], ...]
_GREEDY: Final[Weights] = (("greedy", 1.0),)
_LEAGUE: Final[Weights] = (("greedy", 0.6), ("self", 0.2), ("past", 0.1), ("random", 0.1))
"""Weights of the opponents in training."""


def _random_play(rules: Rules, games: int, settings: Settings) -> Iterator[float]:
    batch = SelfPlayBatch(rules, games, seed=SEED)
    yield from rates(settings, clock(batch.random_steps, games))


def _random_play_in_threads(rules: Rules, settings: Settings) -> Iterator[float]:
    batch = SelfPlayBatch(rules, GAMES, seed=SEED, num_threads=settings.threads)
    yield from rates(settings, clock(batch.random_steps, GAMES))


def _clock_steps(step: Callable[[npt.NDArray[np.int64]], object], masks: npt.NDArray[np.int8]) -> Run:
    """Time `step` alone: its actions are drawn from `masks`, which it writes, while the clock stands still.

    Games without a legal action, those that a step only starts anew, are not counted.
    """
    actions = np.empty(len(masks), np.int64)
    generator = seed_words(np.random.SeedSequence(SEED))

    def run(times: int) -> tuple[float, float]:
        decisions, seconds = 0, 0.0
        for _ in range(times):
            decisions += choose_random_batch(masks, generator, actions)
            start = time.perf_counter()
            step(actions)
            seconds += time.perf_counter() - start
        return decisions, seconds

    return run


def _batch_step(rules: Rules, settings: Settings) -> Iterator[float]:
    batch = SelfPlayBatch(rules, GAMES, seed=SEED)
    yield from rates(settings, _clock_steps(batch.step, batch.action_mask))


def _whole_games(rules: Rules, settings: Settings) -> Iterator[float]:
    sequences = np.random.SeedSequence(SEED).spawn(2 * GAMES)
    states = np.zeros(GAMES, STATE)
    states["rng"] = seed_generators(sequences[:GAMES])["rng"]
    states["phase"] = OVER  # so that all of them start anew
    rngs = seed_generators(sequences[GAMES:])
    switches = pack_rules(rules)
    yield from rates(settings, clock(lambda times: random_games(0, GAMES, times, states, switches, rngs), GAMES))


def _vector(settings: Settings) -> Iterator[float]:
    envs = gymnasium.make_vec(DUEL, num_envs=GAMES, opponent="greedy")
    assert isinstance(envs, ThreeUpVectorEnv)
    envs.reset(seed=SEED)
    yield from rates(settings, _clock_steps(envs.step, envs.batch.action_mask))


def _learner_seat(settings: Settings) -> Iterator[float]:
    env = gymnasium.make(DUEL, opponent="greedy")
    draw = random.Random(SEED)
    script: list[list[int]] = []
    for game in range(settings.games):
        _, info = env.reset(seed=SEED if game == 0 else None)
        script.append([])
        over = False
        while not over:
            script[-1].append(int(draw.choice(np.flatnonzero(info["action_mask"]))))
            _, _, terminated, truncated, info = env.step(script[-1][-1])
            over = terminated or truncated

    def replay(times: int) -> None:
        for _ in range(times):
            for game, actions in enumerate(script):
                env.reset(seed=SEED if game == 0 else None)
                for action in actions:
                    env.step(action)

    yield from rates(settings, clock(replay, sum(map(len, script))))


def _cycle_raw(settings: Settings) -> Iterator[float]:
    yield from rates(settings, clock_cycle(threeup_v0.raw_env(), settings.games))


def _cycle_env(settings: Settings) -> Iterator[float]:
    yield from rates(settings, clock_cycle(threeup_v0.env(), settings.games))


def _draw_games(count: int) -> list[tuple[Game, list[int]]]:
    """Games as they are dealt, and random legal actions to their ends."""
    draw = random.Random(SEED)
    script: list[tuple[Game, list[int]]] = []
    for seed in range(count):
        game = Game(seed=seed)
        script.append((game.copy(), []))
        while game.player is not None:
            script[-1][1].append(draw.choice(game.legal_indices()))
            game.play(script[-1][1][-1])
    return script


def _play_game(settings: Settings) -> Iterator[float]:
    script = _draw_games(settings.games)

    def replay(times: int) -> None:
        for _ in range(times):
            for start, actions in script:
                game = start.copy()
                for action in actions:
                    _ = game.action_mask
                    game.play(action)

    yield from rates(settings, clock(replay, sum(len(actions) for _, actions in script)))


def _observe_game(settings: Settings) -> Iterator[float]:
    script = _draw_games(settings.games)

    def replay(times: int) -> None:
        for _ in range(times):
            for start, actions in script:
                game = start.copy()
                for action in actions:
                    assert game.player is not None
                    game.observation(game.player)
                    _ = game.action_mask
                    game.play(action)

    yield from rates(settings, clock(replay, sum(len(actions) for _, actions in script)))


def _search(settings: Settings) -> Iterator[float]:
    games, simulations = (2, 10) if settings.quick else (16, 1000)
    batch = SelfPlayBatch(Rules.standard(2), games, seed=SEED)
    batch.random_steps(20)  # into the game
    choices = batch._states[batch.action_mask.sum(axis=1) > 1]
    agent = SearchAgent(batch.rules, simulations, seed=SEED)

    def search(times: int) -> None:
        for _ in range(times):
            agent.act_states(choices)

    yield from rates(settings, clock(search, len(choices) * simulations))


def _copy_game(settings: Settings) -> Iterator[float]:
    game = Game(seed=SEED)
    for _ in range(20):  # a history to copy, and far from the end
        game.play(game.legal_indices()[0])

    def copy(times: int) -> None:
        for _ in range(times):
            game.copy()

    return (1e6 / rate for rate in rates(settings, clock(copy, 1)))


def _record_bytes(settings: Settings) -> Iterator[float]:
    return itertools.repeat(float(STATE.itemsize))


def _batch_bytes(rules: Rules, settings: Settings) -> Iterator[float]:
    batch = SelfPlayBatch(rules, GAMES, seed=SEED)
    arrays = [value for value in vars(batch).values() if isinstance(value, np.ndarray) and len(value) == GAMES]
    return itertools.repeat(sum(array.nbytes for array in arrays) / GAMES)


def _training_config(settings: Settings, opponents: Weights) -> Config:
    """The settings of a run for two players with a 2x256 network; small ones to be quick."""
    from training.config import make_config

    size: dict[str, Any] = {"games": 512, "rollout": 128, "batch_size": 2048, "epochs": 3}
    hidden = [256, 256]
    if settings.quick:
        size, hidden = {"games": 8, "rollout": 8, "batch_size": 32, "epochs": 1}, [8, 8]
    return make_config(
        {
            "env": DUEL,
            "steps": 1,  # unused: the benchmark says when to stop
            "seed": SEED,
            "threads": settings.threads,
            "opponents": dict(opponents),
            "network": {"hidden": hidden, "shared": True},
            "snapshots": {"every": 4, "keep": 8},
        }
        | size
    )


@functools.cache
def _time_training(settings: Settings, opponents: Weights) -> tuple[RolloutTime, ...]:
    """The rollouts of all runs, measured once for the two cases that tell of them."""
    from training.speed import time_training

    rollouts = time_training(_training_config(settings, opponents))
    return tuple(itertools.islice(rollouts, settings.runs * ROLLOUTS))


def _training_speed(opponents: Weights, settings: Settings) -> Iterator[float]:
    return map(_steps_per_second, _in_runs(_time_training(settings, opponents)))


def _training_share(opponents: Weights, settings: Settings) -> Iterator[float]:
    for rollouts in _in_runs(_time_training(settings, opponents)):
        yield 100 * sum(one.environment_seconds for one in rollouts) / sum(one.seconds for one in rollouts)


def _network_speed(settings: Settings) -> Iterator[float]:
    from training.speed import time_networks

    return map(_steps_per_second, _in_runs(time_networks(_training_config(settings, _GREEDY))))


def _in_runs(rollouts: Iterable[RolloutTime]) -> Iterator[list[RolloutTime]]:
    remaining = iter(rollouts)
    while run := list(itertools.islice(remaining, ROLLOUTS)):
        yield run


def _steps_per_second(rollouts: list[RolloutTime]) -> float:
    return sum(one.steps for one in rollouts) / sum(one.seconds for one in rollouts)


_PLAY: Final = "SelfPlayBatch.random_steps: random legal play in compiled code, observation and mask written"

CASES: Final = (
    *(
        Case(
            name,
            DECISIONS,
            f"{_PLAY}; {players} players, {GAMES} games",
            functools.partial(_random_play, Rules.standard(players), GAMES),
        )
        for players, name in BY_PLAYERS.items()
    ),
    Case(
        "selfplay-house-4p",
        DECISIONS,
        f"{_PLAY}; the house rules for 4, {GAMES} games",
        functools.partial(_random_play, Rules.house(4), GAMES),
    ),
    *(
        Case(
            name,
            DECISIONS,
            f"{_PLAY}; 2 players, {games} games",
            functools.partial(_random_play, Rules.standard(2), games),
        )
        for games, name in BY_GAMES.items()
        if games != GAMES
    ),
    Case(
        BATCH,
        DECISIONS,
        f"SelfPlayBatch.step with an array of actions, drawn outside the time; 2 players, {GAMES} games",
        functools.partial(_batch_step, Rules.standard(2)),
    ),
    Case(
        "games-2p",
        DECISIONS,
        "random games in compiled code without observations, as a search plays them; 2 players",
        functools.partial(_whole_games, Rules.standard(2)),
    ),
    Case(
        "vector-2p",
        LEARNER_STEPS,
        f"gymnasium.make_vec with {GAMES} games against greedy, actions drawn outside the time; 2 players",
        _vector,
    ),
    Case(
        "gymnasium-2p",
        LEARNER_STEPS,
        "gymnasium.make against greedy: reset and step, actions drawn beforehand; 2 players",
        _learner_seat,
    ),
    Case(
        "aec-raw",
        DECISIONS,
        "threeup_v0.raw_env: agent_iter, last and step, actions drawn beforehand; 2 players",
        _cycle_raw,
    ),
    Case("aec-env", DECISIONS, "the same through threeup_v0.env, with PettingZoo's wrappers", _cycle_env),
    Case("game-play", DECISIONS, "Game.action_mask and Game.play, actions drawn beforehand; 2 players", _play_game),
    Case("game-observe", DECISIONS, "the same with Game.observation at each decision", _observe_game),
    Case(
        "search-2p",
        SIMULATIONS,
        "SearchAgent.act_states: 1,000 simulations for each of 16 games, played to their ends; 2 players",
        _search,
    ),
    Case("game-copy", MICROSECONDS, "Game.copy", _copy_game),
    Case("memory-record", BYTES, "the record of one game, the same for 2 to 6 players", _record_bytes),
    *(
        Case(
            f"memory-{players}p",
            BYTES,
            f"all of SelfPlayBatch: record, observation, mask, rewards and the rest; {players} players",
            functools.partial(_batch_bytes, Rules.standard(players)),
        )
        for players in (2, 6)
    ),
    Case(
        "selfplay-2p-threads",
        DECISIONS,
        f"{_PLAY}; 2 players, {GAMES} games",
        functools.partial(_random_play_in_threads, Rules.standard(2)),
        threads=None,
    ),
    Case(
        "training-2p",
        LEARNER_STEPS,
        "MaskablePPO, network 2x256, 512 games against greedy: rollouts and updates",
        functools.partial(_training_speed, _GREEDY),
        threads=None,
    ),
    Case(
        "training-2p-environment",
        SHARE,
        "the part of it in the environment, greedy's moves included",
        functools.partial(_training_share, _GREEDY),
        threads=None,
    ),
    Case(
        "training-2p-networks",
        LEARNER_STEPS,
        "the same rollouts and updates without any environment",
        _network_speed,
        threads=None,
    ),
    Case(
        "training-2p-league",
        LEARNER_STEPS,
        "the same training against greedy, random and earlier copies of itself",
        functools.partial(_training_speed, _LEAGUE),
        threads=None,
    ),
    Case(
        "training-2p-league-environment",
        SHARE,
        "the part of it in the environment, the passes of those copies' networks included",
        functools.partial(_training_share, _LEAGUE),
        threads=None,
    ),
)
"""Everything that is measured, the cases with one thread first."""


def make_settings(runs: int, threads: int | None, quick: bool) -> Settings:
    """The settings that the options of the command stand for; all cores that this process may use by default."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    settings = Settings(runs=runs, threads=threads or cores, quick=quick)
    return Settings(runs, settings.threads, QUICK_SECONDS, True) if quick else settings


def select_cases(names: Sequence[str], peers: bool) -> list[Case]:
    """The cases to measure, in the order of the table.

    Args:
        names: Names of cases and peers; all cases when there is none.
        peers: Whether to measure all peers too.

    Raises:
        InvalidConfigError: There is no such case.
    """
    every = {case.name: case for case in (*CASES, *PEERS)}
    for name in names:
        if name not in every:
            raise InvalidConfigError(f"--case: {name!r} is no case; allowed: {', '.join(every)}")
    wanted = set(names) if names else {case.name for case in CASES}
    if peers:
        wanted |= {case.name for case in PEERS}
    compared = {name for case in PEERS if case.name in wanted for name in (case.nearest, BATCH)}
    return [case for case in every.values() if case.name in wanted | compared]


INTERRUPTED: Final = "interrupted"
"""Why the cases are skipped that Ctrl-C cut off."""


def measure(cases: Sequence[Case], settings: Settings, progress: Callable[[str, int], None]) -> list[Result]:
    """Measure cases one after the other; Ctrl-C ends it, and what is measured by then is kept.

    Args:
        cases: What to measure.
        settings: How.
        progress: Told the case and how many of its runs are done, `settings.runs` of them in the end.
    """
    results: list[Result] = []
    interrupted = False
    for case in cases:
        if interrupted:
            results.append(_sum_up(case, settings, (), INTERRUPTED))
            continue
        progress(case.name, 0)
        values: list[float] = []
        skipped = None
        try:
            for value in _run(case, settings):
                values.append(value)
                progress(case.name, len(values))
        except KeyboardInterrupt:
            interrupted, skipped = True, INTERRUPTED
        except ImportError as error:
            skipped = f"not installed: {error.name or error}"
        except Exception as error:
            if case.nearest is None:
                raise
            # Another version of a peer may do anything; the other figures are worth keeping.
            skipped = f"{type(error).__name__}: {error}"
        if skipped is not None:
            values = []
            progress(case.name, settings.runs)
        results.append(_sum_up(case, settings, tuple(values), skipped))
    return results


def _run(case: Case, settings: Settings) -> Iterator[float]:
    with contextlib.ExitStack() as stack:
        values = case.values(settings)
        if hasattr(values, "close"):  # what it holds is let go before the next case begins
            stack.callback(values.close)
        gc.collect()
        # What is there already is not looked through again and again by the garbage collector.
        gc.freeze()
        stack.callback(gc.unfreeze)
        yield from itertools.islice(values, settings.runs)


def _sum_up(case: Case, settings: Settings, values: tuple[float, ...], skipped: str | None) -> Result:
    return Result(
        case=case.name,
        measures=case.measures,
        unit=case.unit,
        threads=settings.threads if case.threads is None else case.threads,
        values=values,
        median=statistics.median(values) if values else None,
        low=min(values, default=None),
        high=max(values, default=None),
        skipped=skipped,
    )
