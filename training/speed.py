"""How fast the training loop is, and how much of its time the environment takes (`threeup bench`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from training.config import Config
from training.train import Run, make_run


@dataclass(frozen=True)
class RolloutTime:
    """The time of one rollout and its update.

    Attributes:
        steps: Decisions of the learner.
        seconds: Wall time.
        environment_seconds: The part of it in the environment: the games, the opponents, observations and masks.
    """

    steps: int
    seconds: float
    environment_seconds: float


def time_training(config: Config) -> Iterator[RolloutTime]:
    """Train as `training.train` does, without evaluations, and time each rollout after the first; it never ends."""
    run = _start(config)
    clock = _Clock()
    # The types of a class are not meant to be changed on an object: only here.
    setattr(run.env.batch, "step", clock.around(run.env.batch.step))  # noqa: B010
    while True:
        clock.seconds = 0.0
        seconds = _do_rollout(run)
        yield RolloutTime(config.rollout_steps, seconds, clock.seconds)


def time_networks(config: Config) -> Iterator[RolloutTime]:
    """The same passes through the networks without an environment: every step shows the same positions again."""
    run = _start(config)
    setattr(run.env.batch, "step", lambda actions: None)  # noqa: B010
    while True:
        yield RolloutTime(config.rollout_steps, _do_rollout(run), 0.0)


def _start(config: Config) -> Run:
    torch.set_num_threads(config.threads)
    run = make_run(config)
    _do_rollout(run)
    return run


def _do_rollout(run: Run) -> float:
    """One rollout, its update and the snapshot that may follow; the seconds they took."""
    start = time.perf_counter()
    run.ppo.collect(run.env.batch, run.league.record)
    run.ppo.train()
    run.rollouts += 1
    if run.rollouts % run.config.snapshots.every == 0:
        run.league.add_snapshot(run.ppo.policy, run.rollouts, run.env.batch)
    seconds = time.perf_counter() - start
    run.ppo.logger.dump()  # forgets its values
    return seconds


class _Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its time counted."""

        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds += time.perf_counter() - start

        return timed
