"""What no seat may know (10.4), written for critics that see more than the player they judge, in training alone.

No environment shows it: only `LearnerBatch.hidden_cards` asks for it.
"""

from __future__ import annotations

from ..actions import NUM_SLOTS
from ..cards import NUM_COLORS, NUM_KINDS
from .jit import compiled
from .observe import seat_after
from .state import NO_CARD


@compiled
def write_hidden(rows, row, state, rules, seat):
    """The hands of the others, then all 3DOWN cards, by kind, in playing order from `seat`: int8 `((2n - 1) 13,)`."""
    at = 0
    for distance in range(1, rules.num_players):
        other = seat_after(rules, seat, distance)
        for kind in range(NUM_KINDS):
            rows[row, at + kind] = state.hand[other, kind]
        at += NUM_KINDS
    for distance in range(rules.num_players):
        other = seat_after(rules, seat, distance)
        for kind in range(NUM_KINDS):
            rows[row, at + kind] = 0
        for slot in range(NUM_SLOTS):
            if state.down[other, slot] != NO_CARD:
                rows[row, at + state.down[other, slot] // NUM_COLORS] += 1
        at += NUM_KINDS


@compiled
def write_all_hidden(states, tables, switches, rows):
    """`write_hidden` for the learner's seat of every game of a `LearnerBatch`."""
    for game in range(len(states)):
        write_hidden(rows, game, states[game], switches[0], tables[game].seat)
