"""PPO in one file, in the manner of CleanRL: one network plays every seat of every game, and all seats learn.

    python -m training.examples.selfplay_ppo --minutes 10
    python -m training.examples.selfplay_ppo --env ThreeUp/4p-v0 --device cuda --num-games 8192

A step is one decision in each of `num_games` games, by whatever seat stands to decide. What follows a decision is
therefore not the next row of the rollout but the same player's next decision: see `estimate_advantages`. The run writes
TensorBoard logs and a policy file, which `threeup evaluate --agent FILE` plays.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, get_type_hints

import numpy as np
import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from threeup_env import Rules, SelfPlayBatch
from threeup_env.agents.networks import MLP
from threeup_env.agents.policy import make_header, save_policy
from threeup_env.evaluate import evaluate
from threeup_env.observation import observation_layout
from threeup_env.registration import rules_of


@dataclass(frozen=True)
class Args:
    """Settings, each of them an option of the command."""

    env: Annotated[str, "ID of the environment: whose rules are played"] = "ThreeUp/2p-v0"
    minutes: Annotated[float, "how long to train"] = 10.0
    updates: Annotated[int, "how many rollouts to learn from, instead of so many minutes; 0: as the minutes say"] = 0
    seed: Annotated[int, "seeds the deals, the weights and the draws"] = 1
    out: Annotated[str, "folder for the policy file and the logs"] = "runs/selfplay_ppo"
    device: Annotated[str, "where the network is: cpu, cuda, ..."] = "cpu"
    bfloat16: Annotated[bool, "matrix products in bfloat16: faster where the processor has it in hardware"] = True
    num_games: Annotated[int, "games side by side"] = 1024
    num_steps: Annotated[int, "decisions of each game in a rollout"] = 64
    epochs: Annotated[int, "passes over a rollout"] = 1
    num_minibatches: Annotated[int, "steps of the optimizer in a pass"] = 32
    hidden: Annotated[int, "units of each of the two hidden layers"] = 256
    learning_rate: Annotated[float, "at the start; falls to 0 in a straight line"] = 1.5e-3
    entropy: Annotated[float, "weight of the entropy at the start; falls to 0 in a straight line"] = 0.005
    gamma: Annotated[float, "discount from a decision of a player to their next"] = 0.98
    gae_lambda: Annotated[float, "lambda of the generalised advantage estimates"] = 0.95
    clip: Annotated[float, "how far the ratio of probabilities may move from 1"] = 0.2
    value_weight: Annotated[float, "weight of the value loss"] = 0.5
    max_grad_norm: Annotated[float, "gradients are scaled down to this norm"] = 0.5
    temperature: Annotated[float, "what the policy file's logits are divided by in play"] = 0.5
    games: Annotated[int, "duplicate games of the evaluation at the end"] = 10_000


class Network(nn.Module):
    """Two hidden layers, then a layer for the policy and one for the value; named as a policy file names them."""

    def __init__(self, rules: Rules, hidden: int, in_bfloat16: bool) -> None:
        super().__init__()
        self.in_bfloat16 = in_bfloat16
        size = observation_layout(rules).size
        self.hidden = nn.ModuleList([layer(size, hidden, 2**0.5), layer(hidden, hidden, 2**0.5)])
        self.action = layer(hidden, rules.num_actions, 0.01)
        self.value = layer(hidden, 1, 1.0)

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits, float32 `(N, A)`, of illegal actions -1e8, and values, float32 `(N,)`."""
        # For one pass alone: within the context weights stay as they were rounded first, whatever the optimizer does.
        with torch.autocast(observations.device.type, torch.bfloat16, enabled=self.in_bfloat16):
            features = observations.float()
            for hidden in self.hidden:
                features = torch.relu(hidden(features))
            logits, values = self.action(features), self.value(features)
        return logits.float().masked_fill(~masks, -1e8), values.float().squeeze(1)


def layer(inputs: int, outputs: int, scale: float) -> nn.Linear:
    """A layer with orthogonal weights and no bias at first, as CleanRL's."""
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, scale)
    nn.init.zeros_(linear.bias)
    return linear


def draw(logits: torch.Tensor) -> torch.Tensor:
    """An action for each row of float32 `(N, A)`, int64 `(N,)`; one of probability 0 is never drawn."""
    sums = logits.softmax(dim=1).cumsum(dim=1)
    # From (0, 1], so that the first sum to reach it belongs to an action with a probability.
    thresholds = (1 - torch.rand_like(sums[:, :1])) * sums[:, -1:]
    return torch.searchsorted(sums, thresholds).squeeze(1)


class Rollout:
    """T steps of N games of n seats: row t, column i is the decision that game i stood at in step t.

    Attributes:
        observations: int8 `(T, N, D)`.
        masks: bool `(T, N, A)`.
        players: Whose decision it was, int64 `(T, N)`.
        actions: int64 `(T, N)`.
        log_probs: Of the actions, float32 `(T, N)`.
        values: What the network expected for the player, float32 `(T, N)`.
        rewards: Of all seats, float32 `(T, N, n)`: 0 but where the step ended the game.
        ends: Whether the step ended the game, bool `(T, N)`.
    """

    def __init__(self, steps: int, batch: SelfPlayBatch, device: torch.device) -> None:
        shape = (steps, batch.num_games)
        self.observations = torch.zeros((*shape, batch.observation.shape[1]), dtype=torch.int8, device=device)
        self.masks = torch.zeros((*shape, batch.action_mask.shape[1]), dtype=torch.bool, device=device)
        self.players = torch.zeros(shape, dtype=torch.int64, device=device)
        self.actions = torch.zeros(shape, dtype=torch.int64, device=device)
        self.log_probs = torch.zeros(shape, device=device)
        self.values = torch.zeros(shape, device=device)
        self.rewards = torch.zeros((*shape, batch.rules.num_players), device=device)
        self.ends = torch.zeros(shape, dtype=torch.bool, device=device)


@torch.inference_mode()
def collect(network: Network, batch: SelfPlayBatch, rollout: Rollout) -> tuple[torch.Tensor, torch.Tensor]:
    """Play a rollout from where the games stand; whose decision it is then, int64 `(N,)`, and its value `(N,)`."""

    def now(array: np.ndarray) -> torch.Tensor:
        # The batch writes its arrays in place, but no sooner than `step`, which waits for the actions.
        return torch.from_numpy(array).to(rollout.values.device, non_blocking=True)

    for t in range(len(rollout.values)):
        rollout.observations[t] = now(batch.observation)
        rollout.masks[t] = now(batch.action_mask)
        rollout.players[t] = now(batch.player)
        logits, rollout.values[t] = network(rollout.observations[t], rollout.masks[t])
        rollout.actions[t] = draw(logits)
        rollout.log_probs[t] = logits.log_softmax(dim=1).gather(1, rollout.actions[t, :, None]).squeeze(1)
        batch.step(rollout.actions[t].cpu().numpy())
        rollout.rewards[t] = now(batch.reward)
        # A game cut at its limit pays 0 to all and is over like any other.
        rollout.ends[t] = now(batch.terminated | batch.truncated)
    _, values = network(now(batch.observation), now(batch.action_mask).bool())
    return now(batch.player).long(), values


def estimate_advantages(
    rollout: Rollout, next_players: torch.Tensor, next_values: torch.Tensor, gamma: float, gae_lambda: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Generalised advantage estimates (Schulman et al., 2016) along each player's own decisions.

    After a decision of a player comes their next decision in that game or, if there is none, the end of the game,
    whoever brought it about: the reward of each seat belongs to its last decision. A decision after which the rollout
    stops before either is known is not learnt from; its value stands for the rest in the player's earlier ones. That
    is one decision for each seat in a game that goes on, but for the seat to decide, whose next value is known.

    Args:
        rollout: T steps of N games.
        next_players: Whose decision follows the last step, int64 `(N,)`.
        next_values: Its value, float32 `(N,)`.
        gamma: Discount from a decision to the player's next.
        gae_lambda: Lambda.

    Returns:
        Advantages, float32 `(T, N)`, and whether to learn from them, bool `(T, N)`.
    """
    advantages = torch.zeros_like(rollout.values)
    known = torch.zeros_like(rollout.ends)
    # What comes after a decision of each seat, (N, n), while time runs backwards: the reward or the discounted value of
    # the seat's next decision, that decision's advantage, and whether the rollout tells.
    after = torch.zeros_like(rollout.rewards[0])
    advantage_after = torch.zeros_like(after)
    told = torch.zeros_like(after, dtype=torch.bool)
    after.scatter_(1, next_players[:, None], gamma * next_values[:, None])
    told.scatter_(1, next_players[:, None], True)
    for t in reversed(range(len(advantages))):
        player, ended = rollout.players[t, :, None], rollout.ends[t, :, None]
        after = torch.where(ended, rollout.rewards[t], after)
        advantage_after = advantage_after.masked_fill(ended, 0)
        told |= ended
        known[t] = told.gather(1, player).squeeze(1)
        error = after.gather(1, player).squeeze(1) - rollout.values[t]
        advantage = error + gamma * gae_lambda * advantage_after.gather(1, player).squeeze(1)
        advantages[t] = torch.where(known[t], advantage, 0)
        after.scatter_(1, player, gamma * rollout.values[t, :, None])
        advantage_after.scatter_(1, player, advantages[t, :, None])
        told.scatter_(1, player, True)
    return advantages, known


LOSSES = ("policy_loss", "value_loss", "entropy", "approx_kl", "clipfrac")


def learn(
    network: Network,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    advantages: torch.Tensor,
    known: torch.Tensor,
    entropy_weight: float,
    args: Args,
) -> dict[str, float]:
    """Go through the decisions of a rollout in shuffled minibatches; the means of what was minimised, by name."""
    decisions = known.flatten().nonzero().squeeze(1)
    observations, masks = rollout.observations.flatten(0, 1), rollout.masks.flatten(0, 1)
    actions, old_log_probs = rollout.actions.flatten(), rollout.log_probs.flatten()
    returns, advantages = (advantages + rollout.values).flatten(), advantages.flatten()
    sums = torch.zeros(len(LOSSES), device=advantages.device)
    for _ in range(args.epochs):
        shuffled = decisions[torch.randperm(len(decisions), device=decisions.device)]
        for chosen in shuffled.tensor_split(args.num_minibatches):
            # `index_select` is several times as fast as indexing, and `softmax` as `exp`, where rows are mostly masked.
            logits, values = network(observations.index_select(0, chosen), masks.index_select(0, chosen))
            log_probs = logits.log_softmax(dim=1)
            entropy = -(logits.softmax(dim=1) * log_probs).sum(dim=1).mean()
            log_ratio = log_probs.gather(1, actions[chosen, None]).squeeze(1) - old_log_probs[chosen]
            ratio = log_ratio.exp()
            advantage = advantages[chosen]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            policy_loss = -torch.min(advantage * ratio, advantage * clipped).mean()
            value_loss = nn.functional.mse_loss(values, returns[chosen])
            loss = policy_loss + args.value_weight * value_loss - entropy_weight * entropy

            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), args.max_grad_norm)
            optimizer.step()

            with torch.no_grad():
                divergence, outside = (ratio - 1 - log_ratio).mean(), (ratio != clipped).float().mean()
                sums += torch.stack([policy_loss, value_loss, entropy, divergence, outside])
    means = sums / (args.epochs * args.num_minibatches)
    return dict(zip(LOSSES, means.tolist(), strict=True))


def train(args: Args) -> Path:
    """Train as the settings say; the path of the policy file."""
    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    rules = rules_of(args.env)
    batch = SelfPlayBatch(rules, args.num_games, seed=args.seed, num_threads=torch.get_num_threads())
    network = Network(rules, args.hidden, args.bfloat16).to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=args.learning_rate, eps=1e-5, fused=True)
    rollout = Rollout(args.num_steps, batch, device)
    folder = Path(args.out)

    decisions, updates, done = 0, 0, 0.0
    start = time.perf_counter()
    with SummaryWriter(str(folder)) as writer, tqdm(total=100, unit="%") as bar:
        while done < 1:
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - done)
            next_players, next_values = collect(network, batch, rollout)
            advantages, known = estimate_advantages(rollout, next_players, next_values, args.gamma, args.gae_lambda)
            losses = learn(network, optimizer, rollout, advantages, known, args.entropy * (1 - done), args)
            updates += 1
            decisions += int(known.sum())
            seconds = time.perf_counter() - start
            speed = round(decisions / seconds)
            for name, value in losses.items():
                writer.add_scalar(f"losses/{name}", value, decisions)
            writer.add_scalar("charts/SPS", speed, decisions)
            writer.add_scalar("charts/learning_rate", optimizer.param_groups[0]["lr"], decisions)
            done = min(1.0, updates / args.updates if args.updates else seconds / (60 * args.minutes))
            bar.set_postfix(decisions=f"{decisions:,}", SPS=f"{speed:,}", refresh=False)
            bar.update(round(100 * done) - bar.n)
    print(f"{decisions:,} decisions in {seconds:.0f} s: {speed:,} a second")

    path = folder / "policy.safetensors"
    weights = {name: tensor.numpy(force=True) for name, tensor in network.state_dict().items() if "value" not in name}
    shape = MLP(hidden=(args.hidden, args.hidden))
    training = asdict(args) | {"decisions": decisions, "seconds": round(seconds)}
    save_policy(path, weights, make_header(rules, shape, training, temperature=args.temperature))
    return path


def parse(arguments: Sequence[str] | None = None) -> Args:
    """The settings that a command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    hints = get_type_hints(Args, include_extras=True)
    for field in fields(Args):
        parser.add_argument(
            "--" + field.name.replace("_", "-"),
            default=field.default,
            help=hints[field.name].__metadata__[0],
            **{"action": argparse.BooleanOptionalAction} if field.default is True else {"type": type(field.default)},
        )
    return Args(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    args = parse()
    policy = train(args)
    result = evaluate(args.env, str(policy), "greedy", games=args.games, seed=1)
    print(f"against greedy {result.win_rate:.1%} ({result.ci_low:.1%} to {result.ci_high:.1%}): {policy}")
