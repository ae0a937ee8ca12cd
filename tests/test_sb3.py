"""The `VecEnv` for Stable-Baselines3 and MaskablePPO."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecCheckNan

from threeup_env import Rules
from threeup_env.errors import IllegalActionError, ResetNeededError
from threeup_env.learner import LearnerBatch
from threeup_env.sb3 import ThreeUpVecEnv

pytestmark = pytest.mark.optional


def pick(masks: Any, rng: np.random.Generator) -> Any:
    return np.argmax(masks * rng.random(masks.shape), axis=1)


def test_steps_are_those_of_the_batch() -> None:
    """SuperSuit 231: terminal observations were lost."""
    vec = ThreeUpVecEnv(Rules.standard(3), 4, "random", seat="random", seed=3)
    batch = LearnerBatch(Rules.standard(3), 4, "random", seat="random", seed=3)
    np.testing.assert_array_equal(vec.reset(), batch.observation)
    rng = np.random.default_rng(0)
    lengths = np.zeros(4, np.int64)
    ended = 0
    for step in range(300):
        actions = pick(batch.action_mask, rng)
        if step == 5:
            actions[1] = np.argmin(batch.action_mask[1])
        batch.step(actions)
        observations, rewards, dones, infos = vec.step(actions)
        lengths += 1
        np.testing.assert_array_equal(observations, batch.observation)
        np.testing.assert_array_equal(rewards, batch.reward)
        np.testing.assert_array_equal(dones, batch.terminated | batch.truncated)
        assert rewards.dtype == np.float32
        assert all(info == {} for info, done in zip(infos, dones, strict=True) if not done)
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["r"] == batch.exact_reward[i]
            assert infos[i]["episode"]["l"] == lengths[i]
            assert infos[i]["episode"]["t"] >= 0
            np.testing.assert_array_equal(infos[i]["terminal_observation"], batch.final_observation[i])
            assert infos[i]["TimeLimit.truncated"] is False
            assert ("illegal_action" in infos[i]) == (step == 5 and i == 1)
            lengths[i] = 0
            ended += 1
    assert ended > 8


def test_truncation_is_told() -> None:
    vec = ThreeUpVecEnv(Rules.standard(2, max_decisions=10, at_limit="truncate"), 2, seed=1)
    vec.reset()
    told = []
    for _ in range(10):
        _, _, dones, infos = vec.step(vec.action_masks().argmax(axis=1))
        told += [infos[i]["TimeLimit.truncated"] for i in np.flatnonzero(dones)]
    assert told
    assert all(told)


def test_masks_are_found() -> None:
    """sb3-contrib 49, 68, 279, 256: masks were lost in VecEnvs and wrappers."""
    vec = ThreeUpVecEnv(Rules.standard(2), 3, seed=1)
    for env in (vec, VecCheckNan(vec)):
        env.reset()
        assert is_masking_supported(env)
        assert env.has_attr("action_masks")
        np.testing.assert_array_equal(get_action_masks(env), vec.batch.action_mask)
        np.testing.assert_array_equal(env.env_method("action_masks", indices=[2])[0], vec.batch.action_mask[2])
        np.testing.assert_array_equal(env.get_attr("action_masks", 1)[0](), vec.batch.action_mask[1])


def test_attributes() -> None:
    vec = ThreeUpVecEnv(Rules.standard(2), 3, seed=1)
    assert vec.get_attr("seat") == [0, 1, 0]
    assert vec.get_attr("rules", [1]) == [Rules.standard(2)]
    assert not vec.has_attr("nothing_like_it")
    vec.set_attr("level", 3)
    vec.set_attr("level", 4, indices=1)
    assert vec.get_attr("level") == [3, 4, 3]
    assert vec.env_is_wrapped(Monitor) == [True, True, True]
    with pytest.raises(AttributeError, match="there are action_masks"):
        vec.env_method("fly")
    vec.close()


def test_seeding() -> None:
    vec = ThreeUpVecEnv(Rules.standard(2), 3, "random")
    vec.seed(5)
    first = vec.reset()
    second = vec.reset()
    assert (first != second).any()
    vec.seed(5)
    np.testing.assert_array_equal(vec.reset(), first)
    np.testing.assert_array_equal(vec.reset(), second)
    vec.set_options({"first_player": 1})
    vec.reset()
    assert all(vec.batch.game(i).state["first_player"] == 1 for i in range(3))


def test_arrays_and_infos_are_the_callers() -> None:
    """SuperSuit PR 116: returned buffers changed under the caller."""
    vec = ThreeUpVecEnv(Rules.mini(2), 8, seed=1)
    said: Any = (vec.reset(),)
    for _ in range(40):
        frozen = copy.deepcopy(said)
        after = vec.step(vec.action_masks().argmax(axis=1))
        for now, then in zip(said, frozen, strict=True):
            np.testing.assert_equal(now, then)
        for info in after[3]:
            info["mine"] = 1
        assert len({id(info) for info in after[3]}) == 8
        said = after


def test_calls_at_the_wrong_time() -> None:
    vec = ThreeUpVecEnv(Rules.standard(2), 2, seed=1)
    with pytest.raises(ResetNeededError):
        vec.step(np.zeros(2, np.int64))
    vec.reset()
    with pytest.raises(ResetNeededError):
        vec.step_wait()
    with pytest.raises(IllegalActionError):
        vec.step(np.zeros(3, np.int64))


def test_maskable_ppo_learns_and_evaluates() -> None:
    """sb3-contrib 81, 247: simplex errors; 142, 178, 212: evaluation without masks."""
    vec = ThreeUpVecEnv(Rules.mini(2), 16, ["random", "greedy"], weights=[1, 1], seed=1)
    model = MaskablePPO("MlpPolicy", vec, n_steps=16, batch_size=64, n_epochs=1, seed=1, device="cpu")
    model.learn(512)
    assert len(model.ep_info_buffer) > 0
    assert {"r", "l", "t"} <= set(model.ep_info_buffer[0])
    rewards, lengths = evaluate_policy(model, vec, n_eval_episodes=20, return_episode_rewards=True)
    assert set(rewards) <= {-1.0, 0.0, 1.0}
    assert min(lengths) > 0
    vec.batch.set_opponents("greedy")
    model.learn(256, reset_num_timesteps=False)
