"""Many games in each of which one seat is a learner's: what the Gymnasium and Stable-Baselines3 faces stand on.

Example:
    >>> import numpy as np
    >>> from threeup_env import Rules
    >>> from threeup_env.learner import LearnerBatch
    >>> batch = LearnerBatch(Rules.standard(2), 64, "greedy", seed=1)
    >>> for _ in range(100):
    ...     batch.step(batch.action_mask.argmax(axis=1))
    >>> batch.observation.shape[0], bool(batch.action_mask.any(axis=1).all())
    (64, True)

A mix of opponents, drawn anew for each seat of each game, may change between two steps, for a league:

    >>> batch.set_opponents(["random", "greedy"], weights=[1.0, 3.0])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from .actions import ACTIONS, NUM_ACTIONS
from .agents import Agent, AgentSpec, act_states, compiled_code, make_agent
from .cards import NUM_KINDS, POINTS
from .core import learner as core
from .core.jit import use_threads
from .core.oracle import write_all_hidden
from .core.random import seed_words
from .core.single import list_legal
from .core.state import ENDED, STATE, pack_rules
from .errors import IllegalActionError, InvalidConfigError, InvalidRulesError, ResetNeededError
from .game import REWARDS, Deal, Game, check_deals
from .observation import observation_layout
from .rules import Rules

Seat = Literal["rotate", "random"] | int
Reward = Literal["win", "place", "score"]
IllegalAction = Literal["end", "raise"]
OpponentSpec = AgentSpec | Sequence[AgentSpec]
"""Who holds the other seats: one for all of them, or one for each, in playing order from the learner."""
SeedLike = int | np.random.SeedSequence
OPTIONS: Final = ("decks", "first_player", "pile_swaps")
"""The options of a reset that are read; all others are left to whoever understands them."""

_SEATS: Final = {"rotate": core.ROTATE, "random": core.RANDOM_SEAT}


def read_rules(rules: Rules | Mapping[str, Any] | None) -> Rules:
    """Rules, or their switches as a mapping (`Rules.from_dict`), or None for `Rules.standard(2)`."""
    if rules is None:
        return Rules()
    return rules if isinstance(rules, Rules) else Rules.from_dict(rules)


def choice(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """`value` if it is one of `allowed`.

    Raises:
        InvalidConfigError: It is not; the message names it and what is allowed.
    """
    # Compared by type too, so that True is not taken for the seat 1.
    if not any(type(value) is type(one) and value == one for one in allowed):
        raise InvalidConfigError(f"{name}: {value!r} is wrong; allowed: {', '.join(map(repr, allowed))}")
    return value


def last_place_reward(rules: Rules, reward: str) -> float:
    """What an illegal action is paid: the last place of all, or, by points, the points of every card in every deal.

    Args:
        rules: The rules.
        reward: `"win"` (then -1 / (n - 1)), `"place"` (-1) or `"score"`.
    """
    if reward == "win":
        return -1.0 / (rules.num_players - 1)
    if reward == "place":
        return -1.0
    return -float(rules.copies.astype(np.int64) @ np.array(POINTS)) * rules.rounds / 100.0


class LearnerBatch:
    """`num_envs` games in which one seat is the learner's and the others are opponents'.

    A step plays the learner's action in every game, then the opponents until the learner decides again or the
    game is over, so that a loss on an opponent's move arrives with the step. The opponents `random` and `greedy`
    never leave compiled code; others are asked for all games that wait for them at once.

    The arrays are written in place; copy what you keep. Game i deals as `Game(rules, seed)` with its seed, and its
    opponents draw from a second generator of its own, so it does not depend on the other games, nor on the number
    of threads. A game in which the learner has no decision at all is left out: another is dealt.

    Args:
        rules: The rules.
        num_envs: Number of games N, at least 1.
        opponent: A name, the path of a policy file or an agent for all other seats; or a sequence: one for each
            other seat in playing order from the learner, or, with `weights`, a mix (see `set_opponents`).
        weights: Weights of the mix.
        seat: The learner's: a seat, `"random"` (drawn for each game), or `"rotate"` (game i starts with seat
            i % n after a seeded reset, and goes one seat further each game).
        reward: `"win"`, `"place"` or `"score"` (docs/environments.md).
        illegal_action: `"end"`: an illegal action ends the game with `last_place_reward`; `"raise"`: it raises
            `IllegalActionError`, and nothing changes in any game.
        autoreset: What follows the end of a game: `"same"`: the next game within the same step, the last
            observation kept in `final_observation`; `"next"`: the observation of the end is shown with a mask of
            zeros, and the next step ignores the action and starts a game.
        seed: As for `reset`; None draws from the system.
        num_threads: How many threads play, at least 1.
        track_colors: Keep the colours of all cards where no rule asks for them, for `game` to show.

    Attributes:
        observation: What the learner knows, int8 `(N, D)`, laid out as `observation_layout(rules)` says.
        action_mask: What it may do, int8 `(N, A)` of 0 and 1; zeros where the game is over (`autoreset="next"`).
        reward: Reward of the step, float32 `(N,)`.
        exact_reward: The same, float64 `(N,)`.
        terminated: Whether the step ended the game, bool `(N,)`.
        truncated: Whether it met a limit without an outcome (6.3), bool `(N,)`; never both.
        final_observation: The last observation of each game that ended in this step, int8 `(N, D)`; other rows
            hold what they held before (`autoreset="same"`).

    Raises:
        InvalidConfigError: An argument is wrong.
        UnknownAgentError: An opponent is unknown, or cannot play under these rules.
        InvalidRulesError: No game of these rules gives the learner's seat a decision.
    """

    def __init__(
        self,
        rules: Rules,
        num_envs: int,
        opponent: OpponentSpec = "greedy",
        weights: Sequence[float] | None = None,
        *,
        seat: Seat = "rotate",
        reward: Reward = "win",
        illegal_action: IllegalAction = "end",
        autoreset: Literal["same", "next"] = "same",
        seed: SeedLike | Sequence[SeedLike | None] | None = None,
        num_threads: int = 1,
        track_colors: bool = False,
    ) -> None:
        self.rules = rules
        self.num_envs = positive("num_envs", num_envs)
        self.num_threads = min(positive("num_threads", num_threads), self.num_envs)
        n = rules.num_players
        if isinstance(seat, np.integer):
            seat = int(seat)
        setting = np.zeros(1, core.SETTING)
        setting["seat"] = _SEATS.get(str(choice("seat", seat, ("rotate", "random", *range(n)))), seat)
        setting["reward"] = REWARDS[choice("reward", reward, tuple(REWARDS))]
        setting["restarts"] = choice("autoreset", autoreset, ("same", "next")) == "same"
        setting["last_place"] = last_place_reward(rules, reward)
        setting["first_player"] = -1
        self._raises = choice("illegal_action", illegal_action, ("end", "raise")) == "raise"
        self._setting = setting
        self._switches = pack_rules(rules, track_colors=track_colors)
        layout = observation_layout(rules)
        self._states = np.zeros(self.num_envs, STATE)
        self._tables = np.zeros(self.num_envs, core.TABLE)
        self.observation = np.zeros((self.num_envs, layout.size), np.int8)
        self.action_mask = np.zeros((self.num_envs, rules.num_actions), np.int8)
        self.reward = np.zeros(self.num_envs, np.float32)
        self.exact_reward = np.zeros(self.num_envs, np.float64)
        self.terminated = np.zeros(self.num_envs, np.bool_)
        self.truncated = np.zeros(self.num_envs, np.bool_)
        self.final_observation = np.zeros((self.num_envs, layout.size), np.int8)
        self._games = np.arange(self.num_envs)
        self._actions = np.zeros(self.num_envs, np.int64)
        self._opponents: list[Agent] = []
        self._codes = np.zeros(0, np.int64)
        self._draws = np.zeros((0, 2), np.int64)
        self._tables["standing"] = core.FINISHED
        self._tables["last_agent"] = core.GONE
        self.set_opponents(opponent, weights)
        self._ready = False
        self.reset(np.random.SeedSequence() if seed is None else seed)

    @property
    def seat(self) -> npt.NDArray[np.int8]:
        """The learner's seat in each game, int8 `(N,)`."""
        return self._tables["seat"].copy()

    @property
    def last_seat(self) -> npt.NDArray[np.int8]:
        """The learner's seat in the last game that ended in each place, int8 `(N,)`."""
        return self._tables["last_seat"].copy()

    @property
    def last_opponents(self) -> npt.NDArray[np.int32]:
        """Who held the seats of the last game that ended in each place, int32 `(N, n)`: indices of `opponents`.

        -1 stands for the learner, -5 for an opponent that is in the list no more.
        """
        return self._tables["last_agent"][:, : self.rules.num_players].copy()

    def hidden_cards(self) -> npt.NDArray[np.int8]:
        """What the learner may not know, in a new array, int8 `(N, (2n - 1) 13)`: for critics, never to act on.

        The hands of the others by kind, then the 3DOWN cards of all, in playing order from the learner.
        """
        rows = np.empty((self.num_envs, (2 * self.rules.num_players - 1) * NUM_KINDS), np.int8)
        write_all_hidden(self._states, self._tables, self._switches, rows)
        return rows

    @property
    def steps(self) -> npt.NDArray[np.int64]:
        """The learner's decisions in each game so far, int64 `(N,)`."""
        return self._tables["steps"].copy()

    @property
    def last_steps(self) -> npt.NDArray[np.int64]:
        """The learner's decisions in the last game that ended in each place, int64 `(N,)`."""
        return self._tables["last_steps"].copy()

    @property
    def illegal(self) -> npt.NDArray[np.bool_]:
        """Where the last step ended a game by an illegal action, bool `(N,)`."""
        return self._tables["illegal"].astype(np.bool_)

    @property
    def opponents(self) -> tuple[Agent, ...]:
        """The opponents that games are drawn from now, and those that still play in a game begun before."""
        return tuple(self._opponents)

    def set_opponents(self, opponent: OpponentSpec, weights: Sequence[float] | None = None) -> None:
        """Say who plays in the games that begin from now on; games that have begun keep their opponents.

        Args:
            opponent: One for all other seats; or a sequence: one for each other seat in playing order from the
                learner, or, with `weights`, a mix of any length, drawn for each seat of each game at its start.
            weights: Weight of each opponent of the mix, at least 0, not all 0.

        Raises:
            InvalidConfigError: There are too many or too few opponents, or `weights` do not fit them.
            UnknownAgentError: An opponent is unknown, or cannot play under these rules.
        """
        several = isinstance(opponent, Sequence) and not isinstance(opponent, str)
        specs: list[Any] = list(opponent) if several else [opponent]  # type: ignore[arg-type]
        others = self.rules.num_players - 1
        if weights is None and not several:
            specs *= others
        elif weights is None and len(specs) != others:
            raise InvalidConfigError(
                f"opponent: {len(specs)} given; allowed: one, or {others}, one for each other seat, or, with weights, "
                "any number"
            )
        thresholds = _thresholds(weights, len(specs))
        made: dict[Any, Agent] = {}
        agents = []
        for spec in specs:
            key = spec if isinstance(spec, str) else id(spec)
            if key not in made:
                made[key] = make_agent(spec, self.rules)
            agents.append(made[key])
        self._seat_opponents(agents, thresholds)

    def _seat_opponents(self, agents: list[Agent], thresholds: npt.NDArray[np.int64]) -> None:
        """Make a list of the opponents that still play and the new ones, each once."""
        playing = self._tables["standing"] != core.FINISHED
        agent = self._tables["agent"]
        kept = [self._opponents[place] for place in np.unique(agent[playing]) if place >= 0]
        pool: list[Agent] = []
        place_of: dict[int, int] = {}
        for one in (*kept, *agents):
            if id(one) not in place_of:
                place_of[id(one)] = len(pool)
                pool.append(one)
        # Where each opponent so far stands from now on; one more, as there may be none.
        moved = np.array([*(place_of.get(id(one), core.GONE) for one in self._opponents), core.GONE], np.int32)
        for field in ("agent", "last_agent"):
            places = self._tables[field]
            self._tables[field] = np.where(places >= 0, moved[np.maximum(places, 0)], places)
        self._tables["agent"][~playing] = core.LEARNER
        self._opponents = pool
        self._codes = np.array([compiled_code(one) for one in pool], np.int64)
        self._draws = np.array(
            [(place_of[id(one)], bound) for one, bound in zip(agents, thresholds, strict=True)], np.int64
        )

    def reset(
        self, seed: SeedLike | Sequence[SeedLike | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        """Start a new game in every place.

        Args:
            seed: A number or a `SeedSequence` spawns the seed of each game; a sequence names each, None in it
                letting that game go on with its generators. None lets all go on.
            options: `decks`, `first_player` and `pile_swaps`, as for `Game`, fix the deals of these games (not of
                those that follow by themselves); other keys are ignored.

        Raises:
            InvalidRecordError: An option does not fit the rules; nothing has changed.
            InvalidConfigError: `seed` is wrong; nothing has changed.
            InvalidRulesError: No game gives the learner's seat a decision.
        """
        fixed = check_deals(self.rules, *((options or {}).get(name) for name in OPTIONS))
        for game, sequence in enumerate(seed_sequences(seed, self.num_envs)):
            if sequence is not None:
                self._states["rng"][game] = seed_words(sequence)
                self._tables["rng"][game] = choice_words(sequence)
                self._tables["seat"][game] = (game - 1) % self.rules.num_players
        self._fix(fixed)
        self._tables["standing"] = core.TO_START
        self._ready = False
        self._finish(core.advance_games(0, self.num_envs, self._games, self._actions, *self._arrays))

    def _fix(self, fixed: Any) -> None:
        decks, first_player, swaps = fixed
        setting = self._setting[0]
        setting["num_decks"] = len(decks)
        setting["num_swaps"] = len(swaps) if self.rules.pile_swaps else 0
        setting["first_player"] = -1 if first_player is None else first_player
        for number, deck in enumerate(decks):
            setting["deck"][number, : len(deck)] = np.frombuffer(deck, np.uint8)
        for number, pairs in enumerate(swaps):
            if pairs:
                setting["swap"][number, : len(pairs)] = pairs
        self._tables["fixed"] = bool(decks or swaps or first_player is not None)

    def step(self, actions: npt.ArrayLike) -> None:
        """Play the learner's action in every game, and all that follows; see the class.

        Args:
            actions: Indices of the action table, integers `(N,)`.

        Raises:
            IllegalActionError: `actions` is no such array; or, with `illegal_action="raise"`, an action is not
                legal: the message names game, action and the legal ones. Nothing has changed in any game. Or an
                opponent that is an agent object chose an illegal action; then a reset is needed.
        """
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise IllegalActionError(
                f"actions: an array of shape {given.shape} and dtype {given.dtype}; "
                f"allowed: {self.num_envs} integers, one action for each game"
            )
        np.copyto(self._actions, given, casting="unsafe")
        self.play()

    def play(self) -> None:
        """`step` with the actions that stand in the array `next_actions`."""
        if not self._ready:
            raise ResetNeededError("the last step or reset was broken off by an error; reset() first")
        if self._raises:
            game = core.first_illegal(self._games, self._actions, self._states, self._tables)
            if game >= 0:
                raise IllegalActionError(f"env {game}: {self._refusal(game, int(self._actions[game]))}")
        if self.num_threads == 1:
            waiting = core.advance_games(0, self.num_envs, self._games, self._actions, *self._arrays)
        else:
            with use_threads(self.num_threads):
                waiting = core.advance_games_in_threads(self.num_threads, self._games, self._actions, *self._arrays)
        self._finish(waiting)

    @property
    def next_actions(self) -> npt.NDArray[np.int64]:
        """The array that `play` reads, int64 `(N,)`: write into it."""
        return self._actions

    @property
    def _arrays(self) -> tuple[Any, ...]:
        """What compiled code reads and writes, in its order."""
        return (
            self._states,
            self._tables,
            self._switches,
            self._setting,
            self._codes,
            self._draws,
            self.observation,
            self.action_mask,
            self.exact_reward,
            self.terminated,
            self.truncated,
            self.final_observation,
        )

    def _finish(self, waiting: int) -> None:
        """Ask opponents until no game waits for one."""
        if waiting:
            self._ready = False
            while waiting:
                waiting = sum(self._ask(place) for place in np.unique(self._tables["standing"]) if place >= 0)
                if (self._tables["standing"] == core.NEVER).any():
                    raise InvalidRulesError(
                        f"max_decisions: with {self.rules.max_decisions} every game is over before the learner's seat "
                        "decides; allowed: more"
                    )
        self._ready = True
        np.copyto(self.reward, self.exact_reward, casting="same_kind")

    def _ask(self, place: int) -> int:
        """Ask one opponent in all games that wait for it; how many of them wait again then."""
        rows = np.flatnonzero(self._tables["standing"] == place)
        if not len(rows):
            return 0
        observations = np.empty((len(rows), self.observation.shape[1]), np.int8)
        masks = np.empty((len(rows), self.action_mask.shape[1]), np.int8)
        core.show_games(rows, self._states, self._switches, observations, masks)
        opponent = self._opponents[place]
        answers = self._answers(place, rows, observations, masks)
        row = core.first_illegal(rows, answers, self._states, self._tables)
        if row >= 0:
            game = int(rows[row])
            raise IllegalActionError(f"opponent {opponent!r} in env {game}: {self._refusal(game, int(answers[row]))}")
        waiting: int = core.advance_games(0, len(rows), rows, answers, *self._arrays)
        return waiting

    def _answers(
        self, place: int, rows: npt.NDArray[np.int64], observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """What the opponent in `place` does in the games `rows`, int64, not checked."""
        return act_states(self._opponents[place], self._states[rows], observations, masks)

    def _refusal(self, game: int, action: int) -> str:
        legal = np.empty(NUM_ACTIONS, np.int64)
        count = list_legal(self._states[game : game + 1], legal)
        name = f"{action} ({ACTIONS[action]!r})" if 0 <= action < NUM_ACTIONS else repr(action)
        return f"action {name} is illegal; legal: {', '.join(ACTIONS[one] for one in legal[:count])}"

    def game(self, index: int = 0) -> Game:
        """A copy of a game as it stands, hidden cards and generator included, to draw or to search.

        Its history is not kept, so it has no record. Its colours are right under `track_colors`, or where a rule
        asks for them.
        """
        state = self._states[index]
        finished = int(self._tables["standing"][index]) == core.FINISHED
        current = Deal(state["deck"][: self.rules.deck_size].tobytes(), int(state["first_player"]), (), 0)
        # While a game goes on, `deal` counts the deals that are over: one more has been dealt.
        deals = max(1, int(state["deal"]) + (ENDED[state["ended"]] is None))
        game = Game.__new__(Game)
        nothing_fixed = ((), None, ())
        player = None if finished else int(state["player"])
        memory = bytearray(state.tobytes())
        # As the batch plays: what it does not track, the copy must not read.
        tracks_colors = bool(self._switches["track_colors"][0])
        parts = (self.rules, player, nothing_fixed, memory, [current] * deals, bytearray())
        game.__setstate__((*parts, False, tracks_colors))
        return game


def positive(name: str, value: Any) -> int:
    """`value` if it is an integer of at least 1.

    Raises:
        InvalidConfigError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidConfigError(f"{name}: {value!r} is wrong; allowed: an integer of at least 1")
    return int(value)


def _thresholds(weights: Sequence[float] | None, count: int) -> npt.NDArray[np.int64]:
    """Where the share of each opponent ends, in whole numbers of 2 to the power WEIGHT_BITS."""
    if weights is None:
        return np.full(count, core.IN_SEATING_ORDER, np.int64)
    shares = np.asarray(weights, np.float64)
    fit = shares.shape == (count,) and np.isfinite(shares).all() and (shares >= 0).all() and shares.any()
    if not fit:
        raise InvalidConfigError(
            f"weights: {weights!r} is wrong; allowed: {count} numbers of at least 0, one for each opponent, not all 0"
        )
    bounds = np.cumsum(shares) / shares.sum()
    # Rounding must leave nothing to draw behind the last opponent that has a weight.
    bounds[int(np.flatnonzero(shares)[-1]) :] = 1.0
    thresholds: npt.NDArray[np.int64] = np.rint(bounds * (1 << core.WEIGHT_BITS)).astype(np.int64)
    return thresholds


def choice_words(sequence: np.random.SeedSequence) -> npt.NDArray[np.uint64]:
    """The generator of all that is not dealt, seats and actions, for the game that `sequence` seeds."""
    # The words after those of the deals; together never zero.
    words = sequence.generate_state(4, np.uint64)[2:].astype(np.uint64)
    words[1] |= np.uint64(1)
    return words


def seed_sequences(seed: Any, count: int) -> list[np.random.SeedSequence | None]:
    """The seed of each of `count` games, None where it is not to be seeded.

    Args:
        seed: None; a number or a `SeedSequence`, which spawns the seeds; or a sequence of `count` of these.
        count: Number of games.

    Raises:
        InvalidConfigError: `seed` is none of these.
    """
    if seed is None:
        return [None] * count
    try:
        if isinstance(seed, np.random.SeedSequence):
            # Not `seed.spawn`, which would count up in the caller's object.
            return [
                np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, game), pool_size=seed.pool_size)
                for game in range(count)
            ]
        if isinstance(seed, int | np.integer):
            return list(np.random.SeedSequence(int(seed)).spawn(count))
        seeds = list(seed)
        if len(seeds) == count:
            return [
                one if one is None or isinstance(one, np.random.SeedSequence) else np.random.SeedSequence(int(one))
                for one in seeds
            ]
    except (TypeError, ValueError):
        pass
    raise InvalidConfigError(
        f"seed: {seed!r} is wrong; allowed: None, an integer of at least 0, or a sequence of {count} of them"
    )
