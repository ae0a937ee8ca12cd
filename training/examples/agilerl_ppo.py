"""AgileRL: its PPO with action masks on the learner's seat, all games in one vector environment.

    python -m training.examples.agilerl_ppo --minutes 10

AgileRL's PPO takes the masks of all games with their observations, keeps them in its rollout buffer and applies them
again in the update. A step is a decision of the learner and what the opponents do until its next, so that a loss on an
opponent's move is the reward of the learner's last action.

`collect` stands in for AgileRL's `collect_rollouts`, which hands the buffer whether a step ended a game, where the
buffer's advantages read whether one had ended before it (2.58.0): each last decision would be credited with the value
of the next game, and the reward would not reach the decisions before it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import torch
from agilerl.algorithms import PPO
from gymnasium.vector import AutoresetMode, VectorEnv
from tqdm import tqdm

import threeup_env  # noqa: F401  # registers the environments
from threeup_env.evaluate import evaluate

NETWORK = {
    "latent_dim": 128,
    "encoder_config": {"hidden_size": [256]},
    "head_config": {"hidden_size": [128]},
}


class AgileAgent:
    """A trained agent of AgileRL as one of this project. It draws its actions from the policy."""

    def __init__(self, agent: PPO) -> None:
        self.agent = agent

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """The action for one observation `(D,)` with its mask `(A,)`."""
        return int(self.act_batch(observation[None], action_mask[None])[0])

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """The actions, int64 `(N,)`, for observations `(N, D)` with their masks `(N, A)`."""
        actions: npt.NDArray[np.int64] = self.agent.get_action(observations, action_mask=action_masks)[0]
        return actions


def make_env(args: argparse.Namespace) -> VectorEnv:
    """The games to learn from. An illegal action would end the run: there is none."""
    return gymnasium.make_vec(
        args.env,
        num_envs=args.num_envs,
        opponent=args.opponent,
        illegal_action="raise",
        autoreset_mode=AutoresetMode.SAME_STEP,
    )


def make_agent(env: VectorEnv, args: argparse.Namespace) -> PPO:
    """An untrained agent."""
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002  # AgileRL shuffles its minibatches with the global generator
    return PPO(
        env.single_observation_space,
        env.single_action_space,
        net_config=NETWORK,
        num_envs=args.num_envs,
        learn_step=args.num_envs * args.num_steps,
        batch_size=args.batch_size,
        lr=args.learning_rate,
        gamma=0.995,
        ent_coef=0.005,
        update_epochs=args.epochs,
        device=args.device,
    )


class Games:
    """The games between two rollouts.

    Attributes:
        env: The vector environment; with `SAME_STEP` a new game starts within the step that ends one.
        observations: What the learner knows, int8 `(N, D)`.
        masks: What it may do, int8 `(N, A)`.
        fresh: Which games have just started, bool `(N,)`.
    """

    def __init__(self, env: VectorEnv, seed: int) -> None:
        self.env = env
        self.observations, info = env.reset(seed=seed)
        self.masks: npt.NDArray[np.int8] = info["action_mask"]
        self.fresh = np.ones(env.num_envs, np.bool_)

    def step(self, actions: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Play an action in every game; the rewards, `(N,)`."""
        self.observations, rewards, terminated, truncated, info = self.env.step(actions)
        self.masks, self.fresh = info["action_mask"], terminated | truncated
        return np.asarray(rewards, np.float64)


def collect(agent: PPO, games: Games) -> float:
    """Fill the agent's rollout buffer; the mean reward of the games that ended."""
    buffer: Any = agent.rollout_buffer
    buffer.reset()
    total, ended = 0.0, 0
    for _ in range(buffer.capacity):
        observations, masks, fresh = games.observations, games.masks, games.fresh
        actions, log_probs, _, values = agent.get_action(observations, action_mask=masks)
        rewards = games.step(actions)
        buffer.add(observations, actions, rewards, fresh, values, log_probs, action_mask=masks)
        total, ended = total + rewards.sum(), ended + int(games.fresh.sum())
    values = agent.get_action(games.observations, action_mask=games.masks)[3]
    buffer.compute_returns_and_advantages(values, games.fresh)
    return total / max(ended, 1)


def train(args: argparse.Namespace) -> tuple[PPO, int]:
    """Train as the settings say; the agent, also saved as `agent.pt` in the folder of the run, and its decisions."""
    env = make_env(args)
    agent, games = make_agent(env, args), Games(env, args.seed)
    agent.set_training_mode(True)
    start, steps = time.perf_counter(), 0
    with tqdm(total=args.steps or None, unit=" decisions", unit_scale=True) as bar:
        while (done := (time.perf_counter() - start) / (60 * args.minutes)) < 1 and not 0 < args.steps <= steps:
            for group in agent.optimizer.optimizer.param_groups:
                group["lr"] = agent.lr * (1 - done)
            reward = collect(agent, games)
            agent.learn()
            steps += agent.learn_step
            bar.update(agent.learn_step)
            bar.set_postfix(reward=f"{reward:+.3f}")
    Path(args.out).mkdir(parents=True, exist_ok=True)
    agent.save_checkpoint(str(Path(args.out) / "agent.pt"))
    return agent, steps


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The settings that a command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--env", default="ThreeUp/2p-v0", help="ID of the environment")
    parser.add_argument("--opponent", default="greedy", help="who plays the other seats: a name or a policy file")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to train")
    parser.add_argument("--steps", type=int, default=0, help="end after so many steps, if that comes first; 0: never")
    parser.add_argument("--num-envs", type=int, default=512, help="games side by side")
    parser.add_argument("--num-steps", type=int, default=64, help="steps of each game in a rollout")
    parser.add_argument("--batch-size", type=int, default=2048, help="decisions in a minibatch")
    parser.add_argument("--epochs", type=int, default=3, help="passes over a rollout")
    parser.add_argument("--learning-rate", type=float, default=1e-3, help="at the start; falls to 0 in a straight line")
    parser.add_argument("--seed", type=int, default=1, help="seeds the deals, the weights and the draws")
    parser.add_argument("--device", default="cpu", help="where the network is: cpu, cuda, ...")
    parser.add_argument("--out", default="runs/agilerl_ppo", help="folder for the agent")
    parser.add_argument("--games", type=int, default=10_000, help="duplicate games of the evaluation at the end")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, then measure."""
    args = parse(arguments)
    start = time.perf_counter()
    agent, steps = train(args)
    seconds = time.perf_counter() - start
    result = evaluate(args.env, AgileAgent(agent), "greedy", games=args.games, seed=1)
    print(
        f"{steps:,} decisions, {steps / seconds:,.0f} a second; "
        f"against greedy {result.win_rate:.1%} ({result.ci_low:.1%} to {result.ci_high:.1%})"
    )


if __name__ == "__main__":
    main()
