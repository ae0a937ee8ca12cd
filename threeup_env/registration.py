"""All environment IDs, in one table: the same in Gymnasium's and in PettingZoo's registry.

| ID | rules |
|---|---|
| `ThreeUp/2p-v0` .. `ThreeUp/6p-v0` | `Rules.standard(n)` |
| `ThreeUp/GameRules-2p-v0` .. `-6p-v0` | `Rules.gamerules(n)` |
| `ThreeUp/Geeky-2p-v0` .. `-6p-v0` | `Rules.geeky(n)` |
| `ThreeUp/House-2p-v0` .. `-6p-v0` | `Rules.house(n)` |
| `ThreeUp/Match-2p-v0` .. `-6p-v0` | `Rules.match(n)` |
| `ThreeUp/Mini-2p-v0` | `Rules.mini(2)` |
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import gymnasium
import pettingzoo

from .errors import UnknownEnvError
from .rules import Rules

NAMESPACE: Final = "ThreeUp"
VERSION: Final = 0
"""Rises whenever the same seed and actions would give another trajectory."""

_ALL_SIZES: Final = range(2, 7)
_FAMILIES: Final[tuple[tuple[str, Callable[[int], Rules], range], ...]] = (
    ("", Rules.standard, _ALL_SIZES),
    ("GameRules-", Rules.gamerules, _ALL_SIZES),
    ("Geeky-", Rules.geeky, _ALL_SIZES),
    ("House-", Rules.house, _ALL_SIZES),
    ("Match-", Rules.match, _ALL_SIZES),
    ("Mini-", Rules.mini, range(2, 3)),
)


def _table() -> Iterator[tuple[str, Rules]]:
    for family, preset, sizes in _FAMILIES:
        for num_players in sizes:
            yield f"{NAMESPACE}/{family}{num_players}p-v{VERSION}", preset(num_players)


ENV_RULES: Final[Mapping[str, Rules]] = MappingProxyType(dict(_table()))
"""The rules of every ID."""


def rules_of(env_id: str) -> Rules:
    """The rules of an environment ID.

    Raises:
        UnknownEnvError: There is no such ID; the message names those that look like it.
    """
    if env_id in ENV_RULES:
        return ENV_RULES[env_id]
    likely = difflib.get_close_matches(str(env_id), ENV_RULES, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(likely)}?" if likely else f"allowed: {', '.join(ENV_RULES)}"
    raise UnknownEnvError(f"{env_id!r} is no environment ID; {hint}")


def register_all() -> None:
    """Register every ID with Gymnasium and with PettingZoo; those that are there already stay as they are.

    Gymnasium's order enforcer and passive checker are left out: the environments raise errors of their own for a
    step at the wrong time, and `gymnasium.utils.env_checker.check_env` is run in the tests instead of at every step.
    """
    for env_id, rules in ENV_RULES.items():
        # Plain values, so that the specs can be written as JSON.
        arguments = {"rules": rules.to_dict()}
        if env_id not in gymnasium.registry:
            gymnasium.register(
                env_id,
                entry_point="threeup_env.single:ThreeUpEnv",
                vector_entry_point="threeup_env.vector:ThreeUpVectorEnv",
                order_enforce=False,
                disable_env_checker=True,
                kwargs=arguments,
            )
        if env_id not in pettingzoo.aec_registry:
            pettingzoo.register("aec", env_id, "threeup_env.threeup_v0:env", kwargs=arguments)
