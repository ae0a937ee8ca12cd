"""The table for a terminal: colours where cards are, and the same words without them."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from threeup_env import Game, Rules
from threeup_env.actions import ACTION_INDEX
from threeup_env.render.events import explain, tell
from threeup_env.render.terminal import (
    STYLES,
    color_cards,
    draw_choices,
    draw_event,
    draw_explanations,
    draw_game,
)

from .test_game import play_on


def shown(renderable: RenderableType) -> str:
    file = io.StringIO()
    Console(file=file, width=200, highlight=False).print(renderable)
    return file.getvalue()


@pytest.mark.parametrize(
    ("line", "cards"),
    [
        ("plays g7 r10; draws bC+1", ["g7", "r10", "bC+1"]),
        ("removed 4: g4x2 rC b1", ["g4", "rC", "b1"]),
        ("begin r11 bg7 7 C+1 row g", []),
    ],
)
def test_cards_are_coloured(line: str, cards: list[str]) -> None:
    text = color_cards(line)
    assert text.plain == line
    spans = sorted(text.spans)
    assert [line[span.start : span.end] for span in spans] == cards
    assert [span.style for span in spans] == [STYLES[card[0]] for card in cards]


def test_a_game_is_shown_as_the_viewer_sees_it() -> None:
    game = play_on(Game(Rules.match(3), seed=1), 1, 30)
    names = ["ann", "bob", "cy"]
    public, own = shown(draw_game(game, None, names)), shown(draw_game(game, 0, names))
    assert all(name in public for name in names)
    assert public != own and "0 points" in own
    hand = next(line for line in public.splitlines() if "ann" in line)
    assert "?" in hand


def test_choices_are_numbered_from_one() -> None:
    assert shown(draw_choices(["play 7", "draw"])) == "1 play 7   2 draw\n"


def test_explanations_and_events() -> None:
    game = Game(Rules.standard(2, first_player=0), seed=1)
    action = game.legal_actions[0]
    card = action.removeprefix("up ")
    rows = shown(draw_explanations([action], [explain(game, ACTION_INDEX[action])]))
    assert rows.split()[:3] == ["1", "up", card]
    assert rows.rstrip().endswith(f"{card} face up (2.3)")
    event = tell(game, ACTION_INDEX[action], 0)
    assert event is not None
    assert shown(draw_event(event, ["ann", "bob"])).startswith("  ann lays ")
