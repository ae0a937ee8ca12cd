"""3UP 3DOWN for reinforcement learning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import IllegalActionError, InvalidRulesError
from .game import Game
from .observation import observation_layout
from .registration import register_all
from .rules import Rules

if TYPE_CHECKING:
    import threeup_env.threeup_v0 as threeup_v0

    from .record import GameRecord
    from .selfplay import SelfPlayBatch

__version__ = "0.1.0"

__all__ = [
    "Game",
    "GameRecord",
    "IllegalActionError",
    "InvalidRulesError",
    "Rules",
    "SelfPlayBatch",
    "__version__",
    "observation_layout",
    "threeup_v0",
]

# Loaded when first asked for, so that importing the package stays quick.
_LATER = {"GameRecord": ".record", "SelfPlayBatch": ".selfplay", "threeup_v0": ".threeup_v0"}

register_all()


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(_LATER[name], __name__)
    value = module if _LATER[name] == f".{name}" else getattr(module, name)
    globals()[name] = value
    return value
