"""The table as text: plain ASCII, a line a player, colours written as letters (`g10`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from .events import Event
from .table import SeatTable, Table, Viewer, look, split_card

if TYPE_CHECKING:
    from ..game import Game

NOTHING = "-"
EVENT_LINES = 8
"""Decisions told below a table, where nobody asks for more or fewer."""


def draw_table(game: Game, seat: Viewer) -> str:
    """The table as `seat` sees it, without a line end after the last line.

    `?` is a card that the viewer may not know, `?*` one that its owner has seen, `.` an empty 3DOWN slot. A kind
    without a colour in another hand is one known to lie there (10.2).

    Args:
        game: The game, which does not change.
        seat: Who looks; None for what everybody sees, `"all"` for every card but the draw pile.

    Raises:
        ValueError: There is no such seat.
    """
    return "\n".join(_lines(game, look(game, seat)))


def draw_events(events: Sequence[Event], limit: int = EVENT_LINES) -> list[str]:
    """What was done, a line a decision: the last `limit` of `events`, which `Log.tell` gives as a viewer saw them."""
    return [f"player {event.seat} {event.text}" for event in events[max(len(events) - limit, 0) :]]


def printable(name: str) -> str:
    """A name that a terminal cannot take for commands, and any encoding can write."""
    return name if name.isascii() and name.isprintable() else ascii(name)


def write_cards(cards: Iterable[str]) -> str:
    """Cards side by side, equal neighbours counted: `g7x2 rC`; a dash for none."""
    groups = [(card, len(list(copies))) for card, copies in groupby(cards)]
    return " ".join(card if count == 1 else f"{card}x{count}" for card, count in groups) or NOTHING


def _lines(game: Game, table: Table) -> Iterator[str]:
    rules = game.rules
    deal = f"deal {table.deal + 1} of {rules.rounds}; " if rules.rounds > 1 else ""
    direction = "" if not rules.reverse_ones else "; clockwise" if table.direction > 0 else "; counterclockwise"
    yield f"{deal}player {table.first_player} began; {table.decisions_left} decisions left{direction}"
    top = split_card(table.pile[-1])[1] if table.pile else NOTHING
    row = f" (row of {table.row})" if table.row else ""
    yield f"pile {len(table.pile)}: {write_cards(table.pile)}; top {top}{row}; draw pile {table.draw_pile}"
    yield f"removed {len(table.removed)}: {write_cards(table.removed)}"
    # Columns are aligned by what is shown, which is all that their width may depend on.
    columns = [
        [f"hand {len(seat.hand)}: {write_cards(seat.hand)}" for seat in table.seats],
        [f"3UP: {write_cards(seat.up)}" for seat in table.seats],
        [f"3DOWN: {' '.join(seat.down)}" for seat in table.seats],
        [_standing(seat, rules.rounds) for seat in table.seats],
    ]
    widths = [max(map(len, column)) for column in columns]
    for number, cells in enumerate(zip(*columns, strict=True)):
        mark = ">" if number == table.player else " "
        row_text = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        yield f"{mark} player {number}  {row_text}".rstrip()
    yield from _decision(game, table)


def _standing(seat: SeatTable, rounds: int) -> str:
    place = f"place {seat.place} " if seat.place is not None else ""
    return place + (f"total {seat.total}" if rounds > 1 else "")


def _decision(game: Game, table: Table) -> Iterator[str]:
    outcome = game.outcome
    if outcome is not None:
        places = " ".join(NOTHING if place is None else str(place) for place in outcome.places)
        # A game that an illegal action broke off has no outcome.
        ended = outcome.ended if any(outcome.places) or outcome.ended == "truncated" else "illegal action"
        yield f"over ({ended}); places {places}; scores {' '.join(map(str, outcome.scores))}"
        return
    owed = [f"{table.extras} extra owed"] if table.extras else []
    offered = ["draw offered"] if table.draw_offered else []
    said = [f"said: {', '.join(table.said)}"] if table.said else []
    yield "; ".join([f"player {table.player} decides: {table.phase}", *owed, *offered, *said])
    if table.legal:
        yield f"legal: {', '.join(table.legal)}"
