"""What docs/scale.md counts with: how fast RLlib plays and learns here, and how many bytes it sends for that.

    python -m training.examples.rllib_scaling --form learner --env-runners 1
    python -m training.examples.rllib_scaling --form learner --env-runners 2

Takes the settings of `rllib_ppo`, and measures one after another: all env runners playing, the learner updating on what
they played, the weights going out, and whole updates as in training.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import ray
from ray import cloudpickle
from ray.rllib.algorithms.ppo import PPO
from ray.rllib.execution.rollout_ops import synchronous_parallel_sample

from .rllib_ppo import connect, make_config, parse

ROUNDS = 5
"""Each figure is the best of so many: what else the machine does only ever slows one down."""


def best_seconds(action: Callable[..., Any], prepare: Callable[[], list[Any]] = list) -> float:
    """The shortest of a few times that an action takes, on what is prepared for it outside the time."""
    times = []
    for _ in range(ROUNDS):
        arguments = prepare()
        start = time.perf_counter()
        action(*arguments)
        times.append(time.perf_counter() - start)
    return min(times)


def measure(algorithm: PPO) -> dict[str, float]:
    """The figures, by name."""
    config = algorithm.config
    decisions = config.total_train_batch_size
    group, learners = algorithm.env_runner_group, algorithm.learner_group

    def play() -> list[Any]:
        played: list[Any] = synchronous_parallel_sample(
            worker_set=group, max_env_steps=decisions, _uses_new_env_runners=True
        )
        return played

    def learn(*episodes: Any) -> None:
        # It changes the episodes, so each can be learnt from once.
        learners.update(episodes=list(episodes), num_epochs=config.num_epochs, minibatch_size=config.minibatch_size)

    def send() -> None:
        group.sync_weights(from_worker_or_learner_group=learners, inference_only=True)

    algorithm.train()  # compiles, and starts what starts late
    episodes = play()
    return {
        "decisions a second, playing": decisions / best_seconds(play),
        "decisions a second, learning": decisions / best_seconds(learn, play),
        "decisions a second, all of it": decisions / best_seconds(algorithm.train),
        "milliseconds, weights to all": 1000 * best_seconds(send),
        "bytes for a decision": len(cloudpickle.dumps(episodes)) / sum(episode.env_steps() for episode in episodes),
        "bytes of the weights": len(cloudpickle.dumps(algorithm.env_runner.get_state("rl_module"))),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a line for each figure."""
    args = parse(arguments)
    connect(args)
    algorithm = make_config(args).build_algo()
    print(
        f"{args.form}, {args.env_runners} env runners of {args.num_envs} games, {args.batch:,} decisions for an update"
    )
    for name, figure in measure(algorithm).items():
        print(f"{figure:12,.0f} {name}")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
