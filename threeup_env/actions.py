"""The action table: one index for every action, the same under all rules (docs/rules.md section 7).

| index | action |
|---|---|
| 0..90 | `play`: kind k, count c, index `7 k + (c - 1)` |
| 91, 92 | `draw`, `take` |
| 93..95 | `flip 0..2` |
| 96..108 | `up` kind |
| 109 | `pass` |
| 110..122, 123..135 | `give` kind, `want` kind |
| 136..140 | `target 1..5` |
| 141..143 | `color` g, r, b |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .cards import COLORS, KINDS, MAX_COPIES, NUM_KINDS

PLAY: Final = 0
DRAW: Final = PLAY + NUM_KINDS * MAX_COPIES
TAKE: Final = DRAW + 1
FLIP: Final = TAKE + 1
NUM_SLOTS: Final = 3
"""3DOWN slots in the action table; `table_cards` of them are dealt to."""
UP: Final = FLIP + NUM_SLOTS
PASS: Final = UP + NUM_KINDS
GIVE: Final = PASS + 1
WANT: Final = GIVE + NUM_KINDS
TARGET: Final = WANT + NUM_KINDS
MAX_TARGETS: Final = 5
COLOR: Final = TARGET + MAX_TARGETS

NUM_ACTIONS: Final = COLOR + len(COLORS)
"""All actions: the size of the action space where the rules let players pass, give, want, target or say a colour."""
NUM_BASE_ACTIONS: Final = PASS
"""The size of the action space under all other rules."""


def _play_text(kind: int, count: int) -> str:
    return f"play {KINDS[kind]}" + (f"x{count}" if count > 1 else "")


ACTIONS: Final[tuple[str, ...]] = (
    *(_play_text(kind, count) for kind in range(NUM_KINDS) for count in range(1, MAX_COPIES + 1)),
    "draw",
    "take",
    *(f"flip {slot}" for slot in range(NUM_SLOTS)),
    *(f"up {kind}" for kind in KINDS),
    "pass",
    *(f"give {kind}" for kind in KINDS),
    *(f"want {kind}" for kind in KINDS),
    *(f"target {distance}" for distance in range(1, MAX_TARGETS + 1)),
    *(f"color {color}" for color in COLORS),
)
"""The written form of every action, by index."""

ACTION_INDEX: Final[Mapping[str, int]] = {text: index for index, text in enumerate(ACTIONS)}
"""The index of every written form."""
