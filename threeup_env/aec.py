"""PettingZoo's agent-environment cycle: every seat is an agent of the caller's.

Agents are `player_0` .. `player_{n-1}`, by seat. An observation is `{"observation": int8 (D,), "action_mask": int8
(A,)}`; the mask is in `infos[agent]["action_mask"]` as well, and zeros for an agent that is not to decide. All agents
are paid once, when the game ends: rewards sum to 0. Then each takes one step with None, in the order of `agents`,
which empties.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from .core import single
from .errors import IllegalActionError, InvalidConfigError, ResetNeededError
from .game import REWARDS, Game, Seed, check_deals
from .learner import OPTIONS, Reward, choice, last_place_reward, read_rules
from .observation import observation_layout
from .rules import Rules
from .spaces import action_space, masked_observation_space

Observation = dict[str, npt.NDArray[np.int8]]


class _Table(Game):
    """A game that can be followed by another one at the same table, dealt by the same generator."""

    __slots__ = ()

    def deal_anew(self, options: Mapping[str, Any]) -> None:
        """Start the next game; `decks`, `first_player` and `pile_swaps` of the options fix its deals."""
        self._fixed = check_deals(self.rules, *(options.get(name) for name in OPTIONS))
        self._deals = []
        self._history = bytearray()
        self._start(single.start_game)


class ThreeUpAEC(AECEnv[str, Any, Any]):
    """The game for one agent a seat, without PettingZoo's wrappers.

    Args:
        rules: The rules, or their switches as a mapping; `Rules.standard(2)` when left out.
        reward: `"win"`, `"place"` or `"score"` (docs/environments.md).
        render_mode: None, or `"ansi"`: `render` gives the table as everybody sees it.

    Attributes:
        game: The game that is played, hidden cards included.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "name": "threeup_v0",
        "render_modes": ["ansi"],
        "render_fps": 1,
        "is_parallelizable": False,
    }

    def __init__(
        self, rules: Rules | Mapping[str, Any] | None = None, *, reward: Reward = "win", render_mode: str | None = None
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidConfigError(f"render_mode: {render_mode!r} is wrong; allowed: None, 'ansi'")
        self.rules = read_rules(rules)
        self.reward = choice("reward", reward, tuple(REWARDS))
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces: dict[str, spaces.Space[Any]] = {}
        self.action_spaces: dict[str, spaces.Space[Any]] = {}
        for agent in self.possible_agents:
            self.observation_spaces[agent] = masked_observation_space(self.rules)
            self.action_spaces[agent] = action_space(self.rules)
        self.agents = []
        self._size = observation_layout(self.rules).size
        self._num_actions = self.rules.num_actions
        self._game: _Table | None = None
        self._over = False

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions, the same object at every call."""
        return self.action_spaces[agent]

    @property
    def game(self) -> Game:
        """The game that is played.

        Raises:
            ResetNeededError: There was no reset.
        """
        if self._game is None:
            raise ResetNeededError("the game has not begun; reset() first")
        return self._game

    def reset(self, seed: Seed = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game.

        Args:
            seed: Seeds the deals, as for `Game`; None goes on with the generator.
            options: `decks`, `first_player` and `pile_swaps` fix the deals of this game, as for `Game`; other keys
                are ignored.

        Raises:
            InvalidRecordError: An option does not fit the rules; nothing has changed.
        """
        options = options or {}
        if seed is not None or self._game is None:
            self._game = _Table(self.rules, seed, *(options.get(name) for name in OPTIONS))
        else:
            self._game.deal_anew(options)
        self._over = False
        agents = self.possible_agents
        self.agents = agents.copy()
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos = {agent: {"action_mask": np.zeros(self._num_actions, np.int8)} for agent in agents}
        player = self._game.player
        assert player is not None
        self.agent_selection = agents[player]
        self.infos[self.agent_selection] = {"action_mask": self._game.action_mask}

    def observe(self, agent: str) -> Observation:
        """What an agent knows and may do, in new arrays.

        Raises:
            ResetNeededError: There was no reset.
        """
        seat = self._seats[agent]
        game = self.game
        rows = np.empty((1, self._size), np.int8)
        single.write_observation(game._states, game._switches, seat, rows)
        deciding = seat == game.player and not self._over
        mask = game.action_mask if deciding else np.zeros(self._num_actions, np.int8)
        return {"observation": rows[0], "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Play an action of the agent `agent_selection`; None when it has been told that the game is over.

        Raises:
            IllegalActionError: The action is not legal; nothing has changed.
            ResetNeededError: There was no reset, or every agent has taken its last step.
        """
        if not self.agents:
            raise ResetNeededError("step: the game has not begun, or every agent is done; reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        game = self._game
        assert game is not None
        game.play(action)  # type: ignore[arg-type]
        # What it had been paid, it has been told; nothing is paid before the end.
        self._cumulative_rewards[agent] = 0.0
        player = game.player
        if player is None:
            self._finish(game.rewards(self.reward).tolist(), truncated=game.outcome.ended == "truncated")  # type: ignore[union-attr]
            return
        after = self.possible_agents[player]
        if after != agent:
            self.agent_selection = after
            self.infos[agent] = {"action_mask": np.zeros(self._num_actions, np.int8)}
        self.infos[after] = {"action_mask": game.action_mask}

    def _finish(self, rewards: list[float], *, truncated: bool) -> None:
        """The game is over, or given up: pay everybody, once."""
        self._over = True
        for agent, reward in zip(self.possible_agents, rewards, strict=True):
            self.rewards[agent] = reward
            self.terminations[agent] = not truncated
            self.truncations[agent] = truncated
            self.infos[agent] = {"action_mask": np.zeros(self._num_actions, np.int8)}
        self._accumulate_rewards()
        self.agent_selection = self.agents[0]

    def forfeit(self, penalty: float) -> None:
        """End the game because the agent to decide broke the rules: it is paid `penalty`, the others share the rest.

        Args:
            penalty: Reward of that agent; each other one gets -penalty / (n - 1), so that rewards sum to 0.
        """
        loser = self.agent_selection
        share = -penalty / (self.rules.num_players - 1)
        self._finish([penalty if agent == loser else share for agent in self.possible_agents], truncated=False)

    def render(self) -> str | None:
        """The table as everybody sees it, with `render_mode="ansi"`.

        Raises:
            ResetNeededError: There was no reset.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs an environment made with render_mode='ansi'")
            return None
        return str(self.game)

    def close(self) -> None:
        """Nothing is held open."""


class EndIllegalWrapper(TerminateIllegalWrapper[str, Any, Any]):
    """PettingZoo's wrapper for illegal actions, with two things put right.

    The game terminates, where PettingZoo's wrapper says it is terminated and truncated at once; and rewards still
    sum to 0: the agent that broke the rules is paid `illegal_reward`, and the others share what it loses.
    """

    def observe(self, agent: str) -> Any:
        """What an agent knows and may do, in new arrays."""
        # Nothing is kept for the next step: the game itself knows what is legal.
        return self.env.observe(agent)

    def step(self, action: int | None) -> None:
        """Play a legal action; an illegal one ends the game."""
        try:
            self.env.step(action)
        except IllegalActionError:
            EnvLogger.warn_on_illegal_move()
            env = self.env.unwrapped
            assert isinstance(env, ThreeUpAEC)
            env.forfeit(self._illegal_value)


class InOrderWrapper(OrderEnforcingWrapper[str, Any, Any]):
    """PettingZoo's wrapper for calls out of order, with a shorter way to what `last` tells.

    PettingZoo fetches each of its parts through every wrapper, which takes longer than the game does.
    """

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation (None unless `observe`), rewards since its last step, ends and info of the agent to decide."""
        if not self._has_reset:
            return super().last(observe)
        told: tuple[Any, float, bool, bool, dict[str, Any]] = self.env.unwrapped.last(observe)
        return told

    def __str__(self) -> str:
        """The name of the game."""
        return str(self.env)


def make_env(
    rules: Rules | Mapping[str, Any] | None = None,
    *,
    reward: Reward = "win",
    render_mode: str | None = None,
    illegal_reward: float | None = None,
) -> AECEnv[str, Any, Any]:
    """The game with PettingZoo's usual wrappers: illegal actions end it, and calls out of order are errors.

    Args:
        rules: As for `ThreeUpAEC`.
        reward: As for `ThreeUpAEC`.
        render_mode: As for `ThreeUpAEC`.
        illegal_reward: What an agent is paid for an illegal action; the reward of the last place when left out.
    """
    raw = ThreeUpAEC(rules, reward=reward, render_mode=render_mode)
    penalty = last_place_reward(raw.rules, reward) if illegal_reward is None else float(illegal_reward)
    return InOrderWrapper(AssertOutOfBoundsWrapper(EndIllegalWrapper(raw, illegal_reward=penalty)))
