"""Every error this package raises on purpose.

All derive from `ThreeUpError`, and from `ValueError` too, so that code which knows nothing of this package
still catches them. Each message names the value that was wrong and what would have been right; none tells
anything of hidden cards (docs/rules.md 10.4).
"""

from __future__ import annotations


class ThreeUpError(ValueError):
    """The base of all errors of this package."""


class InvalidRulesError(ThreeUpError):
    """A switch of `Rules` has a name or a value that it cannot have; the message names all three."""


class IllegalActionError(ThreeUpError):
    """An action that is not legal now; nothing has changed."""


class InvalidRecordError(ThreeUpError):
    """A game record that cannot be read or does not follow the rules."""


class InvalidSnapshotError(ThreeUpError):
    """Bytes that are no game: cut short, changed, of another version, or with values that no game has."""


class InvalidPolicyError(ThreeUpError):
    """A policy file that cannot be read, or was made for other rules, another encoding or another shape."""


class UnknownAgentError(ThreeUpError):
    """A name that is no agent, or an agent that cannot play here."""


class UnknownEnvError(ThreeUpError):
    """An environment ID that is not registered."""


class GameTooLargeError(ThreeUpError):
    """A game of more positions than can be written out to be solved exactly."""


class InvalidConfigError(ThreeUpError):
    """A configuration with an unknown key or a value out of range; the message names the key."""


class ResetNeededError(ThreeUpError, RuntimeError):
    """A step before the first reset, or after the end of an episode."""


class ResampleError(ThreeUpError):
    """A game from which no other one can be drawn that looks the same."""


class MissingPackageError(ThreeUpError):
    """An optional package is not installed; the message names the extra that brings it."""


class UnknownSeatError(ThreeUpError):
    """No seat at a table of the server, or one at a table that is closed."""


class NotNowError(ThreeUpError):
    """A request that is right at another time: another's turn, a decision already made, a game not over."""


class BusyServerError(ThreeUpError):
    """The server has as much to do as it takes on."""


class ContractError(ThreeUpError, AssertionError):
    """An environment breaks the contract (`threeup_env.testing`); the message names check, seed and step."""
