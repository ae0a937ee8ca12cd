"""A game that is looked at is the one that is not: same seeds, same opponents, same draws. Its decisions are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from threeup_env import IllegalActionError, Rules
from threeup_env.agents import RandomAgent
from threeup_env.errors import InvalidRecordError
from threeup_env.learner import LearnerBatch
from threeup_env.watched import WatchedBatch

CASES: dict[str, tuple[Rules, Any, list[float] | None]] = {
    "greedy": (Rules.standard(2), "greedy", None),
    "random": (Rules.house(4), "random", None),
    "mixed": (Rules.house(3), ["random", "greedy"], [1.0, 2.0]),
    "by seat": (Rules.geeky(4), ["random", "greedy", "random"], None),
    "match": (Rules.match(3), "random", None),
    "external": (Rules.standard(3), "an object", None),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seat", ["rotate", "random", 1])
def test_looking_changes_nothing(name: str, seat: Any) -> None:
    rules, opponent, weights = CASES[name]
    batches = []
    for make in (LearnerBatch, WatchedBatch):
        played_by = RandomAgent(7) if name == "external" else opponent
        sizes = () if make is WatchedBatch else (1,)
        batches.append(make(rules, *sizes, played_by, weights, seat=seat, autoreset="next", seed=[5]))  # type: ignore[operator]
    plain, watched = batches
    rng = np.random.default_rng(0)
    for _ in range(250):
        assert (plain.observation == watched.observation).all()
        assert (plain.action_mask == watched.action_mask).all()
        assert plain.seat == watched.seat
        legal = np.flatnonzero(plain.action_mask[0])
        action = [int(rng.choice(legal))] if len(legal) else [0]
        for batch in batches:
            batch.step(action)
        assert plain.exact_reward == watched.exact_reward
        assert (plain.terminated, plain.truncated) == (watched.terminated, watched.truncated)


def test_decisions_of_all_seats_are_kept() -> None:
    batch = WatchedBatch(Rules.standard(3), "greedy", seat=0, autoreset="next", seed=[1])
    for _ in range(6):
        batch.step([int(batch.action_mask[0].argmax())])
    events = batch.log.tell("all")
    assert {event.seat for event in events} == {0, 1, 2}
    assert len(events) == batch.game().decision


def test_another_game_begins_with_nothing_told() -> None:
    batch = WatchedBatch(Rules.standard(2, first_player=0), "greedy", seat=0, autoreset="next", seed=[1])
    batch.step([int(batch.action_mask[0].argmax())])
    assert batch.log.tell(0)
    with pytest.raises(InvalidRecordError):
        batch.reset(options={"first_player": 9})
    assert batch.log.tell(0), "a reset that fails changes nothing"
    batch.reset([2])
    assert batch.log.tell(0) == ()


def test_illegal_actions_are_not_told() -> None:
    batch = WatchedBatch(Rules.standard(2), "greedy", illegal_action="raise", autoreset="next", seed=[1])
    before = batch.log.tell("all")
    with pytest.raises(IllegalActionError):
        batch.step([int(batch.action_mask[0].argmin())])
    assert batch.log.tell("all") == before
