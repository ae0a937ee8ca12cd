"""The contract of `SelfPlayBatch`: every seat of many games, in arrays that are written in place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from ..errors import IllegalActionError
from ..game import Game
from ..observation import observation_layout
from ..rules import Rules
from . import common
from .contract import Array, Face, Masks, Trial, advance, pick, table

ARRAYS: Final = ("player", "observation", "action_mask", "reward", "terminated", "truncated")
TOLERANCE: Final = 1e-6


class SelfPlayFace(Face):
    """`SelfPlayBatch`: a row for each game."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed)

    def step(self, actions: Array) -> None:
        self.env.step(actions)

    def said(self) -> dict[str, Array]:
        return {name: getattr(self.env, name) for name in ARRAYS}

    def handed_out(self) -> dict[str, Array]:
        return {}

    def masks(self) -> Array:
        masks: Array = self.env.action_mask
        return masks

    def all_masks(self) -> Iterable[Masks]:
        for row, mask in enumerate(self.env.action_mask):
            yield Masks(f"game {row}", True, {"action_mask": mask})

    def accepts(self, row: int, action: int) -> bool:
        actions = self.masks().argmax(axis=1)
        actions[row] = action
        try:
            self.env.step(actions)
        except IllegalActionError:
            return False
        return True

    @property
    def over(self) -> bool:
        return False

    @property
    def rules(self) -> Rules:
        rules: Rules = self.env.rules
        return rules

    def settings(self) -> dict[str, Any]:
        names = "rules", "num_games", "num_threads"
        return {name: getattr(self.env, name) for name in names}


def api(trial: Trial) -> None:
    """Arrays keep place, shape and dtype; observations keep the layout's bounds; a game ends in one way only."""
    face = trial.make()
    batch, rules = face.env, face.rules
    layout = observation_layout(rules)
    expected: dict[str, tuple[type, tuple[int, ...]]] = {
        "player": (np.int8, ()),
        "observation": (np.int8, (layout.size,)),
        "action_mask": (np.int8, (rules.num_actions,)),
        "reward": (np.float32, (rules.num_players,)),
        "terminated": (np.bool_, ()),
        "truncated": (np.bool_, ()),
    }
    before = face.said()
    face.reset(trial.seed)
    rng = trial.rng()
    for trial.step in range(common.STEPS):
        for name, (dtype, shape) in expected.items():
            array = getattr(batch, name)
            trial.require(array is before[name], f"{name} is another array, not written in place")
            trial.require(array.dtype == dtype, f"{name} is {array.dtype}, not {np.dtype(dtype)}")
            full = (batch.num_games, *shape)
            trial.require(array.shape == full, f"{name} has the shape {array.shape}, not {full}")
        inside = (layout.low <= batch.observation) & (batch.observation <= layout.high)
        trial.require(bool(inside.all()), "an observation leaves the bounds of the layout")
        trial.require(not (batch.terminated & batch.truncated).any(), "terminated and truncated at once")
        advance(face, rng)


def ledger(trial: Trial) -> None:
    """All seats of a game are paid once, in the step that ends it; rewards sum to 0."""
    face, rng = trial.new(), trial.rng()
    batch = face.env
    for trial.step in range(1, common.STEPS + 1):
        face.step(pick(face.masks(), rng))
        ended = batch.terminated | batch.truncated
        trial.require(not batch.reward[~ended].any(), "a reward for a game that has not ended in this step")
        trial.require(bool((np.abs(batch.reward.sum(axis=1)) < TOLERANCE).all()), "rewards do not sum to 0")


def games(trial: Trial) -> None:
    """Each game is the one that `Game` plays with its seed: nothing is seen or allowed that the game does not grant."""
    face, rng = trial.new(), trial.rng()
    batch = face.env
    children = np.random.SeedSequence(trial.seed).spawn(batch.num_games)
    alone: list[Game | None] = [Game(face.rules, child) for child in children]
    for trial.step in range(common.STEPS):
        for row, game in enumerate(alone):
            if game is None:
                continue
            trial.require(game.player == batch.player[row], f"game {row}: player {batch.player[row]} is to decide")
            seen = game.observation(int(batch.player[row]))
            trial.require(np.array_equal(batch.observation[row], seen), f"game {row}: the observation is another")
            trial.require(np.array_equal(batch.action_mask[row], game.action_mask), f"game {row}: the mask is another")
        actions = pick(face.masks(), rng)
        face.step(actions)
        for row, game in enumerate(alone):
            if game is not None:
                game.play(int(actions[row]))
                if game.player is None:
                    alone[row] = None


SELF_PLAY_CHECKS: Final = table(
    SelfPlayFace,
    (
        api,
        common.masks,
        ledger,
        games,
        *common.STEADY,
    ),
)
"""The checks of `check_self_play`, by name."""
