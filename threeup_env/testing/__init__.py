"""The contract of the environments as checks, to run on an environment that you have wrapped or derived.

A check takes a function that makes the environment, always with the same settings, and a seed; where the contract is
broken it raises `ContractError`, an `AssertionError` that names the check, the seed and the step. Any test framework
will do, or none. All checks of a form of environment at once:

    >>> import gymnasium
    >>> from threeup_env.testing import check_gymnasium
    >>> def make():
    ...     return gymnasium.wrappers.DtypeObservation(gymnasium.make("ThreeUp/2p-v0"), "float32")
    >>> check_gymnasium(make)

One of them, by its name (`AEC_CHECKS`, `GYMNASIUM_CHECKS`, `VECTOR_CHECKS` and `SELF_PLAY_CHECKS` hold them all):

    >>> from threeup_env.testing import GYMNASIUM_CHECKS
    >>> GYMNASIUM_CHECKS["masks"](make, seed=3)

docs/testing.md says what each of them asks for.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ContractError
from .aec import AEC_CHECKS
from .contract import Check, Make
from .selfplay import SELF_PLAY_CHECKS
from .single import GYMNASIUM_CHECKS
from .vector import VECTOR_CHECKS

__all__ = [
    "AEC_CHECKS",
    "GYMNASIUM_CHECKS",
    "SELF_PLAY_CHECKS",
    "VECTOR_CHECKS",
    "Check",
    "ContractError",
    "check_aec",
    "check_gymnasium",
    "check_self_play",
    "check_vector",
]


def check_aec(make: Make, seed: int = 1) -> None:
    """Run every check for PettingZoo's form.

    Args:
        make: Makes the environment: `threeup_v0.env`, `raw_env`, or either in wrappers.
        seed: Seeds the games and the actions.

    Raises:
        ContractError: The contract is broken.
    """
    _run(AEC_CHECKS, make, seed)


def check_gymnasium(make: Make, seed: int = 1) -> None:
    """Run every check for Gymnasium's form, one learner's seat.

    Args:
        make: Makes the environment: `gymnasium.make(ID, ...)`, or that in wrappers.
        seed: Seeds the games and the actions.

    Raises:
        ContractError: The contract is broken.
    """
    _run(GYMNASIUM_CHECKS, make, seed)


def check_vector(make: Make, seed: int = 1) -> None:
    """Run every check for Gymnasium's vector form, made with `copy=True`.

    Args:
        make: Makes the environment: `gymnasium.make_vec(ID, num_envs=N, ...)`, or that in wrappers.
        seed: Seeds the games and the actions.

    Raises:
        ContractError: The contract is broken.
    """
    _run(VECTOR_CHECKS, make, seed)


def check_self_play(make: Make, seed: int = 1) -> None:
    """Run every check for `SelfPlayBatch`, or what is derived from it.

    Args:
        make: Makes the batch.
        seed: Seeds the games and the actions.

    Raises:
        ContractError: The contract is broken.
    """
    _run(SELF_PLAY_CHECKS, make, seed)


def _run(checks: Mapping[str, Check], make: Make, seed: int) -> None:
    for check in checks.values():
        check(make, seed)
