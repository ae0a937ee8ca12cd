"""Cards: kinds, colours and the decks they come in (docs/rules.md section 1).

A **kind** is an integer 0..12 (1 to 10, `C`, `C+1`, `C+2`), a **colour** an integer 0..2 (green, red,
blue). A **card** is `kind * NUM_COLORS + color`, an integer 0..38, written colour then kind: `g10`, `rC`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

KINDS: Final = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "C", "C+1", "C+2")
COLORS: Final = ("g", "r", "b")
COLOR_NAMES: Final = ("green", "red", "blue")

NUM_KINDS: Final = len(KINDS)
NUM_NUMBERS: Final = 10
NUM_COLORS: Final = len(COLORS)
NUM_CARDS: Final = NUM_KINDS * NUM_COLORS
MAX_COPIES: Final = 7
"""Most cards of one kind that a deck may hold (1.4)."""
MAX_DECK: Final = NUM_KINDS * MAX_COPIES

CLEAR: Final = 10
"""The lowest Clear: kinds from here on are Clears."""
CLEAR_1: Final = 11
CLEAR_2: Final = 12

CARDS: Final = tuple(color + kind for kind in KINDS for color in COLORS)
CARD_INDEX: Final[Mapping[str, int]] = {name: card for card, name in enumerate(CARDS)}

POINTS: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25)
"""What a card of each kind scores against its holder (8.7)."""


def _deck(numbers: tuple[int, int, int], clears: dict[str, tuple[int, int, int]]) -> Mapping[str, int]:
    """Counts of each card, given the sets of 1-10 in green, red, blue and the Clears of each kind."""
    by_kind = {kind: clears.get(kind, numbers) for kind in KINDS}
    return {color + kind: by_kind[kind][c] for kind in KINDS for c, color in enumerate(COLORS) if by_kind[kind][c]}


STANDARD_DECK: Final = _deck((3, 2, 2), {"C": (3, 2, 2), "C+1": (2, 2, 2), "C+2": (1, 0, 0)})
"""1.2: 84 cards."""
GAMERULES_DECK: Final = _deck((2, 2, 2), {"C": (2, 2, 2), "C+1": (2, 2, 2), "C+2": (2, 0, 0)})
"""1.3: 74 cards."""
NAMED_DECKS: Final[Mapping[str, Mapping[str, int]]] = {"standard": STANDARD_DECK, "gamerules": GAMERULES_DECK}
