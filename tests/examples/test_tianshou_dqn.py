"""`training.examples.tianshou_dqn`: masks, credit for every seat, the saved network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tianshou")

import numpy as np
import torch
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.data import Batch, Collector

from threeup_env import Rules, SelfPlayBatch
from threeup_env.evaluate import evaluate
from training.examples.tianshou_dqn import GameDQN, Player, main, make_algorithm, make_env, parse, train

pytestmark = pytest.mark.optional

MINI = "ThreeUp/Mini-2p-v0"
SMALL = ["--env", MINI, "--games", "8", "--updates", "1"]


def make_network(seed: int) -> Any:
    torch.manual_seed(seed)
    env = make_env(MINI)
    return make_algorithm(env, parse(SMALL)).get_algorithm("player_0").policy


def play(*options: str) -> Any:
    """The transitions of the games of one collection, those of one game after another."""
    _, collector, _ = train(parse([*SMALL, *options]))
    assert isinstance(collector, Collector)
    return collector.buffer[collector.buffer.sample_indices(0)]


@pytest.mark.parametrize(("env", "opponent"), [(MINI, "self"), ("ThreeUp/3p-v0", "greedy")])
def test_every_decision_is_legal_and_gets_what_its_own_seat_was_paid(env: str, opponent: str) -> None:
    played = play("--env", env, "--opponent", opponent)
    assert played.obs.mask[np.arange(len(played)), played.act].all()
    start, games, paid = 0, 0, set()
    for end in np.flatnonzero(played.done):
        seats = np.array([int(agent.removeprefix("player_")) for agent in played.obs.agent_id[start : end + 1]])
        rewards = played.rew[start : end + 1]
        assert (rewards[:-1] == 0).all()
        assert rewards[-1].sum() == pytest.approx(0)
        np.testing.assert_allclose(played.result[start : end + 1], rewards[-1][seats])
        paid |= set(np.round(rewards[-1][seats], 6).tolist())
        start, games = end + 1, games + 1
    assert start == len(played)
    assert games == 16
    assert {1.0, -1.0 if env == MINI else -0.5} <= paid


def test_the_transitions_alone_would_not_pay_the_loser() -> None:
    """thu-ml/tianshou#399: what an opponent's move pays is in no transition of one's own."""
    played = play()
    ends = np.flatnonzero(played.done)
    deciders = [int(agent[-1]) for agent in played.obs.agent_id[ends]]
    assert (played.rew[ends, deciders] == 1).any()
    lost = (played.result == -1) & (played.obs.agent_id == "player_0")
    assert lost.any()
    assert (played.rew[lost & ~played.done] == 0).all()


def test_the_learner_learns_from_its_own_decisions_and_their_results(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    update = GameDQN._update_with_batch

    def watch(self: GameDQN, batch: Any) -> Any:
        seen.append(batch)
        return update(self, batch)

    monkeypatch.setattr(GameDQN, "_update_with_batch", watch)
    play()
    assert seen
    for batch in seen:
        assert set(batch.obs.agent_id) == {"player_0"}
        np.testing.assert_array_equal(batch.returns.numpy(), batch.result)
        assert set(batch.result.tolist()) == {1.0, -1.0}


def test_the_mask_decides_what_may_be_played() -> None:
    player, batch = Player(make_network(0)), SelfPlayBatch(Rules.standard(2), 64, seed=2)
    mini = SelfPlayBatch(Rules.mini(2), 64, seed=2)
    actions = player.act_batch(mini.observation, mini.action_mask)
    assert mini.action_mask[np.arange(64), actions].all()
    for action in np.flatnonzero(batch.action_mask[0]):
        alone = np.zeros_like(mini.action_mask[0])
        alone[action] = 1
        assert player.act(mini.observation[0], alone) == action
    policy = player.policy
    policy.set_eps_inference(1.0)
    explored = policy.add_exploration_noise(actions.copy(), Batch(obs=Batch(mask=mini.action_mask)))
    assert mini.action_mask[np.arange(64), explored].all()
    assert (explored != actions).any()


def test_it_explores_while_it_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    explored: list[bool] = []
    explore = DiscreteQLearningPolicy.add_exploration_noise

    def watch(self: Any, act: Any, batch: Any) -> Any:
        before = act.copy()
        after = explore(self, act, batch)
        explored.extend((before != after).tolist())
        return after

    monkeypatch.setattr(DiscreteQLearningPolicy, "add_exploration_noise", watch)
    play()
    assert any(explored)


def test_it_trains_and_the_saved_network_plays_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([*SMALL, "--evaluation", "100", "--out", str(tmp_path)])
    assert " decisions, " in capsys.readouterr().out.splitlines()[-1]
    policy, collector, _ = train(parse(SMALL))
    assert collector.collect_episode == 16
    again = make_network(seed=9)
    again.load_state_dict(torch.load(tmp_path / "policy.pt", weights_only=True))
    batch = SelfPlayBatch(Rules.mini(2), 64, seed=1)
    seen = batch.observation, batch.action_mask
    np.testing.assert_array_equal(Player(policy).act_batch(*seen), Player(again).act_batch(*seen))


def test_it_learns() -> None:
    before = evaluate(MINI, Player(make_network(0)), "random", 2000, seed=1)
    policy, _, _ = train(parse(["--env", MINI, "--games", "16", "--updates", "24", "--opponent", "self"]))
    after = evaluate(MINI, Player(policy), "random", 2000, seed=1)
    assert after.ci_low > before.ci_high
