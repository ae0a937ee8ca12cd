"""Tianshou: masked deep Q-learning on the AEC form, through its `PettingZooEnv` and its multi-agent manager.

The manager gives every seat an algorithm. Here `player_0` learns against a fixed agent, or one network holds all seats
(`--opponent self`). Who plays first is drawn for each game, so `player_0` meets every place at the table.

Masks: `PettingZooEnv` puts the mask into the observation, and `DiscreteQLearningPolicy` plays and explores nothing that
is illegal. Credit: the buffer holds the decisions of all seats in the order they were made, so what comes next may be
another seat's, and what an opponent's move wins or loses is in no transition of one's own. So targets are not made from
there: when a game is over, a hook writes into each of its transitions what it paid the seat that decided there.

    python -m training.examples.tianshou_dqn --minutes 10
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pettingzoo
import torch
from gymnasium import spaces
from tianshou.algorithm import DQN, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.algorithm_base import OffPolicyAlgorithm, Policy, TrainingStats
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, CollectStats, VectorReplayBuffer
from tianshou.data.collector import EpisodeRolloutHook
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import threeup_env  # noqa: F401  # registers the environments
from threeup_env.agents import Agent, act_batch, make_agent
from threeup_env.evaluate import evaluate
from threeup_env.registration import rules_of

HIDDEN = (256, 256)
LEARNING_RATE = 5e-4
BATCH = 512
BUFFER = 40_000  # a few collections: results tell of the policy that played
STEPS_PER_UPDATE = 32
COLLECT = 2
"""Games in each place from one round of updates to the next."""
EXPLORATION = 0.05
EXPLORATION_STEPS = 50_000
"""Decisions until the share of random actions has come down from 1 to `EXPLORATION`."""


def make_env(env_id: str) -> PettingZooEnv:
    """The AEC form as Tianshou sees it: observations `{"agent_id", "obs", "mask"}`, rewards of all seats."""
    return PettingZooEnv(pettingzoo.make("aec", env_id))


class OwnResult(EpisodeRolloutHook):
    """Adds `result` to the transitions of a finished game: what it paid the seat that decided, float32 `(T,)`."""

    def __init__(self, agents: list[str]) -> None:
        self.seats = {agent: seat for seat, agent in enumerate(agents)}

    def __call__(self, episode_batch: Batch) -> dict[str, npt.NDArray[np.float32]]:
        """The new entry; `episode_batch.rew` has a column for each seat and is zero but in its last row."""
        seats = [self.seats[agent] for agent in episode_batch.obs.agent_id]
        return {"result": episode_batch.rew.sum(axis=0)[seats].astype(np.float32)}


class GameDQN(DQN):
    """DQN whose targets are the results of whole games, as n-step returns are when n is longer than any game."""

    def _preprocess_batch(self, batch: Batch, buffer: Any, indices: npt.NDArray[np.int64]) -> Batch:
        batch.returns = torch.from_numpy(batch.result)
        return batch


class FixedPolicy(Policy):
    """An agent of this project behind Tianshou's interface."""

    def __init__(self, agent: Agent, action_space: spaces.Space[Any]) -> None:
        super().__init__(action_space=action_space)
        self.agent = agent

    def forward(self, batch: Batch, state: Any = None, **kwargs: Any) -> Batch:
        """The agent's actions."""
        return Batch(act=act_batch(self.agent, batch.obs.obs, batch.obs.mask.astype(np.int8)), state=None)


class Fixed(OffPolicyAlgorithm):
    """An opponent that learns nothing."""

    def _update_with_batch(self, batch: Batch) -> TrainingStats:
        return TrainingStats()


class LearnerStats(CollectStats):
    """Statistics of `player_0`'s returns; Tianshou's own expect one number a game, not one a seat."""

    def update_at_episode_done(self, episode_batch: Batch, episode_return: Any, *args: Any, **kwargs: Any) -> None:
        """Count a game."""
        super().update_at_episode_done(episode_batch, episode_return[0], *args, **kwargs)


class Player:
    """The policy as an agent of this project: it plays the action of the highest value."""

    def __init__(self, policy: DiscreteQLearningPolicy) -> None:
        self.policy = policy

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """The action for one observation, int8 `(D,)`, and its mask, int8 `(A,)`."""
        return int(self.act_batch(observation[None], action_mask[None])[0])

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """The actions, int64 `(N,)`, for observations, int8 `(N, D)`, and masks, int8 `(N, A)`."""
        with torch.no_grad():
            seen = Batch(obs=Batch(obs=observations, mask=action_masks), info=None)
            actions: npt.NDArray[np.int64] = self.policy(seen).act
        return actions


def make_algorithm(env: PettingZooEnv, args: argparse.Namespace) -> MultiAgentOffPolicyAlgorithm:
    """The learner in seat 0, `args.opponent` in the others; with `"self"` all are the learner's."""
    shape = env.observation_space["observation"].shape
    network = Net(state_shape=shape, action_shape=env.action_space.n, hidden_sizes=HIDDEN)
    policy = DiscreteQLearningPolicy(model=network, action_space=env.action_space)
    learner = GameDQN(policy=policy, optim=AdamOptimizerFactory(lr=LEARNING_RATE))
    others: list[OffPolicyAlgorithm] = [learner] * (len(env.agents) - 1)
    if args.opponent != "self":
        agent = make_agent(args.opponent, rules_of(args.env), args.seed)
        others = [Fixed(policy=FixedPolicy(agent, env.action_space)) for _ in others]
    return MultiAgentOffPolicyAlgorithm(algorithms=[learner, *others], env=env)


def train(args: argparse.Namespace) -> tuple[DiscreteQLearningPolicy, Collector, float]:
    """The policy after `args.updates` collections or `args.minutes`, what collected its games, and the seconds."""
    np.random.seed(args.seed)  # noqa: NPY002  # Tianshou explores with NumPy's global generator
    torch.manual_seed(args.seed)
    env = make_env(args.env)
    algorithm = make_algorithm(env, args)
    policy = algorithm.get_algorithm(env.agents[0]).policy
    envs = DummyVectorEnv([partial(make_env, args.env)] * args.games)
    envs.seed(args.seed)
    collector = Collector[LearnerStats](
        algorithm,
        envs,
        VectorReplayBuffer(BUFFER, args.games, ignore_obs_next=True),
        exploration_noise=True,
        on_episode_done_hook=OwnResult(env.agents),
        collect_stats_class=LearnerStats,
        raise_on_nan_in_buffer=False,  # it looks through the whole buffer each time
    )
    collector.reset()

    def explore(epoch: int, step: int) -> None:
        # Of inference, also in training: the manager tells the policies of its seats nothing of training steps.
        policy.set_eps_inference(max(EXPLORATION, 1 - step / EXPLORATION_STEPS))

    trainer = algorithm.create_trainer(
        OffPolicyTrainerParams(
            training_collector=collector,
            # Whole games, or their results are not known; several for each place, since a place that is done waits.
            collection_step_num_env_steps=None,
            collection_step_num_episodes=COLLECT * args.games,
            epoch_num_steps=1,  # one collection and its updates
            batch_size=BATCH,
            update_step_num_gradient_steps_per_sample=1 / STEPS_PER_UPDATE,
            training_fn=explore,
        )
    )
    trainer.reset()
    started, epochs, seconds = time.monotonic(), 0, 0.0
    while epochs < args.updates if args.updates else seconds < 60 * args.minutes:
        trainer.execute_epoch()
        epochs, seconds = epochs + 1, time.monotonic() - started
    return policy, collector, seconds


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """The command's options."""
    parser = argparse.ArgumentParser(description="Masked deep Q-learning with Tianshou")
    parser.add_argument("--env", default="ThreeUp/2p-v0", help="ID of the environment")
    parser.add_argument("--opponent", default="greedy", help="who holds the other seats: an agent, or self")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to train")
    parser.add_argument("--updates", type=int, help="how many times to collect and update, instead of --minutes")
    parser.add_argument("--games", type=int, default=32, help="games side by side")
    parser.add_argument("--evaluation", type=int, default=10_000, help="games of the evaluation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/tianshou"), help="folder of the network")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Train, save the network, play it against `greedy`."""
    args = parse(argv)
    policy, collector, seconds = train(args)
    decisions = collector.collect_step
    args.out.mkdir(parents=True, exist_ok=True)
    torch.save(policy.state_dict(), args.out / "policy.pt")
    result = evaluate(args.env, Player(policy), "greedy", args.evaluation, args.seed)
    print(
        f"{decisions:,} decisions, {decisions / seconds:,.0f} a second; won {result.win_rate:.1%} against greedy "
        f"(95 %: {result.ci_low:.1%} to {result.ci_high:.1%})"
    )


if __name__ == "__main__":
    main()
