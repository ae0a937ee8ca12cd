"""The record of one game and the record of its rules: every field that the compiled core reads or writes.

`STATE` and `SWITCHES` are structured dtypes. A game is one element of an array of `STATE`, and compiled
functions read it as they would an object: `state.hand[seat, kind] -= count`. Everything a game is stands
in its record, the generator of its deals included, so copying those bytes copies the game exactly.

Counts by card (`hand_card`, ...) tell colours. They are kept only where someone asks for colours
(`SWITCHES.track_colors`: under `color_swap`, and in games made for people to look at); no rule but 8.4
reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from ..actions import NUM_SLOTS
from ..cards import MAX_COPIES, MAX_DECK, NUM_CARDS, NUM_COLORS, NUM_KINDS
from ..observation import Part, observation_layout

if TYPE_CHECKING:
    from ..rules import Rules

MAX_SEATS: Final = 6
MAX_SWAPS: Final = 15
NO_CARD: Final = 255
"""An empty 3DOWN slot, or no card remembered."""
NO_SEAT: Final = -1
NO_KIND: Final = -1
"""The top kind of an empty pile."""

# Phases: what the player to decide is deciding.
UP_PHASE: Final = 0
"""Lays a card face up (2.3)."""
SABOTAGE_TARGET: Final = 1
"""Names a victim or passes (8.6)."""
SABOTAGE_WANT: Final = 2
"""Names the 3UP card it wants of the victim."""
SABOTAGE_GIVE: Final = 3
"""Names the hand card to put in its place."""
TURN: Final = 4
"""Plays, flips, draws, takes or passes (section 3 and 5)."""
EXCHANGE_GIVE: Final = 5
"""Gives a hand card or declines the exchange (8.4)."""
EXCHANGE_WANT: Final = 6
"""Names the own 3UP card to take for it."""
BETWEEN_DEALS: Final = 7
"""A deal of a match is over and the next not dealt; nobody decides."""
OVER: Final = 8
NUM_PARTS: Final = len(Part)

# How a game ended (`ended`).
NOT_ENDED: Final = 0
ENDED_OUT: Final = 1
ENDED_POINTS: Final = 2
ENDED_TRUNCATED: Final = 3
ENDED_MATCH: Final = 4
ENDED: Final = (None, "out", "points", "truncated", "match")

LEGAL_BITS: Final = 63
"""Actions in a word of the legal set: nine kinds of seven copies fill one, and no word has a sign."""
LEGAL_WORDS: Final = 3

STATE: Final = np.dtype(
    [
        # The generator of the deals: xoroshiro128++ (core/random.py).
        ("rng", np.uint64, (2,)),
        # The legal actions of the player to decide: action a is bit a % 63 of word a // 63. Empty at the end.
        ("legal", np.int64, (LEGAL_WORDS,)),
        # Whose decision it is and what it decides (7.1).
        ("player", np.int8),
        ("phase", np.int8),
        ("asking", np.int8),  # 1 while colours of `pending` are being said (8.4)
        ("top", np.int8),  # kind on top of the discard pile, NO_KIND when it is empty
        ("direction", np.int8),  # +1 clockwise, -1 (8.3)
        ("extras", np.int16),  # extra actions owed (5.1)
        ("draw_open", np.int8),  # 1 while the optional draw of 5.3 has not been used
        ("table_clear_2", np.int8),  # 1 after a C+2 from 3UP or 3DOWN in this turn (5.7)
        ("still_in", np.int8),  # players not yet out
        ("revealed", np.int8),  # 1 once the 3UP cards are revealed (2.3)
        ("first_player", np.int8),
        ("drawn", np.int16),  # cards dealt or drawn: the draw pile is deck[drawn:deck_size]
        ("deck_size", np.int16),
        ("decisions", np.int32),  # made in this deal
        ("hand_size", np.int8, (MAX_SEATS,)),
        ("up_size", np.int8, (MAX_SEATS,)),
        ("down_size", np.int8, (MAX_SEATS,)),
        # Cards by kind.
        ("pile", np.int8, (NUM_KINDS,)),
        ("hand", np.int8, (MAX_SEATS, NUM_KINDS)),
        ("up", np.int8, (MAX_SEATS, NUM_KINDS)),
        ("known", np.int8, (MAX_SEATS, NUM_KINDS)),  # publicly known lower bound of each hand (10.2)
        ("removed", np.int8, (NUM_KINDS,)),
        ("down", np.uint8, (MAX_SEATS, NUM_SLOTS)),  # card, or NO_CARD
        ("down_seen", np.int8, (MAX_SEATS, NUM_SLOTS)),  # 1 where its owner knows the card (3.3)
        ("deck", np.uint8, (MAX_DECK,)),  # cards in the order of 2.2
        # An action made in parts.
        ("pending", np.uint8),  # the action whose colours are being said
        ("num_said", np.int8),
        ("said", np.int8, (MAX_COPIES,)),  # colours said, in the order the cards are laid
        ("give_card", np.uint8),  # said in an exchange, or NO_CARD
        ("want_card", np.uint8),  # said in a sabotage, or NO_CARD
        ("victim", np.int8),  # seat whose 3UP cards are wanted, or NO_SEAT
        ("saboteurs", np.int8),  # players who have had their sabotage
        # The row of one colour on the pile (8.4).
        ("row_color", np.int8),
        ("row", np.int8),  # its length, 0..3
        # Outcome.
        ("ended", np.int8),
        ("place", np.int8, (MAX_SEATS,)),  # 1-based, 0 where there is none
        ("deal", np.int8),  # deals finished, or the number of the deal in play
        ("score", np.int16, (MAX_SEATS,)),  # points of the last deal that ended (8.7)
        ("total", np.int32, (MAX_SEATS,)),  # points of all deals that ended
        ("swap", np.int8, (MAX_SWAPS, 2)),  # pairs of seats whose piles are exchanged after the reveal (8.5)
        # The same by card, where colours are tracked.
        ("hand_card", np.int8, (MAX_SEATS, NUM_CARDS)),
        ("up_card", np.uint8, (MAX_SEATS, NUM_SLOTS)),  # 3UP cards in no order that matters, or NO_CARD
        ("pile_card", np.int8, (NUM_CARDS,)),
        ("removed_card", np.int8, (NUM_CARDS,)),
    ],
    align=True,
)
"""One game."""

# Values of `SWITCHES.extra_draw`.
DRAW_NONE: Final = 0
DRAW_ONE: Final = 1
DRAW_REFILL: Final = 2
_EXTRA_DRAW: Final = {"none": DRAW_NONE, "one": DRAW_ONE, "refill": DRAW_REFILL}
RANDOM_FIRST: Final = -1

SWITCHES: Final = np.dtype(
    [
        ("num_players", np.int8),
        ("table_cards", np.int8),
        ("hand_size", np.int8),
        ("first_player", np.int8),  # a seat, or RANDOM_FIRST
        ("must_play", np.int8),
        ("clear_sets", np.int8),
        ("failed_flip_stays", np.int8),
        ("extra_draw", np.int8),  # DRAW_NONE, DRAW_ONE or DRAW_REFILL
        ("draw_before_each", np.int8),
        ("extra_mandatory", np.int8),
        ("low_third_taken", np.int8),
        ("play_on", np.int8),
        ("reverse_ones", np.int8),
        ("color_swap", np.int8),
        ("pile_swaps", np.int8),
        ("sabotage", np.int8),
        ("rounds", np.int8),
        ("score_table_cards", np.int8),
        ("limit_truncates", np.int8),
        ("track_colors", np.int8),  # keep the counts by card
        ("deck_size", np.int16),
        ("num_actions", np.int16),
        ("max_decisions", np.int64),
        ("deck", np.uint8, (MAX_DECK,)),  # the deck in card order, before it is shuffled
        ("spans", np.int16, (NUM_PARTS, 2)),  # start and stop of each slice of an observation (observation.py)
    ],
    align=True,
)
"""`Rules` as the compiled core reads them."""


def pack_rules(rules: Rules, *, track_colors: bool = False) -> npt.NDArray[np.void]:
    """`rules` as an array of one `SWITCHES` record; `track_colors` keeps colours where no rule needs them."""
    packed = np.zeros(1, SWITCHES)
    for name in ("num_players", "table_cards", "hand_size", "must_play", "clear_sets", "extra_mandatory", "play_on"):
        packed[name] = getattr(rules, name)
    for name in ("reverse_ones", "color_swap", "pile_swaps", "sabotage", "rounds", "score_table_cards"):
        packed[name] = getattr(rules, name)
    packed["first_player"] = RANDOM_FIRST if rules.first_player == "random" else rules.first_player
    packed["failed_flip_stays"] = rules.failed_flip == "stay"
    packed["extra_draw"] = _EXTRA_DRAW[rules.extra_draw]
    packed["draw_before_each"] = rules.draw_before == "each"
    packed["low_third_taken"] = rules.low_third == "taken"
    packed["limit_truncates"] = rules.at_limit == "truncate"
    packed["max_decisions"] = min(rules.max_decisions, np.iinfo(np.int64).max)
    packed["num_actions"] = rules.num_actions
    packed["track_colors"] = track_colors or rules.color_swap
    packed["spans"] = observation_layout(rules).spans
    deck = np.repeat(np.arange(NUM_CARDS), rules.deck_counts)
    packed["deck_size"] = len(deck)
    packed["deck"][0, : len(deck)] = deck
    return packed


assert NUM_CARDS == NUM_KINDS * NUM_COLORS
