"""The checks that are the same for all forms of environment."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any, Final

import cloudpickle
import numpy as np

from .contract import Face, Trial, advance, arrays, difference, pick, play

STEPS: Final = 120
"""Length of most trials: several games for a learner, one or two for a table."""
SPOILED: Final = 7
TRIED_AT: Final = (0, 3, 9, 20)
"""Steps at which actions are tried one by one."""
TRIED_ILLEGAL: Final = 8
"""How many illegal actions are tried at each of them."""


def masks(trial: Trial) -> None:
    """Masks are int8, the same wherever they stand, empty only where nobody decides, and what `step` accepts."""
    face, rng = trial.new(), trial.rng()
    for trial.step in range(STEPS):
        for told in face.all_masks():
            _check_mask(trial, *told)
        advance(face, rng)
    for steps in TRIED_AT:
        _check_accepted(trial, steps)


def _check_mask(trial: Trial, whose: str, must_decide: bool, places: dict[str, Any]) -> None:
    first = None
    for place, mask in places.items():
        name = f"the mask of {whose} in {place}"
        dtype = np.bool_ if place == "action_masks()" else np.int8
        trial.require(isinstance(mask, np.ndarray), f"{name} is a {type(mask).__name__}, not an array")
        trial.require(mask.dtype == dtype, f"{name} is {mask.dtype}, not {np.dtype(dtype)}")
        trial.require(bool(np.isin(mask, (0, 1)).all()), f"{name} holds something else than 0 and 1")
        if must_decide:
            trial.require(bool(mask.any()), f"{name} is empty, but it has to decide")
        else:
            trial.require(not mask.any(), f"{name} is not empty, but it has nothing to decide")
        first = mask if first is None else first
        trial.require(np.array_equal(mask, first), f"{name} is not the one in {next(iter(places))}")


def _check_accepted(trial: Trial, steps: int) -> None:
    """What the masks allow after some steps is accepted, and what they do not is not."""
    face, rng = _after(trial, steps), trial.rng()
    for row, mask in enumerate(face.masks()):
        if not mask.any():
            continue
        forbidden = np.flatnonzero(mask == 0)
        for action in (*np.flatnonzero(mask), *rng.choice(forbidden, TRIED_ILLEGAL, replace=False)):
            # A new one is brought there each time: whether it can be copied is another question.
            accepted = _after(trial, steps).accepts(row, int(action))
            allowed = bool(mask[action])
            verdict = "allows action {} that is illegal" if allowed else "forbids action {} that is legal"
            trial.require(accepted == allowed, f"the mask {verdict.format(action)}")


def _after(trial: Trial, steps: int) -> Any:
    face, rng = trial.new(), trial.rng()
    for trial.step in range(1, steps + 1):
        advance(face, rng)
    while face.over or not face.masks().any():
        advance(face, rng)
    return face


def seeds(trial: Trial) -> None:
    """The same seed gives the same games, in the same environment or another one; another seed gives others."""
    runs = []
    face = trial.make()
    for one, seed in ((face, trial.seed), (trial.make(), trial.seed), (face, trial.seed), (face, trial.seed + 1)):
        one.reset(seed)
        runs.append([copy.deepcopy(one.said()), *play(one, STEPS, trial.rng())])
    trial.require_same_run(runs[0], runs[1], "two environments with the same seed differ")
    trial.require_same_run(runs[0], runs[2], "after a second reset with the same seed it differs")
    trial.step = 0
    trial.require(
        difference(runs[0], runs[3]) is not None, f"the seeds {trial.seed} and {trial.seed + 1} give the same games"
    )


def stream(trial: Trial) -> None:
    """`reset()` goes on with the seeded stream: reproducible, and another game each time."""
    runs = []
    face = trial.make()
    for _ in range(2):
        face.reset(trial.seed)
        run = play(face, STEPS // 4, trial.rng())
        face.reset()
        runs.append([*run, copy.deepcopy(face.said()), *play(face, STEPS, trial.rng())])
    trial.require_same_run(runs[0], runs[1], "reset(seed), some steps and reset() are not reproducible")
    games = []
    for _ in range(4):
        face.reset()
        games.append([copy.deepcopy(face.said()), *play(face, 8, trial.rng())])
    trial.step = 0
    # Two small games may be alike by chance, but hardly four.
    alike = all(difference(games[0], other) is None for other in games[1:])
    trial.require(not alike, "reset() gives the same game each time")


def settings(trial: Trial) -> None:
    """A reset touches the generator alone: what was set when the environment was made stays."""
    face, rng = trial.make(), trial.rng()
    before = face.settings()
    for seed in (None, trial.seed, None, trial.seed + 1):
        face.reset(seed)
        for trial.step in range(STEPS // 4):
            advance(face, rng)
        for name, value in face.settings().items():
            trial.require(
                value is before[name] or bool(value == before[name]), f"reset(seed={seed}) replaced or changed {name}"
            )


def global_generators(trial: Trial) -> None:
    """The generators of `random` and `numpy.random` are neither read nor moved."""
    before = random.getstate(), np.random.get_state()  # noqa: NPY002  (the global one is what this is about)
    try:
        runs = []
        for number in range(2):
            random.seed(number)
            np.random.seed(number)  # noqa: NPY002
            states = _global_states()
            runs.append(play(trial.new(), STEPS, trial.rng()))
            trial.step = STEPS
            trial.require(_global_states() == states, "a global generator was used or seeded")
        trial.require_same_run(runs[0], runs[1], "the games hang on a global generator")
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


def _global_states() -> tuple[Any, ...]:
    name, words, *rest = np.random.get_state(legacy=True)  # noqa: NPY002
    return random.getstate(), name, np.asarray(words).tobytes(), tuple(rest)


def deepcopy(trial: Trial) -> None:
    """A deep copy in mid-game is exact and independent, generator included."""
    _check_copies(trial, copy.deepcopy)


def pickle(trial: Trial) -> None:
    """So is what was pickled: by cloudpickle, as vector environments do it, which takes lambdas of wrappers too."""
    _check_copies(trial, lambda face: cloudpickle.loads(cloudpickle.dumps(face)))


def _check_copies(trial: Trial, duplicate: Callable[[Face], Face]) -> None:
    reference = _after(trial, STEPS // 5)
    expected = _rest(trial, reference)
    original = _after(trial, STEPS // 5)
    now = copy.deepcopy(original.said())
    first, second = duplicate(original), duplicate(original)
    trial.require_same(first.said(), now, "the copy says something else than the original")
    trial.require_same_run(_rest(trial, first), expected, "the copy goes on otherwise than the original would have")
    trial.require_same_run(_rest(trial, original), expected, "the original goes on otherwise since its copy was played")
    trial.require_same_run(_rest(trial, second), expected, "the copy goes on otherwise since the original was played")


def _rest(trial: Trial, face: Face) -> list[Any]:
    """What follows: this game, and one that the generator deals."""
    rng = trial.rng()
    said = play(face, STEPS // 2, rng)
    face.reset()
    return [*said, copy.deepcopy(face.said()), *play(face, STEPS // 2, rng)]


def returned_arrays(trial: Trial) -> None:
    """Arrays that were handed out are the caller's: they never change, and changing them changes no game."""
    kept: list[Any] = []
    frozen: list[Any] = []
    face, rng = trial.new(), trial.rng()
    for trial.step in range(STEPS):
        kept.append(face.handed_out())
        frozen.append(copy.deepcopy(kept[-1]))
        advance(face, rng)
    trial.require_same_run(kept, frozen, "what was handed out has changed since")
    face, rng = trial.new(), trial.rng()
    for trial.step in range(STEPS):
        said = face.handed_out()
        trial.require_same(said, frozen[trial.step], "overwriting what was handed out changed the game")
        actions = pick(face.masks(), rng) if not face.over else None
        for array in arrays(said):
            if array.flags.writeable:
                array[...] = SPOILED
        if actions is None:
            face.reset()
        else:
            face.step(actions)


STEADY: Final = (seeds, stream, settings, global_generators, deepcopy, pickle)
"""The checks that every form has of its generator and of copies."""
