"""The outlook: what may become of the pile in one round, for each kind that a seat could lay, by what it knows.

Nothing is played here and no rule decided. It is an estimate that networks are given to read, as it takes them long
to learn: once round the table every other player answers the top of the pile with their lowest playable number, else
with a Clear, else takes the pile. A hand holds the cards known to lie in it (10.2); the others are drawn from those
that the seat has not seen.

What it leaves out: what the players hold is taken to be independent; threes do not clear the pile (4.1); equal Clears
are laid together; a C+1 or C+2 laid by the seat counts as a C; nobody draws; going out ends nothing. It goes round
clockwise whatever the direction of play (8.3), has a player who is out (6.2) turn over a card, and counts 3DOWN cards
that the seat has seen (3.3) as not seen.
"""

from __future__ import annotations

import numpy as np

from ..cards import CLEAR, MAX_COPIES, MAX_DECK, NUM_COLORS, NUM_KINDS, NUM_NUMBERS
from ..observation import Part
from .jit import called, compiled
from .state import MAX_SEATS

TOPS = NUM_NUMBERS + 1
"""What may lie on top of the pile: nothing, or a number; number x is entry x."""

ROOM = np.dtype(
    [
        ("copies", np.int64, (NUM_KINDS,)),  # cards of each kind in the deck
        ("unseen", np.int64, (NUM_KINDS,)),  # those that the seat has not seen
        ("drawn", np.int64),  # unknown cards of the hand for which `lacks` was computed; -1 for none
        ("lacks", np.float32, (MAX_DECK + 1,)),  # chance that none of so many cards not seen is among them
        ("after", np.float32, (MAX_SEATS, TOPS, TOPS)),  # chance of each top after a player's answer to a top
        ("takes", np.float32, (MAX_SEATS, TOPS)),  # chance that a player takes the pile
        ("leaves", np.float32, (MAX_SEATS, TOPS)),  # chance that a player goes out
        ("now", np.float32, (TOPS,)),  # chance of each top before the next player's answer
        ("then", np.float32, (TOPS,)),  # and after it
    ],
    align=True,
)
"""Room for the outlook of one observation."""


def outlook_size(num_players: int) -> int:
    """Numbers for each kind: two for each other player, the chances of 11 tops, two of the seat's own next turn."""
    return 2 * (num_players - 1) + TOPS + 2


@compiled
def _count_unseen(row, rules, room):
    """Count the cards of each kind that the seat has not seen; how many they are together."""
    hand = rules.spans[Part.HAND.value, 0]
    removed = rules.spans[Part.REMOVED.value, 0]
    up = rules.spans[Part.UP.value, 0]
    known = rules.spans[Part.KNOWN.value, 0]
    pile = rules.spans[Part.PILE.value, 0]
    total = 0
    for kind in range(NUM_KINDS):
        cards = room.copies[kind] - row[hand + kind] - row[removed + kind]
        if kind < NUM_NUMBERS:
            cards -= row[pile + kind]
        for other in range(rules.num_players):
            cards -= row[up + NUM_KINDS * other + kind]
            if other > 0:
                cards -= row[known + NUM_KINDS * other + kind]
        room.unseen[kind] = max(cards, 0)
        total += room.unseen[kind]
    return total


@compiled
def _count(row, start, stop):
    cards = 0
    for at in range(start, stop):
        cards += row[at]
    return cards


@compiled
def _draw_hand(room, total, drawn):
    """The chances that none of 0, 1, 2, ... cards not seen is among so many that are drawn from them."""
    if room.drawn == drawn:
        return
    room.drawn = drawn
    lacks = np.float32(1)
    room.lacks[0] = lacks
    for number in range(total):
        lacks *= np.float32(max(total - drawn - number, 0)) / np.float32(total - number)
        room.lacks[number + 1] = lacks


@compiled
def _answer(row, rules, room, other, total):
    """What the player `other` places on does with each top, from their zone (3.1): hand, 3UP or 3DOWN."""
    up = rules.spans[Part.UP.value, 0] + NUM_KINDS * other
    known = rules.spans[Part.KNOWN.value, 0] + NUM_KINDS * other
    down = rules.spans[Part.DOWN.value, 0] + rules.table_cards * other
    in_hand = row[rules.spans[Part.HAND_SIZE.value, 0] + other]
    face_up = _count(row, up, up + NUM_KINDS)
    face_down = _count(row, down, down + rules.table_cards)
    has_hand = in_hand > 0 or row[rules.spans[Part.DRAW_PILE.value, 0]] > 0
    flips = not has_hand and face_up == 0
    zone = known if has_hand else up
    cards = in_hand if has_hand else (1 if flips else face_up)
    is_last = in_hand + face_up + face_down == cards
    if has_hand:
        _draw_hand(room, total, in_hand - _count(row, known, known + NUM_KINDS))
    for top in range(TOPS):
        after = room.after[other, top]
        after[:] = 0
        left = np.float32(1)  # the chance that nothing has been found to lay
        leaves = np.float32(0)
        sought = 0
        for kind in range(max(top - 1, 0), NUM_KINDS):
            before = left
            if flips:
                left -= np.float32(room.unseen[kind]) / max(total, 1)
            elif row[zone + kind] > 0:
                left = np.float32(0)
            elif has_hand:
                sought += room.unseen[kind]
                left = room.lacks[sought]
            lays = before - left
            if kind < CLEAR:
                after[kind + 1] += lays
            elif kind == CLEAR or top == 0:
                after[0] += lays
            elif lays > 0:  # the extra is laid on an empty pile (5.1)
                for following in range(TOPS):
                    after[following] += lays * room.after[other, 0, following]
            if is_last and (cards == 1 or (not flips and row[zone + kind] == cards)):
                leaves += lays
            if left <= 0:
                break
        left = max(left, np.float32(0))
        after[0] += left
        room.takes[other, top] = left
        room.leaves[other, top] = leaves


@compiled
def _highest_left(row, rules, kind, copies):
    """The highest kind that the seat can lay next turn, having laid so many copies of one; -1 where nothing tells."""
    hand = rules.spans[Part.HAND.value, 0]
    up = rules.spans[Part.UP.value, 0]
    size = _count(row, hand, hand + NUM_KINDS)
    zone = hand if size > 0 else up
    highest = -1
    for other in range(NUM_KINDS):
        cards = row[zone + other] - (copies if other == kind else 0)
        if cards > 0:
            highest = other
    if highest < 0 and size > 0 and row[rules.spans[Part.DRAW_PILE.value, 0]] == 0:
        for other in range(NUM_KINDS):
            if row[up + other] > 0:
                highest = other
    return highest


@compiled
def _walk(rules, room, top, outlook):
    """Go once round the table from a top: what each player does, and what the seat finds; how many numbers that is."""
    room.now[:] = 0
    room.now[top] = 1
    at = 0
    for other in range(1, rules.num_players):
        takes = np.float32(0)
        leaves = np.float32(0)
        room.then[:] = 0
        for found in range(TOPS):
            chance = room.now[found]
            if chance > 0:
                takes += chance * room.takes[other, found]
                leaves += chance * room.leaves[other, found]
                for left in range(TOPS):
                    room.then[left] += chance * room.after[other, found, left]
        room.now[:] = room.then
        outlook[at] = takes
        outlook[at + 1] = leaves
        at += 2
    for found in range(TOPS):
        outlook[at + found] = room.now[found]
    return at + TOPS


@called
def look_ahead(observations, switches, room, outlook):
    """Write the outlook of each observation.

    The numbers of a kind, as if the seat laid it, whether it holds one or not: for each other player, clockwise, the
    chances that they take the pile and that they go out; the chances of an empty pile and of each number on top when
    the turn comes back; and the chances that of the cards the seat holds now it then can lay none, having laid all its
    copies of the kind, and having laid one; these two are 0 where no card is left.

    Args:
        observations: int8 `(N, D)`.
        switches: The rules, SWITCHES `(1,)`.
        room: ROOM `(1,)`.
        outlook: float32 `(N, 13, G)`, G being `outlook_size`; written.
    """
    rules = switches[0]
    work = room[0]
    work.copies[:] = 0
    for i in range(rules.deck_size):
        work.copies[rules.deck[i] // NUM_COLORS] += 1
    for i in range(len(observations)):
        row = observations[i]
        total = _count_unseen(row, rules, work)
        work.drawn = -1
        for other in range(1, rules.num_players):
            _answer(row, rules, work, other, total)
        anyway = _highest_left(row, rules, -1, 0)
        for kind in range(NUM_KINDS):
            numbers = outlook[i, kind]
            if kind <= CLEAR:
                own = _walk(rules, work, kind + 1 if kind < CLEAR else 0, numbers)
            else:
                own = len(numbers) - 2
                numbers[:own] = outlook[i, CLEAR, :own]
            tops = numbers[own - TOPS : own]
            for one in range(2):
                highest = anyway
                if kind == anyway:
                    highest = _highest_left(row, rules, kind, 1 if one else MAX_COPIES)
                stuck = np.float32(0)
                if highest >= 0:
                    for top in range(highest + 2, TOPS):
                        stuck += tops[top]
                numbers[own + one] = stuck
