"""The contract of Gymnasium's vector form: a learner's seat in many games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from gymnasium.vector import AutoresetMode

from ..errors import IllegalActionError
from ..game import REWARDS
from ..rules import Rules
from . import common
from .aec import names_of, same_dtype
from .contract import Array, Face, Masks, Trial, advance, arrays, pick, table
from .hiding import hiding
from .single import check_paid


class VectorFace(Face):
    """Gymnasium's vector form: a row for each game."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.told: Any = None

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.told = self.env.reset(seed=seed, options=options)

    def step(self, actions: Array) -> None:
        self.told = self.env.step(actions)

    def said(self) -> Any:
        return self.told

    def handed_out(self) -> Any:
        return self.told, self.env.unwrapped.action_masks()

    def masks(self) -> Array:
        masks: Array = self.told[-1]["action_mask"]
        return masks

    @property
    def ended(self) -> Array:
        """Which games ended in the last step, bool `(N,)`."""
        if len(self.told) == 2:
            return np.zeros(self.env.num_envs, np.bool_)
        ended: Array = self.told[2] | self.told[3]
        return ended

    @property
    def restarts(self) -> bool:
        """Whether the next game begins within the step that ends one."""
        return bool(self.env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP)

    def all_masks(self) -> Iterable[Masks]:
        observations, masks, again = self.told[0], self.masks(), self.env.unwrapped.action_masks()
        for row, ended in enumerate(self.ended):
            places = {"infos": masks[row], "action_masks()": again[row]}
            if isinstance(observations, Mapping) and "action_mask" in observations:
                places["observations"] = observations["action_mask"][row]
            yield Masks(f"game {row}", self.restarts or not ended, places)

    def accepts(self, row: int, action: int) -> bool:
        actions = self.masks().argmax(axis=1)
        actions[row] = action
        try:
            self.step(actions)
        except IllegalActionError:
            return False
        infos = self.told[-1]
        if self.restarts:
            infos = infos.get("final_info", {})
        return not infos.get("illegal_action", np.zeros(row + 1))[row]

    @property
    def over(self) -> bool:
        return False

    @property
    def rules(self) -> Rules:
        rules: Rules = self.env.unwrapped.rules
        return rules

    def settings(self) -> dict[str, Any]:
        env = self.env
        spaces = "observation_space", "action_space", "single_observation_space", "single_action_space"
        return {"unwrapped": env.unwrapped, "unwrapped.rules": env.unwrapped.rules, "num_envs": env.num_envs} | {
            name: getattr(env, name) for name in spaces
        }

    def watchers(self) -> list[tuple[int, int]]:
        return list(enumerate(self.env.unwrapped.batch.seat.tolist()))

    def view(self, row: int, seat: int) -> Any:
        return {"told": row_of(self.told, row, self.env.num_envs), "names": names_of(self.env)}

    def granted(self, row: int, seat: int) -> tuple[Array, bool]:
        # What follows the end of a game is another one, of which the decks say nothing.
        return self.env.unwrapped.batch.game(row).observation(seat), bool(self.ended[row])


def row_of(said: Any, row: int, num_envs: int) -> Any:
    """What is said of one game."""
    if isinstance(said, Mapping):
        return {name: row_of(part, row, num_envs) for name, part in said.items()}
    if isinstance(said, tuple):
        return tuple(row_of(part, row, num_envs) for part in said)
    return said[row] if isinstance(said, np.ndarray) and len(said) == num_envs else said


def api(trial: Trial) -> None:
    """Spaces stay; observations lie in them; all else has one entry a game; never terminated and truncated at once."""
    face = trial.make()
    env = face.env
    observed, num_envs = env.observation_space, env.num_envs
    face.reset(trial.seed)
    rng = trial.rng()
    for trial.step in range(common.STEPS):
        told = face.told
        trial.require(env.observation_space is observed, "there is a new observation space")
        trial.require(told[0] in observed, "the observations are not in their space")
        trial.require(same_dtype(observed, told[0]), "the observations have a wrong dtype")
        columns = [*arrays(told[:-1]), *(column for column in told[-1].values() if isinstance(column, np.ndarray))]
        trial.require(all(len(column) == num_envs for column in columns), "an array has not one entry a game")
        trial.require(told[-1]["action_mask"].shape[1] == env.single_action_space.n, "the masks do not fit the actions")
        if len(told) == 5:
            trial.require(not (told[2] & told[3]).any(), "terminated and truncated at once")
        advance(face, rng)


def ledger(trial: Trial) -> None:
    """The learner is paid once a game, at its end, what its own seat has earned; a step that restarts pays nothing."""
    face, rng = trial.new(), trial.rng()
    paid, earned = [], []
    for trial.step in range(1, common.STEPS + 1):
        face.step(pick(face.masks(), rng))
        rewards, ended = face.told[1], face.ended
        trial.require(not rewards[~ended].any(), "a reward for a game that has not ended in this step")
        if face.restarts:
            continue
        batch = face.env.unwrapped.batch
        for row in np.flatnonzero(ended):
            game, seat = batch.game(row), int(batch.seat[row])
            paid.append(rewards[row])
            earned.append([game.rewards(reward)[seat] for reward in REWARDS])
    if paid:
        check_paid(trial, np.array(paid), np.array(earned))


def final_observations(trial: Trial) -> None:
    """The last observation of a game is kept: shown at the end, or in `final_obs` where the next game has begun."""
    face, rng = trial.new(), trial.rng()
    for trial.step in range(1, common.STEPS + 1):
        face.step(pick(face.masks(), rng))
        infos = face.told[-1]
        for row in np.flatnonzero(face.ended) if face.restarts else ():
            trial.require("final_obs" in infos and bool(infos["_final_obs"][row]), "final_obs is missing")
            last = infos["final_obs"][row]
            trial.require(last in face.env.single_observation_space, "final_obs is not in the space")
            now = row_of(face.told[0], int(row), face.env.num_envs)
            trial.require(not _equal(last, now), "final_obs is the observation of the next game")


def _equal(one: Any, other: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(arrays(one), arrays(other), strict=True))


VECTOR_CHECKS: Final = table(
    VectorFace,
    (
        api,
        common.masks,
        ledger,
        final_observations,
        hiding,
        *common.STEADY,
        common.returned_arrays,
    ),
)
"""The checks of `check_vector`, by name."""
