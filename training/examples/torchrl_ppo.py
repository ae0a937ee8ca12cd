"""TorchRL: masked PPO for one seat against `greedy`, through Gymnasium's vector form of the game.

`GymWrapper` takes the whole batch of games as one environment. The mask comes with the info of each step; TorchRL makes
it one more entry of its tensordicts, and `MaskedCategorical` gives illegal actions no chance. A loss on an opponent's
move is the reward of the learner's own last decision, so no credit has to be put right.

    python -m training.examples.torchrl_ppo --minutes 10
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import gymnasium
import numpy as np
import numpy.typing as npt
import torch
from gymnasium.vector import AutoresetMode
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
from torchrl.envs import DTypeCastTransform, ExplorationType, TransformedEnv, set_exploration_type
from torchrl.envs.libs.gym import GymWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE
from tqdm import tqdm

import threeup_env  # noqa: F401  # registers the environments
from threeup_env.evaluate import evaluate

HIDDEN = (256, 256)
EPOCHS = 3
MINIBATCH = 2048
LEARNING_RATE = 1e-3


def make_env(env_id: str, games: int, seed: int) -> TransformedEnv:
    """`games` games as one TorchRL environment: `observation` float32 `(games, D)`, `action_mask` bool `(games, A)`."""
    # SAME_STEP, and the mask in infos: TorchRL takes neither NEXT_STEP nor the last observations of a Dict space.
    envs = gymnasium.make_vec(env_id, num_envs=games, opponent="greedy", autoreset_mode=AutoresetMode.SAME_STEP)
    env = GymWrapper(envs, categorical_action_encoding=True)
    env.append_transform(DTypeCastTransform(torch.int8, torch.float32, in_keys=["observation"]))
    env.append_transform(DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"]))
    env.set_seed(seed)
    return env


def make_policy(env: TransformedEnv) -> ProbabilisticActor:
    """A policy over the legal actions: reads `observation` and `action_mask`, writes `action` and its probability."""
    size, actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    network = MLP(in_features=size, out_features=actions, num_cells=HIDDEN, activation_class=torch.nn.Tanh)
    return ProbabilisticActor(
        TensorDictModule(network, in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        spec=env.action_spec,
        return_log_prob=True,
    )


class Player:
    """The policy as an agent of this project: it plays its likeliest action."""

    def __init__(self, policy: ProbabilisticActor) -> None:
        self.policy = policy

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """The action for one observation, int8 `(D,)`, and its mask, int8 `(A,)`."""
        return int(self.act_batch(observation[None], action_mask[None])[0])

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """The actions, int64 `(N,)`, for observations, int8 `(N, D)`, and masks, int8 `(N, A)`."""
        seen = {"observation": torch.tensor(observations).float(), "action_mask": torch.tensor(action_masks).bool()}
        with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
            actions: npt.NDArray[np.int64] = self.policy(TensorDict(seen, [len(observations)]))["action"].numpy()
        return actions


def train(args: argparse.Namespace) -> tuple[ProbabilisticActor, int, float]:
    """The policy after `args.updates` updates or `args.minutes`, its decisions, and the seconds they took."""
    torch.manual_seed(args.seed)
    env = make_env(args.env, args.games, args.seed)
    policy = make_policy(env)
    size = env.observation_spec["observation"].shape[-1]
    critic = ValueOperator(MLP(in_features=size, out_features=1, num_cells=HIDDEN, activation_class=torch.nn.Tanh))
    frames = args.games * args.steps
    collector = Collector(env, policy, frames_per_batch=frames, total_frames=-1, auto_register_policy_transforms=False)
    advantage = GAE(gamma=0.995, lmbda=0.95, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(policy, critic, clip_epsilon=0.2, entropy_coeff=0.005, critic_coeff=0.5, loss_critic_type="l2")
    optimizer = torch.optim.Adam(loss.parameters(), lr=LEARNING_RATE, eps=1e-5)
    buffer = ReplayBuffer(
        storage=LazyTensorStorage(frames), sampler=SamplerWithoutReplacement(), batch_size=min(MINIBATCH, frames)
    )
    decisions, won, share, started = 0, 0.5, 0.0, time.monotonic()
    with tqdm(desc=args.env, unit=" decisions", unit_scale=True) as bar:
        for update, rollout in enumerate(collector, start=1):
            with torch.no_grad():
                advantage(rollout)
            buffer.extend(rollout.reshape(-1))
            for group in optimizer.param_groups:
                group["lr"] = LEARNING_RATE * (1 - share)
            for _ in range(EPOCHS):
                for batch in buffer:
                    losses = loss(batch)
                    optimizer.zero_grad()
                    (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
                    torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                    optimizer.step()
            decisions += rollout.numel()
            results = rollout["next", "reward"][rollout["next", "done"]]
            if len(results):
                won = 0.9 * won + 0.1 * float((results > 0).float().mean())
            bar.update(rollout.numel())
            bar.set_postfix(won=f"{won:.2f}", entropy=f"{float(losses['entropy']):.2f}")
            seconds = time.monotonic() - started
            share = update / args.updates if args.updates else seconds / (60 * args.minutes)
            if share >= 1:
                break
    collector.shutdown()
    return policy, decisions, seconds


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """The command's options."""
    parser = argparse.ArgumentParser(description="Masked PPO with TorchRL")
    parser.add_argument("--env", default="ThreeUp/2p-v0", help="ID of the environment")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to train")
    parser.add_argument("--updates", type=int, help="how many updates to make, instead of --minutes")
    parser.add_argument("--games", type=int, default=256, help="games side by side")
    parser.add_argument("--steps", type=int, default=64, help="decisions of each game from one update to the next")
    parser.add_argument("--evaluation", type=int, default=10_000, help="games of the evaluation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/torchrl"), help="folder of the policy")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Train, save the policy, play it against `greedy`."""
    args = parse(argv)
    policy, decisions, seconds = train(args)
    args.out.mkdir(parents=True, exist_ok=True)
    torch.save(policy.state_dict(), args.out / "policy.pt")
    result = evaluate(args.env, Player(policy), "greedy", args.evaluation, args.seed)
    print(
        f"{decisions:,} decisions, {decisions / seconds:,.0f} a second; won {result.win_rate:.1%} against greedy "
        f"(95 %: {result.ci_low:.1%} to {result.ci_high:.1%})"
    )


if __name__ == "__main__":
    main()
