"""The spaces of all environments, from the rules."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from .observation import observation_layout
from .rules import Rules


def observation_space(rules: Rules) -> spaces.Box:
    """The plain observation, int8 `(D,)`, with the bounds of the layout table."""
    layout = observation_layout(rules)
    return spaces.Box(layout.low, layout.high, dtype=np.int8)


def mask_space(rules: Rules) -> spaces.Box:
    """The mask of legal actions, int8 `(A,)` of 0 and 1."""
    return spaces.Box(0, 1, (rules.num_actions,), np.int8)


def masked_observation_space(rules: Rules) -> spaces.Dict:
    """The observation and the mask side by side."""
    return spaces.Dict({"observation": observation_space(rules), "action_mask": mask_space(rules)})


def action_space(rules: Rules) -> spaces.Discrete[np.int64]:
    """The action table, as far as the rules need it."""
    return spaces.Discrete(rules.num_actions)
