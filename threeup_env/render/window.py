"""A window that shows pictures of the table, by pygame-ce."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

# pygame greets on standard output when it is imported, where a program may write its results.
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
try:
    import pygame
except ImportError as error:  # pragma: no cover
    raise ImportError("a window needs pygame-ce: pip install 'threeup-env[human]'") from error


class Window:
    """One window; pygame has one display a process, so the last window made is the one on the screen.

    Args:
        size: Width and height in pixels.
        title: What stands above it.
    """

    def __init__(self, size: tuple[int, int], title: str) -> None:
        pygame.display.init()
        self._size = size
        self._screen = pygame.display.set_mode(size)
        pygame.display.set_caption(title)
        self._clock = pygame.time.Clock()

    def show(self, picture: npt.NDArray[np.uint8], fps: float) -> None:
        """Show a picture, uint8 `(height, width, 3)`, no sooner than 1 / `fps` seconds after the one before."""
        surface = pygame.image.frombuffer(np.ascontiguousarray(picture).tobytes(), self._size, "RGB")
        self._screen.blit(surface, (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(fps)

    def close(self) -> None:
        """Close the window; a second call does nothing."""
        pygame.display.quit()
        pygame.quit()
