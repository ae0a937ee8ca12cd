"""3UP 3DOWN for reinforcement learning."""

from __future__ import annotations

from .errors import IllegalActionError, InvalidRulesError
from .game import Game
from .rules import Rules

__version__ = "0.1.0"

__all__ = ["Game", "IllegalActionError", "InvalidRulesError", "Rules", "__version__"]
