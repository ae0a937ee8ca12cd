"""How fast the training loop is, and how much of its time the environment takes (`threeup bench`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from threeup_env.sb3 import ThreeUpVecEnv
from training.config import Config
from training.train import Run, _Silent, make_run


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
    for name in _ENVIRONMENT:
        setattr(run.env, name, clock.around(getattr(run.env, name)))
    while True:
        clock.seconds = 0.0
        seconds = _do_rollout(run)
        yield RolloutTime(config.rollout_steps, seconds, clock.seconds)


def time_networks(config: Config) -> Iterator[RolloutTime]:
    """The same passes through the networks without an environment: every step shows the same positions again."""
    run = _start(config)
    _hold_still(run.env)
    while True:
        yield RolloutTime(config.rollout_steps, _do_rollout(run), 0.0)


_ENVIRONMENT = ("step", "env_method")
"""What SB3 calls of the environment in a rollout."""


def _start(config: Config) -> Run:
    torch.set_num_threads(config.threads)
    run = make_run(config)
    _do_rollout(run)
    return run


def _do_rollout(run: Run) -> float:
    """One rollout, its update and the snapshot that may follow; the seconds they took."""
    silent = _Silent()
    silent.init_callback(run.ppo)
    start = time.perf_counter()
    run.ppo.collect_rollouts(run.env, silent, run.ppo.rollout_buffer, run.config.rollout)
    run.ppo.train()
    run.rollouts += 1
    if run.rollouts % run.config.snapshots.every == 0:
        run.opponents.add_snapshot(run.ppo.policy, run.env.batch)
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


def _hold_still(env: ThreeUpVecEnv) -> None:
    """Let the environment answer what it stands at, again and again, in no time."""
    batch = env.batch
    answer: tuple[Any, ...] = (
        batch.observation.copy(),
        batch.reward.copy(),
        batch.terminated & False,
        [{} for _ in range(env.num_envs)],
    )
    masks = list(env.action_masks())
    # The types of a class are not meant to be changed on an object: only here.
    setattr(env, "step", lambda actions: answer)  # noqa: B010
    setattr(env, "env_method", lambda *arguments, **named: masks)  # noqa: B010
