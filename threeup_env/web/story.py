"""What a decision did: its effects, one after the other, for a page to animate and a log to tell.

Effects are read off two views of the table, before and after, as `render.table.look` gives them to one viewer, and
off the action where that is public. So a story tells nothing that its viewer could not see (docs/rules.md section 10).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ..cards import CARD_INDEX, CLEAR, KINDS, NUM_COLORS
from ..render.events import plural
from ..render.table import EMPTY, HIDDEN, SeatTable, Table
from ..rules import Rules

EffectKind = Literal[
    "deal", "up", "reveal", "swap", "say", "play", "flip", "fail", "take", "draw", "clear", "exchange", "extras",
    "lapse", "turn round", "pass", "out", "points", "over",
]  # fmt: skip
SET_UP: Final = "set-up"
_KINDS: Final[Mapping[str, EffectKind]] = {
    "play": "play", "flip": "flip", "take": "take", "draw": "draw", "pass": "pass", "up": "up",
}  # fmt: skip
"""Kind of the effect that an action's first word stands for, where the table after it is not to be had."""
_ENDINGS: Final = {
    "out": "the game is over",
    "points": "the limit of decisions is met: places go by points",
    "truncated": "the limit of decisions is met: the game has no outcome",
    "match": "the match is over: the fewest points win",
}


@dataclass(frozen=True)
class Effect:
    """One thing that happened.

    Attributes:
        kind: What: a page animates by it.
        text: The same in words, to stand behind the name of `seat`.
        seat: Whose doing it was; None for what happens to all.
        cards: The cards that moved, as far as the viewer may see them.
        count: How many cards moved.
    """

    kind: EffectKind
    text: str
    seat: int | None = None
    cards: tuple[str, ...] = ()
    count: int = 0


@dataclass(frozen=True)
class Decision:
    """A decision, and what of it does not show on the table.

    Attributes:
        seat: Who decided.
        action: The action in written form.
        swaps: Pairs of seats that exchange their piles at the reveal of this deal (8.5).
        ended: How the game ended with it (`Outcome.ended`), or None.
    """

    seat: int
    action: str
    swaps: Sequence[tuple[int, int]] = ()
    ended: str | None = None


def tell(rules: Rules, decision: Decision, before: Table, after: Table) -> list[Effect]:
    """The effects of a decision, in the order they happened.

    Args:
        rules: The rules of the game.
        decision: The decision; what of it is secret (2.3) is used for the one who decides alone.
        before: The table as a viewer saw it when the decision was to be made.
        after: The same afterwards.

    Returns:
        The effects; none where nothing happened that the viewer can see.
    """
    if before.phase == SET_UP:
        effects = [*_set_up(decision, before, after)]
    elif after.said and after.deal == before.deal:
        effects = [Effect("say", write_action(after.said[-1]), decision.seat)]
    elif after.deal != before.deal:
        action = _whole_action(decision, before)
        effects = [Effect(_KINDS.get(action.partition(" ")[0], "exchange"), write_action(action), decision.seat)]
    else:
        effects = [*_turn(rules, decision, before, after)]
    return [*effects, *_ends(decision, before, after)]


def tell_deal(table: Table) -> Effect:
    """The effect that every deal begins with."""
    return Effect("deal", f"deal {table.deal + 1}: the cards are dealt, seat {table.first_player} begins")


def write_action(action: str) -> str:
    """An action to read: `play 7 ×2` instead of `play 7x2`."""
    verb, _, what = action.partition(" ")
    if verb == "flip":
        return f"turn over 3DOWN card {int(what) + 1}"
    return f"{verb} {what.replace('x', ' ×')}" if verb == "play" else action


def write_cards(cards: Sequence[str]) -> str:
    """Cards side by side, lowest first."""
    return " ".join(sorted(cards, key=_card_order))


def _card_order(card: str) -> int:
    return CARD_INDEX[card] if card in CARD_INDEX else KINDS.index(card) * NUM_COLORS if card in KINDS else -1


def _set_up(decision: Decision, before: Table, after: Table) -> Iterator[Effect]:
    """2.3: others learn no more than how many cards are left in the hand."""
    seat = decision.seat
    held, holds = before.seats[seat], after.seats[seat]
    # After the last choice of a deal that ends at once, the next deal lies there.
    laid = len(held.hand) != len(holds.hand) or after.deal != before.deal
    if held.hand_open:
        if laid:
            cards = _gone(held.hand, holds.hand) if after.deal == before.deal else ()
            kind = _whole_action(decision, before).partition(" ")[2]
            yield Effect("up", f"lay {write_cards(cards) or kind} face up", seat, cards, 1)
        elif after.said:
            yield Effect("say", write_action(after.said[-1]), seat)
    elif laid:
        yield Effect("up", "lay a card face up", seat, (HIDDEN,), 1)
    if after.phase != SET_UP and after.deal == before.deal:
        yield Effect("reveal", "all 3UP cards are revealed")
        for one, other in decision.swaps:
            yield Effect("swap", f"seat {one} and seat {other} exchange their 3UP and 3DOWN piles")


def _whole_action(decision: Decision, before: Table) -> str:
    """The action that takes effect: where a colour was said, the one that it belongs to."""
    if not decision.action.startswith("color "):
        return decision.action
    said = [part for part in before.said if not part.startswith("color ")]
    return said[-1] if said else decision.action


def _turn(rules: Rules, decision: Decision, before: Table, after: Table) -> Iterator[Effect]:
    seat = decision.seat
    action = _whole_action(decision, before)
    verb, _, what = action.partition(" ")
    if verb == "play":
        yield from _discard(decision, action, before, after)
    elif verb == "flip":
        yield from _flip(rules, decision, int(what), before, after)
    elif verb == "take":
        yield Effect("take", _take_text(before), seat, before.pile, len(before.pile))
    elif verb in ("give", "want"):
        yield from _exchange(seat, before, after)
    elif verb == "pass":
        declined = {"turn": "pass: no more extras", "sabotage: target": "pass: no sabotage"}
        yield Effect("pass", declined.get(before.phase, "pass: no exchange"), seat)
    if after.direction != before.direction:
        round_ = "clockwise" if after.direction > 0 else "counterclockwise"
        yield Effect("turn round", f"the direction turns round: {round_}", seat)
    if after.phase.startswith("exchange") and not before.phase.startswith("exchange"):
        yield Effect("say", "fourth card of one colour in a row: may exchange a 3UP card with a hand card", seat)
    yield from _debt(seat, verb, before, after)
    yield from _draws(seat, verb, before, after)


def _discard(decision: Decision, action: str, before: Table, after: Table) -> Iterator[Effect]:
    laid = _laid(before, after)
    if laid:
        yield Effect("play", write_action(action), decision.seat, laid, len(laid))
        yield from _cleared(laid, before, after)
    else:  # 5.7
        yield Effect("take", f"{_take_text(before)} and the 3UP card {action.removeprefix('play ')}", decision.seat,
                     before.pile, len(before.pile) + 1)  # fmt: skip


def _flip(rules: Rules, decision: Decision, slot: int, before: Table, after: Table) -> Iterator[Effect]:
    seat = decision.seat
    laid = _laid(before, after)
    if laid:
        yield Effect("flip", f"turn over 3DOWN card {slot + 1}: {write_cards(laid)}", seat, laid, 1)
        yield from _cleared(laid, before, after)
        return
    card = _failed_card(rules, seat, slot, before, after)
    goes = "goes to the hand" if rules.failed_flip == "hand" else "goes back face down"
    shown = "the card" if card == HIDDEN else card
    yield Effect("fail", f"turn over 3DOWN card {slot + 1} in vain: {shown} {goes}", seat, (card,), 1)
    yield Effect("take", _take_text(before), seat, before.pile, len(before.pile))


def _failed_card(rules: Rules, seat: int, slot: int, before: Table, after: Table) -> str:
    """The card turned in vain (3.3), where the viewer may see it."""
    if rules.failed_flip == "stay":
        card = after.seats[seat].down[slot]
        return card if card in CARD_INDEX else HIDDEN
    if not after.seats[seat].hand_open:
        return HIDDEN
    # Whoever flips has an empty hand and finds no draw pile, so all they hold is the pile and this card.
    return next(iter(_gone(after.seats[seat].hand, before.pile)), HIDDEN)


def _exchange(seat: int, before: Table, after: Table) -> Iterator[Effect]:
    """8.4, 8.6: a 3UP card and a hand card have changed places."""
    for other, (was, now) in enumerate(zip(before.seats, after.seats, strict=True)):
        if was.up != now.up:
            taken, put = _gone(was.up, now.up), _gone(now.up, was.up)
            whose = "the own" if other == seat else f"seat {other}'s"
            text = (
                f"put {write_cards(put)} in the place of {whose} 3UP card {write_cards(taken)}, which goes to the hand"
            )
            yield Effect("exchange", text, seat, put + taken, 2)
            return
    yield Effect("exchange", "exchange equal cards", seat, (), 2)


def _cleared(laid: tuple[str, ...], before: Table, after: Table) -> Iterator[Effect]:
    if after.pile:
        return
    kind = laid[0][1:]
    if KINDS.index(kind) >= CLEAR:
        count = len(before.pile)
        text = f"the pile of {count} is removed" if count else "the pile was empty"
    else:
        count = len(before.pile) + len(laid)
        text = f"three or more {kind}s lie together: the pile of {count} is removed"
    yield Effect("clear", text, None, before.pile, count)


def _debt(seat: int, verb: str, before: Table, after: Table) -> Iterator[Effect]:
    """5.1, 5.6: what is owed now, or was dropped because it could not be met."""
    if after.player == seat and after.extras != before.extras and after.extras:
        yield Effect("extras", f"owe {plural(after.extras, 'extra')}", seat)
    laid = _laid(before, after)
    if verb not in ("play", "flip") or not laid or after.player in (seat, None) or _is_out(after.seats[seat]):
        return
    bonus = max(KINDS.index(laid[0][1:]) - CLEAR, 0)
    if max(before.extras - 1, 0) + bonus > 0:
        yield Effect("lapse", "no card left to play: the extras owed lapse", seat)


def _draws(seat: int, verb: str, before: Table, after: Table) -> Iterator[Effect]:
    count = before.draw_pile - after.draw_pile
    if count <= 0:
        return
    drawn = Counter(after.seats[seat].hand) - _kept(seat, verb, before, after)
    cards = tuple(drawn.elements()) if after.seats[seat].hand_open and drawn.total() == count else (HIDDEN,) * count
    known = plural(count, "card") if HIDDEN in cards else write_cards(cards)
    yield Effect("draw", f"draw {known}", seat, cards, count)


def _kept(seat: int, verb: str, before: Table, after: Table) -> Counter[str]:
    """The hand before its owner drew."""
    was, now = before.seats[seat], after.seats[seat]
    hand = Counter(was.hand)
    if verb == "play" and was.hand:
        hand -= Counter(_laid(before, after))
    elif verb == "take":
        hand += Counter(before.pile)
    elif verb in ("give", "want"):
        hand = hand + Counter(_gone(was.up, now.up)) - Counter(_gone(now.up, was.up))
    return hand


def _ends(decision: Decision, before: Table, after: Table) -> Iterator[Effect]:
    if after.deal != before.deal or decision.ended == "match":
        gained = [now.total - was.total for was, now in zip(before.seats, after.seats, strict=True)]
        points = ", ".join(f"seat {seat} +{points}" for seat, points in enumerate(gained))
        yield Effect("points", f"deal {before.deal + 1} is over: {points}")
    else:
        for seat, (was, now) in enumerate(zip(before.seats, after.seats, strict=True)):
            if _is_out(now) and not _is_out(was):
                yield Effect("out", "out: no cards left", seat)
    if decision.ended is not None:
        yield Effect("over", _ENDINGS[decision.ended])
    elif after.deal != before.deal:
        yield tell_deal(after)


def _laid(before: Table, after: Table) -> tuple[str, ...]:
    """Cards that have come to lie on the pile or among the removed ones."""
    return _gone((*after.pile, *after.removed), (*before.pile, *before.removed))


def _gone(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    return tuple((Counter(before) - Counter(after)).elements())


def _is_out(seat: SeatTable) -> bool:
    return not seat.hand and not seat.up and all(card == EMPTY for card in seat.down)


def _take_text(before: Table) -> str:
    return f"take the pile of {len(before.pile)}"
