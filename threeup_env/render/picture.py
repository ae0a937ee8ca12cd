"""The table as a picture: what `look` lets a seat see, drawn by Pillow without a screen.

The viewer sits at the bottom, the others along the top in playing order, from left to right clockwise. Each has the
3UP cards over the 3DOWN cards, and a hand: open where the viewer may see it; else the kinds known to lie there (10.2)
as grey faces, and backs for the rest. What the viewer may do, if it is their decision, has a golden edge.

Everything scales with the size of the picture; 640 x 480 is legible, and smaller ones are drawn large and scaled down.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..cards import COLOR_NAMES, COLORS
from .events import Event
from .renderer import DEFAULT_SIZE, MAX_SIDE, Size
from .table import EMPTY, HIDDEN, SEEN, SeatTable, Table, Viewer, look, split_card

try:
    from PIL import Image, ImageDraw

    from . import faces
except ImportError as error:  # pragma: no cover
    raise ImportError("pictures need Pillow: pip install 'threeup-env[render]'") from error

if TYPE_CHECKING:
    from ..game import Game

OVERLAID: Final = 1.28
"""Height of a 3UP card that lies over a 3DOWN card, the part of the lower one that shows included."""
_SMALLEST_SCALE: Final = 0.75
"""Below this share of 640 x 480 a picture is drawn larger and scaled down."""


def draw_picture(
    game: Game,
    viewer: Viewer = None,
    size: Size = DEFAULT_SIZE,
    *,
    events: Sequence[Event] = (),
    names: Sequence[str] | None = None,
) -> npt.NDArray[np.uint8]:
    """The table as `viewer` sees it, in red, green and blue.

    Args:
        game: The game, which does not change.
        viewer: A seat; None for what everybody sees, `"all"` for every card but the draw pile.
        size: Width and height in pixels, at least 1.
        events: What was done so far, as this viewer saw it (`Log.tell`), oldest first; the last ones are shown.
        names: Names of who plays, by seat.

    Returns:
        uint8 `(height, width, 3)`.

    Raises:
        ValueError: There is no such seat.
    """
    width, height = size
    zoom = math.ceil(_SMALLEST_SCALE / min(width / DEFAULT_SIZE[0], height / DEFAULT_SIZE[1]))
    zoom = max(1, min(zoom, MAX_SIDE // max(width, height)))
    painter = _Painter(game, look(game, viewer), viewer, (width * zoom, height * zoom), events, names)
    image = painter.paint()
    if zoom > 1:
        image = image.resize((width, height), Image.Resampling.LANCZOS)
    return np.array(image)


class _Box(NamedTuple):
    """A rectangle in pixels."""

    x: float
    y: float
    w: float
    h: float

    def inside(self, edge: float) -> _Box:
        return _Box(self.x + edge, self.y + edge, self.w - 2 * edge, self.h - 2 * edge)

    def middle(self, height: float) -> _Box:
        return _Box(self.x, self.y + (self.h - height) / 2, self.w, height)

    def split_x(self, left: float, space: float) -> tuple[_Box, _Box]:
        return _Box(self.x, self.y, left, self.h), _Box(self.x + left + space, self.y, self.w - left - space, self.h)

    def split_y(self, top: float, space: float) -> tuple[_Box, _Box]:
        lower = _Box(self.x, self.y + top + space, self.w, self.h - top - space)
        return _Box(self.x, self.y, self.w, top), lower


@dataclass(frozen=True)
class _Card:
    """One card to draw, or several alike that lie together.

    Attributes:
        kind: The kind, HIDDEN for a back, SEEN for a back with an eye, EMPTY for a place without a card.
        colors: Letters of its colours.
        count: How many there are.
        lit: Whether it may be played: True, or False beside some that may; None where nothing is asked.
    """

    kind: str
    colors: str = ""
    count: int = 1
    lit: bool | None = None


def _as_card(written: str) -> _Card:
    color, kind = split_card(written)
    return _Card(kind, color)


class _Painter:
    """One picture on its way."""

    def __init__(
        self,
        game: Game,
        table: Table,
        viewer: Viewer,
        size: Size,
        events: Sequence[Event],
        names: Sequence[str] | None,
    ) -> None:
        self.game = game
        self.rules = game.rules
        self.table = table
        self.viewer = viewer
        self.events = events
        self.names = names
        self.unit = min(size[0] / DEFAULT_SIZE[0], size[1] / DEFAULT_SIZE[1])
        self.image = faces.felt(*size).copy()
        self.draw = ImageDraw.Draw(self.image)
        # What may be played, by the verb of the action: kinds, slots or seats.
        self.choices: dict[str, set[str]] = {}
        for action in table.legal:
            verb, _, rest = action.partition(" ")
            self.choices.setdefault(verb, set()).add(rest.partition("x")[0])

    # The whole table

    def paint(self) -> Image.Image:
        """Draw everything."""
        u = self.unit
        whole = _Box(0, 0, *self.image.size).inside(9 * u)
        bar, rest = whole.split_y(15 * u, 3 * u)
        others, rest = rest.split_y(rest.h * 0.315, 5 * u)
        middle, own = rest.split_y(rest.h * 0.375, 5 * u)
        self._bar(bar)
        bottom = self.viewer if isinstance(self.viewer, int) else 0
        n = self.rules.num_players
        space = 6 * u
        width = min((others.w - (n - 2) * space) / (n - 1), others.h * 2.7)
        left = others.x + (others.w - (n - 1) * width - (n - 2) * space) / 2
        for distance in range(1, n):
            box = _Box(left + (distance - 1) * (width + space), others.y, width, others.h)
            self._seat(box, (bottom + distance) % n, own=False)
        self._middle(middle)
        self._seat(own, bottom, own=True)
        return self.image

    def _bar(self, box: _Box) -> None:
        """What holds for the whole game."""
        table, rules = self.table, self.rules
        parts = [f"deal {table.deal + 1} of {rules.rounds}"] if rules.rounds > 1 else []
        parts += [f"player {table.first_player} began", f"{table.decisions_left} decisions left"]
        size = 11 * self.unit
        y = box.y + box.h / 2
        self._text("3UP 3DOWN", box.x + 3 * self.unit, y, size * 1.1, faces.GOLD, "l", bold=True)
        right = box.x + box.w - 3 * self.unit
        self._text("   ".join(parts), right, y, size, faces.FAINT, "r", box.w * 0.7)

    # One seat

    def _seat(self, box: _Box, number: int, own: bool) -> None:
        u = self.unit
        seat = self.table.seats[number]
        to_play = number == self.table.player
        line = (*faces.GOLD, 255) if to_play else (255, 255, 255, 36)
        fill = (0, 0, 0, 92) if to_play else (0, 0, 0, 62)
        edge = max(1, round((2.2 if to_play else 1) * u))
        self._paste(faces.panel(round(box.w), round(box.h), round(9 * u), fill, line, edge), box.x, box.y)
        head, body = box.inside(6 * u).split_y(16 * u, 3 * u)
        self._head(head, number, seat, own)
        slots = self.rules.table_cards
        if own or body.w > 2.2 * body.h:
            # The cards on the table take a share of the width at most.
            share = body.w * (0.36 if own else 0.44)
            height = min(body.h / OVERLAID, 104 * u, (share / slots - 4 * u) / faces.CARD_SHAPE)
            cards, hand = body.split_x(slots * (height * faces.CARD_SHAPE + 4 * u), 10 * u)
            cards = cards.middle(height * OVERLAID)
        else:
            height = min(body.h * 0.56 / OVERLAID, (body.w / slots - 3 * u) / faces.CARD_SHAPE)
            hand, cards = body.split_y(body.h - height * OVERLAID - 3 * u, 3 * u)
        self._table_cards(cards, seat, number, height)
        self._hand(hand, seat, number)

    def _head(self, box: _Box, number: int, seat: SeatTable, own: bool) -> None:
        """Who sits here, how many cards they hold, and how they stand."""
        u = self.unit
        y = box.y + box.h / 2
        x = box.x + 1 * u
        if number == self.table.player:
            self._triangle(x + 4 * u, y, 5 * u, faces.GOLD)
            x += 13 * u
        right = box.x + box.w
        place = seat.place
        if place is not None:
            r = 7.5 * u
            color = {1: faces.GOLD, 2: (205, 212, 220), 3: (214, 148, 96)}.get(place, (120, 134, 128))
            self._disc(right - r, y, r, color)
            self._text(str(place), right - r, y, 11 * u, (30, 30, 30), "m", bold=True)
            right -= 2 * r + 4 * u
        words = self._standing(number, seat)
        if words:
            self._text(words, right, y, 11 * u, faces.FAINT, "r", (right - x) * 0.6)
            right -= min(faces.text_width(words, 11 * u), (right - x) * 0.6) + 6 * u
        name = f"Player {number}" if box.w > 90 * u else f"P{number}"
        if self.names is not None:
            name += f" - {_printable(self.names[number])}"
        elif own and number == self.viewer:
            name += " - you"
        self._text(name, x, y, 12.5 * u, faces.WHITE, "l", right - x, bold=True)

    def _standing(self, number: int, seat: SeatTable) -> str:
        outcome = self.game.outcome
        if outcome is not None:
            return f"{outcome.scores[number]} points"
        held = f"{len(seat.hand)} in hand"
        if self.rules.rounds == 1:
            return held
        many = self.rules.num_players > _FEW
        return f"{len(seat.hand)} / {seat.total} pts" if many else f"{held}, {seat.total} points"

    def _table_cards(self, box: _Box, seat: SeatTable, number: int, height: float) -> None:
        """3UP over 3DOWN."""
        slots = self.rules.table_cards
        high = round(height)
        width = round(height * faces.CARD_SHAPE)
        step = min(width + 4 * self.unit, (box.w - width) / max(slots - 1, 1))
        left = box.x + (box.w - width - step * (slots - 1)) / 2
        own_flips = self.choices.get("flip", set()) if number == self.table.player else set()
        wanted = self._wanted(number)
        drop = height * (OVERLAID - 1)
        for slot in range(slots):
            x = left + slot * step
            under = seat.down[slot]
            lit = True if str(slot) in own_flips else None
            if under in (HIDDEN, SEEN, EMPTY):
                self._card(_Card(under, lit=lit), x, box.y + drop, high)
            else:
                self._known_down(replace(_as_card(under), lit=lit), x, box.y + drop, high, slot < len(seat.up))
            if slot < len(seat.up):
                over = _Card(HIDDEN) if seat.up[slot] == HIDDEN else _as_card(seat.up[slot])
                self._card(replace(over, lit=self._lit(over.kind, wanted)), x, box.y, high)

    def _wanted(self, number: int) -> set[str] | None:
        """Kinds of this seat's 3UP cards that may be chosen now; None where that is not the question."""
        table = self.table
        if "want" in self.choices:
            victim = self.game.state.victim
            return self.choices["want"] if number == victim else None
        if number == table.player and "play" in self.choices and not table.seats[number].hand:
            return self.choices["play"]
        return None

    @staticmethod
    def _lit(kind: str, choices: set[str] | None) -> bool | None:
        return None if choices is None else kind in choices

    def _hand(self, box: _Box, seat: SeatTable, number: int) -> None:
        choices: set[str] | None = None
        if number == self.table.player and self.table.legal and seat.hand_open:
            kinds = [self.choices[verb] for verb in ("play", "up", "give") if verb in self.choices]
            choices = set().union(*kinds) if kinds and seat.hand else None
            if "take" in self.choices:
                choices = set()
        if seat.hand_open:
            cards = [replace(card, lit=self._lit(card.kind, choices)) for card in map(_as_card, seat.hand)]
        else:
            known = Counter(kind for kind in seat.hand if kind != HIDDEN)
            cards = [_Card(kind, count=count) for kind, count in known.items()]
            hidden = len(seat.hand) - known.total()
            cards += [_Card(HIDDEN)] * hidden
        if cards:
            self._cards(box, cards, 108 * self.unit)
        else:
            # A word, where the eye would look for cards.
            word = "no hand" if seat.up or set(seat.down) != {EMPTY} else "out"
            size = min(13 * self.unit, box.h * 0.5)
            self._text(word, box.x + box.w / 2, box.y + box.h / 2, size, faces.FAINT, "m", box.w)

    # Cards in rows

    def _cards(self, box: _Box, cards: Sequence[_Card], tallest: float) -> None:
        """Cards side by side, overlapping; where that hides too much, in two rows, or those alike together."""
        for grouped in _groupings(cards):
            for rows in (1, 2, 3):
                height = min(box.h / (rows + 0.08 * (rows - 1) + 0.06), tallest)
                per_row = math.ceil(len(grouped) / rows)
                width = height * faces.CARD_SHAPE
                step = width * 1.06 if per_row == 1 else min(width * 1.06, (box.w - width) / (per_row - 1))
                if height < 19 * self.unit and rows > 1:
                    break
                # The corner of a small card tells nothing, so more of it must show.
                if step >= width * (0.75 if height < faces.DETAILED else 0.5 if rows > 1 else 0.4):
                    self._rows(box, grouped, rows, height, step)
                    return
        self._rows(box, grouped, 2 if box.h > 60 * self.unit else 1, min(box.h / 2.1, tallest), None)

    def _rows(self, box: _Box, cards: Sequence[_Card], rows: int, height: float, step: float | None) -> None:
        per_row = math.ceil(len(cards) / rows)
        width = height * faces.CARD_SHAPE
        if step is None:
            step = min(width * 1.06, (box.w - width) / max(per_row - 1, 1))
        top = box.y + (box.h - height * (rows + 0.08 * (rows - 1))) / 2
        for row in range(rows):
            line = cards[row * per_row : (row + 1) * per_row]
            left = box.x + (box.w - width - step * (len(line) - 1)) / 2
            for place, card in enumerate(line):
                lift = min(0.05 * height, 5 * self.unit) if card.lit else 0
                self._card(card, left + place * step, top + row * height * 1.08 - lift, round(height))

    def _card(self, card: _Card, x: float, y: float, height: int) -> None:
        if card.kind == EMPTY:
            self._paste(faces.gap(height), x, y)
            return
        off = max(1.0, 1.4 * self.unit)
        self._paste(faces.shadow(height), x + off, y + off)
        if card.kind in (HIDDEN, SEEN):
            image = faces.back(height, card.kind == SEEN)
        elif card.lit is False:
            image = faces.shaded(card.kind, card.colors, height)
        else:
            image = faces.card(card.kind, card.colors, height)
        if card.kind == HIDDEN and card.count > 1:
            for layer in range(min(card.count - 1, 2), 0, -1):
                self._paste(image, x - layer * off * 1.3, y)
        self._paste(image, x, y)
        if card.lit:
            self._frame(x, y, height)
        if card.count > 1:
            self._badge(str(card.count), x + height * faces.CARD_SHAPE * 0.78, y + height * 0.16, height)

    def _frame(self, x: float, y: float, height: int) -> None:
        u = self.unit
        edge = max(2, round(2.4 * u))
        width = round(height * faces.CARD_SHAPE)
        radius = round(width * 0.14) + edge // 2
        size = width + edge, height + edge
        frame = faces.panel(*size, radius, (0, 0, 0, 0), (*faces.GOLD, 255), edge)
        self._paste(frame, x - edge / 2, y - edge / 2)

    def _known_down(self, card: _Card, x: float, y: float, height: int, covered: bool) -> None:
        """A card face down that the viewer knows (3.3); its kind is written where it shows below a 3UP card."""
        self._card(card, x, y, height)
        width = round(height * faces.CARD_SHAPE)
        veil = faces.panel(width, height, round(width * 0.14), (18, 22, 46, 130), None, 1)
        self._paste(veil, x, y)
        if covered:
            size = height * 0.2
            self._text(card.kind, x + width / 2, y + height * 0.87, size, faces.WHITE, "m", width * 0.8, bold=True)

    def _badge(self, text: str, x: float, y: float, height: float) -> None:
        """How many cards lie together."""
        r = max(5 * self.unit, min(height * 0.16, 11 * self.unit))
        self._disc(x, y, r, (24, 28, 34))
        self._text(text, x, y, r * 1.25, faces.WHITE, "m", r * 1.7, bold=True)

    # The middle of the table

    def _middle(self, box: _Box) -> None:
        u = self.unit
        table = self.table
        left, rest = box.split_x(134 * u, 10 * u)
        pile, words = rest.split_x(rest.w * 0.52, 10 * u)
        label_height = 14 * u
        high = round(min(box.h - label_height - 12 * u, 92 * u))
        width = high * faces.CARD_SHAPE
        y = box.y + 6 * u
        base = y + high + label_height * 0.75
        for x, count, word in (
            (left.x + 6 * u, table.draw_pile, "draw pile"),
            (left.x + left.w - width, len(table.removed), "removed"),
        ):
            self._stack(x, y, high, count, open_top=word == "removed")
            if word == "draw pile" and "draw" in self.choices:
                self._frame(x, y, high)
            self._text(f"{word} {count}", x + width / 2, base, 11 * u, faces.FAINT, "m", width + 8 * u)
        if table.pile:
            lit = True if "take" in self.choices else None
            cards = [replace(_as_card(card), lit=lit) for card in table.pile]
            self._cards(_Box(pile.x, y - 0.03 * high, pile.w, high * 1.06), cards, high)
        else:
            self._card(_Card(EMPTY), pile.x + (pile.w - width) / 2, y, high)
        color = COLOR_NAMES[COLORS.index(table.row_color)] if table.row_color else ""
        row = f", {table.row} {color} in a row" if table.row >= _ROW_SHOWN else ""
        label = f"discard pile {len(table.pile)}{row}" if table.pile else "discard pile: empty"
        self._text(label, pile.x + pile.w / 2, base, 11 * u, faces.FAINT, "m", pile.w)
        self._words(words)

    def _stack(self, x: float, y: float, height: int, count: int, open_top: bool) -> None:
        """The draw pile, or the cards out of the game, as high as it is."""
        if count == 0:
            self._card(_Card(EMPTY), x, y, height)
            return
        depth = min(5, 1 + count // 12)
        step = max(1.0, 1.3 * self.unit)
        for layer in range(depth - 1, -1, -1):
            if open_top:
                card = _as_card(self.table.removed[-1 - min(layer, count - 1)])
                image = faces.shaded(card.kind, card.colors, height)
            else:
                image = faces.back(height)
            self._paste(image, x - layer * step, y + layer * step)

    def _words(self, box: _Box) -> None:
        """The direction of play, what was done, and what is to be decided."""
        u = self.unit
        size = 11 * u
        asked = _wrap(self._asked(), size * 1.06, box.w - 26 * u)
        room = max(1, int((box.h - 8 * u) / (size * 1.3)) - len(asked))
        # Whole events, as many of the last ones as there is room for.
        lines: list[tuple[str, faces.Color]] = []
        for event in reversed(self._shown_events()):
            color = faces.FAINT if lines else faces.WHITE
            more = [(part, color) for part in _wrap(f"P{event.seat} {event.text}", size, box.w)]
            if lines and len(lines) + len(more) > room:
                break
            lines = more + lines
        y = box.y + 8 * u
        left = box.x
        if self.table.player is not None:
            self._arrow(box.x + 9 * u, y + (len(asked) - 1) * size * 0.65, 8 * u)
            left += 24 * u
        for text in asked:
            self._text(text, left, y, size * 1.06, faces.GOLD, "l", box.w - 24 * u, bold=True)
            y += size * 1.3
        y += 3 * u
        for text, color in lines[:room]:
            self._words_and_cards(text, box.x, y, size, color)
            y += size * 1.3

    def _words_and_cards(self, text: str, x: float, y: float, size: float, color: faces.Color) -> None:
        """A line of text in which cards that have a colour stand on it."""
        for word in text.split(" "):
            bare = word.rstrip(";,:")
            card_color, kind = split_card(bare)
            if card_color:
                width, height = faces.text_width(kind, size) + 5 * self.unit, size * 1.16
                fill = (*faces.CARD_COLORS[card_color], 255)
                pill = faces.panel(round(width), round(height), round(3 * self.unit), fill, None, 1)
                self._paste(pill, x, y - height / 2)
                self._text(kind, x + width / 2, y, size, faces.WHITE, "m")
                x += width
                word = word.removeprefix(bare)
            if word:
                self._text(word, x, y, size, color, "l")
            x += faces.text_width(word + " ", size)

    def _shown_events(self) -> list[Event]:
        """What was done, without the parts of actions that were finished since."""
        events = self.events
        return [event for event in events if not event.partial or event is events[-1]]

    def _asked(self) -> str:
        table, outcome = self.table, self.game.outcome
        if outcome is not None:
            winners = [f"player {seat}" for seat, place in enumerate(outcome.places) if place == 1]
            if not winners:
                return "Stopped at the limit" if outcome.ended == "truncated" else "Ended by an illegal action"
            how = {"points": " by points", "match": " the match"}.get(outcome.ended, "")
            names = " and ".join(winners)
            return f"{names[0].upper()}{names[1:]} {'win' if len(winners) > 1 else 'wins'}{how}"
        # In set-up nobody else sees that a colour is asked, and nothing is said (2.3).
        yours, theirs = _COLOR_ASKED if self.game.state.asking and table.said else _PHASES[table.phase]
        parts = [f"Your turn: {yours}" if self.viewer == table.player else f"Player {table.player} {theirs}"]
        if table.extras:
            parts.append(f"{table.extras} extra owed")
        if table.draw_offered:
            parts.append("draw offered")
        if table.said:
            parts.append(f"said {', '.join(table.said)}")
        return "; ".join(parts)

    def _arrow(self, x: float, y: float, r: float) -> None:
        """The direction of play, as an arrow that goes round (8.3)."""
        big = 4
        side = round(2.4 * r * big)
        image = Image.new("RGBA", (side, side), (0, 0, 0, 0))
        draw = ImageDraw.Draw(image)
        middle, radius = side / 2, r * big * 0.8
        ring = (middle - radius, middle - radius, middle + radius, middle + radius)
        draw.arc(ring, 10, 310, fill=faces.GOLD, width=round(r * big * 0.22))
        angle = math.radians(310)
        tip = radius * 0.62
        at_x, at_y = middle + radius * math.cos(angle), middle + radius * math.sin(angle)
        ahead = angle + math.pi / 2
        corners = [
            (at_x + tip * math.cos(ahead + turn), at_y + tip * math.sin(ahead + turn)) for turn in (0.25, 2.2, -2.2)
        ]
        draw.polygon(corners, fill=faces.GOLD)
        image = image.resize((side // big, side // big), Image.Resampling.LANCZOS)
        if self.table.direction < 0:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        self._paste(image, x - image.width / 2, y - image.height / 2)

    # Marks

    def _paste(self, image: Image.Image, x: float, y: float) -> None:
        self.image.paste(image, (round(x), round(y)), image)

    def _disc(self, x: float, y: float, r: float, color: faces.Color) -> None:
        side = max(2, round(2 * r))
        disc = faces.panel(side, side, side // 2, (*color, 255), (255, 255, 255, 150), max(1, round(self.unit * 0.7)))
        self._paste(disc, x - side / 2, y - side / 2)

    def _triangle(self, x: float, y: float, r: float, color: faces.Color) -> None:
        self.draw.polygon(((x - r * 0.7, y - r), (x - r * 0.7, y + r), (x + r, y)), fill=color)

    def _text(
        self,
        text: str,
        x: float,
        y: float,
        size: float,
        color: faces.Color,
        anchor: str,
        width: float = math.inf,
        bold: bool = False,
    ) -> None:
        """A line of text, its left (`l`), middle (`m`) or right (`r`) at (x, y), smaller where it would be too wide."""
        needed = faces.text_width(text, size)
        if needed > width:
            size, needed = size * width / needed, width
        mask = faces.line(text, round(size, 1), bold)
        left = {"l": x, "m": x - needed / 2, "r": x - needed}[anchor]
        self.image.paste(color, (round(left - 1), round(y - mask.height / 2)), mask)


_PHASES: Final = {
    "set-up": ("lay a card face up", "lays cards face up"),
    "sabotage: target": ("sabotage somebody, or pass", "may sabotage somebody"),
    "sabotage: want": ("name a 3UP card to take", "names a 3UP card to take"),
    "sabotage: give": ("name a hand card to lay there", "names a hand card to lay there"),
    "turn": ("play", "to play"),
    "exchange: give": ("exchange a hand card, or pass", "may exchange a hand card"),
    "exchange: want": ("name the 3UP card to take for it", "names a 3UP card to take for it"),
}
"""What is decided, in words: by the viewer, by others."""
_COLOR_ASKED: Final = ("say a colour", "says a colour")
_ROW_SHOWN: Final = 2
"""A row of one colour of this length or more is told (8.4)."""
_FEW: Final = 4
"""With more players than this, there is no room for long words in the head of a seat."""


def _groupings(cards: Sequence[_Card]) -> Iterator[list[_Card]]:
    """Ways to draw the same cards, ever more closely packed."""
    yield list(cards)
    alike: dict[_Card, int] = {}
    for card in cards:
        alike[replace(card, count=1)] = alike.get(replace(card, count=1), 0) + card.count
    yield [replace(card, count=count) for card, count in alike.items()]
    kinds: dict[tuple[str, bool | None], _Card] = {}
    for card, count in alike.items():
        key = card.kind, card.lit
        before = kinds.get(key, replace(card, colors="", count=0))
        kinds[key] = replace(before, colors=before.colors + card.colors, count=before.count + count)
    yield list(kinds.values())


def _wrap(text: str, size: float, width: float) -> list[str]:
    """Text in lines of at most `width` pixels, broken between words."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if faces.text_width(longer, size) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _printable(name: str) -> str:
    """A name in letters that the font has."""
    return "".join(letter if " " <= letter <= "~" else "?" for letter in name)
