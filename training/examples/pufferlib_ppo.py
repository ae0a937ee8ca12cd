"""PufferLib: its trainer PuffeRL on the learner's seat, all games one native environment.

    python -m training.examples.pufferlib_ppo --minutes 10

PufferLib knows no action masks and asks every agent of an environment in every step. So an agent is the learner's seat
of a game, whose steps are its decisions and what the opponents do until the next; a loss on an opponent's move is the
reward of the learner's last action. The mask travels as the last part of the observation, where the policy finds it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pufferlib
import pufferlib.pytorch
import pufferlib.vector
import torch
from gymnasium.spaces import flatdim
from gymnasium.vector import AutoresetMode
from pufferlib.pufferl import PuffeRL
from torch import nn

import threeup_env  # noqa: F401  # registers the environments
from threeup_env.evaluate import evaluate

Array = npt.NDArray[Any]


class ThreeUpPuffer(pufferlib.PufferEnv):
    """`num_envs` games, an agent each, written into PufferLib's buffers.

    Observations are int8 `(D + A,)`: what the learner knows, then its mask.
    """

    def __init__(self, env_id: str, num_envs: int, opponent: str, buf: Any = None, seed: int = 0) -> None:
        self.games = gymnasium.make_vec(
            env_id,
            num_envs=num_envs,
            opponent=opponent,
            illegal_action="raise",
            autoreset_mode=AutoresetMode.SAME_STEP,
            copy=False,
        )
        size = flatdim(self.games.single_observation_space) + flatdim(self.games.single_action_space)
        self.single_observation_space = gymnasium.spaces.Box(-128, 127, (size,), np.int8)
        self.single_action_space = self.games.single_action_space
        self.num_agents = num_envs
        super().__init__(buf)

    def _show(self, observations: Array, infos: dict[str, Any]) -> None:
        np.concatenate([observations, infos["action_mask"]], axis=1, out=self.observations)

    def reset(self, seed: int | None = None) -> tuple[Array, list[dict[str, float]]]:
        """Start every game."""
        self._show(*self.games.reset(seed=seed))
        return self.observations, []

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, list[dict[str, float]]]:
        """The learner's action in every game, then its opponents; a game that is over starts anew."""
        observations, rewards, terminated, truncated, infos = self.games.step(actions)
        self._show(observations, infos)
        self.rewards[:], self.truncations[:] = rewards, truncated
        ended = terminated | truncated
        self.terminals[:] = ended  # PuffeRL reads no truncations: without this a game would go on in the next one
        reports = [{"reward": float(rewards[ended].mean())}] if ended.any() else []
        return self.observations, self.rewards, self.terminals, self.truncations, reports

    def close(self) -> None:
        """Close the games."""
        self.games.close()


class Policy(nn.Module):
    """Two hidden layers, then a layer for the policy and one for the value, as PufferLib asks for them."""

    def __init__(self, env: pufferlib.PufferEnv, hidden_size: int = 256) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.actions = int(env.single_action_space.n)
        self.cards = env.single_observation_space.shape[0] - self.actions
        init = pufferlib.pytorch.layer_init
        self.encoder = nn.Sequential(
            init(nn.Linear(self.cards, hidden_size)), nn.ReLU(), init(nn.Linear(hidden_size, hidden_size)), nn.ReLU()
        )
        self.decoder = init(nn.Linear(hidden_size, self.actions), std=0.01)
        self.value = init(nn.Linear(hidden_size, 1), std=1)

    def forward(self, observations: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits, float32 `(N, A)`, of illegal actions -1e8, and values, float32 `(N, 1)`, for int8 `(N, D + A)`."""
        cards, masks = observations.split([self.cards, self.actions], dim=1)
        hidden = self.encoder(cards.float())
        return self.decoder(hidden).masked_fill(masks == 0, -1e8), self.value(hidden)

    forward_eval = forward

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """The action for one observation `(D,)` with its mask `(A,)`."""
        return int(self.act_batch(observation[None], action_mask[None])[0])

    @torch.inference_mode()
    def act_batch(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> Array:
        """The actions, drawn, int64 `(N,)`, for observations `(N, D)` with their masks `(N, A)`."""
        seen = torch.from_numpy(np.concatenate([observations, action_masks], axis=1))
        actions, *_ = pufferlib.pytorch.sample_logits(self(seen.to(self.value.weight.device))[0])
        return actions.cpu().numpy().astype(np.int64)  # type: ignore[no-any-return]


def settings(args: argparse.Namespace) -> dict[str, Any]:
    """PufferLib's settings: those of its own default.ini but for what a comment stands beside."""
    return {
        "env": args.env,
        "seed": args.seed,
        "torch_deterministic": True,
        "cpu_offload": False,
        "device": args.device,
        "optimizer": "adam",  # no second package; their default is muon
        "anneal_lr": False,  # `train` does, by the clock
        "precision": "float32",
        "total_timesteps": args.steps or 10**9,
        "learning_rate": args.learning_rate,  # theirs is muon's
        "gamma": 0.995,
        "gae_lambda": 0.95,
        "update_epochs": args.epochs,
        "clip_coef": 0.2,
        "vf_coef": 0.5,
        "vf_clip_coef": 0.2,
        "max_grad_norm": 0.5,
        "ent_coef": 0.005,
        "adam_beta1": 0.9,
        "adam_beta2": 0.999,
        "adam_eps": 1e-8,
        "data_dir": args.out,
        "checkpoint_interval": 200,
        "batch_size": "auto",
        "minibatch_size": args.minibatch_size,
        "max_minibatch_size": 32768,
        "bptt_horizon": args.num_steps,
        "compile": False,
        "compile_mode": "max-autotune-no-cudagraphs",
        "compile_fullgraph": True,
        "vtrace_rho_clip": 1.0,
        "vtrace_c_clip": 1.0,
        "prio_alpha": args.prio_alpha,
        "prio_beta0": 0.2,
        "use_rnn": False,
    }


def train(args: argparse.Namespace) -> tuple[Policy, int]:
    """Train as the settings say; the policy, whose weights lie in the folder of the run too, and its decisions."""
    torch.manual_seed(args.seed)
    games = {"env_id": args.env, "num_envs": args.num_envs, "opponent": args.opponent}
    env = pufferlib.vector.make(ThreeUpPuffer, env_kwargs=games, backend=pufferlib.PufferEnv)
    policy = Policy(env).to(args.device)
    trainer = PuffeRL(settings(args), env, policy)
    start = time.perf_counter()
    try:
        while (done := (time.perf_counter() - start) / (60 * args.minutes)) < 1:
            for group in trainer.optimizer.param_groups:
                group["lr"] = args.learning_rate * (1 - done)
            trainer.evaluate()
            trainer.train()
            if 0 < args.steps <= trainer.global_step:
                break
    finally:
        trainer.close()  # saves the weights, and ends a thread that would keep the program alive after an error
    return policy, trainer.global_step


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The settings that a command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--env", default="ThreeUp/2p-v0", help="ID of the environment")
    parser.add_argument("--opponent", default="greedy", help="who plays the other seats: a name or a policy file")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to train")
    parser.add_argument("--steps", type=int, default=0, help="end after so many steps, if that comes first; 0: never")
    parser.add_argument("--num-envs", type=int, default=1024, help="games side by side")
    parser.add_argument("--num-steps", type=int, default=64, help="steps of each game in a rollout")
    parser.add_argument("--minibatch-size", type=int, default=2048, help="decisions in a minibatch")
    parser.add_argument("--epochs", type=int, default=2, help="passes over a rollout")
    parser.add_argument(
        "--prio-alpha", type=float, default=0.0, help="how much games of large advantages are preferred"
    )
    parser.add_argument("--learning-rate", type=float, default=1e-3, help="at the start; falls to 0 in a straight line")
    parser.add_argument("--seed", type=int, default=1, help="seeds the deals, the weights and the draws")
    parser.add_argument("--device", default="cpu", help="where the network is: cpu, cuda, ...")
    parser.add_argument("--out", default="runs/pufferlib_ppo", help="folder for the weights")
    parser.add_argument("--games", type=int, default=10_000, help="duplicate games of the evaluation at the end")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, then measure."""
    args = parse(arguments)
    start = time.perf_counter()
    policy, steps = train(args)
    seconds = time.perf_counter() - start
    result = evaluate(args.env, policy, "greedy", games=args.games, seed=1)
    print(
        f"{steps:,} decisions, {steps / seconds:,.0f} a second; "
        f"against greedy {result.win_rate:.1%} ({result.ci_low:.1%} to {result.ci_high:.1%})"
    )


if __name__ == "__main__":
    main()
