"""The check that hidden cards show nowhere (docs/rules.md 10.4), for all forms whose deals can be fixed.

Two games are dealt that differ only in what is hidden from a seat, and played side by side. At the start both must
tell that seat the same. From then on play may reveal what differs; the game itself (`unwrapped.game`) knows when: as
long as it grants the seat the same in both, the environment must tell the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ..cards import CARDS
from ..rules import Rules
from .contract import Face, Trial, difference, pick

LONGEST: Final = 80
"""Steps for which two games are played side by side."""
Deck = list[str]


def hiding(trial: Trial) -> None:
    """Games that differ only in what is hidden from a seat look the same to it: observation, mask, info, picture."""
    table = trial.new()
    rules, rng = table.rules, trial.rng()
    for row, seat in table.watchers():
        # The watcher chooses its 3UP cards first of all, and last of all.
        first_players = {seat, (seat + 1) % rules.num_players}
        if rules.first_player != "random":
            first_players = {rules.first_player}
        for first_player in sorted(first_players):
            for decks in _twin_decks(rules, seat, rng):
                one, other = (trial.new({"decks": [deck], "first_player": first_player}) for deck in decks)
                _play_side_by_side(trial, one, other, row, seat)


def _play_side_by_side(trial: Trial, one: Face, other: Face, row: int, seat: int) -> None:
    rng, again = trial.rng(), trial.rng()
    for trial.step in range(LONGEST):
        if trial.step and difference(one.granted(row, seat), other.granted(row, seat)):
            return
        trial.require_same(one.view(row, seat), other.view(row, seat), f"seat {seat} is told of what is hidden from it")
        if one.over or other.over:
            return
        masks, masks_of_other = one.masks(), other.masks()
        both = masks & masks_of_other
        common = both.any(axis=1, keepdims=True)
        # Where no action is legal in both, each goes its own way; in set-up others may well (2.3).
        one.step(pick(np.where(common, both, masks), rng))
        other.step(pick(np.where(common, both, masks_of_other), again))


def _twin_decks(rules: Rules, seat: int, rng: np.random.Generator) -> Iterator[tuple[Deck, Deck]]:
    """Pairs of decks that differ only in what is hidden from a seat: in as much as may be, and where it keeps long."""
    deck = np.repeat(CARDS, rules.deck_counts)
    rng.shuffle(deck)
    # 2.2: 3DOWN cards of all seats, six cards of each seat, draw pile.
    num_down, each = rules.num_players * rules.table_cards, rules.table_cards + rules.hand_size
    places = np.arange(len(deck))
    owner = (places - num_down) // each
    drawn = owner >= rules.num_players
    others = (places >= num_down) & (owner != seat) & ~drawn
    first_card = others & ((places - num_down) % each == 0)
    last_drawn = drawn & (places >= len(deck) - int(drawn.sum()) // 3)
    face_down = places < num_down
    for hidden in (face_down | others | drawn, face_down | first_card | last_drawn):
        twin = deck.copy()
        twin[hidden] = rng.permutation(twin[hidden])
        yield deck.tolist(), twin.tolist()
