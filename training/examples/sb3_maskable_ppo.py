"""Stable-Baselines3: sb3-contrib's MaskablePPO on the learner's seat, through `gymnasium.make`.

    python -m training.examples.sb3_maskable_ppo --minutes 10
    python -m training.examples.sb3_maskable_ppo --minutes 10 --batched

Without `--batched` every game is an environment of its own, made by Stable-Baselines3's `make_vec_env`; with it all
games are one compiled batch, `ThreeUpVecEnv`. Nothing else differs. Masks need no wrapper: MaskablePPO finds
`action_masks` in both. A step is a decision of the learner and what the opponents do until its next, so that a loss on
an opponent's move is the reward of the learner's last action.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecEnv

from threeup_env.evaluate import evaluate
from threeup_env.registration import rules_of
from threeup_env.sb3 import ThreeUpVecEnv


def make_clock(minutes: float) -> Callable[[], float]:
    """A function that tells what share of so many minutes is left."""
    start = time.perf_counter()
    return lambda: max(0.0, 1 - (time.perf_counter() - start) / (60 * minutes))


class ModelAgent:
    """A trained model as an agent of this project. It draws its actions: the likeliest alone run into cycles."""

    def __init__(self, model: MaskablePPO) -> None:
        self.model = model

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """The action for one observation `(D,)` with its mask `(A,)`."""
        return int(self.act_batch(observation[None], action_mask[None])[0])

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """The actions, int64 `(N,)`, for observations `(N, D)` with their masks `(N, A)`."""
        actions, _ = self.model.predict(observations, action_masks=action_masks, deterministic=False)
        return actions


def make_env(args: argparse.Namespace) -> VecEnv:
    """The games to learn from."""
    if args.batched:
        return ThreeUpVecEnv(rules_of(args.env), args.num_envs, args.opponent, seed=args.seed)
    return make_vec_env(args.env, args.num_envs, seed=args.seed, env_kwargs={"opponent": args.opponent})


def train(args: argparse.Namespace) -> MaskablePPO:
    """Train as the settings say; the model lies in `model.zip` in the folder of the run too."""
    time_left = make_clock(args.minutes)
    model = MaskablePPO(
        "MlpPolicy",
        make_env(args),
        learning_rate=lambda _: 1e-3 * time_left(),
        n_steps=args.num_steps,
        batch_size=1024,
        n_epochs=3,
        gamma=0.995,
        ent_coef=0.005,
        policy_kwargs={"net_arch": [256, 256]},
        seed=args.seed,
        device=args.device,
        tensorboard_log=args.out,
        verbose=1,
    )
    model.learn(args.steps or 10**12, callback=lambda *_: time_left() > 0, log_interval=10)
    model.save(Path(args.out) / "model")
    return model


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The settings that a command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--env", default="ThreeUp/2p-v0", help="ID of the environment")
    parser.add_argument("--opponent", default="greedy", help="who plays the other seats: a name or a policy file")
    parser.add_argument("--batched", action="store_true", help="all games in one ThreeUpVecEnv")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to train")
    parser.add_argument("--steps", type=int, default=0, help="end after so many steps, if that comes first; 0: never")
    parser.add_argument("--num-envs", type=int, default=64, help="games side by side")
    parser.add_argument("--num-steps", type=int, default=128, help="steps of each game in a rollout")
    parser.add_argument("--seed", type=int, default=1, help="seeds the deals, the weights and the draws")
    parser.add_argument("--device", default="cpu", help="where the network is: cpu, cuda, ...")
    parser.add_argument("--out", default="runs/sb3_maskable_ppo", help="folder for the model and the logs")
    parser.add_argument("--games", type=int, default=10_000, help="duplicate games of the evaluation at the end")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, then measure."""
    args = parse(arguments)
    start = time.perf_counter()
    model = train(args)
    seconds = time.perf_counter() - start
    result = evaluate(args.env, ModelAgent(model), "greedy", games=args.games, seed=1)
    print(
        f"{model.num_timesteps:,} decisions, {model.num_timesteps / seconds:,.0f} a second; "
        f"against greedy {result.win_rate:.1%} ({result.ci_low:.1%} to {result.ci_high:.1%})"
    )


if __name__ == "__main__":
    main()
