"""The table for a terminal, by rich: cards in their colours, readable without colours too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from .events import Effect, Event
from .table import Table, Viewer, look
from .text import NOTHING, draw_table, write_cards

if TYPE_CHECKING:
    from ..game import Game

CARD: Final = r"(?<![\w+])[grb](?:10|[1-9]|C(?:\+[12])?)(?=x\d|[^\w+]|$)"
"""A card that has a colour, wherever it stands in a line, counted (`g7x2`) or not."""
_HEAD: Final = 3
STYLES: Final = {"g": "bold black on green", "r": "bold white on red", "b": "bold white on blue"}


def color_cards(line: str, style: str = "") -> Text:
    """A line of text in which cards stand in their colours."""
    text = Text(line, style)
    for color, look_of_it in STYLES.items():
        text.highlight_regex(CARD.replace("[grb]", color), look_of_it)
    return text


def draw_game(game: Game, viewer: Viewer, names: Sequence[str]) -> RenderableType:
    """The table as `viewer` sees it.

    Args:
        game: The game, which does not change.
        viewer: A seat; None for what everybody sees, `"all"` for every card but the draw pile.
        names: What each player is called, by seat.
    """
    table = look(game, viewer)
    # What stands above the players in the plain table, and the line below them that says what is decided.
    lines = draw_table(game, viewer).splitlines()
    asked = color_cards(lines[_HEAD + len(table.seats)], "bold")
    return Group(*(color_cards(line) for line in lines[:_HEAD]), _players(game, table, names), asked)


def _players(game: Game, table: Table, names: Sequence[str]) -> RichTable:
    rows = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("", "player", "hand", "3UP", "3DOWN", ""):
        rows.add_column(column, overflow="fold")
    for number, seat in enumerate(table.seats):
        to_play = number == table.player
        place = f"place {seat.place} " if seat.place is not None else ""
        rows.add_row(
            ">" if to_play else "",
            Text(names[number], "bold" if to_play else ""),
            color_cards(f"{len(seat.hand)}: {write_cards(seat.hand)}"),
            color_cards(" ".join(seat.up) or NOTHING),
            color_cards(" ".join(seat.down)),
            place + (f"{seat.total} points" if game.rules.rounds > 1 else ""),
        )
    return rows


def draw_choices(actions: Sequence[str]) -> RenderableType:
    """The legal actions, numbered from 1."""
    return Text("   ".join(f"{number} {action}" for number, action in enumerate(actions, 1)), "bold")


def draw_explanations(actions: Sequence[str], effects: Iterable[Sequence[Effect]]) -> RichTable:
    """What each action would do, each effect with the clause of docs/rules.md."""
    rows = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for number, (action, done) in enumerate(zip(actions, effects, strict=True), 1):
        told = "; ".join(f"{effect.text} ({effect.clause})" for effect in done)
        rows.add_row(f"{number}", Text(action, "bold"), color_cards(told))
    return rows


def draw_event(event: Event, names: Sequence[str]) -> Text:
    """What a player did."""
    return color_cards(f"  {names[event.seat]} {event.text}")
