"""The league: who the learner plays against, and how it does against each of them.

Every seat of every game draws its opponent from a mix: fixed agents (`greedy`, a policy file), the newest copy of the
learner (`self`) and older ones (`past`). Among the older ones, those that the learner loses to may come more often
(prioritised fictitious self-play; Vinyals et al., 2019). All of them play batched, inside the games of the learner.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from threeup_env.agents import Agent, make_agent
from threeup_env.learner import LearnerBatch
from threeup_env.rules import Rules
from training.config import PAST, SELF, SnapshotSettings
from training.ppo import NEVER, Precision, draw

DECAY: Final = 0.8
"""What results still count after each new mix."""
PRIOR_GAMES: Final = 20.0
"""Results start as if so many games had been won at the fair rate."""


class Snapshot:
    """A frozen copy of the learner's policy.

    Args:
        policy: The learner's policy as it is now.
        rules: The rules it plays under.
        rollout: When it was taken: after so many rollouts.
        temperature: What its logits are divided by, above 0.
        precision: In what its matrix products are computed.

    Attributes:
        rules: The rules it plays under.
        rollout: When it was taken.
    """

    def __init__(
        self,
        policy: MaskableActorCriticPolicy,
        rules: Rules,
        rollout: int = 0,
        temperature: float = 1.0,
        precision: Precision = "float32",
    ) -> None:
        self.rules = rules
        self.rollout = rollout
        self._dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
        self._trunk = copy.deepcopy(policy.pi_features_extractor).requires_grad_(False).to(self._dtype)
        self._action = copy.deepcopy(policy.action_net).requires_grad_(False).to(self._dtype)
        self._temperature = temperature

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """The action for an observation, int8 `(D,)`, and a mask, int8 `(A,)`."""
        return int(self.act_batch(observation[None], action_mask[None])[0])

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """The actions for observations, int8 `(N, D)`, and masks, int8 `(N, A)`, as int64 `(N,)`."""
        with torch.inference_mode():
            features = self._trunk(torch.from_numpy(observations).to(self._dtype))
            logits = self._action(features).float() / self._temperature
            logits.masked_fill_(torch.from_numpy(action_masks) == 0, NEVER)
            actions: npt.NDArray[np.int64] = draw(torch.softmax(logits, dim=1)).numpy()
        return actions


@dataclass
class Member:
    """An opponent of the league.

    Attributes:
        name: What it is called in the log: an agent's name, or `past/ROLLOUT`.
        agent: Who plays.
        games: Seats it had in games that ended, older ones counting less.
        won: The learner's wins in these games, likewise.
    """

    name: str
    agent: Agent
    games: float = 0.0
    won: float = 0.0


class League:
    """The mix of opponents in a batch, and the snapshots that it draws on.

    Args:
        weights: Weight of each opponent: an agent's name, the path of a policy file, `self` or `past`.
        snapshots: How many are kept, and which of them come more often.
        rules: The rules of the games.
        precision: In what the snapshots compute.

    Attributes:
        members: Fixed opponents first, then the snapshots, oldest first.
        mix: Share of each opponent in the games that begin now, by its name in the log.
    """

    def __init__(
        self, weights: Mapping[str, float], snapshots: SnapshotSettings, rules: Rules, precision: Precision
    ) -> None:
        self._weights = dict(weights)
        self._settings = snapshots
        self._rules = rules
        self._precision: Precision = precision
        self.members = [Member(name, make_agent(name, rules)) for name in weights if name not in (SELF, PAST)]
        self.mix: dict[str, float] = {}

    @property
    def snapshots(self) -> list[Member]:
        """The members that are snapshots, oldest first."""
        return [member for member in self.members if isinstance(member.agent, Snapshot)]

    def add_snapshot(self, policy: MaskableActorCriticPolicy, rollout: int, batch: LearnerBatch) -> None:
        """Take a copy of the learner into the mix, and draw the mix anew: games that begin from now on meet it."""
        if SELF in self._weights or PAST in self._weights:
            snapshot = Snapshot(policy, self._rules, rollout, precision=self._precision)
            self.members.append(Member(f"past/{rollout}", snapshot))
            for oldest in self.snapshots[: -self._settings.keep]:
                self.members.remove(oldest)
        self.enter(batch)

    def enter(self, batch: LearnerBatch) -> None:
        """Let new games of a batch draw their opponents from the mix as it should be now."""
        shares = self._shares()
        total = sum(shares)
        self.mix = {member.name: share / total for member, share in zip(self.members, shares, strict=True)}
        batch.set_opponents([member.agent for member in self.members], shares)
        for member in self.members:
            member.games *= DECAY
            member.won *= DECAY

    def record(self, batch: LearnerBatch) -> None:
        """Take in the results of the games that ended with the last step of a batch."""
        ended = np.flatnonzero(batch.terminated | batch.truncated)
        if len(ended) == 0:
            return
        won = batch.reward[ended] > 0
        seated = batch.last_opponents[ended]
        place_of = {id(agent): place for place, agent in enumerate(batch.opponents)}
        for member in self.members:
            seats = (seated == place_of[id(member.agent)]).sum(axis=1)
            member.games += float(seats.sum())
            member.won += float(seats[won].sum())

    def win_rate(self, member: Member) -> float:
        """The learner's win rate in games with a member, drawn to the fair rate while there are few."""
        fair = 1 / self._rules.num_players
        return (member.won + PRIOR_GAMES * fair) / (member.games + PRIOR_GAMES)

    def _shares(self) -> list[float]:
        """The weight of each member."""
        snapshots = self.snapshots
        priorities = [self._priority(member) for member in snapshots]
        shares = []
        for member in self.members:
            if member not in snapshots:
                shares.append(self._weights[member.name])
                continue
            share = self._weights.get(PAST, 0.0) * priorities[snapshots.index(member)] / sum(priorities)
            if member is snapshots[-1]:
                share += self._weights.get(SELF, 0.0)
            shares.append(share)
        return shares

    def _priority(self, member: Member) -> float:
        """How often a snapshot comes among the snapshots."""
        if self._settings.priority == "uniform":
            return 1.0
        return float(max(1.0 - self.win_rate(member), 1e-3) ** self._settings.power)
