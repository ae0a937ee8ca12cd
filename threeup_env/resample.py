"""Another game that looks the same to one seat: `resample` draws anew what is hidden from it, and plays it again.

Every card that lies or lay in another hand, drawn in secret, is a hidden card. What its holder did since tells what
it can be: who took the pile held nothing playable (3.4), who played a card had it, and so on. `_Story` reads this off
a game, `_Guess` draws hidden cards that fit, and the game is played again with them. Clues are there to find such games
quickly; whether one is right is decided by playing it: only a game that tells the seat the same is returned.

The truth serves to read what the seat saw. It is never asked what a hidden card is.
"""

from __future__ import annotations

import bisect
import copy
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from .actions import COLOR, DRAW, FLIP, GIVE, NUM_SLOTS, PASS, TAKE, UP, WANT
from .cards import CLEAR, NUM_COLORS
from .core import chance
from .core.state import NO_CARD, STATE, UP_PHASE
from .errors import IllegalActionError, ResampleError
from .lazy import CHANCE, LazyGame, is_playable

ATTEMPTS: Final = 2000
"""How often hidden cards are drawn before giving up."""

Sampler = Callable[[], float]
"""Gives a number of at least 0 and less than 1 each time it is called."""
_Outcomes = frozenset[int]


class _Move(NamedTuple):
    """A move that is the same in every game that the seat cannot tell apart."""

    move: int


class _Draw(NamedTuple):
    """Chance draws the hidden card of this number."""

    card: int


class _Lay(NamedTuple):
    """Another player lays a card face up in set-up (2.3): its outcome if it is revealed by now."""

    outcome: int | None


class _StuckError(Exception):
    """The cards drawn so far cannot be those of this game."""


def resample(game: LazyGame, history: Sequence[int], seat: int, sampler: Sampler) -> list[int]:
    """Draw a game that `seat` cannot tell from `game`, as a player who forgets nothing.

    Hidden cards are drawn from all that the seat has not seen, each copy with equal chances where clues leave a
    choice; set-up actions that are still secret are drawn uniformly. How likely others would have played so is not
    weighed. Earlier deals of a match stay as they were.

    Args:
        game: The game; a seat is to decide, or it is over.
        history: All its moves, decisions and outcomes of chance, in order.
        seat: Whose information stays the same.
        sampler: What chance draws from.

    Returns:
        The moves of the game drawn.

    Raises:
        ResampleError: Chance is to decide, or no such game was found in `ATTEMPTS`.
    """
    if game.player == CHANCE:
        raise ResampleError("chance is to decide; a game can be resampled where a player decides")
    story = _Story(game, history, seat)
    for attempt in range(ATTEMPTS):
        try:
            guess = _Guess(story, sampler, bold=attempt % 2 == 0)
            return _play_again(story, guess.draw_all(), game.information(seat), sampler)
        except (_StuckError, IllegalActionError):
            continue
    raise ResampleError(f"no game that looks the same to seat {seat} was found in {ATTEMPTS} attempts")


def _play_again(story: _Story, outcomes: list[int], information: str, sampler: Sampler) -> list[int]:
    """Play the story with these hidden cards; the moves of the whole game."""
    game = copy.deepcopy(story.start)
    moves = list(story.moves_before)

    def make(move: int) -> None:
        game.apply(move)
        moves.append(move)

    for step in story.script:
        match step:
            case _Move(move):
                make(move)
            case _Draw(card):
                make(outcomes[card])
            case _Lay(outcome):
                _lay(game, outcome, make, sampler)
        if not information.startswith(game.information(story.seat)):
            raise _StuckError
    if game.information(story.seat) != information:
        raise _StuckError
    return moves


def _lay(game: LazyGame, outcome: int | None, make: Callable[[int], None], sampler: Sampler) -> None:
    """Lay a card face up, and say its colour if that is asked: the revealed card, or any."""
    if outcome is None:
        make(_pick(game.legal_actions(), sampler))
        while game.state["asking"]:
            make(_pick(game.legal_actions(), sampler))
        return
    kind, color = divmod(game.card_of(outcome), NUM_COLORS)
    make(UP + kind)
    if game.state["asking"]:
        make(COLOR + color)


def _pick(items: Sequence[int], sampler: Sampler) -> int:
    return items[int(sampler() * len(items))]


def _pick_weighted(items: Sequence[int], weights: Iterable[float], sampler: Sampler) -> int:
    """An item with a chance in proportion to its weight; an item of weight 0 is never picked."""
    sums = list(itertools.accumulate(weights))
    if not sums or sums[-1] <= 0:
        raise _StuckError
    return items[bisect.bisect_right(sums, sampler() * sums[-1])]


class _Story:
    """What a seat knows of the deal in play: what is fixed, which cards are hidden, and what is clear about them.

    Attributes:
        seat: Who knows it.
        start: The game at the beginning of this deal.
        moves_before: The moves until then.
        script: The moves of this deal.
        clues: What is known of the hidden cards, in the order in which it became known.
        pool: How many of each outcome the hidden cards and the cards that nobody has turned up are, together.
        num_hidden: How many cards are hidden.
        colors_asked: How many colours of cards that others laid in set-up were asked, once that is known.
    """

    def __init__(self, game: LazyGame, history: Sequence[int], seat: int) -> None:
        self.seat = seat
        self._revealed = bool(game.state["revealed"])
        self._game = LazyGame(game.rules)
        self._begin(())
        for number, move in enumerate(history):
            self._read(move)
            if self._game.state["deal"] != self._deal:
                self._begin(history[: number + 1])
        if self._lying is not None:
            # Whether a card or its colour is being chosen is secret: the card is not laid yet (2.3).
            del self.script[self._lying]
        self.num_hidden = len(self._truth)
        self.pool = Counter(dict(enumerate(self._game.unseen)))
        self.pool.update(self._truth)

    def _begin(self, moves_before: Sequence[int]) -> None:
        self.moves_before = moves_before
        self.start = copy.deepcopy(self._game)
        self._deal = int(self._game.state["deal"])
        self.script: list[_Move | _Draw | _Lay] = []
        self.clues: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._truth: list[int] = []
        self._in_slot: dict[tuple[int, int], int] = {}
        self.colors_asked = 0
        self._arriving: list[int] = []
        self._said: list[int] = []
        self._lying: int | None = None
        self._before: Any = None

    def _read(self, move: int) -> None:
        game = self._game
        if game.player == CHANCE:
            self._read_chance(move)
        else:
            self._before = np.frombuffer(game.state.tobytes(), STATE)[0]
            self._action = move
            self._read_decision(move)
        dealing = game.dealing
        game.apply(move)
        if not dealing and game.place == chance.NO_PLACE and self._before["player"] != self.seat:
            self._read_effect()

    def _read_chance(self, outcome: int) -> None:
        place = self._game.place
        if place >= chance.DECK and self._game.drawer != self.seat:
            holder = self._game.drawer
            number = self._hide(outcome)
            if self._game.dealing:
                self._clue(_Guess.take_in, holder, number)
            else:
                self._arriving.append(number)
        elif self._turns_in_vain(place, outcome):
            holder = int(self._before["player"])
            number = self._hide(outcome)
            self._clue(_Guess.limit, number, self._outcomes(playable=False))
            if self._game.rules.failed_flip == "hand":
                self._arriving.append(number)
            else:
                self._in_slot[holder, self._action - FLIP] = number
        else:
            self.script.append(_Move(outcome))

    def _turns_in_vain(self, place: int, outcome: int) -> bool:
        """Whether this is the 3DOWN card that another player turns, and fails with (3.3)."""
        if not chance.DOWN <= place < chance.DECK or not FLIP <= self._action < UP:
            return False
        holder = int(self._before["player"])
        turned = chance.DOWN + NUM_SLOTS * holder + self._action - FLIP
        return holder != self.seat and place == turned and not is_playable(self._before, self._game.card_of(outcome))

    def _hide(self, outcome: int) -> int:
        """Chance draws a card in secret; its number."""
        number = len(self._truth)
        self._truth.append(outcome)
        self.script.append(_Draw(number))
        return number

    def _clue(self, clue: Callable[..., None], *args: Any) -> None:
        self.clues.append((clue, args))

    def _read_decision(self, move: int) -> None:
        if move >= COLOR:
            self._said.append(move - COLOR)
        else:
            self._said = []
        if self._before["player"] == self.seat or self._before["phase"] != UP_PHASE:
            self.script.append(_Move(move))
        elif move < COLOR:
            self._lying = len(self.script)
            self.script.append(_Lay(None))
        elif self._revealed:
            self.colors_asked += 1

    def _outcomes(self, playable: bool) -> _Outcomes:
        """The outcomes that could be played in front of the decision, or those that could not."""
        game = self._game
        every = range(len(game.card_names))
        return frozenset(one for one in every if is_playable(self._before, game.card_of(one)) == playable)

    def _read_effect(self) -> None:
        """What a decision of another player tells of the hidden cards, now that it has taken effect."""
        game, before, after = self._game, self._before, self._game.state
        if after["asking"] or after["deal"] != before["deal"]:
            return
        seat = int(before["player"])
        action = int(before["pending"]) if before["asking"] else self._action
        arriving, self._arriving = self._arriving, []
        # All that leaves a hand is seen, and all that enters it but for the hidden cards.
        change = Counter(game.hand_of(after, seat))
        change.subtract(game.hand_of(before, seat))
        change.subtract(Counter(self._truth[number] for number in arriving))
        lost, gained = list((-change).elements()), list((+change).elements())
        if UP <= action < PASS:
            self._read_lay(seat, lost)
            return
        if action == TAKE:
            self._clue(_Guess.lack, seat, self._outcomes(playable=True))
        elif action == DRAW and before["extras"] == 0:
            # 8.2: only a player who could discard has the choice.
            self._clue(_Guess.hold_one, seat, self._outcomes(playable=True))
        elif FLIP <= action < UP and (seat, action - FLIP) in self._in_slot:
            self._read_flip_again(seat, action - FLIP)
        self._clue(_Guess.give_up, seat, lost)
        if game.rules.color_swap:
            self._read_colors(seat, self._laid_from_hand(action, lost))
        self._clue(_Guess.show, seat, gained)
        for number in arriving:
            self._clue(_Guess.take_in, seat, number)

    def _read_lay(self, seat: int, lost: list[int]) -> None:
        """2.3: a card is laid; what it is comes out when all are."""
        if self._revealed:
            assert self._lying is not None
            self.script[self._lying] = _Lay(lost[0])
            self._clue(_Guess.give_up, seat, lost)
            if self._game.rules.color_swap and lost[0] // NUM_COLORS < CLEAR:
                self._clue(_Guess.lay, seat, _of_kind(lost[0]) - {lost[0]})
            elif self._game.rules.color_swap:
                self._read_colors(seat, lost)
        self._lying = None

    def _read_flip_again(self, seat: int, slot: int) -> None:
        """3.3: a 3DOWN card that its owner has seen is turned; it is shown, or fails once more."""
        card = int(self._before["down"][seat, slot])
        if is_playable(self._before, card):
            self._clue(_Guess.settle, self._in_slot.pop((seat, slot)), self._game.outcome_of(card))
        else:
            self._clue(_Guess.limit, self._in_slot[seat, slot], self._outcomes(playable=False))

    def _laid_from_hand(self, action: int, lost: list[int]) -> list[int]:
        """The cards whose colours were settled in an action that moves cards from the hand (8.4); else none."""
        if action < DRAW:
            return lost
        if not GIVE <= action < WANT:
            return []
        given = int(self._game.state["give_card"])
        if given != NO_CARD:
            return [given]
        # In a sabotage the same card can come for it, and then the hand has lost nothing.
        return lost or [int(self._before["want_card"])]

    def _read_colors(self, seat: int, cards: list[int]) -> None:
        """8.4: a colour is asked where more than one is possible in the hand, and only there."""
        if not cards:
            return
        of_kind = _of_kind(cards[0])
        if cards[0] // NUM_COLORS >= CLEAR:
            # 7.3: the others of that kind come later in the order of colours.
            self._clue(_Guess.lack, seat, frozenset(card for card in of_kind if card < max(cards)))
            return
        asked = [min(of_kind) + color for color in self._said]
        not_asked = list((Counter(cards) - Counter(asked)).elements())
        if not_asked:
            self._clue(_Guess.lack, seat, of_kind - {not_asked[0]})
        for i, card in enumerate(asked):
            if all(later == card for later in asked[i + 1 :] + not_asked):
                self._clue(_Guess.hold_one, seat, of_kind - {card})


def _of_kind(card: int) -> _Outcomes:
    """The cards of the same kind."""
    first = card // NUM_COLORS * NUM_COLORS
    return frozenset(range(first, first + NUM_COLORS))


class _Guess:
    """Hidden cards as they could be: the clues of a story taken in one after another.

    A card that is seen to leave a hand is one that was seen to enter it, if there is such a card of its kind: cards of
    a kind are alike, so this leaves no game out.

    Args:
        story: What is known.
        sampler: What chance draws from.
        bold: Whether a hidden card that leaves a hand is drawn from all that it can be. Otherwise it is the one
            that can be the least, which leaves the most open for the others.
    """

    def __init__(self, story: _Story, sampler: Sampler, bold: bool) -> None:
        num_players = story.start.rules.num_players
        self._sampler = sampler
        self._bold = bold
        self._pool = story.pool.copy()
        self._hidden: list[list[int]] = [[] for _ in range(num_players)]
        self._shown: list[Counter[int]] = [Counter() for _ in range(num_players)]
        self._everything = frozenset(story.pool)
        self._domains = [self._everything] * story.num_hidden
        self._settled: dict[int, int] = {}
        # Hands at moments when they held one of some outcomes, or, in set-up, when that may have been so.
        self._needs: list[tuple[list[int], _Outcomes]] = []
        self._lays: list[tuple[list[int], _Outcomes]] = []
        for clue, args in story.clues:
            clue(self, *args)
        self._settle_lays(story.colors_asked)
        for hand, outcomes in self._needs:
            self._settle_need(hand, outcomes)

    def _copies(self, domain: _Outcomes) -> int:
        """How many cards that are still free belong to a domain."""
        return sum(self._pool[outcome] for outcome in domain)

    def take_in(self, seat: int, number: int) -> None:
        """A hidden card enters the hand."""
        self._hidden[seat].append(number)

    def show(self, seat: int, outcomes: list[int]) -> None:
        """Cards enter the hand in the open."""
        self._shown[seat].update(outcomes)

    def limit(self, number: int, domain: _Outcomes) -> None:
        """A hidden card belongs to the domain."""
        self._domains[number] &= domain
        if not self._domains[number]:
            raise _StuckError

    def lack(self, seat: int, outcomes: _Outcomes) -> None:
        """No hidden card of the hand is one of these."""
        for number in self._hidden[seat]:
            self.limit(number, self._everything - outcomes)

    def hold_one(self, seat: int, outcomes: _Outcomes) -> None:
        """Some card of the hand is one of these. Which, is settled when all cards that come out are known."""
        if not any(self._shown[seat][outcome] for outcome in outcomes):
            self._needs.append((self._hidden[seat].copy(), outcomes))

    def lay(self, seat: int, others: _Outcomes) -> None:
        """A number is laid in set-up; its colour was asked if the hand held one of `others` (8.4)."""
        self._lays.append((self._hidden[seat].copy(), others))

    def _settle_lays(self, asked: int) -> None:
        """After the reveal everybody knows how many colours were asked in set-up, not where (10.1)."""
        open_lays = []
        for hand, others in self._lays:
            if any(self._settled.get(number) in others for number in hand):
                asked -= 1
            else:
                open_lays.append((hand, others))
        if not 0 <= asked <= len(open_lays):
            raise _StuckError
        open_lays.sort(key=lambda _: self._sampler())
        self._needs += open_lays[:asked]
        for hand, others in open_lays[asked:]:
            for number in hand:
                if number not in self._settled:
                    self.limit(number, self._everything - others)

    def _settle_need(self, hand: list[int], outcomes: _Outcomes) -> None:
        """Some card of a hand is one of these: see whether one is, or draw which."""
        free = [number for number in hand if number not in self._settled]
        met = any(self._settled.get(number) in outcomes for number in hand)
        if not met and not any(self._domains[number] <= outcomes for number in free):
            sizes = [self._copies(self._domains[number]) or 1 for number in free]
            fits = [self._copies(self._domains[number] & outcomes) for number in free]
            chances = [fit / size for fit, size in zip(fits, sizes, strict=True)]
            self.limit(_pick_weighted(free, chances, self._sampler), outcomes)

    def settle(self, number: int, outcome: int) -> None:
        """A hidden card is seen."""
        if outcome not in self._domains[number] or not self._pool[outcome]:
            raise _StuckError
        self._pool[outcome] -= 1
        self._settled[number] = outcome

    def give_up(self, seat: int, outcomes: list[int]) -> None:
        """Cards leave the hand in the open."""
        for outcome in outcomes:
            if self._shown[seat][outcome]:
                self._shown[seat][outcome] -= 1
                continue
            cards = [number for number in self._hidden[seat] if outcome in self._domains[number]]
            sizes = [self._copies(self._domains[number]) for number in cards]
            if self._bold:
                number = _pick_weighted(cards, [1 / (size or 1) for size in sizes], self._sampler)
            elif cards:
                number = min(zip(sizes, cards, strict=True))[1]
            else:
                raise _StuckError
            self._hidden[seat].remove(number)
            self.settle(number, outcome)

    def draw_all(self) -> list[int]:
        """The outcome of every hidden card. Those that can be the least are drawn first, so that they find one."""
        for number in sorted(range(len(self._domains)), key=lambda number: self._copies(self._domains[number])):
            if number not in self._settled:
                domain = sorted(self._domains[number])
                self.settle(number, _pick_weighted(domain, [self._pool[one] for one in domain], self._sampler))
        return [self._settled[number] for number in range(len(self._domains))]
