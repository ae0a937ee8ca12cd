"""Lessons: the policy is fitted to what search finds each action to be worth, before it plays for itself.

Of one game PPO learns who won it, which says little of a single decision among several players. A lesson tells of each
position what *every* legal action is worth, measured in the same imagined games (`threeup_env.core.lesson`).

The logits of a policy so fitted are values, in units of `UNIT`: played at a low `temperature` it takes the action that
looks best.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import mse_loss

from threeup_env.actions import NUM_ACTIONS
from threeup_env.core import search as core
from threeup_env.core.lesson import collect_positions
from threeup_env.core.random import seed_words
from threeup_env.core.state import OVER, STATE, pack_rules
from threeup_env.game import REWARDS
from threeup_env.observation import observation_layout
from threeup_env.rules import Rules
from training.config import Config
from training.networks import ActorCritic
from training.ppo import Precision

GAMES: Final = 1024
"""Games that the positions come from."""
MOST_ACTIONS: Final = 32
"""Positions with more legal actions are left out."""
UNIT: Final = 0.05
"""Reward that a logit of 1 stands for: about the spread of the values in a position."""
MEAN_WEIGHT: Final = 0.05
"""Weight of the loss of the mean value of a position's actions, which teaches the hidden layers how a game stands."""


class Lessons:
    """Positions with the value of each action, in the order they are drawn.

    Args:
        rules: The rules.
        config: The settings of the run; `config.lessons` says how positions are drawn.

    Attributes:
        observations: int8 `(M, D)`.
        actions: int16 `(M, K)`; 0 where a position has fewer.
        values: What they are worth, as rewards, float32 `(M, K)`; 0 where a position has fewer.
        counts: The number of actions, int64 `(M,)`.
    """

    def __init__(self, rules: Rules, config: Config) -> None:
        settings = config.lessons
        size = settings.size
        seeds = np.random.SeedSequence([config.seed, 1]).spawn(GAMES)
        self._switches = pack_rules(rules)
        self._search = np.zeros(1, core.SETTING)
        self._search["reward"] = REWARDS[config.reward]
        self._search["max_decisions"] = min(rules.max_decisions, np.iinfo(np.int32).max)
        self._games = settings.games
        self._early, self._follow = (round(share * core.CHANCES) for share in (settings.early, settings.follow))
        self._states = np.zeros(GAMES, STATE)
        self._states["rng"] = [seed_words(seed) for seed in seeds]
        self._states["phase"] = OVER
        self._seats = np.arange(GAMES) % rules.num_players
        self._tables = np.zeros(core.NUM_TABLES, STATE)
        self._arms = np.zeros(NUM_ACTIONS, core.ARM)
        self.observations = np.zeros((size, observation_layout(rules).size), np.int8)
        self.actions = np.zeros((size, MOST_ACTIONS), np.int16)
        self.values = np.zeros((size, MOST_ACTIONS), np.float32)
        self.counts = np.zeros(size, np.int64)

    def draw(self) -> None:
        """Write the next positions into the arrays."""
        self.actions[:] = 0
        self.values[:] = 0
        collect_positions(
            self._states, self._seats, self._switches, self._search, self._tables, self._arms, self._games,
            self._early, self._follow, self.observations, self.actions, self.values, self.counts,
        )  # fmt: skip

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All that the next positions hang on."""
        return {"states": self._states, "seats": self._seats}

    def load_state_dict(self, saved: dict[str, npt.NDArray[Any]]) -> None:
        """Go on where `state_dict` was taken."""
        self._states, self._seats = saved["states"], saved["seats"]


def study(
    policy: ActorCritic, lessons: Lessons, batch_size: int, epochs: int, learning_rate: float, precision: Precision
) -> dict[str, float]:
    """Go through the positions in shuffled batches.

    The loss is the squared distance between logits and values, each less its mean over the position's actions, and,
    times MEAN_WEIGHT, that between what the policy's `lesson_value_net` says and the mean of the values; all in units
    of UNIT. To fit the two apart is a dueling network (Wang et al., 2016).

    Args:
        policy: The networks; that of the value is left alone.
        lessons: Positions, drawn.
        batch_size: Positions that a gradient is taken from.
        epochs: How often each position is gone through.
        learning_rate: Step size of Adam.
        precision: In what the matrix products are computed.

    Returns:
        Of the first time through, when the positions were new: `value_error`, the mean loss of the logits in a
        position; `explained` and `explained_mean`, the shares of the variance of values and means that are explained.
    """
    policy.set_training_mode(True)
    for group in policy.optimizer.param_groups:
        group["lr"] = learning_rate
    observations, actions = torch.from_numpy(lessons.observations), torch.from_numpy(lessons.actions)
    values, counts = torch.from_numpy(lessons.values) / UNIT, torch.from_numpy(lessons.counts)
    means = values.sum(1) / counts
    left = everything = left_mean = 0.0
    for epoch in range(epochs):
        for chosen in torch.split(torch.randperm(len(counts)), batch_size):
            count = counts[chosen]
            width = int(count.max())
            legal = torch.arange(width) < count[:, None]
            logits, mean = _forward(policy, observations[chosen], precision)
            wanted = _centre(values[chosen, :width], legal)
            given = _centre(logits.gather(1, actions[chosen, :width].long()), legal)
            loss = (given - wanted).square().sum() / len(chosen)
            loss_mean = mse_loss(mean, means[chosen])
            policy.optimizer.zero_grad()
            (loss + MEAN_WEIGHT * loss_mean).backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 10.0)
            policy.optimizer.step()
            if epoch == 0:
                left += loss.item() * len(chosen)
                left_mean += loss_mean.item() * len(chosen)
                everything += wanted.square().sum().item()
    spread = means.var(correction=0).item() * len(means)
    return {
        "value_error": left / len(counts),
        "explained": 1 - left / max(everything, 1e-9),
        "explained_mean": 1 - left_mean / max(spread, 1e-9),
    }


def _forward(
    policy: ActorCritic, observations: torch.Tensor, precision: Precision
) -> tuple[torch.Tensor, torch.Tensor]:
    """The policy's logits, float32 `(N, A)`, and the mean value of the actions, float32 `(N,)`, in units of UNIT."""
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
        features = policy.pi_features_extractor(observations.float())
        logits, means = policy.action_net(features), policy.lesson_value_net(features)
    return logits.float(), means.float().flatten()


def _centre(numbers: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Numbers `(N, K)` less the mean of the legal ones of their row; 0 where illegal."""
    means = (numbers * legal).sum(1, keepdim=True) / legal.sum(1, keepdim=True)
    return (numbers - means) * legal
