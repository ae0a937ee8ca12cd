"""sb3-contrib's MaskablePPO with leaner loops: the same algorithm in fewer passes over memory.

Its rollouts come straight from a `LearnerBatch`, observations and masks are kept as the bytes they are, and the
update computes what the losses need and no distribution object. The matrix products may run in bfloat16, which is
two to three times as fast on processors that have it in hardware; weights and losses are float32 always.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import explained_variance
from torch.nn.functional import log_softmax, mse_loss, softmax

from threeup_env.learner import LearnerBatch
from training.networks import ActorCritic

Precision = Literal["float32", "bfloat16"]
"""In what the matrix products are computed."""

NEVER: Final = float(np.float32(-1e8))
"""The logit of illegal actions, as sb3-contrib has it."""


class Rollout:
    """What happened in `steps` steps of N games; row t, column i is step t of game i.

    Attributes:
        observations: int8 `(T, N, D)`.
        hidden_cards: What the critic alone is shown, int8 `(T, N, H)`.
        masks: bool `(T, N, A)`.
        actions: int64 `(T, N)`.
        log_probs: Of the actions, float32 `(T, N)`.
        values: What the value network expected, float32 `(T, N)`.
        rewards: float32 `(T, N)`.
        ends: Whether the step ended a game, bool `(T, N)`.
        advantages: float32 `(T, N)`.
        returns: float32 `(T, N)`.
    """

    def __init__(self, steps: int, batch: LearnerBatch, hidden_cards: int) -> None:
        shape = (steps, batch.num_envs)
        self.observations = torch.zeros((*shape, batch.observation.shape[1]), dtype=torch.int8)
        self.hidden_cards = torch.zeros((*shape, hidden_cards), dtype=torch.int8)
        self.masks = torch.zeros((*shape, batch.action_mask.shape[1]), dtype=torch.bool)
        self.actions = torch.zeros(shape, dtype=torch.int64)
        self.ends = torch.zeros(shape, dtype=torch.bool)
        self.log_probs, self.values, self.rewards, self.advantages, self.returns = torch.zeros((5, *shape)).unbind()

    def estimate(self, last_values: torch.Tensor, discount: float, gae_lambda: float) -> None:
        """Generalised advantage estimates (Schulman et al., 2016); `last_values` are those after the last step."""
        advantage = torch.zeros_like(last_values)
        following = last_values
        for step in reversed(range(len(self.rewards))):
            goes_on = (~self.ends[step]).float()
            error = self.rewards[step] + discount * goes_on * following - self.values[step]
            advantage = error + discount * gae_lambda * goes_on * advantage
            self.advantages[step] = advantage
            following = self.values[step]
        torch.add(self.advantages, self.values, out=self.returns)


def forward(
    policy: ActorCritic, observations: torch.Tensor, hidden_cards: torch.Tensor, precision: Precision
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits, float32 `(N, A)`, and values, float32 `(N,)`.

    Args:
        policy: The networks.
        observations: int8 `(N, D)`.
        hidden_cards: What the critic alone is shown, int8 `(N, H)`; H is 0 where it is shown nothing.
        precision: In what the matrix products are computed.
    """
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
        features = policy.extract_features(observations.float())
        for_policy, for_value = features if isinstance(features, tuple) else (features, features)
        logits, values = policy.action_net(for_policy), policy.judge(for_value, hidden_cards)
    return logits.float(), values.float()


def draw(probabilities: torch.Tensor) -> torch.Tensor:
    """An action for each row of float32 `(N, A)`, int64 `(N,)`; one of probability 0 is never drawn."""
    sums = probabilities.cumsum(dim=1)
    # From (0, 1], so that the first sum to reach it belongs to an action with a probability.
    thresholds = (1 - torch.rand(len(sums), 1)) * sums[:, -1:]
    return torch.searchsorted(sums, thresholds)[:, 0]


class LeanMaskablePPO(MaskablePPO):
    """MaskablePPO for a CPU.

    Args:
        precision: In what the matrix products are computed.
        arguments: As for MaskablePPO; its policy is an `ActorCritic`, its environment a `ThreeUpVecEnv`.

    Attributes:
        rollout: The last rollout.
    """

    policy: ActorCritic

    def __init__(self, *arguments: Any, precision: Precision = "float32", **named: Any) -> None:
        self.precision: Precision = precision
        super().__init__(*arguments, **named)
        self._sees_all = self.policy.critic_units > 0
        hidden_cards = self.policy.hidden_cards if self._sees_all else 0
        self.rollout = Rollout(self.n_steps, self.env.batch, hidden_cards)  # type: ignore[union-attr]

    def _hidden_cards(self, batch: LearnerBatch) -> torch.Tensor:
        """What the critic alone is shown of the positions that a batch stands at."""
        shown = batch.hidden_cards() if self._sees_all else np.zeros((batch.num_envs, 0), np.int8)
        return torch.from_numpy(shown)

    @torch.inference_mode()
    def collect(self, batch: LearnerBatch, after_step: Callable[[LearnerBatch], None]) -> None:
        """Play `n_steps` steps in every game of a batch, from where it stands, into `rollout`.

        Args:
            batch: The games.
            after_step: Called with the batch after every step.
        """
        rollout = self.rollout
        for step in range(self.n_steps):
            rollout.observations[step] = torch.from_numpy(batch.observation)
            rollout.masks[step] = torch.from_numpy(batch.action_mask)
            rollout.hidden_cards[step] = self._hidden_cards(batch)
            logits, rollout.values[step] = forward(
                self.policy, rollout.observations[step], rollout.hidden_cards[step], self.precision
            )
            logits.masked_fill_(~rollout.masks[step], NEVER)
            actions = draw(softmax(logits, dim=1))
            rollout.actions[step] = actions
            rollout.log_probs[step] = log_softmax(logits, dim=1).gather(1, actions[:, None])[:, 0]
            batch.step(actions.numpy())
            assert batch.action_mask.any(axis=1).all(), "a running game has no legal action"
            after_step(batch)
            rollout.rewards[step] = torch.from_numpy(batch.reward)
            if batch.truncated.any():
                # A game that met its limit would have gone on: the value of its last position stands for the rest.
                cut = torch.from_numpy(batch.truncated)
                finals = torch.from_numpy(batch.final_observation)[cut]
                # The games have been dealt anew, so of these positions the hidden cards are gone: no card is shown.
                nothing = torch.zeros_like(rollout.hidden_cards[step, cut])
                rollout.rewards[step, cut] += self.gamma * forward(self.policy, finals, nothing, self.precision)[1]
            rollout.ends[step] = torch.from_numpy(batch.terminated | batch.truncated)
        observations, hidden_cards = torch.from_numpy(batch.observation), self._hidden_cards(batch)
        last_values = forward(self.policy, observations, hidden_cards, self.precision)[1]
        rollout.estimate(last_values, self.gamma, self.gae_lambda)
        self.num_timesteps += rollout.actions.numel()

    def train(self) -> None:
        """Go through the rollout `n_epochs` times in shuffled batches."""
        policy, rollout = self.policy, self.rollout
        policy.set_training_mode(True)
        self._update_learning_rate(policy.optimizer)
        clip = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]
        sums = dict.fromkeys(("policy_gradient_loss", "value_loss", "entropy", "approx_kl", "clip_fraction"), 0.0)
        batches = 0
        observations, hidden_cards = rollout.observations.flatten(0, 1), rollout.hidden_cards.flatten(0, 1)
        masks = rollout.masks.flatten(0, 1)
        actions, old_log_probs = rollout.actions.flatten(), rollout.log_probs.flatten()
        all_advantages, returns = rollout.advantages.flatten(), rollout.returns.flatten()
        assert self.batch_size is not None
        for _ in range(self.n_epochs):
            order = torch.from_numpy(np.random.permutation(len(actions)))  # noqa: NPY002  (as SB3 does)
            for chosen in torch.split(order, self.batch_size):
                logits, values = forward(
                    policy,
                    observations.index_select(0, chosen),
                    hidden_cards.index_select(0, chosen),
                    self.precision,
                )
                logits = logits.masked_fill(~masks.index_select(0, chosen), NEVER)
                all_log_probs = log_softmax(logits, dim=1)
                # Where an action is illegal the probability is exactly 0, and so is its product with the logarithm.
                entropy = -(softmax(logits, dim=1) * all_log_probs).sum(dim=1).mean()
                log_probs = all_log_probs.gather(1, actions[chosen, None])[:, 0]
                advantages = all_advantages[chosen]
                advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
                log_ratio = log_probs - old_log_probs[chosen]
                ratio = log_ratio.exp()
                policy_loss = -torch.min(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip)).mean()
                value_loss = mse_loss(values, returns[chosen])
                loss = policy_loss + self.vf_coef * value_loss - self.ent_coef * entropy

                policy.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(policy.parameters(), self.max_grad_norm)
                policy.optimizer.step()

                batches += 1
                with torch.no_grad():
                    sums["policy_gradient_loss"] += policy_loss.item()
                    sums["value_loss"] += value_loss.item()
                    sums["entropy"] += entropy.item()
                    sums["approx_kl"] += (ratio - 1 - log_ratio).mean().item()
                    sums["clip_fraction"] += ((ratio - 1).abs() > clip).float().mean().item()
            self._n_updates += 1
        for name, total in sums.items():
            self.logger.record(f"train/{name}", total / batches)
        explained = explained_variance(rollout.values.flatten().numpy(), returns.numpy())
        self.logger.record("train/explained_variance", explained)
