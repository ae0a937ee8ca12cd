"""The table as one seat sees it: what every renderer draws from, so that hidden cards are left out in one place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import numpy.typing as npt

from ..actions import ACTIONS
from ..cards import CARD_INDEX, CARDS, COLORS, KINDS, NUM_CARDS
from ..core.state import NO_CARD, OVER, SABOTAGE_GIVE, SABOTAGE_WANT
from ..core.turn import draw_offered
from ..observation import PUBLIC_PHASES

if TYPE_CHECKING:
    from ..game import Game

HIDDEN: Final = "?"
"""A card that the viewer may not know."""
SEEN: Final = "?*"
"""A 3DOWN card that its owner has seen (3.3) and the viewer has not."""
EMPTY: Final = "."
"""A 3DOWN slot without a card."""

_ALL_CARDS: Final = np.arange(NUM_CARDS)
_draw_offered = getattr(draw_offered, "py_func", draw_offered)
"""The rule of 5.3 as plain Python: for a single look, compiling it once more would take longer."""

Viewer = int | Literal["all"] | None
"""A seat; None for what everybody sees; `"all"` for every card, the draw pile excepted."""


@dataclass(frozen=True)
class SeatTable:
    """What the viewer sees of one seat.

    Attributes:
        hand: One entry a card, lowest first: the card (`"g10"`) where it is the viewer's; else the kind (`"10"`)
            where one is known to lie there (10.2), then `HIDDEN` for the rest.
        hand_open: Whether the hand stands there by card.
        up: 3UP cards, lowest first; `HIDDEN` where they are not revealed (2.3).
        down: 3DOWN slots, in order: a card, `HIDDEN`, `SEEN` or `EMPTY`.
        total: Points so far (8.7).
        place: Its place, or None.
    """

    hand: tuple[str, ...]
    hand_open: bool
    up: tuple[str, ...]
    down: tuple[str, ...]
    total: int
    place: int | None


@dataclass(frozen=True)
class Table:
    """What the viewer sees of a game (section 10); nothing in it depends on what is hidden from them.

    Attributes:
        seats: Every seat, by number.
        player: The seat to decide, or None when the game is over.
        phase: What it decides: one of `PUBLIC_PHASES`, or `"over"`.
        pile: The discard pile from the bottom. (Cards of one kind in the order green, red, blue.)
        removed: Cards out of the game, lowest first (4.3).
        draw_pile: Cards left in the draw pile.
        extras: Extra actions owed (5.1).
        draw_offered: Whether the draw of 5.3 is offered.
        direction: 1 clockwise, -1 against it (8.3).
        first_player: Who began the deal.
        deal: Number of the deal, from 0.
        decisions_left: Decisions to the limit, as everyone can count them (10.1).
        row: Length of the row of one colour on the pile (8.4), with `color_swap`.
        row_color: Its colour, `"g"`, `"r"` or `"b"`; `""` where there is no row.
        said: The parts already said of an action made in parts, in written form.
        legal: The legal actions, where the viewer is to decide; they tell of the hand.
    """

    seats: tuple[SeatTable, ...]
    player: int | None
    phase: str
    pile: tuple[str, ...]
    removed: tuple[str, ...]
    draw_pile: int
    extras: int
    draw_offered: bool
    direction: int
    first_player: int
    deal: int
    decisions_left: int
    row: int
    said: tuple[str, ...]
    legal: tuple[str, ...]
    row_color: str = ""


def look(game: Game, viewer: Viewer) -> Table:
    """The table as `viewer` sees it.

    Cards are told with their colours under all rules, for people to look at; where no rule reads colours,
    the hidden ones of 10.4 stay hidden all the same. A game out of a batch that keeps no colours
    (`LearnerBatch.game`) has its cards told by kind alone: `"10"` for `"g10"`.

    Raises:
        ValueError: `viewer` is no seat, nor None, nor `"all"`.
    """
    n = game.rules.num_players
    if viewer is not None and viewer != "all" and (isinstance(viewer, bool) or viewer not in range(n)):
        raise ValueError(f"no seat {viewer!r}; seats are 0..{n - 1}, None for everybody, 'all' for all cards")
    state = game.state
    # 10.1: until the reveal the limit less the cards laid up, since colours said are secret (2.3).
    made = game.decision if state.revealed else int(state.up_size.sum())
    return Table(
        seats=tuple(_seat(game, state, seat, viewer) for seat in range(n)),
        player=game.player,
        phase="over" if state.phase == OVER else PUBLIC_PHASES[state.phase],
        pile=_cards(game, state.pile_card, state.pile),
        removed=_cards(game, state.removed_card, state.removed),
        draw_pile=int(state.deck_size - state.drawn),
        extras=int(state.extras),
        draw_offered=game.player is not None and bool(_draw_offered(state, game.rules, game.player)),
        direction=int(state.direction),
        first_player=int(state.first_player),
        deal=game.deal,
        decisions_left=max(game.rules.max_decisions - made, 0),
        row=int(state.row) if game.rules.color_swap else 0,
        said=tuple(_said(game, state, viewer)),
        legal=tuple(game.legal_actions) if viewer in ("all", game.player) and game.player is not None else (),
        row_color=COLORS[state.row_color] if game.rules.color_swap and state.row else "",
    )


def _seat(game: Game, state: np.record, seat: int, viewer: Viewer) -> SeatTable:
    open_to = viewer in ("all", seat)
    if open_to:
        hand = _cards(game, state.hand_card[seat], state.hand[seat])
    else:
        known = _kinds(state.known[seat])
        hand = known + (HIDDEN,) * (int(state.hand_size[seat]) - len(known))
    # Sorted: the order they were chosen in is secret (2.3).
    if game.tracks_colors:
        up = tuple(CARDS[card] for card in sorted(state.up_card[seat].tolist()) if card != NO_CARD)
    else:
        up = _kinds(state.up[seat])
    slots = list(zip(state.down[seat].tolist(), state.down_seen[seat].tolist(), strict=True))[: game.rules.table_cards]
    return SeatTable(
        hand=hand,
        hand_open=open_to,
        up=up if open_to or state.revealed else (HIDDEN,) * len(up),
        down=tuple(_down(card, bool(seen), seat, viewer) for card, seen in slots),
        total=int(state.total[seat]),
        place=int(state.place[seat]) or None,
    )


def _cards(game: Game, by_card: npt.NDArray[np.int8], by_kind: npt.NDArray[np.int8]) -> tuple[str, ...]:
    """Cards, lowest first, from how many there are of each; kinds where the game keeps no colours."""
    if not game.tracks_colors:
        return _kinds(by_kind)
    return tuple(CARDS[card] for card in np.repeat(_ALL_CARDS, by_card).tolist())


def _kinds(counts: npt.NDArray[np.int8]) -> tuple[str, ...]:
    return tuple(kind for kind, count in zip(KINDS, counts.tolist(), strict=True) for _ in range(count))


def split_card(card: str) -> tuple[str, str]:
    """The colour of a written card, `""` where it has none, and its kind: `("g", "10")` for `"g10"`."""
    return (card[0], card[1:]) if card in CARD_INDEX else ("", card)


def _down(card: int, seen: bool, seat: int, viewer: Viewer) -> str:
    if card == NO_CARD:
        return EMPTY
    if viewer == "all" or (viewer == seat and seen):
        return CARDS[card]
    return SEEN if seen else HIDDEN


def _said(game: Game, state: np.record, viewer: Viewer) -> Iterator[str]:
    """The parts said of an action that is not finished (8.4, 8.6)."""
    if state.phase in (SABOTAGE_WANT, SABOTAGE_GIVE):
        yield f"target {(int(state.victim) - int(state.player)) % game.rules.num_players}"
    for verb, card in (("want", state.want_card), ("give", state.give_card)):
        if card != NO_CARD:
            yield f"{verb} {CARDS[card]}"
    # 2.3: in set-up nobody else sees whether a card or its colour is being chosen.
    if state.asking and (state.revealed or viewer in ("all", game.player)):
        yield ACTIONS[state.pending]
        yield from (f"color {COLORS[color]}" for color in state.said[: state.num_said])
