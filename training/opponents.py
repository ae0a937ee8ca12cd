"""Who the learner plays against: fixed agents, the newest copy of itself, and older ones."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from threeup_env.agents import Agent, make_agent
from threeup_env.learner import LearnerBatch
from threeup_env.rules import Rules
from training.config import PAST, SELF


class Snapshot:
    """A frozen copy of the learner's policy.

    Args:
        policy: The learner's policy as it is now.
        rules: The rules it plays under.
        generator: What it draws with.
        temperature: What its logits are divided by; 0 takes the likeliest actions.

    Attributes:
        rules: The rules it plays under.
    """

    def __init__(
        self,
        policy: MaskableActorCriticPolicy,
        rules: Rules,
        generator: np.random.Generator,
        temperature: float = 1.0,
    ) -> None:
        self.rules = rules
        self._trunk = copy.deepcopy(policy.pi_features_extractor).requires_grad_(False)
        self._action = copy.deepcopy(policy.action_net).requires_grad_(False)
        self._generator = generator
        self._temperature = np.float32(temperature)

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """The action for an observation, int8 `(D,)`, and a mask, int8 `(A,)`."""
        return int(self.act_batch(observation[None], action_mask[None])[0])

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """The actions for observations, int8 `(N, D)`, and masks, int8 `(N, A)`, as int64 `(N,)`."""
        with torch.inference_mode():
            logits: npt.NDArray[np.float32] = self._action(self._trunk(torch.from_numpy(observations).float())).numpy()
        # The maximum of logits with Gumbel noise is a draw by their softmax. A noise of zero, which float32 may
        # hold, only makes a legal action certain.
        noise = self._generator.standard_exponential(logits.shape, np.float32)
        with np.errstate(divide="ignore"):
            logits -= self._temperature * np.log(noise, out=noise)
        logits[action_masks == 0] = -np.inf
        actions: npt.NDArray[np.int64] = np.argmax(logits, axis=1)
        return actions


class Opponents:
    """The mix of opponents in a batch, and the snapshots that it draws on.

    Args:
        weights: Weight of each opponent: an agent's name, the path of a policy file, `self` or `past`.
        keep: How many snapshots are kept.
        rules: The rules of the games.
        seed: Seeds the draws of all opponents.
    """

    def __init__(self, weights: Mapping[str, float], keep: int, rules: Rules, seed: np.random.SeedSequence) -> None:
        self._weights = dict(weights)
        self._keep = keep
        self._rules = rules
        self._generator = np.random.default_rng(seed)
        self._snapshots: list[Snapshot] = []
        self._fixed: dict[str, Agent] = {
            name: make_agent(name, rules, int(self._generator.integers(2**32)))
            for name in weights
            if name not in (SELF, PAST)
        }

    def add_snapshot(self, policy: MaskableActorCriticPolicy, batch: LearnerBatch) -> None:
        """Take a copy of the learner into the mix; games that begin from now on may meet it."""
        if SELF not in self._weights and PAST not in self._weights:
            return
        self._snapshots.append(Snapshot(policy, self._rules, self._generator))
        del self._snapshots[: -self._keep]
        self.enter(batch)

    def enter(self, batch: LearnerBatch) -> None:
        """Let new games of a batch draw their opponents from the mix."""
        agents: list[Agent] = []
        weights: list[float] = []
        for name, weight in self._weights.items():
            members: list[Agent]
            if name in self._fixed:
                members = [self._fixed[name]]
            else:
                members = [*self._snapshots[-1:]] if name == SELF else [*self._snapshots]
            agents += members
            weights += [weight / len(members)] * len(members)
        batch.set_opponents(agents, weights)
