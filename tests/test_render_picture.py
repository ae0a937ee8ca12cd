"""The table as a picture: as it always looked, of what a seat may see, and at any size."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from PIL import Image

from threeup_env import Game, Rules
from threeup_env.cards import NUM_COLORS
from threeup_env.core.state import NO_CARD
from threeup_env.learner import LearnerBatch
from threeup_env.render.events import Log
from threeup_env.render.picture import draw_picture
from threeup_env.render.table import HIDDEN, look
from threeup_env.render.text import draw_table

from .pictures import GOLDEN, GOLDEN_SIZE, Position, positions
from .strategies import rules_strategy
from .tables import choose, state_of, table
from .test_hiding import MANY, NOBODY, SEEDS, twin

SMALL = (160, 120)
BLOCK = 20
MEAN_TOLERANCE = 3.0
"""Of 255, over the whole picture: what 256 colours and another FreeType may change."""
BLOCK_TOLERANCE = 20.0
"""Of 255, in the worst square of BLOCK pixels: far less than a card in the wrong place."""


def difference(one: npt.NDArray[np.uint8], other: npt.NDArray[np.uint8]) -> tuple[float, float]:
    """Mean absolute difference of the whole and of the worst square."""
    apart = np.abs(one.astype(int) - other.astype(int)).mean(axis=2)
    height, width = apart.shape
    blocks = apart.reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK).mean(axis=(1, 3))
    return float(apart.mean()), float(blocks.max())


@pytest.fixture(scope="module")
def kept() -> dict[str, Position]:
    return positions()


def golden(name: str) -> npt.NDArray[np.uint8]:
    with Image.open(GOLDEN / f"{name}.png") as image:
        return np.array(image.convert("RGB"))


def test_all_pictures_are_compared(kept: dict[str, Position]) -> None:
    assert {path.stem for path in GOLDEN.glob("*.png")} == set(kept)


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.png")))
def test_pictures_look_as_they_always_did(name: str, kept: dict[str, Position]) -> None:
    picture = kept[name].draw(GOLDEN_SIZE)
    assert picture.shape == (GOLDEN_SIZE[1], GOLDEN_SIZE[0], 3)
    assert picture.dtype == np.uint8
    mean, worst = difference(picture, golden(name))
    assert mean < MEAN_TOLERANCE and worst < BLOCK_TOLERANCE


def test_the_comparison_sees_one_card(kept: dict[str, Position]) -> None:
    position = kept["2p"]
    game = position.game.copy()
    state = state_of(game)
    card = int(state["up_card"][1, 0])
    state["up_card"][1, 0] = card - card % NUM_COLORS + (card + 1) % NUM_COLORS
    picture = draw_picture(game, 0, GOLDEN_SIZE, events=position.log.tell(0))
    assert difference(picture, golden("2p"))[1] > 2 * BLOCK_TOLERANCE


@settings(MANY, max_examples=15)
@given(rules_strategy(), SEEDS)
def test_hidden_cards_make_no_difference(rules: Rules, seed: int) -> None:
    """10.4: not a pixel, for any viewer."""
    rng = random.Random(seed)
    game = Game(rules, seed)
    for _ in range(rng.randrange(150)):
        if game.player is not None:
            game.play(choose(game, rng, 0.6))
    for viewer in (None, rng.randrange(rules.num_players)):
        other = twin(game, NOBODY if viewer is None else viewer, rng)
        assert (draw_picture(other, viewer, SMALL) == draw_picture(game, viewer, SMALL)).all()


def put(name: str, *place: int, value: int) -> Callable[[np.void], None]:
    def change(state: np.void) -> None:
        state[name][place if place else ()] = value

    def change_scalar(state: np.void) -> None:
        state[name] = value

    return change if place else change_scalar


def more_known(state: np.void) -> None:
    state["known"][1, 4] += 1


SEEN: dict[str, Callable[[np.void], None]] = {
    "whose turn": put("player", value=1),
    "direction": put("direction", value=-1),
    "draw pile": lambda state: put("drawn", value=int(state["drawn"]) + 12)(state),
    "pile": put("pile_card", 5, value=2),
    "removed": put("removed_card", 38, value=1),
    "size of another hand": lambda state: put("hand_size", 1, value=int(state["hand_size"][1]) + 1)(state),
    "known cards": more_known,
    "own hand": put("hand_card", 0, 38, value=1),
    "3UP": put("up_card", 1, 0, value=38),
    "3DOWN slot": put("down", 2, 1, value=NO_CARD),
    "3DOWN seen": put("down_seen", 2, 1, value=1),
    "extras": put("extras", value=2),
    "place": put("place", 2, value=1),
    "decisions left": put("decisions", value=500),
    "row": lambda state: [put("row", value=3)(state), put("row_color", value=1)(state)][0],
}


@pytest.mark.parametrize("name", SEEN)
def test_what_is_public_is_drawn(name: str) -> None:
    seats = ("g9 r9 | g8 r8 | g5 r5", "b9 b10 | r7 b7 | b5 b6", "g10 r10 | g7 g6 | b3 b4")
    game = table(*seats, draw="r1 " * 6 + "g2 " * 6 + "b3 " * 5 + "r4 " * 5, color_swap=True)
    state_of(game)["pile_card"][4] = 1
    other = game.copy()
    SEEN[name](state_of(other))
    other.player = int(other.state.player)
    assert (draw_picture(game, 0) != draw_picture(other, 0)).any()


def test_totals_are_drawn_in_a_match() -> None:
    game = Game(Rules.match(3), 1)
    other = game.copy()
    state_of(other)["total"][1] = 33
    assert (draw_picture(game) != draw_picture(other)).any()


def test_everybodys_view_and_all_cards_differ() -> None:
    game = Game(Rules.house(6), 1)
    views = [draw_picture(game, viewer, SMALL).tobytes() for viewer in (None, "all", 0, 1)]
    assert len(set(views)) == 4


@pytest.mark.parametrize("size", [(1, 1), (7, 300), (84, 84), (160, 120), (400, 800), (1000, 200), (1280, 960)])
@pytest.mark.parametrize("players", [2, 6])
def test_any_size(size: tuple[int, int], players: int) -> None:
    game = Game(Rules.house(players), 1)
    assert draw_picture(game, 0, size).shape == (size[1], size[0], 3)


def test_drawing_changes_nothing_and_is_the_same_again(kept: dict[str, Position]) -> None:
    position = kept["house-6p"]
    before = position.game.state.tobytes()
    pictures = [position.draw(SMALL).tobytes() for _ in range(2)]
    assert pictures[0] == pictures[1]
    assert position.game.state.tobytes() == before


def test_names_and_events_are_drawn() -> None:
    game, log = Game(Rules.standard(2, first_player=0), 1), Log()
    action = game.legal_indices()[0]
    log.note(game.copy(), action)
    game.play(action)
    plain = draw_picture(game, 0)
    assert (plain != draw_picture(game, 0, events=log.tell(0))).any()
    assert (plain != draw_picture(game, 0, names=["ann", "b\x1b[ü"])).any()
    assert (plain == draw_picture(game, 0, events=log.tell(1))).all(), "2.3: others are told nothing"


def test_a_hand_of_all_cards_fits() -> None:
    game = Game(Rules.standard(2), 1)
    state = state_of(game)
    state["hand_card"][0] = 3
    state["hand_size"][0] = 117
    picture = draw_picture(game, 0)
    assert picture.shape == (480, 640, 3)


@pytest.mark.parametrize("viewer", [-1, 2, True, "0", 0.5])
def test_there_is_no_other_viewer(viewer: Any) -> None:
    with pytest.raises(ValueError, match=r"seats are 0\.\.1"):
        draw_picture(Game(seed=1), viewer)


def test_games_without_colors_are_drawn_by_kind() -> None:
    """A batch keeps no colours where no rule asks for them; the table is right all the same."""
    plain = LearnerBatch(Rules.standard(3), 1, "random", seed=[4], autoreset="next")
    colored = LearnerBatch(Rules.standard(3), 1, "random", seed=[4], autoreset="next", track_colors=True)
    for _ in range(12):
        action = plain.action_mask.argmax(axis=1)
        plain.step(action)
        colored.step(action)
    game, with_colors = plain.game(0), colored.game(0)
    assert not game.tracks_colors and with_colors.tracks_colors
    kinds, cards = look(game, 0), look(with_colors, 0)
    bare = [card.lstrip("grb") for card in cards.pile]
    assert list(kinds.pile) == bare and bare
    assert [seat.up for seat in kinds.seats] == [tuple(card.lstrip("grb") for card in seat.up) for seat in cards.seats]
    assert kinds.seats[0].hand == tuple(card.lstrip("grb") for card in cards.seats[0].hand)
    assert HIDDEN in kinds.seats[1].hand
    assert f"top {bare[-1]};" in draw_table(game, 0)
    assert (draw_picture(game, 0) != draw_picture(with_colors, 0)).any()


def test_the_end_by_an_illegal_action_is_drawn() -> None:
    batch = LearnerBatch(Rules.standard(2), 1, "greedy", seed=[1], autoreset="next", track_colors=True)
    batch.step([int(batch.action_mask[0].argmin())])
    assert batch.illegal[0]
    assert draw_picture(batch.game(0), 0).shape == (480, 640, 3)
    assert "illegal" in draw_table(batch.game(0), 0)
