"""What `render()` of an environment does: one object for all of them, which draws nothing before it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium.error import DependencyNotInstalled

from ..errors import InvalidConfigError
from .events import Event
from .table import Viewer
from .text import draw_events, draw_table

if TYPE_CHECKING:
    from ..game import Game
    from ..rules import Rules

RENDER_MODES: Final = ("human", "ansi", "rgb_array")
BATCH_RENDER_MODES: Final = ("ansi", "rgb_array")
"""Those of an environment of many games, which has no window."""
RENDER_FPS: Final = 2
"""Pictures a second, in a window and in a recorded video: time enough to see what was done."""
DEFAULT_SIZE: Final = (640, 480)
"""Width and height of pictures, in pixels, where nobody asks for another size."""
MAX_SIDE: Final = 8192
TITLE: Final = "3UP 3DOWN"

Frame = str | npt.NDArray[np.uint8]
"""What `render()` gives: text for `"ansi"`, a picture for `"rgb_array"`."""
Size = tuple[int, int]


class Renderer:
    """Draws the table in the way an environment was asked for.

    A copy or a pickle of it has no window, and opens one of its own when it shows something.

    Args:
        mode: None, `"human"` (a window, by pygame-ce), `"ansi"` (text) or `"rgb_array"` (a picture, by Pillow).
        seat: Whose view is drawn: a seat, None for the environment's own choice, `"all"` for every card.
        size: Width and height of pictures in pixels.
        rules: The rules of the games that are drawn.
        metadata: The environment's: `render_modes`, and `render_fps`, which is looked up at every picture in a window.

    Raises:
        InvalidConfigError: `mode`, `seat` or `size` is wrong.
        DependencyNotInstalled: A package that the mode needs is missing; the message names the extra.
    """

    def __init__(self, mode: str | None, seat: Viewer, size: Size, rules: Rules, metadata: Mapping[str, Any]) -> None:
        modes = metadata["render_modes"]
        if mode is not None and mode not in modes:
            raise InvalidConfigError(f"render_mode: {mode!r} is wrong; allowed: None, {', '.join(map(repr, modes))}")
        n = rules.num_players
        if seat is not None and seat != "all" and (isinstance(seat, bool) or seat not in range(n)):
            raise InvalidConfigError(f"render_seat: {seat!r} is wrong; allowed: None, 0..{n - 1}, 'all'")
        self.mode = mode
        self.seat = seat
        self.size = _check_size(size)
        self._metadata = metadata
        self._window: Any = None
        _load(mode)

    def frame(self, game: Game, viewer: Viewer, events: Sequence[Event] = ()) -> Frame | None:
        """The table as it stands: text, a picture, or None and a picture in the window.

        Args:
            game: The game, which does not change.
            viewer: Whose view it is, where nobody asked for another with `render_seat`.
            events: What was done, as `events_seen` gives it.
        """
        viewer = self.viewer(viewer)
        if self.mode == "ansi":
            return "\n".join([draw_table(game, viewer), *draw_events(events)])
        from .picture import draw_picture

        picture = draw_picture(game, viewer, self.size, events=events)
        if self.mode == "rgb_array":
            return picture
        self._show(picture)
        return None

    def viewer(self, own: Viewer) -> Viewer:
        """Whose view is drawn: the one asked for with `render_seat`, else the environment's own."""
        return own if self.seat is None else self.seat

    def _show(self, picture: npt.NDArray[np.uint8]) -> None:
        from .window import Window

        if self._window is None:
            self._window = Window(self.size, TITLE)
        self._window.show(picture, self._metadata["render_fps"])

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_window": None}


_NEEDED: Final = {"rgb_array": (".picture",), "human": (".picture", ".window")}


def _load(mode: str | None) -> None:
    """Import what a mode needs, so that a package that is missing is told of at once."""
    try:
        for name in _NEEDED.get(mode or "", ()):
            import_module(name, __package__)
    except ImportError as error:
        raise DependencyNotInstalled(f"render_mode {mode!r}: {error}") from error


def _check_size(size: Any) -> Size:
    sides = tuple(size) if isinstance(size, Sequence) and not isinstance(size, str) else ()
    if len(sides) != 2 or not all(type(side) is int and 1 <= side <= MAX_SIDE for side in sides):
        raise InvalidConfigError(
            f"render_size: {size!r} is wrong; allowed: width and height in pixels, each an integer of 1 to {MAX_SIDE}"
        )
    return sides
