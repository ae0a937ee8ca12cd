"""sb3-contrib's MaskablePPO with a leaner update: the same losses in fewer passes over memory."""

from __future__ import annotations

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from stable_baselines3.common.utils import explained_variance
from torch.nn.functional import log_softmax, mse_loss


class LeanMaskablePPO(MaskablePPO):
    """MaskablePPO for a CPU: its update computes what the loss needs and no distribution object."""

    def train(self) -> None:
        """Go through the rollout `n_epochs` times in shuffled batches."""
        policy, buffer = self.policy, self.rollout_buffer
        assert isinstance(buffer, MaskableRolloutBuffer)
        policy.set_training_mode(True)
        self._update_learning_rate(policy.optimizer)
        clip = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]
        sums = dict.fromkeys(("policy_gradient_loss", "value_loss", "entropy", "approx_kl", "clip_fraction"), 0.0)
        batches = 0
        for _ in range(self.n_epochs):
            for batch in buffer.get(self.batch_size):
                log_probs, entropy, values = self._evaluate(batch.observations, batch.actions, batch.action_masks)
                advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
                log_ratio = log_probs - batch.old_log_prob
                ratio = log_ratio.exp()
                policy_loss = -torch.min(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip)).mean()
                value_loss = mse_loss(values, batch.returns)
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
        self.logger.record(
            "train/explained_variance", explained_variance(buffer.values.flatten(), buffer.returns.flatten())
        )

    def _evaluate(
        self, observations: torch.Tensor, actions: torch.Tensor, masks: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log probabilities `(N,)` of actions, mean entropy `()`, and values `(N,)`."""
        policy = self.policy
        features = policy.extract_features(observations)
        policy_features, value_features = features if isinstance(features, tuple) else (features, features)
        logits = policy.action_net(policy_features).masked_fill(masks == 0, _NEVER)
        log_probs = log_softmax(logits, dim=1)
        # Where an action is illegal the probability is exactly 0, and so is its product with the finite logarithm.
        entropy = -(log_probs.exp() * log_probs).sum(dim=1).mean()
        chosen = log_probs.gather(1, actions.long()).squeeze(1)
        return chosen, entropy, policy.value_net(value_features).flatten()


_NEVER = float(np.float32(-1e8))
"""The logit of illegal actions, as sb3-contrib has it."""
