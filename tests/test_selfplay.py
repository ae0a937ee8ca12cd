"""`SelfPlayBatch` against single games, decision by decision."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from threeup_env import Rules, SelfPlayBatch
from threeup_env.aec import ThreeUpAEC
from threeup_env.errors import IllegalActionError, InvalidConfigError

ARRAYS = ("player", "observation", "action_mask", "reward", "terminated", "truncated")
RULES = {
    "standard": Rules.standard(2),
    "six": Rules.standard(6),
    "gamerules": Rules.gamerules(3),
    "geeky": Rules.geeky(3),
    "house": Rules.house(4),
    "match": Rules.match(2),
    "mini": Rules.mini(2),
    "truncate": Rules.house(3, max_decisions=40, at_limit="truncate"),
}


def pick(masks: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    return np.argmax(masks * rng.random(masks.shape), axis=1)


def assert_same(one: SelfPlayBatch, other: SelfPlayBatch) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("reward", ["win", "place", "score"])
def test_every_game_is_the_game_of_its_seed(name: str, reward: Any) -> None:
    rules = RULES[name]
    batch = SelfPlayBatch(rules, 3, seed=9, reward=reward)
    tables = []
    for child in np.random.SeedSequence(9).spawn(3):
        tables.append(ThreeUpAEC(rules, reward=reward))
        tables[-1].reset(seed=child)
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(1200 if name in ("match", "house") else 400):
        for i, table in enumerate(tables):
            player = table.game.player
            assert player == batch.player[i]
            np.testing.assert_array_equal(batch.observation[i], table.game.observation(player))
            np.testing.assert_array_equal(batch.action_mask[i], table.game.action_mask)
        actions = pick(batch.action_mask, rng)
        batch.step(actions)
        for i, table in enumerate(tables):
            table.step(int(actions[i]))
            outcome = table.game.outcome
            assert batch.terminated[i] == (outcome is not None and outcome.ended != "truncated")
            assert batch.truncated[i] == (outcome is not None and outcome.ended == "truncated")
            np.testing.assert_array_equal(batch.reward[i], table.game.rewards(reward).astype(np.float32))
            if outcome is not None:
                ended += 1
                table.reset()
    assert ended >= 3


@pytest.mark.parametrize("name", ["standard", "house"])
def test_threads_change_nothing(name: str) -> None:
    one, *others = (SelfPlayBatch(RULES[name], 7, seed=1, num_threads=k) for k in (1, 2, 5))
    rng = np.random.default_rng(1)
    for _ in range(30):
        actions = pick(one.action_mask, rng)
        for batch in (one, *others):
            batch.step(actions)
        for other in others:
            assert_same(one, other)
    for batch in (one, *others):
        batch.random_steps(300)
    for other in others:
        assert_same(one, other)


def test_random_steps_are_legal_games_that_go_on() -> None:
    one, other = (SelfPlayBatch(Rules.house(3), 4, seed=2) for _ in range(2))
    one.random_steps(120)
    for _ in range(40):
        other.random_steps(3)
    assert_same(one, other)
    one.step(one.action_mask.argmax(axis=1))
    alone = SelfPlayBatch(Rules.house(3), 1, seed=[np.random.SeedSequence(2).spawn(4)[2]])
    alone.random_steps(120)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(other, name)[2:3], getattr(alone, name))


def test_rewards_stand_for_one_step_and_sum_to_zero() -> None:
    """PettingZoo 355, 1260: when the winner is paid; each is paid once."""
    batch = SelfPlayBatch(Rules.mini(2), 16, seed=1)
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(60):
        batch.step(pick(batch.action_mask, rng))
        over = batch.terminated | batch.truncated
        assert not batch.reward[~over].any()
        np.testing.assert_allclose(batch.reward.sum(axis=1), 0, atol=1e-6)
        assert not (batch.terminated & batch.truncated).any()
        assert batch.action_mask.any(axis=1).all()
        ended += int(over.sum())
    assert ended > 32


@pytest.mark.parametrize("wrong", [-1, 143, 10**12, 91])
def test_illegal_actions_change_nothing(wrong: int) -> None:
    batch, untouched = (SelfPlayBatch(Rules.standard(2), 4, seed=1) for _ in range(2))
    actions = batch.action_mask.argmax(axis=1)
    actions[2] = wrong
    with pytest.raises(IllegalActionError, match=rf"game 2: action {wrong}\b.*illegal for player \d; legal: up "):
        batch.step(actions)
    for _ in range(20):
        assert_same(batch, untouched)
        for one in (batch, untouched):
            one.step(one.action_mask.argmax(axis=1))


@pytest.mark.parametrize("wrong", [[0.0, 1.0], [0], [[0, 1]], ["a", "b"]])
def test_actions_must_be_integers_one_a_game(wrong: Any) -> None:
    with pytest.raises(IllegalActionError, match="allowed: 2 integers"):
        SelfPlayBatch(Rules.standard(2), 2, seed=1).step(wrong)


def test_reset() -> None:
    """PettingZoo 1223: reset(seed) then reset() was not reproducible."""
    one, other = SelfPlayBatch(Rules.standard(3), 3, seed=1), SelfPlayBatch(Rules.standard(3), 3)
    for batch in (one, other):
        batch.random_steps(200)
        batch.reset(4)
        batch.random_steps(50)
        batch.reset()
    assert_same(one, other)
    assert not one.reward.any()
    assert not one.terminated.any()
    one.random_steps(50)
    other.random_steps(50)
    assert_same(one, other)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_copies_in_mid_game(duplicate: Any) -> None:
    """PettingZoo 1307, 1186, 1271."""
    batch = SelfPlayBatch(Rules.house(3), 3, seed=1)
    batch.random_steps(30)
    twin = duplicate(batch)
    batch.random_steps(100)
    twin.random_steps(100)
    assert_same(batch, twin)
    batch.random_steps(1)
    assert (batch.observation != twin.observation).any()


@pytest.mark.parametrize("wrong", [{"num_games": 0}, {"num_threads": 0}, {"reward": "x"}, {"seed": -1}])
def test_wrong_arguments(wrong: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"num_games": 2} | wrong
    with pytest.raises(InvalidConfigError, match="allowed"):
        SelfPlayBatch(Rules.standard(2), **arguments)
    with pytest.raises(InvalidConfigError, match="count"):
        SelfPlayBatch(Rules.standard(2), 1, seed=1).random_steps(0)
