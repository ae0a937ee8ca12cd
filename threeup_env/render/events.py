"""What actions do, in words: after they were made (`tell`, `Log`) and before (`explain`), each with its clause.

All of it is read off the game itself, before and after the action; no rule is written down a second time. What the
reader may not know is left out (section 10): choices of others in set-up, cards drawn, cards turned over in vain.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..actions import ACTIONS, COLOR, DRAW, FLIP, GIVE, PASS, TAKE, TARGET, UP
from ..cards import CARDS, CLEAR, COLOR_NAMES, COLORS, KINDS, MAX_COPIES, NUM_COLORS
from ..core import single
from ..core.state import (
    BETWEEN_DEALS,
    EXCHANGE_GIVE,
    EXCHANGE_WANT,
    NO_CARD,
    OVER,
    SABOTAGE_GIVE,
    SABOTAGE_TARGET,
    SABOTAGE_WANT,
)
from .table import Viewer

if TYPE_CHECKING:
    from ..game import Game

_OVER: Final = (BETWEEN_DEALS, OVER)
LOG_LENGTH: Final = 24
"""Decisions that a `Log` keeps: more than any renderer has room for."""


@dataclass(frozen=True)
class Effect:
    """One thing that an action does.

    Attributes:
        text: In words, such as `"clears the pile of 5"`; the subject is left out.
        clause: The clause of docs/rules.md that says so.
    """

    text: str
    clause: str


@dataclass(frozen=True)
class Event:
    """A decision that was made, as the viewer could see it.

    Attributes:
        seat: Who made it.
        effects: What it did, in order; the first says what the player did.
        partial: Whether it is a part of an action that was not finished by it (7.1).
    """

    seat: int
    effects: tuple[Effect, ...]
    partial: bool = False

    @property
    def text(self) -> str:
        """All of it, without the subject: `"plays r7; clears the pile of 5"`."""
        return "; ".join(effect.text for effect in self.effects)


class Log:
    """The last decisions of one game after another; they are told when somebody asks.

    Args:
        length: How many decisions are kept.
    """

    def __init__(self, length: int = LOG_LENGTH) -> None:
        self._decisions: deque[tuple[Game, int]] = deque(maxlen=length)

    def note(self, before: Game, action: int) -> None:
        """Keep a decision: an action that is legal in `before`, a copy that nobody changes any more.

        The first decision of a game makes the log forget the game before.
        """
        if before.deal == 0 and before.decision == 0:
            self.clear()
        self._decisions.append((before, action))

    def clear(self) -> None:
        """Forget everything: another game begins."""
        self._decisions.clear()

    def tell(self, viewer: Viewer) -> tuple[Event, ...]:
        """What `viewer` could see of the decisions kept, oldest first."""
        events = (tell(before, action, viewer) for before, action in self._decisions)
        return tuple(event for event in events if event is not None)


def tell(before: Game, action: int, viewer: Viewer) -> Event | None:
    """A decision as `viewer` could see it, after it was made.

    Args:
        before: The game as it was, which does not change.
        action: The action that was made, legal in `before`.
        viewer: A seat, None for what everybody sees, `"all"` for everything.

    Returns:
        The event; None where `viewer` saw nothing (2.3).
    """
    seat = before.player
    assert seat is not None
    change = _Change(before, action, viewer)
    effects = tuple(change.effects())
    return Event(seat, effects, change.partial) if effects else None


def explain(game: Game, action: int) -> tuple[Effect, ...]:
    """What a legal action would do, as the player to decide can foresee it.

    Args:
        game: The game, which does not change.
        action: An action that is legal in it.
    """
    state = game.state
    seat = game.player
    assert seat is not None
    if FLIP <= action < UP and not state.down_seen[seat, action - FLIP]:
        return tuple(_foresee_flip(game, action - FLIP))
    return tuple(_Change(game, action, seat, foreseen=True).effects())


def _foresee_flip(game: Game, slot: int) -> Iterator[Effect]:
    """3.3: nobody knows the card, so nothing is played to see what happens."""
    state = game.state
    top = int(state.top)
    yield Effect(f"turns over the card in slot {slot}, whatever it is", "3.3")
    if top < 0:
        yield Effect("on an empty pile it is discarded for sure", "3.3")
        return
    fate = "goes back face down" if game.rules.failed_flip == "stay" else "goes to the hand"
    enough = "a Clear" if top >= CLEAR else f"a {KINDS[top]} or more is discarded"
    yield Effect(f"{enough}; anything less {fate} with the pile of {int(state.pile.sum())} taken up", "3.3")


def _after(game: Game, action: int) -> Game:
    """The game after an action; where it ends a deal, before the next is dealt."""
    other = game.copy()
    single.play(other._states, other._switches, action)
    return other


def plural(count: int, noun: str) -> str:
    """A number of things: `"1 card"`, `"2 cards"`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


class _Change:
    """The game before and after an action, and what differs.

    Args:
        before: The game before.
        action: The action.
        viewer: Who sees it.
        foreseen: Leave out what chance decides: the viewer is yet to make the decision.
    """

    def __init__(self, before: Game, action: int, viewer: Viewer, foreseen: bool = False) -> None:
        self._foreseen = foreseen
        self._rules = before.rules
        self._before = before.state
        self._after = _after(before, action).state
        self._seat = int(self._before.player)
        self._viewer = viewer
        # An action whose colours are being said is `pending` until the last of them is known (8.4).
        self._said = action if self._before.asking else None
        self._action = int(self._before.pending) if self._before.asking else action

    @property
    def partial(self) -> bool:
        """Whether the action has begun and is not finished."""
        return bool(self._after.asking) or self._after.phase in (SABOTAGE_WANT, SABOTAGE_GIVE, EXCHANGE_WANT)

    def effects(self) -> Iterator[Effect]:
        """What the viewer sees, or foresees."""
        before, after = self._before, self._after
        if not before.revealed and self._viewer not in ("all", self._seat):
            if after.revealed:
                yield Effect("lays the last card; all 3UP cards are revealed", "2.3")
                yield from self._swaps()
            return
        yield from self._act()
        if not before.revealed:
            if after.revealed and not self._foreseen:
                yield Effect("all 3UP cards are revealed", "2.3")
                yield from self._swaps()
            return
        yield from self._follow()

    def _act(self) -> Iterator[Effect]:
        """What the player does."""
        action = self._action
        if self._after.asking:
            yield from self._begin()
        elif action < DRAW:
            yield from self._play()
        elif action == DRAW:
            clause = "5.3" if self._before.extras else "8.2"
            yield Effect(f"draws {self._drawn_cards()}{' instead of a discard' if clause == '8.2' else ''}", clause)
        elif action == TAKE:
            yield self._take("5.5" if self._before.extras else "3.4")
        elif action < UP:
            yield from self._flip(action - FLIP)
        elif action < PASS:
            yield Effect(f"lays {self._cards(action - UP, 1)} face up", "2.3")
        elif action == PASS:
            yield self._decline()
        elif action < TARGET:
            yield from self._swap(action)
        else:
            yield Effect(f"wants a 3UP card of player {int(self._after.victim)}", "8.6")

    def _begin(self) -> Iterator[Effect]:
        """8.4: an action whose colours are not all said."""
        if self._said is None:
            yield Effect(f"begins {ACTIONS[self._action]}, and has to say colours", "8.4")
        else:
            yield Effect(f"says {COLOR_NAMES[self._said - COLOR]} for {ACTIONS[self._action]}", "8.4")

    def _cards(self, kind: int, count: int) -> str:
        """The cards that the action moves, in their order, with the colours where they are tracked."""
        after = self._after
        colors = [""] * count
        if after.num_said >= count:
            colors = [COLORS[color] for color in after.said[:count].tolist()]
        return " ".join(color + KINDS[kind] for color in colors)

    def _play(self) -> Iterator[Effect]:
        before, kind = self._before, self._action // MAX_COPIES
        count = self._action % MAX_COPIES + 1
        if kind < CLEAR and kind < before.top:
            yield Effect(f"takes {self._cards(kind, 1)} and the pile of {int(before.pile.sum())} to the hand", "5.7")
            return
        zone = "" if before.hand_size[self._seat] else " from 3UP"
        yield Effect(f"plays {self._cards(kind, count)}{zone}", "5.2" if before.extras else "3.2")
        yield from self._lay(kind, count)

    def _flip(self, slot: int) -> Iterator[Effect]:
        before, after, seat = self._before, self._after, self._seat
        card = int(before.down[seat, slot])
        laid = before.pile.sum() + before.removed.sum() < after.pile.sum() + after.removed.sum()
        shown = laid or self._viewer in ("all", seat)
        name = CARDS[card] if shown else "a card"
        if laid:
            yield Effect(f"turns over {name} in slot {slot}", "3.3")
            yield from self._lay(card // NUM_COLORS, 1)
            return
        fate = "it goes back" if after.down[seat, slot] != NO_CARD else "it goes to the hand"
        yield Effect(f"turns over {name} in slot {slot} in vain: {fate}", "3.3")
        yield self._take("3.3")

    def _take(self, clause: str) -> Effect:
        return Effect(f"takes the pile of {int(self._before.pile.sum())}", clause)

    def _lay(self, kind: int, count: int) -> Iterator[Effect]:
        """What follows when cards are laid on the pile (sections 4 and 5, 8.3)."""
        before, after = self._before, self._after
        if kind >= CLEAR:
            size = int(before.pile.sum())
            yield Effect(f"clears the pile of {size}" if size else "clears an empty pile", "4.2")
        elif not after.pile[kind]:
            # Three of a number on top.
            alike, size = int(before.pile[kind]) + count, int(before.pile.sum()) + count
            yield Effect(f"makes {alike} of a number: clears the pile of {size}", "4.1")
        if after.direction != before.direction:
            way = "clockwise" if after.direction > 0 else "counterclockwise"
            yield Effect(f"turns play round: {way} now", "8.3")

    def _decline(self) -> Effect:
        if self._before.phase == EXCHANGE_GIVE:
            return Effect("declines the exchange", "8.4")
        if self._before.phase == SABOTAGE_TARGET:
            return Effect("sabotages nobody", "8.6")
        return Effect(f"passes: {plural(int(self._before.extras), 'extra')} dropped", "5.4")

    def _swap(self, action: int) -> Iterator[Effect]:
        """The parts of an exchange (8.4) and of a sabotage (8.6)."""
        before = self._before
        own = self._cards((action - GIVE) % len(KINDS), 1)
        if before.phase == EXCHANGE_GIVE:
            yield Effect(f"offers {own} of the hand for an own 3UP card", "8.4")
        elif before.phase == EXCHANGE_WANT:
            yield Effect(f"exchanges {CARDS[before.give_card]} of the hand for {own} of 3UP", "8.4")
        elif before.phase == SABOTAGE_GIVE:
            wanted = f"{CARDS[before.want_card]} of player {int(before.victim)}'s 3UP"
            yield Effect(f"takes {wanted} to the hand and lays {self._laid_there()} there", "8.6")
        else:
            yield Effect(f"wants {own} of player {int(before.victim)}'s 3UP", "8.6")

    def _laid_there(self) -> str:
        """The card that has come to the victim's 3UP cards."""
        victim = int(self._before.victim)
        came = Counter(self._after.up_card[victim].tolist()) - Counter(self._before.up_card[victim].tolist())
        return CARDS[next(iter(came), int(self._before.want_card))]

    def _swaps(self) -> Iterator[Effect]:
        if self._rules.pile_swaps:
            pairs = self._after.swap[: self._rules.pile_swaps].tolist()
            swapped = ", ".join(f"{a} and {b}" for a, b in pairs)
            yield Effect(f"piles change places: players {swapped}", "8.5")

    def _drawn(self) -> int:
        return int(self._after.drawn - self._before.drawn)

    def _drawn_cards(self) -> str:
        """The cards drawn, to whom they are shown; to others how many there are."""
        before = self._before
        if self._foreseen or self._viewer not in ("all", self._seat):
            return plural(self._drawn(), "card")
        return " ".join(CARDS[card] for card in sorted(before.deck[before.drawn : self._after.drawn].tolist()))

    def _follow(self) -> Iterator[Effect]:
        """What comes of it: a debt, an exchange, the end of the turn, of the game."""
        before, after, seat = self._before, self._after, self._seat
        if after.asking:
            return
        if self._went_out():
            yield Effect("goes out", "6.1")
        elif after.phase == EXCHANGE_GIVE and before.phase != EXCHANGE_GIVE:
            yield Effect("lays the fourth of a colour and may exchange a card", "8.4")
        elif self._lapses():
            yield Effect("has no card for the extra, which lapses", "5.6")
        elif after.extras and after.extras != before.extras and after.player == seat:
            yield Effect(f"owes {plural(int(after.extras), 'extra')}", "5.1")
        if self._action != DRAW and self._drawn():
            yield Effect(f"draws {self._drawn_cards()}", "3.5")
        if after.phase in _OVER and not self._went_out():
            yield Effect("meets the limit of decisions", "6.3")

    def _went_out(self) -> bool:
        after, seat = self._after, self._seat
        return bool(after.hand_size[seat] + after.up_size[seat] + after.down_size[seat] == 0)

    def _lapses(self) -> bool:
        """Whether an extra was owed after a discard or a draw, and the turn ended all the same."""
        before, after, action = self._before, self._after, self._action
        if after.extras or action == TAKE or action >= FLIP or after.phase in _OVER:
            return False
        if action == DRAW:
            return bool(before.extras)
        kind = action // MAX_COPIES
        if kind < CLEAR and kind < before.top:
            return False
        return bool(max(int(before.extras) - 1, 0) + max(kind - CLEAR, 0))
