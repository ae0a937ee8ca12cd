"""Gymnasium's vector environment against its own, made of single environments."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode

from threeup_env.errors import IllegalActionError, InvalidConfigError, InvalidRecordError, ResetNeededError
from threeup_env.vector import ThreeUpVectorEnv

IDS = ("ThreeUp/2p-v0", "ThreeUp/4p-v0", "ThreeUp/House-3p-v0", "ThreeUp/Match-2p-v0", "ThreeUp/Mini-2p-v0")
MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)


def make(env_id: str = "ThreeUp/2p-v0", num_envs: int = 4, **arguments: Any) -> ThreeUpVectorEnv:
    envs = gymnasium.make_vec(env_id, num_envs=num_envs, **arguments)
    assert isinstance(envs, ThreeUpVectorEnv)
    return envs


def pick(masks: Any, rng: np.random.Generator) -> Any:
    return np.argmax(masks * rng.random(masks.shape), axis=1)


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("masked", [False, True])
def test_the_same_as_single_environments_in_gymnasiums_vector(env_id: str, mode: AutoresetMode, masked: bool) -> None:
    """Everything it returns, infos and illegal actions included (SuperSuit 231: lost terminal observations)."""
    arguments: dict[str, Any] = {"opponent": "random", "seat": "random", "mask_in_observation": masked}
    ours = make(env_id, 3, autoreset_mode=mode, **arguments)
    theirs = gymnasium.make_vec(
        env_id, num_envs=3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **arguments
    )
    assert ours.metadata["autoreset_mode"] is mode
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.single_observation_space == theirs.single_observation_space
    rng = np.random.default_rng(1)
    said, other = ours.reset(seed=5), theirs.reset(seed=5)
    assert data_equivalence(said, other, exact=True)
    ended = 0
    for step in range(150):
        actions = pick(said[-1]["action_mask"], rng)
        if step % 40 == 39:
            actions[1] = np.argmin(said[-1]["action_mask"][1])
        said, other = ours.step(actions), theirs.step(actions)
        assert data_equivalence(said, other, exact=True)
        assert ours.observation_space.contains(said[0])
        ended += int((said[2] | said[3]).sum())
    assert ended >= 3
    said, other = ours.reset(seed=[4, None, 2]), theirs.reset(seed=[4, None, 2])  # type: ignore[arg-type]
    assert data_equivalence(said, other, exact=True)
    assert data_equivalence(ours.reset(), theirs.reset(), exact=True)


def test_default_is_next_step() -> None:
    envs = make()
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert envs.spec is not None
    same = make(autoreset_mode="SameStep")
    assert same.metadata["autoreset_mode"] is same.autoreset_mode is AutoresetMode.SAME_STEP  # as SyncVectorEnv has it


def test_statistics_wrapper_counts_the_learners_games() -> None:
    for mode in MODES:
        envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(make("ThreeUp/Mini-2p-v0", 8, autoreset_mode=mode))
        _, infos = envs.reset(seed=1)
        rng = np.random.default_rng(0)
        lengths: list[int] = []
        for _ in range(60):
            _, rewards, terminated, _, infos = envs.step(pick(infos["action_mask"], rng))
            if "episode" in infos:
                np.testing.assert_array_equal(infos["episode"]["r"][terminated], rewards[terminated])
                lengths += infos["episode"]["l"][terminated].tolist()
        assert len(lengths) > 20
        assert min(lengths) > 0


def test_masks() -> None:
    """sb3-contrib 49, 68, 279, 256: masks were lost in vectors."""
    envs = make(num_envs=3)
    with pytest.raises(ResetNeededError):
        envs.action_masks()
    _, infos = envs.reset(seed=1)
    np.testing.assert_array_equal(envs.action_masks(), infos["action_mask"])
    assert envs.action_masks().dtype == np.bool_


def test_arrays_are_the_callers_unless_said_otherwise() -> None:
    """SuperSuit PR 116, Gymnasium PR 1715: returned buffers changed under the caller."""
    envs, other = make(mask_in_observation=True), make(mask_in_observation=True)
    said: Any = envs.reset(seed=1)
    again: Any = other.reset(seed=1)
    for _ in range(30):
        kept, frozen = said, copy.deepcopy(said)
        said = envs.step(said[-1]["action_mask"].argmax(axis=1))
        assert data_equivalence(kept, frozen, exact=True)
        actions = again[-1]["action_mask"].argmax(axis=1)
        for array in (*again[0].values(), *again[-1].values()):
            array[:] = 1
        again = other.step(actions)
        assert data_equivalence(said, again, exact=True)
    shared = make(copy=False)
    first, _ = shared.reset(seed=1)
    second, *_ = shared.step(shared.batch.action_mask.argmax(axis=1))
    assert first is second


def test_threads_change_nothing() -> None:
    one, several = make(num_envs=5, opponent="random"), make(num_envs=5, opponent="random", num_threads=2)
    said, other = one.reset(seed=1), several.reset(seed=1)
    for _ in range(20):
        assert data_equivalence(said, other, exact=True)
        actions = said[-1]["action_mask"].argmax(axis=1)
        said, other = one.step(actions), several.step(actions)


def test_illegal_action_may_be_an_error() -> None:
    envs = make(num_envs=3, illegal_action="raise")
    _, infos = envs.reset(seed=1)
    actions = infos["action_mask"].argmax(axis=1)
    actions[2] = 91
    with pytest.raises(IllegalActionError, match=r"env 2: action 91 \('draw'\) is illegal; legal: up"):
        envs.step(actions)


def test_options_reach_every_game() -> None:
    envs = make("ThreeUp/3p-v0", seat=0)
    layout = envs.batch.observation
    observations, _ = envs.reset(seed=1, options={"first_player": 0})
    assert observations.shape == layout.shape
    assert all(envs.batch.game(i).state["first_player"] == 0 for i in range(4))
    with pytest.raises(InvalidRecordError):
        envs.reset(options={"first_player": 3})


def test_calls_at_the_wrong_time_and_wrong_arguments() -> None:
    with pytest.raises(ResetNeededError):
        make().step(np.zeros(4, np.int64))
    for wrong in ({"autoreset_mode": "Disabled"}, {"render_mode": "human"}, {"num_threads": 0}):
        with pytest.raises(InvalidConfigError, match="allowed"):
            make(**wrong)
    with pytest.raises(InvalidConfigError, match="reset_mask"):
        make().reset(options={"reset_mask": np.ones(4, np.bool_)})
    with pytest.raises(InvalidConfigError, match="seed"):
        make().reset(seed=[1, 2])


def test_copies_in_mid_game() -> None:
    """PettingZoo 1307, 1186, 1271."""
    envs = make("ThreeUp/House-3p-v0", opponent="random", seat="random")
    said: Any = envs.reset(seed=1)
    for _ in range(20):
        said = envs.step(said[-1]["action_mask"].argmax(axis=1))
    twin = copy.deepcopy(envs)
    other = said
    for _ in range(60):
        said = envs.step(said[-1]["action_mask"].argmax(axis=1))
        other = twin.step(other[-1]["action_mask"].argmax(axis=1))
        assert data_equivalence(said, other, exact=True)
