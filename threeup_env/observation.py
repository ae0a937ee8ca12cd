"""The observation: one table of named slices, from which the encoder and the docs both come.

An observation is a flat int8 vector, what one seat may know (docs/rules.md section 10) and nothing more.
`observation_layout(rules)` lists its slices in order. Slices about things that the rules lack (colours,
scores, a direction that never turns) are left out, so the length depends on the rules.

Seats are relative: row 0 is the observer, row k the k-th next seat clockwise, as `target k` counts them.

Every number of cards is one entry, as it is. Large numbers (decisions left, totals) are written in base 8,
lowest digit first. Kinds, seats and phases are one-hot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum, auto
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from .cards import MAX_COPIES, NUM_CARDS, NUM_COLORS, NUM_KINDS, NUM_NUMBERS

if TYPE_CHECKING:
    from .rules import Rules

ENCODING: Final = "threeup-observation/2"
"""The version of this table: a policy file says which one it was trained on."""
BASE_BITS: Final = 3
BASE: Final = 1 << BASE_BITS
"""Base of large numbers."""
ROW_LEVELS: Final = 3
"""Longest row of one colour that lies on the pile: the fourth card ends it (8.4)."""
LEADS: Final = (-60, -30, -15, -5, 0, 5, 15, 30)
"""Thresholds of the slice `lead`, in points."""
DIGITS_IN_WORD: Final = 4
"""Digits come in groups of this many."""
TOTAL_DIGITS: Final = 2 * DIGITS_IN_WORD
MOST_EXTRAS: Final = 3 * MAX_COPIES
"""No deck holds Clears for more extras than this (1.4, 5.1)."""
ABSENT: Final = -1
"""The span of a part that the rules lack."""

PUBLIC_PHASES: Final = (
    "set-up",
    "sabotage: target",
    "sabotage: want",
    "sabotage: give",
    "turn",
    "exchange: give",
    "exchange: want",
)


class Part(IntEnum):
    """The slices, in the order they stand in an observation; `Layout.spans` is indexed by it."""

    HAND = 0
    REMOVED = auto()
    UP = auto()
    KNOWN = auto()
    DRAW_PILE = auto()
    EXTRAS = auto()
    PILE = auto()
    TOP = auto()
    HAND_SIZE = auto()
    DOWN = auto()
    TO_PLAY = auto()
    FIRST_PLAYER = auto()
    PHASE = auto()
    DRAW_OFFERED = auto()
    TABLE_CLEAR_2 = auto()
    DECISIONS_LEFT = auto()
    DOWN_SEEN = auto()
    SEEN_KIND = auto()
    DIRECTION = auto()
    PLACE = auto()
    DEAL = auto()
    TOTAL = auto()
    LEAD = auto()
    HAND_CARD = auto()
    REMOVED_CARD = auto()
    PILE_CARD = auto()
    UP_CARD = auto()
    SEEN_COLOR = auto()
    ROW = auto()
    ASKING = auto()
    PENDING_KIND = auto()
    PENDING_COUNT = auto()
    SAID = auto()
    GIVE_KIND = auto()
    GIVE_COLOR = auto()
    WANT_KIND = auto()
    WANT_COLOR = auto()
    VICTIM = auto()


@dataclass(frozen=True)
class Slice:
    """One named slice of an observation.

    Attributes:
        name: Its name, `hand`, `up`, ...
        start: Index of its first entry.
        shape: Its shape; `observation[start:stop].reshape(shape)` is a view of it.
        low: Smallest value of an entry.
        high: Largest value of an entry.
        meaning: What it tells, with the clause.
    """

    name: str
    start: int
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str

    @property
    def size(self) -> int:
        """Number of entries."""
        return prod(self.shape)

    @property
    def stop(self) -> int:
        """Index after its last entry."""
        return self.start + self.size

    def view(self, observation: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        """This slice of an observation `(..., D)`, in its own shape `(..., *shape)`."""
        return observation[..., self.start : self.stop].reshape(*observation.shape[:-1], *self.shape)


@dataclass(frozen=True)
class Layout:
    """The layout of the observations under some rules: a sequence of slices that can be asked by name.

    Attributes:
        slices: The slices, in order.
        size: Length D of an observation.
    """

    slices: tuple[Slice, ...]
    size: int

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)

    def __len__(self) -> int:
        return len(self.slices)

    def __contains__(self, name: object) -> bool:
        return any(part.name == name for part in self.slices)

    def __getitem__(self, name: str) -> Slice:
        for part in self.slices:
            if part.name == name:
                return part
        raise KeyError(f"no slice {name!r}; there are: {', '.join(part.name for part in self.slices)}")

    @property
    def low(self) -> npt.NDArray[np.int8]:
        """Lower bounds, int8 `(D,)`."""
        return np.concatenate([np.full(part.size, part.low, np.int8) for part in self.slices])

    @property
    def high(self) -> npt.NDArray[np.int8]:
        """Upper bounds, int8 `(D,)`."""
        return np.concatenate([np.full(part.size, part.high, np.int8) for part in self.slices])

    @property
    def spans(self) -> npt.NDArray[np.int32]:
        """Start and stop of each `Part`, int32 `(len(Part), 2)`, -1 where the rules lack it: what the encoder reads."""
        spans = np.full((len(Part), 2), ABSENT, np.int32)
        for part in self.slices:
            spans[Part[part.name.upper()]] = part.start, part.stop
        return spans

    def describe(self) -> str:
        """The table as Markdown: index, name, shape, range, meaning."""
        rows = ["| index | name | shape | range | meaning |", "|---|---|---|---|---|"]
        for part in self.slices:
            index, shape = f"{part.start}..{part.stop - 1}", "x".join(map(str, part.shape))
            rows.append(f"| {index} | `{part.name}` | {shape} | {part.low}..{part.high} | {part.meaning} |")
        return "\n".join(rows)


@lru_cache(maxsize=128)
def observation_layout(rules: Rules) -> Layout:
    """The layout of what a seat observes under `rules`."""
    slices: list[Slice] = []
    start = 0
    for part, shape, high, meaning in _parts(rules):
        low = -1 if part is Part.DIRECTION else 0
        slices.append(Slice(part.name.lower(), start, shape, low, high, meaning))
        start = slices[-1].stop
    return Layout(tuple(slices), start)


def limit_digits(max_decisions: int) -> int:
    """Digits in base 8 for any number of decisions left, a multiple of `DIGITS_IN_WORD`."""
    words = -(-max_decisions.bit_length() // (BASE_BITS * DIGITS_IN_WORD))
    return words * DIGITS_IN_WORD


def _parts(rules: Rules) -> Iterator[tuple[Part, tuple[int, ...], int, str]]:
    """Each part that the rules have: shape, largest value, meaning."""
    n = rules.num_players
    in_parts = rules.color_swap or rules.sabotage
    phases = PUBLIC_PHASES if in_parts else ("set-up", "turn")
    yield Part.HAND, (NUM_KINDS,), MAX_COPIES, "own hand by kind (10.3)"
    yield Part.REMOVED, (NUM_KINDS,), MAX_COPIES, "removed cards by kind (4.3)"
    yield (
        Part.UP,
        (n, NUM_KINDS),
        rules.table_cards,
        "3UP cards of each seat by kind; before the reveal the observer's own alone (2.3)",
    )
    yield Part.KNOWN, (n, NUM_KINDS), MAX_COPIES, "cards known to lie in each hand, by kind (10.2)"
    yield Part.DRAW_PILE, (1,), rules.deck_size, "cards in the draw pile"
    yield Part.EXTRAS, (1,), MOST_EXTRAS, "extra actions owed (5.1)"
    yield Part.PILE, (NUM_NUMBERS,), 2, "discard pile by number; it lies in rising order (3.2)"
    yield Part.TOP, (NUM_NUMBERS,), 1, "kind on top of the pile, one-hot; zeros when it is empty"
    yield Part.HAND_SIZE, (n,), rules.deck_size, "cards in each hand"
    yield Part.DOWN, (n, rules.table_cards), 1, "3DOWN slots of each seat that hold a card"
    yield Part.TO_PLAY, (n,), 1, "whose decision it is, one-hot; zeros when the game is over"
    yield Part.FIRST_PLAYER, (n,), 1, "first player of the deal, one-hot (2.4)"
    yield Part.PHASE, (len(phases),), 1, "what is decided, one-hot: " + ", ".join(phases)
    yield Part.DRAW_OFFERED, (1,), 1, "whether the optional draw is offered (5.3)"
    yield Part.TABLE_CLEAR_2, (1,), 1, "whether a C+2 was played from 3UP or 3DOWN this turn (5.7)"
    yield (
        Part.DECISIONS_LEFT,
        (limit_digits(rules.max_decisions),),
        BASE - 1,
        "decisions left to the limit, base 8; before the reveal the limit less the cards laid up (6.3, 10.1)",
    )
    if rules.failed_flip == "stay":
        yield Part.DOWN_SEEN, (n, rules.table_cards), 1, "3DOWN slots whose card its owner has seen (3.3)"
        yield Part.SEEN_KIND, (rules.table_cards, NUM_KINDS), 1, "own seen 3DOWN cards, kind one-hot (10.3)"
    if rules.reverse_ones:
        yield Part.DIRECTION, (1,), 1, "direction of play: 1 clockwise, -1 against it (8.3)"
    if rules.play_on:
        yield Part.PLACE, (n, n), 1, "place of each seat that is out, one-hot (6.2)"
    if rules.rounds > 1:
        yield Part.DEAL, (1,), rules.rounds, "deals finished (8.7)"
        yield Part.TOTAL, (n, TOTAL_DIGITS), BASE - 1, "points of each seat in the match so far, base 8 (8.7)"
        leads = ", ".join(map(str, LEADS))
        yield Part.LEAD, (n, len(LEADS)), 1, f"whether a seat's total less the observer's is more than {leads}"
    if rules.color_swap:
        yield from _color_parts(rules)
    if rules.sabotage:
        yield Part.WANT_KIND, (NUM_KINDS,), 1, "kind wanted in the sabotage that has begun, one-hot (8.6)"
        if rules.color_swap:
            yield Part.WANT_COLOR, (NUM_COLORS,), 1, "its colour, one-hot"
        yield Part.VICTIM, (n,), 1, "victim of the sabotage that has begun, one-hot"


def _color_parts(rules: Rules) -> Iterator[tuple[Part, tuple[int, ...], int, str]]:
    """The parts that `color_swap` adds (8.4): colours of the cards, the row, and what is said of an action in parts."""
    yield Part.HAND_CARD, (NUM_CARDS,), MAX_COPIES, "own hand by card (kind, then colour)"
    yield Part.REMOVED_CARD, (NUM_CARDS,), MAX_COPIES, "removed cards by card"
    yield Part.PILE_CARD, (NUM_NUMBERS * NUM_COLORS,), 2, "discard pile by card"
    yield (
        Part.UP_CARD,
        (rules.num_players, NUM_CARDS),
        rules.table_cards,
        "3UP cards of each seat by card; before the reveal the observer's own alone (2.3)",
    )
    if rules.failed_flip == "stay":
        yield Part.SEEN_COLOR, (rules.table_cards, NUM_COLORS), 1, "own seen 3DOWN cards, colour one-hot"
    yield Part.ROW, (NUM_COLORS, ROW_LEVELS), 1, "row of one colour on the pile: entry i is 1 where it is longer than i"
    yield Part.ASKING, (1,), 1, "whether a colour is being said; in set-up for the decider alone (2.3)"
    yield Part.PENDING_KIND, (NUM_KINDS,), 1, "kind whose colours are being said, one-hot"
    yield Part.PENDING_COUNT, (MAX_COPIES,), 1, "cards whose colours are being said: entry i is 1 where there are more"
    yield Part.SAID, (MAX_COPIES, NUM_COLORS), 1, "colours said so far, in order, one-hot"
    yield Part.GIVE_KIND, (NUM_KINDS,), 1, "kind given in the exchange that has begun, one-hot"
    yield Part.GIVE_COLOR, (NUM_COLORS,), 1, "its colour, one-hot"
