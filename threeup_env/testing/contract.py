"""What checks are made of: a face at play, a trial that says where the contract was broken, and comparisons."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import ContractError
from ..rules import Rules

Array = npt.NDArray[Any]
Make = Callable[[], Any]
"""Makes the environment that is checked, each time a new one with the same settings."""


class Masks(NamedTuple):
    """What is said of the legal actions of one agent, or of one game of a batch."""

    whose: str
    must_decide: bool
    places: dict[str, Array]
    """Every place where the mask can be read, by its name, `(A,)` each."""


class Face(ABC):
    """One environment at play, so that one check serves all forms. All see it as rows, one row a game."""

    def __init__(self, env: Any) -> None:
        self.env = env

    @abstractmethod
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game in every row."""

    @abstractmethod
    def step(self, actions: Array) -> None:
        """Play one action a row, integers `(N,)`; what stands in a row without a decision is ignored."""

    @abstractmethod
    def said(self) -> Any:
        """All that the environment says at this moment."""

    @abstractmethod
    def handed_out(self) -> Any:
        """What of it the caller may keep and overwrite."""

    @abstractmethod
    def masks(self) -> Array:
        """What each row may play now, `(N, A)`; zeros where nobody has to decide."""

    @abstractmethod
    def all_masks(self) -> Iterable[Masks]:
        """Every mask that can be read now."""

    @abstractmethod
    def accepts(self, row: int, action: int) -> bool:
        """Play an action in one row, legal ones in the others, and tell whether it was accepted as legal."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether only a reset can follow."""

    @property
    @abstractmethod
    def rules(self) -> Rules:
        """The rules that are played."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What no reset may change."""

    def watchers(self) -> list[tuple[int, int]]:
        """Row and seat of each player whose view `view` can tell."""
        return []

    def view(self, row: int, seat: int) -> Any:
        """All that the environment tells to one seat: observation, mask, info, picture, name."""
        raise NotImplementedError

    def granted(self, row: int, seat: int) -> Any:
        """All that the game itself grants to that seat (docs/rules.md 10.1 to 10.3)."""
        raise NotImplementedError


class Trial:
    """One run of one check: makes the faces, and says where the contract was broken.

    Attributes:
        step: How many steps have been made so far, for the message.
    """

    def __init__(self, check: str, face: type[Face], make: Make, seed: int) -> None:
        self.check = check
        self.seed = seed
        self.step = 0
        self._face = face
        self._make = make

    def make(self) -> Any:
        """A face that was never reset."""
        return self._face(self._make())

    def new(self, options: dict[str, Any] | None = None) -> Any:
        """A face that was reset with the seed of the trial."""
        self.step = 0
        face = self.make()
        face.reset(self.seed, options)
        return face

    def rng(self) -> np.random.Generator:
        """A generator of actions, the same at each call."""
        return np.random.default_rng(self.seed)

    def where(self) -> str:
        """Where the trial stands."""
        return f"seed {self.seed}, step {self.step}"

    def require(self, holds: bool, message: str) -> None:
        """Go on only if something holds.

        Raises:
            ContractError: It does not.
        """
        if not holds:
            raise ContractError(f"{self.check}: {message} ({self.where()})")

    def require_same(self, one: Any, other: Any, message: str) -> None:
        """Go on only if two things that an environment said are the same, to the bit and the dtype.

        Raises:
            ContractError: They are not; the message names the first place in which they differ.
        """
        place = difference(one, other)
        self.require(place is None, f"{message}: {place}")

    def require_same_run(self, one: list[Any], other: list[Any], message: str) -> None:
        """Go on only if two runs said the same at each step."""
        for step, (said, again) in enumerate(zip(one, other, strict=True)):
            self.step = step
            self.require_same(said, again, message)


@dataclass(frozen=True)
class Check:
    """One part of the contract for one form of environment: call it with what makes the environment.

    Attributes:
        name: Its name.
        face: Which form it is for.
        body: What it does.
    """

    name: str
    face: type[Face]
    body: Callable[[Trial], None]

    def __call__(self, make: Make, seed: int = 1) -> None:
        """Run the check.

        Args:
            make: Makes the environment, each time a new one with the same settings.
            seed: Seeds the games and the actions.

        Raises:
            ContractError: The contract is broken.
        """
        trial = Trial(self.name, self.face, make, seed)
        try:
            self.body(trial)
        except ContractError:
            raise
        except Exception as error:
            error.add_note(f"{self.name}: an error of the environment ({trial.where()})")
            raise

    def __str__(self) -> str:
        return self.name


def table(face: type[Face], bodies: Iterable[Callable[[Trial], None]]) -> dict[str, Check]:
    """The checks for one form, by their names."""
    checks = (Check(body.__name__, face, body) for body in bodies)
    return {check.name: check for check in checks}


# Playing


def pick(masks: Array, rng: np.random.Generator) -> Array:
    """A random legal action for each row, int64 `(N,)`; 0 where there is none."""
    picked: Array = np.argmax(masks * (1.0 + rng.random(masks.shape)), axis=1)
    return picked


def advance(face: Face, rng: np.random.Generator) -> None:
    """One step by random legal actions, or a reset where only that can follow."""
    if face.over:
        face.reset()
    else:
        face.step(pick(face.masks(), rng))


def play(face: Face, steps: int, rng: np.random.Generator) -> list[Any]:
    """All that a face says while random legal actions are played, over as many games as it takes."""
    said = []
    for _ in range(steps):
        advance(face, rng)
        said.append(copy.deepcopy(face.said()))
    return said


# Comparing


def difference(one: Any, other: Any, place: str = "") -> str | None:
    """Where two nested things first differ, or None if they are the same, types and dtypes included."""
    here = place or "all of it"
    if type(one) is not type(other):
        return f"{here} is a {type(one).__name__} and a {type(other).__name__}"
    if isinstance(one, Mapping):
        if one.keys() != other.keys():
            return f"{here} has the keys {list(one)} and {list(other)}"
        return _first(one, other, one, place)
    if isinstance(one, tuple | list):
        if len(one) != len(other):
            return f"{here} has {len(one)} and {len(other)} entries"
        return _first(one, other, range(len(one)), place)
    if isinstance(one, np.ndarray):
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"{here} is {one.dtype} {one.shape} and {other.dtype} {other.shape}"
        if one.dtype == object:
            return _first(one, other, range(len(one)), place)
        unequal = np.argwhere(one != other)
        if not len(unequal):
            return None
        index = tuple(unequal[0].tolist())
        return f"{here} differs at {list(index)}: {one[index]} and {other[index]}"
    return None if one is other or one == other else f"{here} is {_short(one)} and {_short(other)}"


def _first(one: Any, other: Any, keys: Iterable[Any], place: str) -> str | None:
    found = (difference(one[key], other[key], f"{place}[{key!r}]") for key in keys)
    return next((text for text in found if text is not None), None)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def arrays(said: Any) -> Iterable[Array]:
    """Every array in a nested thing."""
    if isinstance(said, Mapping):
        said = list(said.values())
    if isinstance(said, np.ndarray) and said.dtype != object:
        yield said
    elif isinstance(said, tuple | list | np.ndarray):
        for part in said:
            yield from arrays(part)
