"""OpenSpiel: the game as `pyspiel` knows games, under the name `threeup`, with every switch of `Rules` as a parameter.

Importing this module registers it:

    import pyspiel
    import threeup_env.open_spiel

    game = pyspiel.load_game("threeup(num_players=3,reverse_ones=True)")
    game = threeup_env.open_spiel.load_game(Rules.house(4))  # the same from `Rules`

Chance is explicit and draws each hidden card when it is turned up (lazy.py). Actions are those of the action table,
observations those of `observation_layout`. Information states are strings alone: they hold all that a seat has seen, in
words, and grow with the game, so no tensor of a fixed size could hold them. docs/open_spiel.md has more.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any, Final

import numpy as np

try:
    import pyspiel
except ImportError as error:  # the message names the extra
    raise ImportError("threeup_env.open_spiel needs OpenSpiel: pip install 'threeup_env[openspiel]'") from error

from .actions import ACTIONS
from .cards import MAX_COPIES, NAMED_DECKS
from .errors import InvalidRulesError
from .lazy import CHANCE, OVER, LazyGame
from .observation import observation_layout
from .resample import Sampler, resample
from .rules import Rules

NAME: Final = "threeup"
"""The name of the game in OpenSpiel."""
RANDOM_FIRST_PLAYER: Final = -1
"""The parameter `first_player` for `"random"`: a parameter has one type."""
_MAX_LENGTH: Final = 2**31 - 1

assert pyspiel.PlayerId.CHANCE == CHANCE and pyspiel.PlayerId.TERMINAL == OVER


# Parameters


def _write_switch(value: Any) -> bool | int | str:
    """A switch as a parameter: OpenSpiel splits a game's string at commas, so cards and colours have none."""
    if isinstance(value, Mapping):
        return " ".join(f"{card}:{count}" for card, count in value.items())
    return "".join(value) if isinstance(value, tuple) else value


def _read_deck(text: str) -> str | dict[str, int]:
    if text in NAMED_DECKS:
        return text
    counts: dict[str, int] = {}
    for entry in text.split():
        card, _, count = entry.partition(":")
        if not re.fullmatch(r"\d+", count, re.ASCII) or card in counts:
            raise InvalidRulesError(
                f"deck: {text!r} is wrong at {entry!r}; allowed: {' or '.join(map(repr, NAMED_DECKS))}, or each card "
                "with its count, as in 'g1:2 r1:1 gC+2:1'"
            )
        counts[card] = int(count)
    return counts


def parameters(rules: Rules) -> dict[str, bool | int | str]:
    """The parameters of `threeup` that stand for `rules`: those that are not at their default."""
    switches = {field.name: getattr(rules, field.name) for field in fields(Rules)}
    if switches["first_player"] == "random":
        switches["first_player"] = RANDOM_FIRST_PLAYER
    written = {name: _write_switch(value) for name, value in switches.items()}
    return {name: value for name, value in written.items() if value != _DEFAULTS.get(name)}


def read_parameters(given: Mapping[str, bool | int | str]) -> Rules:
    """The rules that parameters of `threeup` stand for.

    Raises:
        InvalidRulesError: A parameter has a value that it cannot have.
    """
    switches: dict[str, Any] = dict(given)
    if "deck" in switches:
        switches["deck"] = _read_deck(switches["deck"])
    if "colors" in switches:
        switches["colors"] = list(switches["colors"])
    if switches.get("first_player") == RANDOM_FIRST_PLAYER:
        switches["first_player"] = "random"
    return Rules.from_dict(switches)


_DEFAULTS: dict[str, bool | int | str] = {}
_DEFAULTS |= parameters(Rules())


def load_game(rules: Rules) -> Any:
    """The game of these rules, a `pyspiel.Game`."""
    return pyspiel.load_game(NAME, parameters(rules))


# The game

_GAME_TYPE: Final = pyspiel.GameType(
    short_name=NAME,
    long_name="3UP 3DOWN",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=6,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=_DEFAULTS,
)


def _game_info(rules: Rules) -> Any:
    chance_decisions = LazyGame.max_chance_decisions(rules)
    # An action that has begun is finished after the limit (6.3): it asks for at most a colour of each card.
    decisions = rules.rounds * (rules.max_decisions + MAX_COPIES)
    return pyspiel.GameInfo(
        num_distinct_actions=rules.num_actions,
        max_chance_outcomes=LazyGame.max_chance_outcomes(rules),
        num_players=rules.num_players,
        min_utility=-1 / (rules.num_players - 1),
        max_utility=1.0,
        utility_sum=0.0,
        max_game_length=min(decisions, _MAX_LENGTH - chance_decisions),
    )


class ThreeUpGame(pyspiel.Game):  # type: ignore[misc] # pyspiel has no types
    """3UP 3DOWN under one set of rules.

    Utilities are the rewards of `reward="win"`: 1 for the winner, -1/(n-1) for the others.

    Args:
        given: Parameters; those left out take their default.

    Raises:
        InvalidRulesError: A parameter has a value that it cannot have.
    """

    def __init__(self, given: Mapping[str, bool | int | str] | None = None) -> None:
        rules = read_parameters(given or {})
        super().__init__(_GAME_TYPE, _game_info(rules), parameters(rules))

    # Not set in __init__, because OpenSpiel unpickles a game without its Python attributes.
    @cached_property
    def rules(self) -> Rules:
        """The rules."""
        return read_parameters(self.get_parameters())

    @cached_property
    def _beginning(self) -> LazyGame:
        return LazyGame(self.rules)

    def new_initial_state(self) -> ThreeUpState:
        """The state before anything is dealt."""
        return ThreeUpState(self, self._beginning)

    def max_chance_nodes_in_history(self) -> int:
        """The most decisions of chance in a game."""
        return LazyGame.max_chance_decisions(self.rules)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """An observer; None for a mixture of information that is not provided.

        Provided are what a seat knows now (`perfect_recall=False`), and all it has ever seen (`True`), public and
        its own private information together.
        """
        if params:
            raise ValueError(f"params: {params!r} is wrong; allowed: none")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return None
        return _HistoryObserver() if kind.perfect_recall else _Observer(self.rules)


class ThreeUpState(pyspiel.State):  # type: ignore[misc] # pyspiel has no types
    """A state of the game; made by `ThreeUpGame.new_initial_state`.

    Attributes:
        table: What lies where.
    """

    def __init__(self, game: ThreeUpGame, beginning: LazyGame) -> None:
        super().__init__(game)
        self.table = copy.deepcopy(beginning)

    def current_player(self) -> int:
        """The seat to decide, or `PlayerId.CHANCE` or `TERMINAL`."""
        return self.table.player

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.table.player == OVER

    def _legal_actions(self, player: int) -> list[int]:
        return self.table.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcomes of chance with their probabilities."""
        return self.table.chance_outcomes()

    def _apply_action(self, action: int) -> None:
        self.table.apply(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.table.outcome_name(action) if player == CHANCE else ACTIONS[action]

    def returns(self) -> list[float]:
        """The utility of each player; zeros until the game is over."""
        return self.table.rewards()

    def resample_from_infostate(self, player: int, probability_sampler: Sampler) -> ThreeUpState:
        """A state that looks the same to `player`, what is hidden from it drawn anew (resample.py).

        Raises:
            ResampleError: Chance is to decide, or none was found.
        """
        state: ThreeUpState = self.get_game().new_initial_state()
        for move in resample(self.table, self.history(), player, probability_sampler):
            state.apply_action(move)
        return state

    def __str__(self) -> str:
        return str(self.table)


# What players see


class _Observer:
    """What a seat knows now: the observation of `observation_layout(rules)`, as one tensor and by its slices."""

    def __init__(self, rules: Rules) -> None:
        layout = observation_layout(rules)
        self.tensor = np.zeros(layout.size, np.float32)
        self.dict = {part.name: self.tensor[part.start : part.stop].reshape(part.shape) for part in layout}

    def set_from(self, state: ThreeUpState, player: int) -> None:
        """Write what `player` knows into `tensor`."""
        self.tensor[:] = state.table.observation(player)

    def string_from(self, state: ThreeUpState, player: int) -> str:
        """The same in words: every slice that is not all zeros."""
        observation = state.table.observation(player)
        views = {part.name: part.view(observation) for part in observation_layout(state.table.rules)}
        return "\n".join(f"{name}: {view.tolist()}" for name, view in views.items() if view.any())


class _HistoryObserver:
    """All that a seat has seen since the game began, as a string."""

    tensor = None
    dict: Final[dict[str, Any]] = {}

    def set_from(self, state: ThreeUpState, player: int) -> None:
        """Nothing: there is no tensor."""

    def string_from(self, state: ThreeUpState, player: int) -> str:
        """What `player` has seen."""
        return state.table.information(player)


pyspiel.register_game(_GAME_TYPE, ThreeUpGame)
