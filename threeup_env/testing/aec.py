"""The contract of PettingZoo's form: every seat is an agent of the caller's."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env_logger import EnvLogger

from ..errors import IllegalActionError
from ..rules import Rules
from . import common
from .contract import Array, Face, Masks, Trial, advance, difference, pick, table
from .hiding import hiding

GAMES: Final = 4
"""Games played out where the end is what matters."""
TOLERANCE: Final = 1e-6


class AECFace(Face):
    """PettingZoo's form: one row, for whichever agent stands to decide."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed=seed, options=options)

    def step(self, actions: Array) -> None:
        self.env.step(None if self.dead else int(actions[0]))

    @property
    def dead(self) -> bool:
        """Whether the agent to step has been told that the game is over."""
        agent = self.env.agent_selection
        return bool(self.env.terminations[agent] or self.env.truncations[agent])

    def said(self) -> dict[str, Any]:
        env = self.env
        if not env.agents:
            return {"agents": []}
        names = "agents", "agent_selection", "rewards", "terminations", "truncations", "infos"
        return {name: getattr(env, name) for name in names} | self.handed_out()

    def handed_out(self) -> dict[str, Any]:
        env = self.env
        if not env.agents:
            return {}
        return {"observe": {agent: env.observe(agent) for agent in env.agents}, "last": env.last()}

    def masks(self) -> Array:
        mask: Array = self.env.infos[self.env.agent_selection]["action_mask"]
        return mask[np.newaxis]

    def all_masks(self) -> Iterable[Masks]:
        env = self.env
        for agent in env.agents:
            places = {"info": env.infos[agent]["action_mask"]}
            observation = env.observe(agent)
            if isinstance(observation, Mapping) and "action_mask" in observation:
                places["observation"] = observation["action_mask"]
            deciding = agent == env.agent_selection and not self.dead
            if deciding:
                observation, *_, info = env.last()
                places["info of last()"] = info["action_mask"]
                if isinstance(observation, Mapping) and "action_mask" in observation:
                    places["observation of last()"] = observation["action_mask"]
            yield Masks(agent, deciding, places)

    def accepts(self, row: int, action: int) -> bool:
        before = self._decisions()
        with _quiet(), contextlib.suppress(IllegalActionError):
            self.env.step(action)
        return self._decisions() > before

    def _decisions(self) -> int:
        return sum(len(deal.actions) for deal in self.env.unwrapped.game.record().deals)

    @property
    def over(self) -> bool:
        return not self.env.agents

    @property
    def rules(self) -> Rules:
        rules: Rules = self.env.unwrapped.rules
        return rules

    def settings(self) -> dict[str, Any]:
        env = self.env
        each = {
            f"the {kind} space of {agent}": getattr(env, f"{kind}_space")(agent)
            for agent in env.possible_agents
            for kind in ("observation", "action")
        }
        names = "rules", "render_mode", "reward"
        own = {f"unwrapped.{name}": getattr(env.unwrapped, name, None) for name in names}
        return {"unwrapped": env.unwrapped, "possible_agents": list(env.possible_agents)} | own | each

    def watchers(self) -> list[tuple[int, int]]:
        return [(0, seat) for seat in range(len(self.env.possible_agents))]

    def view(self, row: int, seat: int) -> dict[str, Any]:
        env = self.env
        agent = env.possible_agents[seat]
        if agent not in env.agents:
            return {"agents": list(env.agents), "names": names_of(env)}
        told = {name: getattr(env, name)[agent] for name in ("rewards", "terminations", "truncations", "infos")}
        if env.agent_selection == agent:
            told["last()"] = env.last()
        told["observe()"] = env.observe(agent)
        return told | {"agent_selection": env.agent_selection, "render()": picture(env), "names": names_of(env)}

    def granted(self, row: int, seat: int) -> tuple[Array, str]:
        game = self.env.unwrapped.game
        return game.observation(seat), str(game)


def names_of(env: Any) -> tuple[str, str]:
    """What an environment is called, without where it lies in memory."""
    return str(env), re.sub(r" at 0x[0-9a-f]+", "", repr(env))


def picture(env: Any) -> Any:
    """What `render` draws, None if the environment was made to draw nothing."""
    return None if env.unwrapped.render_mode is None else env.render()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without PettingZoo's log of illegal actions: they are tried on purpose here."""
    logger = EnvLogger.get_logger()
    disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = disabled


def same_dtype(space: spaces.Space[Any], value: Any) -> bool:
    """Whether the arrays of a value have the dtypes of its space; `in` takes narrower ones too."""
    if isinstance(space, spaces.Dict):
        return all(same_dtype(part, value[name]) for name, part in space.items())
    return not isinstance(value, np.ndarray) or value.dtype == space.dtype


def api(trial: Trial) -> None:
    """Agents and spaces stand before the first reset and stay; what is observed lies in them; `last` is consistent."""
    face = trial.make()
    env = face.env
    agents = list(env.possible_agents)
    observed = {agent: env.observation_space(agent) for agent in agents}
    actions = {agent: env.action_space(agent) for agent in agents}
    face.reset(trial.seed)
    rng = trial.rng()
    trial.require(list(env.agents) == agents, "after a reset `agents` is not `possible_agents`")
    for trial.step in range(common.STEPS):
        for agent in agents:
            trial.require(env.observation_space(agent) is observed[agent], f"{agent} has a new observation space")
            trial.require(env.action_space(agent) is actions[agent], f"{agent} has a new action space")
        for agent in env.agents:
            observation = env.observe(agent)
            trial.require(observation in observed[agent], f"the observation of {agent} is not in its space")
            trial.require(same_dtype(observed[agent], observation), f"the observation of {agent} has a wrong dtype")
            mask = env.infos[agent]["action_mask"]
            trial.require(mask.shape == (actions[agent].n,), f"the mask of {agent} does not fit its action space")
        if env.agents:
            _check_last(trial, env)
        advance(face, rng)


def _check_last(trial: Trial, env: Any) -> None:
    agent = env.agent_selection
    observation, _, terminated, truncated, info = env.last()
    trial.require_same(observation, env.observe(agent), "last() and observe() differ")
    trial.require_same(
        (terminated, truncated, info),
        (env.terminations[agent], env.truncations[agent], env.infos[agent]),
        "last() differs from terminations, truncations and infos",
    )
    # Some callers pass whatever is true or false.
    trial.require_same(env.last(1)[0], observation, "last(1) is not last(True)")
    trial.require(env.last(0)[0] is None, "last(0) observes")


def ledger(trial: Trial) -> None:
    """Each agent is paid once, at the end; rewards sum to 0; each is told its own, and leaves in order."""
    face, rng = trial.new(), trial.rng()
    for _ in range(GAMES):
        _check_game(trial, face, rng)
        face.reset()


def _check_game(trial: Trial, face: Any, rng: np.random.Generator) -> None:
    env = face.env
    while not face.dead:
        trial.require(not any(env.rewards.values()), "a reward before the end")
        trial.require(env.last()[1] == 0, f"{env.agent_selection} is told of a reward before the end")
        face.step(pick(face.masks(), rng))
        trial.step += 1
    paid = dict(env.rewards)
    total = sum(paid.values())
    trial.require(list(paid) == list(env.possible_agents), "not every agent is paid at the end")
    trial.require(abs(total) < TOLERANCE, f"rewards sum to {total}")
    ends = set(env.terminations.values()), set(env.truncations.values())
    trial.require(ends in (({True}, {False}), ({False}, {True})), "agents must all be terminated, or all truncated")
    for agent in env.possible_agents:
        trial.require(env.agent_selection == agent, f"{env.agent_selection} leaves before {agent}")
        told = env.last()[1]
        trial.require(abs(told - paid[agent]) < TOLERANCE, f"{agent} is paid {paid[agent]}, but told of {told}")
        env.step(None)
        trial.step += 1
        trial.require(agent not in env.agents, f"{agent} is still there after its last step")
        trial.require(not any(env.rewards.values()), f"rewards are paid again when {agent} leaves")
    trial.require(not env.agents, "`agents` is not empty at the end")


def render(trial: Trial) -> None:
    """Pictures are drawn from the state at every call."""
    face, rng = trial.new(), trial.rng()
    check_pictures(trial, face, rng, lambda: str(face.env.unwrapped.game), lambda: face.over or face.dead)


def check_pictures(trial: Trial, face: Face, rng: np.random.Generator, shown: Any, ended: Any) -> None:
    """Up to the end of a game: the same picture twice, and another one when what it shows is another."""
    if picture(face.env) is None:
        return
    for trial.step in range(common.STEPS):
        before, known = picture(face.env), shown()
        trial.require_same(picture(face.env), before, "two pictures of the same moment differ")
        if ended():
            return
        face.step(pick(face.masks(), rng))
        if shown() != known:
            trial.step += 1
            fresh = difference(picture(face.env), before) is not None
            trial.require(fresh, "the picture is that of the step before")


AEC_CHECKS: Final = table(
    AECFace,
    (
        api,
        common.masks,
        ledger,
        hiding,
        *common.STEADY,
        common.returned_arrays,
        render,
    ),
)
"""The checks of `check_aec`, by name."""
