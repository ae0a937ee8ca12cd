"""The contract of Gymnasium's form: one seat is the learner's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from ..errors import IllegalActionError
from ..game import REWARDS
from ..render.text import draw_table
from ..rules import Rules
from . import common
from .aec import check_pictures, names_of, picture, same_dtype
from .contract import Array, Face, Masks, Trial, advance, pick, table
from .hiding import hiding

GAMES: Final = 12
"""Games played out where the end is what matters."""
TOLERANCE: Final = 1e-6


class SingleFace(Face):
    """Gymnasium's form: one row, for the learner."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.told: Any = None
        self._over = False

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.told = self.env.reset(seed=seed, options=options)
        self._over = False

    def step(self, actions: Array) -> None:
        self.told = self.env.step(int(actions[0]))
        self._over = bool(self.told[2] or self.told[3])

    def said(self) -> Any:
        return self.told

    def handed_out(self) -> Any:
        return self.told, self._action_masks()

    def masks(self) -> Array:
        mask: Array = self.told[-1]["action_mask"]
        return mask[np.newaxis]

    def all_masks(self) -> Iterable[Masks]:
        places = {"info": self.told[-1]["action_mask"], "action_masks()": self._action_masks()}
        observation = self.told[0]
        if isinstance(observation, Mapping) and "action_mask" in observation:
            places["observation"] = observation["action_mask"]
        yield Masks("the learner", not self._over, places)

    def _action_masks(self) -> Any:
        # As sb3-contrib finds it, through wrappers that know nothing of masks.
        return self.env.get_wrapper_attr("action_masks")()

    def accepts(self, row: int, action: int) -> bool:
        try:
            self.told = self.env.step(action)
        except IllegalActionError:
            return False
        return not self.told[-1].get("illegal_action", False)

    @property
    def over(self) -> bool:
        return self._over

    @property
    def rules(self) -> Rules:
        rules: Rules = self.env.unwrapped.rules
        return rules

    def settings(self) -> dict[str, Any]:
        env = self.env
        return {
            "unwrapped": env.unwrapped,
            "unwrapped.rules": env.unwrapped.rules,
            "unwrapped.render_mode": env.unwrapped.render_mode,
            "the observation space": env.observation_space,
            "the action space": env.action_space,
        }

    def watchers(self) -> list[tuple[int, int]]:
        return [(0, self.env.unwrapped.seat)]

    def view(self, row: int, seat: int) -> Any:
        return {"told": self.told, "render()": picture(self.env), "names": names_of(self.env)}

    def granted(self, row: int, seat: int) -> tuple[Array, str]:
        game = self.env.unwrapped.game
        return game.observation(seat), draw_table(game, seat)


def api(trial: Trial) -> None:
    """Spaces stay; observations lie in them; rewards are floats, ends bools; never terminated and truncated at once."""
    face = trial.make()
    observed, actions = face.env.observation_space, face.env.action_space
    face.reset(trial.seed)
    rng = trial.rng()
    for trial.step in range(common.STEPS):
        env, told = face.env, face.told
        trial.require(env.observation_space is observed, "there is a new observation space")
        trial.require(env.action_space is actions, "there is a new action space")
        trial.require(told[0] in observed, "the observation is not in its space")
        trial.require(same_dtype(observed, told[0]), "the observation has a wrong dtype")
        trial.require(isinstance(told[-1], dict), "the info is no dict")
        trial.require(told[-1]["action_mask"].shape == (actions.n,), "the mask does not fit the action space")
        if len(told) == 5:
            _, reward, terminated, truncated, _ = told
            trial.require(isinstance(reward, float), f"the reward is a {type(reward).__name__}, not a float")
            for end in (terminated, truncated):
                trial.require(isinstance(end, bool), f"an end is a {type(end).__name__}, not a bool")
            trial.require(not (terminated and truncated), "terminated and truncated at once")
        advance(face, rng)


def ledger(trial: Trial) -> None:
    """The learner is paid once, at the end, what its own seat has earned, whoever made the last move."""
    face, rng = trial.new(), trial.rng()
    paid, earned = [], []
    for _ in range(GAMES):
        while not face.over:
            face.step(pick(face.masks(), rng))
            trial.step += 1
            if not face.over:
                trial.require(face.told[1] == 0, f"a reward of {face.told[1]} before the end")
        game, seat = face.env.unwrapped.game, face.env.unwrapped.seat
        paid.append(face.told[1])
        earned.append([game.rewards(reward)[seat] for reward in REWARDS])
        face.reset()
    check_paid(trial, np.array(paid), np.array(earned))


def check_paid(trial: Trial, paid: Array, earned: Array) -> None:
    """What was paid over some games must be what one of the reward functions gives, perhaps to another scale.

    Args:
        trial: The trial.
        paid: Rewards, float64 `(games,)`.
        earned: What each reward function gives, float64 `(games, functions)`.
    """
    scale = np.abs(paid).max() / np.maximum(np.abs(earned).max(axis=0), TOLERANCE)
    fits = np.abs(paid[:, np.newaxis] - earned * scale).max(axis=0) < TOLERANCE * np.maximum(scale, 1.0)
    trial.require(bool(fits.any()), f"rewards {paid.tolist()} are not what the learner's seat earned")


def illegal_actions(trial: Trial) -> None:
    """An illegal action ends the game: terminated, not truncated, without a mask, and told; or it is an error."""
    face = trial.new()
    action = int(np.argmin(face.masks()[0]))
    try:
        face.step(np.array([action]))
    except IllegalActionError:
        trial.require_same(
            face.env.get_wrapper_attr("action_masks")(), face.masks()[0] == 1, "the error changed the mask"
        )
        return
    trial.step = 1
    _, reward, terminated, truncated, info = face.told
    trial.require((terminated, truncated) == (True, False), f"terminated {terminated}, truncated {truncated}")
    trial.require(reward < 0, f"an illegal action was paid {reward}")
    trial.require(info.get("illegal_action") is True, "info['illegal_action'] is not True")
    trial.require(not info["action_mask"].any(), "the mask is not empty after the end")


def render(trial: Trial) -> None:
    """Pictures are drawn from the state at every call."""
    face, rng = trial.new(), trial.rng()
    env = face.env.unwrapped
    check_pictures(trial, face, rng, lambda: draw_table(env.game, env.seat), lambda: face.over)


GYMNASIUM_CHECKS: Final = table(
    SingleFace,
    (
        api,
        common.masks,
        illegal_actions,
        ledger,
        hiding,
        *common.STEADY,
        common.returned_arrays,
        render,
    ),
)
"""The checks of `check_gymnasium`, by name."""
