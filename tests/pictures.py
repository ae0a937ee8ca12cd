"""The positions whose pictures are kept: `python -m tests.pictures` draws them anew.

Small ones for `tests/test_render_picture.py` (`tests/golden/pictures`), large ones for the documentation (`docs`).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from threeup_env import Game, Rules
from threeup_env.core.state import SABOTAGE_WANT
from threeup_env.render.events import Log
from threeup_env.render.picture import draw_picture
from threeup_env.render.table import Viewer

from .tables import choose

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden" / "pictures"
GOLDEN_SIZE = (320, 240)
DOCS_SIZE = (960, 720)


class Position(NamedTuple):
    """A game to draw, and what was done in it."""

    game: Game
    log: Log
    viewer: Viewer

    def draw(self, size: tuple[int, int]) -> npt.NDArray[np.uint8]:
        return draw_picture(self.game, self.viewer, size, events=self.log.tell(self.viewer))


def find(rules: Rules, fits: Callable[[Game], bool], greed: float = 0.6) -> tuple[Game, Log]:
    """The first position of the first game that fits."""
    for seed in range(1000):
        rng = random.Random(seed)
        game, log = Game(rules, seed), Log()
        while not fits(game) and game.player is not None:
            before, action = game.copy(), choose(game, rng, greed)
            log.note(before, action)
            game.play(action)
        if fits(game):
            return game, log
    raise AssertionError("no such position")


def middle(player: int, pile: int) -> Callable[[Game], bool]:
    """Whether it is the player's turn, in the middle of a game, with some cards on the pile."""
    return lambda game: game.player == player and game.decision > 50 and game.state.pile.sum() >= pile


def positions() -> dict[str, Position]:
    """Every position by its name."""
    seen = Rules.geeky(4)
    made = {
        "2p": (*find(Rules.standard(2), lambda game: middle(0, 4)(game) and len(game.legal_actions) > 2), 0),
        "4p-public": (*find(Rules.standard(4), middle(2, 4)), None),
        "house-6p": (*find(Rules.house(6), lambda game: middle(0, 3)(game) and len(game.legal_actions) > 2, 0.3), 0),
        "house-6p-set-up": (*find(Rules.house(6), lambda game: game.decision == 7 and game.player == 4), 4),
        "all-cards": (*find(Rules.house(3), middle(1, 2), 0.1), "all"),
        "full-hand": (*find(Rules.house(2), lambda game: game.state.hand_size[0] >= 24, 0.1), 0),
        "flip": (*find(seen, lambda game: game.state.down_seen[0].any() and "flip 0" in game.legal_actions), 0),
        "sabotage": (*find(Rules.house(4), lambda game: game.state.phase == SABOTAGE_WANT and game.player == 1), 1),
        "match-over": (*find(Rules.match(3), lambda game: game.player is None, 0.9), 1),
    }
    return {name: Position(*position) for name, position in made.items()}


def main() -> None:
    """Write all of them."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    made = positions()
    for name, position in made.items():
        save(position.draw(GOLDEN_SIZE), GOLDEN / f"{name}.png")
    save(made["2p"].draw(DOCS_SIZE), ROOT / "docs" / "table-2p.png")
    save(made["house-6p"].draw(DOCS_SIZE), ROOT / "docs" / "table-house-6p.png")


def save(picture: npt.NDArray[np.uint8], path: Path) -> None:
    """Write a picture with 256 colours: a third as many bytes, and no eye tells."""
    Image.fromarray(picture).quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
