"""One game with chance in the open: `LazyGame` draws hidden cards one at a time, when they are turned up.

`Game` shuffles a deck; here chance is a player of its own, for what walks or searches trees with chance nodes. Both
are the same game, as all cards that nobody has turned up yet are alike. The rules are those of the core, which also
says what chance has to decide before an action is made (core/chance.py).
"""

from __future__ import annotations

import itertools
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .actions import ACTIONS, DRAW, FLIP, GIVE, NUM_ACTIONS, NUM_SLOTS, PLAY, TARGET, UP
from .cards import CARDS, KINDS, MAX_COPIES, NUM_COLORS
from .core import chance, single
from .core.ending import REWARD_WIN
from .core.state import NO_CARD, STATE, UP_PHASE, pack_rules
from .core.turn import may_be_played
from .errors import IllegalActionError
from .observation import observation_layout
from .rules import Rules

CHANCE: Final = -1
"""`LazyGame.player` where chance is to decide."""
OVER: Final = -4
"""`LazyGame.player` when the game is over."""
_NO_ACTION: Final = -1
"""Nobody's action waits for chance: a deal does, or nothing."""
_may_be_played = getattr(may_be_played, "py_func", may_be_played)
"""The rule of 3.2 as plain Python: for a single card, compiling it once more would take longer."""


_ATTRIBUTES: Final = np.dtype((np.record, STATE))
"""A record whose fields can be read as attributes, as the core does."""


def is_playable(state: Any, card: int) -> bool:
    """Whether a card may be played on the pile of a record (3.2)."""
    return bool(_may_be_played(state.view(_ATTRIBUTES), card // NUM_COLORS))


class _Setting(NamedTuple):
    """What all games of the same rules share."""

    rules: Rules
    switches: npt.NDArray[np.void]
    names: tuple[str, ...]
    """Written form of each outcome that is a card: kinds, or cards where colours matter (8.4)."""
    step: int
    """Cards from one outcome to the next."""
    counts: tuple[int, ...]
    """How many of each outcome that is a card the deck holds."""
    pairs: tuple[tuple[int, int], ...]
    """The pairs of seats whose piles may be swapped (8.5)."""


def _setting(rules: Rules) -> _Setting:
    names, step, counts = (CARDS, 1, rules.deck_counts) if rules.color_swap else (KINDS, NUM_COLORS, rules.copies)
    pairs = tuple(itertools.combinations(range(rules.num_players), 2))
    return _Setting(rules, pack_rules(rules), names, step, tuple(counts.tolist()), pairs)


class LazyGame:
    """One game of 3UP 3DOWN in which chance decides one thing at a time; all seats are in the caller's hands.

    Outcomes of chance are numbers, by what `place` it decides: a seat for the first player (2.4); a pair of seats, in
    the order of `itertools.combinations`, for a pile swap (8.5); for a card its kind 0..12 or, under `color_swap`, the
    card 0..38. A game is copied exactly by `copy.deepcopy` and by pickling.

    Args:
        rules: The rules of this game.

    Attributes:
        player: The seat to decide, `CHANCE` or `OVER`.
        place: What chance is to decide (core/chance.py), or `NO_PLACE`.
        unseen: For each outcome that is a card, how many of it no one has turned up in this deal: the draw pile and the
            3DOWN cards that are still unseen, together.
    """

    __slots__ = ("_action", "_decided", "_events", "_memory", "_setting", "_states", "place", "player", "unseen")

    def __init__(self, rules: Rules) -> None:
        self._setting = _setting(rules)
        self._memory = bytearray(STATE.itemsize)
        self._states = np.frombuffer(self._memory, STATE)
        self._events = [f"seat {seat}" for seat in range(rules.num_players)]
        self._begin_deal()

    @property
    def rules(self) -> Rules:
        """The rules of this game."""
        return self._setting.rules

    @property
    def state(self) -> Any:
        """A view of the record (`core.state.STATE`). Where no one has turned up a card, a stand-in lies."""
        return self._states[0]

    @property
    def card_names(self) -> tuple[str, ...]:
        """The written form of each outcome that is a card."""
        return self._setting.names

    def outcome_of(self, card: int) -> int:
        """The outcome that stands for a card of the record."""
        return int(card) // self._setting.step

    def card_of(self, outcome: int) -> int:
        """The card of the record that stands for an outcome."""
        return outcome * self._setting.step

    def hand_of(self, state: Any, seat: int) -> dict[int, int]:
        """How many of each outcome a hand holds in a record of this game."""
        counts = state["hand_card"] if self.rules.color_swap else state["hand"]
        return dict(enumerate(counts[seat].tolist()))

    # Chance

    @property
    def dealing(self) -> bool:
        """Whether cards are being dealt: chance is to decide, and for nobody's action."""
        return self.player == CHANCE and self._action == _NO_ACTION

    @property
    def drawer(self) -> int:
        """The seat whose hand a card goes to that chance takes from the deck."""
        if self.dealing:
            return int(chance.seat_dealt(self._setting.switches, self.place))
        return int(self.state["player"])

    @staticmethod
    def max_chance_outcomes(rules: Rules) -> int:
        """How many outcomes a decision of chance can have at most."""
        setting = _setting(rules)
        return max(len(setting.names), len(setting.pairs))

    @staticmethod
    def max_chance_decisions(rules: Rules) -> int:
        """How many decisions chance can make in a game at most: each card once a deal, swaps and the first player."""
        return rules.rounds * (rules.deck_size + rules.pile_swaps) + 1

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcomes and their probabilities, where `player` is `CHANCE`; rising, none of probability 0."""
        if self.place == chance.FIRST_PLAYER:
            number = self.rules.num_players
        elif self.place < chance.DOWN:
            number = len(self._setting.pairs)
        else:
            total = sum(self.unseen)
            return [(outcome, count / total) for outcome, count in enumerate(self.unseen) if count]
        return [(outcome, 1 / number) for outcome in range(number)]

    def outcome_name(self, outcome: int) -> str:
        """An outcome in written form."""
        if self.place == chance.FIRST_PLAYER:
            return f"first player {outcome}"
        if self.place < chance.DOWN:
            return "swap {} {}".format(*self._setting.pairs[outcome])
        return f"card {self.card_names[outcome]}"

    def _decide(self, outcome: int) -> None:
        """Write an outcome of chance into the record and go on."""
        if outcome not in dict(self.chance_outcomes()):
            raise IllegalActionError(
                f"chance outcome {outcome} is impossible; possible: {[one for one, _ in self.chance_outcomes()]}"
            )
        state = self._states[0]
        if self.place == chance.FIRST_PLAYER:
            state["first_player"] = outcome
        elif self.place < chance.DOWN:
            state["swap"][self.place - chance.SWAP] = self._setting.pairs[outcome]
        else:
            self.unseen[outcome] -= 1
            card = outcome * self._setting.step
            if self.place < chance.DECK:
                state["down"][divmod(self.place - chance.DOWN, NUM_SLOTS)] = card
            else:
                state["deck"][self.place - chance.DECK] = card
        self._decided += 1
        self._go_on()

    # Playing

    def legal_actions(self) -> list[int]:
        """The legal actions of the seat to decide, rising; empty when the game is over or chance is to decide."""
        if self.player < 0:
            return []
        actions = np.empty(NUM_ACTIONS, np.int64)
        legal: list[int] = actions[: single.list_legal(self._states, actions)].tolist()
        return legal

    def apply(self, action: int) -> None:
        """Make the decision of the seat to decide or, where that is `CHANCE`, of chance.

        Raises:
            IllegalActionError: The action is not legal, or the outcome impossible; nothing has changed.
        """
        if self.player == CHANCE:
            self._decide(action)
            return
        legal = self.legal_actions()
        if action not in legal:
            raise IllegalActionError(
                f"action {action} is illegal for player {self.player}; legal: "
                f"{', '.join(f'{one} ({ACTIONS[one]})' for one in legal) or 'none, the game is over'}"
            )
        self._action = action
        self._decided = 0
        self._go_on()

    def _begin_deal(self) -> None:
        """Wait for chance to deal."""
        chance.clear_table(self._states, self._setting.switches)
        self.unseen = list(self._setting.counts)
        self._action = _NO_ACTION
        self._decided = 0
        self._go_on()

    def _go_on(self) -> None:
        """Wait for what chance decides next; if there is nothing, deal the cards or make the action that waited."""
        switches = self._setting.switches
        if self._action == _NO_ACTION:
            self.place: int = chance.next_place_of_deal(self._states, switches, self._decided)
        else:
            copies = np.frombuffer(self._memory.copy(), STATE)
            self.place = chance.next_place(self._states, copies, switches, self._action, self._decided)
        if self.place != chance.NO_PLACE:
            self.player: int = CHANCE
        elif self._action == _NO_ACTION:
            self.player = single.deal_again(self._states, switches)
            self._tell_deal()
        else:
            self._make()

    def _make(self) -> None:
        """Make the action that waited, all that it turns up being known."""
        before = np.frombuffer(self._memory.copy(), STATE)[0]
        action, self._action = self._action, _NO_ACTION
        player = single.play(self._states, self._setting.switches, action)
        self._tell(before, action)
        if player == single.DEAL_OVER:
            self._begin_deal()
        else:
            self.player = OVER if player == single.GAME_OVER else player

    # What the seats see

    def information(self, seat: int) -> str:
        """All that `seat` has seen and done since the game began (section 10), in words: a perfect recall.

        Two games look the same to a seat that forgets nothing if and only if these are equal.
        """
        return self._events[seat]

    def observation(self, seat: int) -> npt.NDArray[np.int8]:
        """What `seat` knows, as `Game.observation` gives it."""
        observation = np.empty(observation_layout(self.rules).size, np.int8)
        single.write_observation(self._states, self._setting.switches, seat, observation[np.newaxis])
        return observation

    def rewards(self) -> list[float]:
        """Rewards of all seats under `reward="win"`; zeros until the game is over."""
        rewards = np.empty(self.rules.num_players)
        single.write_rewards(self._states, self._setting.switches, REWARD_WIN, rewards)
        return rewards.tolist()

    def _say(self, text: str, *seats: int) -> None:
        for seat in seats or range(self.rules.num_players):
            self._events[seat] += f" | {text}"

    def _tell_deal(self) -> None:
        state = self.state
        self._say(f"deal {state['deal']}, first player {state['first_player']}")
        for seat in range(self.rules.num_players):
            self._say(f"hand {self.hand_text(seat)}", seat)

    def _tell(self, before: Any, action: int) -> None:
        """Write down who saw what of an action; `before` is the record in front of it."""
        state = self.state
        seat = int(before["player"])
        others = [other for other in range(self.rules.num_players) if other != seat]
        text = f"{seat} {ACTIONS[action]}"
        if before["phase"] == UP_PHASE:
            # 2.3: others see that a card is laid, neither which nor whether its colour was asked.
            self._say(text, seat)
            if not state["asking"]:
                self._say(f"{seat} up", *others)
        elif FLIP <= action < UP and not before["asking"]:
            self._tell_flip(text, before, action - FLIP)
        else:
            self._say(text + self._colors_seen(before, action))
        if state["revealed"] and not before["revealed"]:
            self._tell_reveal()
        if state["drawn"] > before["drawn"]:
            cards = sorted(state["deck"][before["drawn"] : state["drawn"]].tolist())
            self._say(f"draws {self._text(cards)}", seat)
        if state["deal"] != before["deal"]:
            points = " ".join(map(str, state["score"][: self.rules.num_players]))
            self._say(f"points {points}")

    def _colors_seen(self, before: Any, action: int) -> str:
        """What everybody sees of colours where they matter (8.4): the cards moved, or that one is to be said."""
        state = self.state
        if not self.rules.color_swap:
            return ""
        if state["asking"]:
            return ", in which colour?"
        action = int(before["pending"]) if before["asking"] else action
        if action < DRAW:
            kind, count = divmod(action - PLAY, MAX_COPIES)
            cards = [kind * NUM_COLORS + int(color) for color in state["said"][: count + 1]]
        elif GIVE <= action < TARGET:
            cards = [int(card) for card in (state["give_card"], state["want_card"]) if card != NO_CARD]
        else:
            return ""
        # The second part of an exchange or a sabotage shows in the 3UP cards.
        return f": {self._text(cards) or self.up_text(before['victim'])}"

    def _tell_flip(self, text: str, before: Any, slot: int) -> None:
        """3.3: everybody sees a card that may be played; one that may not, only its owner."""
        seat = int(before["player"])
        card = int(before["down"][seat, slot])
        if is_playable(before, card):
            self._say(f"{text} {self._text([card])}")
        else:
            self._say(f"{text} fails")
            self._say(f"it was {self._text([card])}", seat)

    def _tell_reveal(self) -> None:
        """All 3UP cards, after the swaps; and the decisions made, which everybody can count from now on (10.1)."""
        state = self.state
        for one, other in state["swap"][: self.rules.pile_swaps]:
            self._say(f"swap {one} {other}")
        shown = ", ".join(f"{seat}: {self.up_text(seat)}" for seat in range(self.rules.num_players))
        self._say(f"shown after {state['decisions']} decisions {shown}")

    # In words

    def _text(self, cards: list[int]) -> str:
        return " ".join(self.card_names[self.outcome_of(card)] for card in cards)

    def _counted(self, counts: Any) -> str:
        return " ".join(self.card_names[outcome] for outcome in np.repeat(np.arange(len(counts)), counts).tolist())

    def hand_text(self, seat: int) -> str:
        """The hand of a seat, lowest first."""
        state = self.state
        return self._counted(state["hand_card"][seat] if self.rules.color_swap else state["hand"][seat])

    def up_text(self, seat: int) -> str:
        """The 3UP cards of a seat, lowest first."""
        state = self.state
        if self.rules.color_swap:
            return self._text(sorted(card for card in state["up_card"][seat].tolist() if card != NO_CARD))
        return self._counted(state["up"][seat])

    def _down_text(self, seat: int) -> str:
        slots = zip(self.state["down"][seat].tolist(), self.state["down_seen"][seat].tolist(), strict=True)
        texts = ["." if card == NO_CARD else self._text([card]) if seen else "?" for card, seen in slots]
        return " ".join(texts[: self.rules.table_cards])

    def __str__(self) -> str:
        """The whole table, hands open; 3DOWN cards that nobody has seen are `?`, and `.` is an empty slot."""
        state = self.state
        who = {CHANCE: "chance to decide", OVER: "over"}.get(self.player, f"player {self.player} to decide")
        lines = [f"deal {state['deal']}, decision {state['decisions']}: {who}"]
        if self._action != _NO_ACTION:
            lines.append(f"player {state['player']}: {ACTIONS[self._action]}")
        lines += [
            f"{seat}: hand {self.hand_text(seat)} | 3UP {self.up_text(seat)} | 3DOWN {self._down_text(seat)}"
            for seat in range(self.rules.num_players)
        ]
        pile = state["pile_card"] if self.rules.color_swap else state["pile"]
        lines.append(f"pile: {self._counted(pile)}")
        lines.append(f"draw pile: {state['deck_size'] - state['drawn']}; unseen: {self._counted(self.unseen)}")
        return "\n".join(lines)

    # Copies

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = object.__new__(type(self))
        other._setting = self._setting
        other._restore(self._memory.copy(), self._events.copy(), self.unseen.copy(), self._waiting())
        return other

    def _waiting(self) -> tuple[int, int, int, int]:
        return self.player, self.place, self._action, self._decided

    def _restore(
        self, memory: bytearray, events: list[str], unseen: list[int], waiting: tuple[int, int, int, int]
    ) -> None:
        self._memory = memory
        self._states = np.frombuffer(memory, STATE)
        self._events = events
        self.unseen = unseen
        self.player, self.place, self._action, self._decided = waiting

    def __getstate__(self) -> tuple[Any, ...]:
        return self.rules, self._memory, self._events, self.unseen, self._waiting()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._setting = _setting(state[0])
        self._restore(*state[1:])
