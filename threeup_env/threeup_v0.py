"""PettingZoo: `threeup_v0.env()` and `threeup_v0.raw_env()`, the game as an agent-environment cycle.

Example:
    >>> from threeup_env import Rules, threeup_v0
    >>> env = threeup_v0.env(Rules.standard(3))
    >>> env.reset(seed=1)
    >>> for agent in env.agent_iter():
    ...     observation, reward, terminated, truncated, info = env.last()
    ...     over = terminated or truncated
    ...     env.step(None if over else int(observation["action_mask"].argmax()))

Version history:
    - v0: the first version.
"""

from __future__ import annotations

from .aec import ThreeUpAEC as raw_env  # noqa: N813  (PettingZoo's name for it)
from .aec import make_env as env

__all__ = ["env", "raw_env"]
