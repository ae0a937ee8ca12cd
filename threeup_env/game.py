"""One game, for people and for search: `Game`.

Example:
    >>> from threeup_env import Game, Rules
    >>> game = Game(Rules.standard(2), seed=1)
    >>> while game.player is not None:
    ...     game.play(game.legal_actions[0])
    >>> game.outcome.ended
    'out'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from .actions import ACTION_INDEX, ACTIONS, NUM_ACTIONS
from .cards import CARD_INDEX, CARDS, NUM_CARDS
from .core import single
from .core.ending import REWARD_PLACE, REWARD_SCORE, REWARD_WIN
from .core.random import seed_words
from .core.state import ENDED, STATE, pack_rules
from .errors import IllegalActionError, InvalidRecordError
from .observation import observation_layout
from .rules import Rules

if TYPE_CHECKING:
    from .record import GameRecord

REWARDS: Final = {"win": REWARD_WIN, "place": REWARD_PLACE, "score": REWARD_SCORE}
"""The reward functions of docs/environments.md, by the name that environments take."""

Seed = int | np.random.SeedSequence | None
Ended = Literal["out", "points", "truncated", "match"]
Swaps = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Outcome:
    """How a game ended.

    Attributes:
        places: Place of each seat, from 1; ties share the better place; None without one (6.3, truncated).
        scores: Points of each seat (8.7), of all deals together in a match.
        rewards: Reward of each seat under `reward="win"`.
        ended: `"out"`, `"points"`, `"truncated"` or `"match"`.
    """

    places: tuple[int | None, ...]
    scores: tuple[int, ...]
    rewards: tuple[float, ...]
    ended: Ended


class Deal(NamedTuple):
    """What chance decided in one deal: what a record needs besides the actions."""

    deck: bytes
    first_player: int
    pile_swaps: tuple[tuple[int, int], ...]
    start: int
    """Index of its first action in the history of the game."""


class Game:
    """One game of 3UP 3DOWN, all seats in the caller's hands.

    Attributes:
        rules: The rules of this game.
        player: The seat to decide, or None when the game is over.
    """

    __slots__ = ("_deals", "_fixed", "_history", "_memory", "_recorded", "_states", "_switches", "player", "rules")

    def __init__(
        self,
        rules: Rules | None = None,
        seed: Seed = None,
        decks: Sequence[Sequence[str]] | None = None,
        first_player: int | None = None,
        pile_swaps: Sequence[Swaps] | None = None,
    ) -> None:
        """Deal the first deal.

        Args:
            rules: The rules; `Rules.standard(2)` when left out.
            seed: Seeds the generator of the deals (`numpy.random.SeedSequence`); None draws from the system.
            decks: One list of cards per deal, in the order of clause 2.2, instead of shuffled ones; further
                deals of a match are shuffled.
            first_player: Seat that begins the first deal, whatever `rules.first_player` says.
            pile_swaps: One list of pairs of seats per deal, instead of drawn ones (8.5).

        Raises:
            InvalidRecordError: `decks`, `first_player` or `pile_swaps` do not fit the rules.
        """
        self.rules: Rules = rules if rules is not None else Rules()
        self._compile_rules()
        # The record lies in a bytearray because NumPy copies structured arrays field by field.
        self._memory = bytearray(STATE.itemsize)
        self._states = np.frombuffer(self._memory, STATE)
        sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        self._states["rng"][0] = seed_words(sequence)
        self._fixed = check_deals(self.rules, decks, first_player, pile_swaps)
        self._deals: list[Deal] = []
        self._history = bytearray()
        self._recorded = True
        self.player: int | None = None
        self._start(single.start_game)

    def _compile_rules(self) -> None:
        """What compiled code reads of the rules. Colours are tracked under all rules, for people to look at."""
        self._switches = pack_rules(self.rules, track_colors=True)

    def _start(self, deal: Any) -> None:
        """Begin a deal, drawn by the generator and then overruled by what the caller fixed."""
        player = deal(self._states, self._switches)
        fixed_decks, first_player, fixed_swaps = self._fixed
        number = len(self._deals)
        state = self._states[0]
        if number < len(fixed_decks):
            state["deck"][: self.rules.deck_size] = np.frombuffer(fixed_decks[number], np.uint8)
        if number == 0 and first_player is not None:
            state["first_player"] = first_player
        if number < len(fixed_swaps) and self.rules.pile_swaps:
            state["swap"][: self.rules.pile_swaps] = fixed_swaps[number]
        if self._fixed != _NOTHING_FIXED:
            player = single.deal_again(self._states, self._switches)
        self._deals.append(
            Deal(
                state["deck"][: self.rules.deck_size].tobytes(),
                int(state["first_player"]),
                tuple((int(a), int(b)) for a, b in state["swap"][: self.rules.pile_swaps]),
                len(self._history),
            )
        )
        self.player = int(player)

    @property
    def legal_actions(self) -> list[str]:
        """The legal actions of the seat to decide, in written form and index order; empty when the game is over."""
        return [ACTIONS[action] for action in self.legal_indices()]

    def legal_indices(self) -> list[int]:
        """The legal actions as indices of the action table, rising."""
        actions = np.empty(NUM_ACTIONS, np.int64)
        count: int = single.list_legal(self._states, actions)
        legal: list[int] = actions[:count].tolist()
        return legal

    @property
    def action_mask(self) -> npt.NDArray[np.int8]:
        """The legal actions as a mask of 0 and 1, int8 `(rules.num_actions,)`; zeros when the game is over."""
        mask = np.empty(self.rules.num_actions, np.int8)
        single.write_mask(self._states, mask[np.newaxis])
        return mask

    def play(self, action: int | str) -> None:
        """Make one decision for the seat `player`.

        Args:
            action: An index of the action table, or a written form such as `"play 7x2"`.

        Raises:
            IllegalActionError: The action is not legal now; nothing has changed.
        """
        index = ACTION_INDEX.get(action, -1) if isinstance(action, str) else _as_index(action)
        player = single.play(self._states, self._switches, index)
        if player == single.ILLEGAL:
            raise IllegalActionError(self._refusal(action))
        if self._recorded:
            self._history.append(index)
        if player >= 0:
            self.player = player
        elif player == single.DEAL_OVER:
            self._start(single.start_deal)
        else:
            self.player = None

    def _refusal(self, action: object) -> str:
        if self.player is None:
            return f"action {_name(action)} is illegal: the game is over"
        legal = ", ".join(self.legal_actions)
        return f"action {_name(action)} is illegal for player {self.player}; legal: {legal}"

    def observation(self, seat: int) -> npt.NDArray[np.int8]:
        """What `seat` knows, int8 `(D,)`, laid out as `observation_layout(rules)` says.

        Raises:
            ValueError: There is no such seat.
        """
        self._check_seat(seat)
        observation = np.empty(observation_layout(self.rules).size, np.int8)
        single.write_observation(self._states, self._switches, seat, observation[np.newaxis])
        return observation

    def _check_seat(self, seat: int) -> None:
        if not 0 <= _as_index(seat) < self.rules.num_players:
            raise ValueError(f"no seat {seat!r}; seats are 0..{self.rules.num_players - 1}")

    @property
    def deal(self) -> int:
        """The number of the deal in play, from 0; of the last one when the game is over."""
        return len(self._deals) - 1

    @property
    def decision(self) -> int:
        """Decisions made in this deal so far (6.3)."""
        return int(self._states["decisions"][0])

    @property
    def tracks_colors(self) -> bool:
        """Whether the game keeps the colours of cards: always, but for a copy out of a batch that does not."""
        return bool(self._switches["track_colors"][0])

    @property
    def state(self) -> np.record:
        """Everything that the game is: a read-only view of its record (`core.state.STATE`), fields as attributes.

        For what draws a game or looks into it. Hidden cards and the draw pile stand in it too, so whoever shows
        it to a seat must leave out what that seat may not know (section 10), as `render.table.look` does.
        """
        view = self._states.view(np.recarray)
        view.flags.writeable = False
        record: np.record = view[0]
        return record

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, or None while it goes on."""
        if self.player is not None:
            return None
        n = self.rules.num_players
        state = self._states[0]
        scores = state["total"]
        return Outcome(
            places=tuple(int(place) or None for place in state["place"][:n]),
            scores=tuple(int(score) for score in scores[:n]),
            rewards=tuple(float(reward) for reward in self.rewards()),
            ended=cast(Ended, ENDED[state["ended"]]),
        )

    def rewards(self, reward: str = "win") -> npt.NDArray[np.float64]:
        """Rewards of all seats, float64 `(n,)`: zeros until the game is over.

        Args:
            reward: `"win"`, `"place"` or `"score"` (docs/environments.md).
        """
        rewards = np.empty(self.rules.num_players)
        single.write_rewards(self._states, self._switches, REWARDS[reward], rewards)
        return rewards

    def copy(self) -> Self:
        """An exact, independent copy, generator included: no chance is left in it, the same actions play the same game.

        What a seat may not know is in it too. Whoever plays on in a copy to choose an action, as a search does, takes
        one from `determinize`.
        """
        other = object.__new__(type(self))
        other.rules = self.rules
        other.player = self.player
        other._switches = self._switches
        other._fixed = self._fixed
        other._memory = self._memory.copy()
        other._states = np.frombuffer(other._memory, STATE)
        other._deals = self._deals.copy()
        other._history = self._history.copy()
        other._recorded = self._recorded
        return other

    def determinize(self, seat: int, rng: np.random.Generator | np.random.SeedSequence | int | None = None) -> Self:
        """A complete game that `seat` cannot tell from this one: all that is hidden from it is dealt anew (section 10).

        The draw pile, the 3DOWN cards that it has not seen, the other hands but for what is known of them, 3UP cards
        that are not revealed, deals still to come and the generator: nothing of these reaches the copy. Every way to
        deal the cards that nobody has located to the hidden places has the same chance. The copy has no record, because
        what was played before need not follow from its cards.

        Args:
            seat: Whose knowledge it is; that of the seat to decide, for a search.
            rng: Draws the cards: a generator, which goes on, or a seed; None draws from the system.

        Raises:
            ValueError: There is no such seat.
        """
        self._check_seat(seat)
        words = np.random.default_rng(rng).integers(2**64, size=2, dtype=np.uint64)
        other = self.copy()
        other._states["rng"][0] = words if words.any() else 1
        single.determinize(other._states, other._switches, int(seat))
        other._forget_record()
        return other

    def _forget_record(self) -> None:
        """Keep nothing of what was played and of what is fixed of later deals, but how many deals there were."""
        state = self._states[0]
        deal = Deal(state["deck"][: self.rules.deck_size].tobytes(), int(state["first_player"]), (), 0)
        self._deals = [deal] * len(self._deals)
        self._fixed = _NOTHING_FIXED
        self._history = bytearray()
        self._recorded = False

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __getstate__(self) -> tuple[Any, ...]:
        tracks_colors = bool(self._switches["track_colors"][0])
        parts = (self.rules, self.player, self._fixed, self._memory, self._deals, self._history)
        return *parts, self._recorded, tracks_colors

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.rules, self.player, self._fixed, self._memory, self._deals, self._history, self._recorded, tracks = state
        self._states = np.frombuffer(self._memory, STATE)
        self._compile_rules()
        self._switches["track_colors"] = tracks

    def to_bytes(self) -> bytes:
        """The game as bytes, exact: hidden cards, generator and history included (`threeup_env.snapshot`).

        They are small, the same on every machine, and checked by `from_bytes`; unlike a pickle they run nothing.
        """
        from . import snapshot

        return snapshot.write(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The game that `to_bytes` wrote.

        Raises:
            InvalidSnapshotError: `data` is no game, cut short, changed, of another version, or no game by the rules.
        """
        from . import snapshot

        return snapshot.read(cls, data)

    def record(self, players: Sequence[str] | None = None) -> GameRecord:
        """The game so far as a record (interface: `threeup-record/1`).

        Args:
            players: Names of who played, by seat.

        Raises:
            InvalidRecordError: What was played before is not known: the game comes from `determinize`, or from a batch.
        """
        from .record import DealRecord, GameRecord, Result

        if not self._recorded:
            raise InvalidRecordError(
                "this game has no record: what was played before is not known; allowed: a game played from its deal on"
            )

        ends = [deal.start for deal in self._deals[1:]] + [len(self._history)]
        deals = [
            DealRecord(
                deck=tuple(CARDS[card] for card in deal.deck),
                first_player=deal.first_player,
                pile_swaps=deal.pile_swaps,
                actions=tuple(ACTIONS[action] for action in self._history[deal.start : end]),
            )
            for deal, end in zip(self._deals, ends, strict=True)
        ]
        outcome = self.outcome
        result = None
        if outcome is not None:
            result = Result(places=outcome.places, scores=outcome.scores, ended=outcome.ended)
        return GameRecord(
            rules=self.rules, players=None if players is None else tuple(players), deals=tuple(deals), result=result
        )

    def __str__(self) -> str:
        """The table as everybody sees it: no hidden card is shown."""
        from .render.text import draw_table

        return draw_table(self, None)

    def __repr__(self) -> str:
        # Not the decision: in set-up its number tells whether colours were asked, which is secret (2.3).
        turn = "over" if self.player is None else f"player {self.player} to decide"
        return f"<Game of {self.rules.num_players}, deal {self.deal}, {turn}>"


_Fixed = tuple[tuple[bytes, ...], int | None, tuple[tuple[tuple[int, int], ...], ...]]
_NOTHING_FIXED: Final[_Fixed] = ((), None, ())


def _as_index(action: object) -> int:
    """An action index, or -1 for what is none (a float, NaN, a bool, anything out of range)."""
    if isinstance(action, int | np.integer) and not isinstance(action, bool):
        return int(action) if 0 <= action < NUM_ACTIONS else -1
    if isinstance(action, np.ndarray) and action.ndim == 0 and action.dtype.kind in "iu":
        return _as_index(action[()])
    return -1


def _name(action: object) -> str:
    index = _as_index(action)
    return f"{index} ({ACTIONS[index]!r})" if index >= 0 else repr(action)


def check_deals(
    rules: Rules,
    decks: Iterable[Sequence[str]] | None,
    first_player: int | None,
    pile_swaps: Iterable[Swaps] | None,
) -> _Fixed:
    """Check what a caller fixes of the deals (arguments of `Game`) against the rules.

    Returns:
        The decks as indices of cards, the first player, and the pairs of seats.

    Raises:
        InvalidRecordError: They do not fit; the message names the deal, the value and what is allowed.
    """
    fixed_decks = tuple(_check_deck(rules, number, deck) for number, deck in enumerate(decks or ()))
    fixed_swaps = tuple(_check_swaps(rules, number, swaps) for number, swaps in enumerate(pile_swaps or ()))
    for name, given in (("decks", fixed_decks), ("pile_swaps", fixed_swaps)):
        if len(given) > rules.rounds:
            raise InvalidRecordError(f"{name}: {len(given)} deals given, but the rules have rounds={rules.rounds}")
    if first_player is not None:
        seat = _as_index(first_player)
        if not 0 <= seat < rules.num_players:
            raise InvalidRecordError(f"first_player: {first_player!r} is no seat; seats are 0..{rules.num_players - 1}")
        if rules.first_player not in ("random", seat):
            raise InvalidRecordError(
                f"deal 0: first_player: {first_player!r} is wrong; the rules say {rules.first_player!r}"
            )
        first_player = seat
    return fixed_decks, first_player, fixed_swaps


def _check_deck(rules: Rules, number: int, deck: Sequence[str]) -> bytes:
    """The written deck of one deal as indices; it must be a permutation of the deck of the rules."""
    cards = [str(card) for card in deck]
    for card in cards:
        if card not in CARD_INDEX:
            raise InvalidRecordError(
                f"deal {number}: deck: {card!r} is not a card; cards are written like 'g10' or 'rC+1'"
            )
    indices = bytes(CARD_INDEX[card] for card in cards)
    counts = np.bincount(np.frombuffer(indices, np.uint8), minlength=NUM_CARDS)
    wrong = np.flatnonzero(counts != rules.deck_counts)
    if len(wrong):
        first = int(wrong[0])
        raise InvalidRecordError(
            f"deal {number}: deck: {counts[first]} times {CARDS[first]!r}; the deck of the rules holds "
            f"{rules.deck_counts[first]} of it"
        )
    return indices


def _check_swaps(rules: Rules, number: int, swaps: Swaps) -> tuple[tuple[int, int], ...]:
    """The pairs of one deal: `rules.pile_swaps` of them, each of two different seats."""
    if len(swaps) != rules.pile_swaps:
        raise InvalidRecordError(
            f"deal {number}: pile_swaps: {len(swaps)} pairs given; the rules ask for {rules.pile_swaps}"
        )
    pairs = []
    for pair in swaps:
        seats = [_as_index(seat) for seat in pair]
        if len(seats) != 2 or seats[0] == seats[1] or not all(0 <= seat < rules.num_players for seat in seats):
            raise InvalidRecordError(
                f"deal {number}: pile_swaps: {list(pair)!r} is not a pair of two different seats of "
                f"0..{rules.num_players - 1}"
            )
        pairs.append((seats[0], seats[1]))
    return tuple(pairs)
