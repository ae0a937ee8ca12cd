"""`training.examples.pufferlib_ppo`: PufferLib's buffers, masks, the reward of the loser, the saved weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gymnasium
import numpy as np
import pytest

pytest.importorskip("pufferlib")

import torch
from gymnasium.vector import AutoresetMode
from pufferlib.pufferl import PuffeRL, compute_puff_advantage

from threeup_env import Rules, SelfPlayBatch
from threeup_env.evaluate import evaluate
from training.examples.pufferlib_ppo import Policy, ThreeUpPuffer, main, parse, settings, train

pytestmark = [
    pytest.mark.optional,
    # PufferLib asks for CUDA's autocast on every machine, and for a fault handler, which pytest has already.
    pytest.mark.filterwarnings("ignore:.*CUDA is not available:UserWarning"),
    pytest.mark.filterwarnings("ignore:Unable to enable fault handler:UserWarning"),
]

MINI = "ThreeUp/Mini-2p-v0"
SMALL = ["--env", MINI, "--num-envs", "8", "--num-steps", "32", "--minibatch-size", "64"]
ACTIONS = Rules.mini(2).num_actions


@contextmanager
def trainer(out: Path) -> Iterator[PuffeRL]:
    """A trainer that has played one rollout."""
    args = parse([*SMALL, "--out", str(out)])
    torch.manual_seed(1)
    env = ThreeUpPuffer(MINI, args.num_envs, "greedy")
    made = PuffeRL(settings(args), env, Policy(env))
    try:
        made.evaluate()
        yield made
    finally:
        made.close()


def test_it_trains_and_says_what_it_won(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([*SMALL, "--steps", "512", "--games", "100", "--out", str(tmp_path)])
    assert "512 decisions" in capsys.readouterr().out.splitlines()[-1]


def test_buffers_hold_what_the_vector_environment_gives() -> None:
    env = ThreeUpPuffer(MINI, 8, "greedy")
    games = gymnasium.make_vec(MINI, num_envs=8, opponent="greedy", autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=3)
    observations, infos = games.reset(seed=3)
    size = observations.shape[1]
    ended = 0
    for _ in range(100):
        np.testing.assert_array_equal(env.observations[:, :size], observations)
        np.testing.assert_array_equal(env.observations[:, size:], infos["action_mask"])
        actions = infos["action_mask"].argmax(axis=1)
        env.step(actions)
        observations, rewards, terminated, _, infos = games.step(actions)
        np.testing.assert_array_equal(env.rewards, rewards)
        np.testing.assert_array_equal(env.terminals, terminated)
        ended += int(terminated.sum())
    assert ended > 8


def test_rollouts_are_legal(tmp_path: Path) -> None:
    with trainer(tmp_path) as played:
        masks = played.observations[..., -ACTIONS:]
        assert masks.any(dim=-1).all()
        assert not masks.all()
        assert masks.gather(-1, played.actions[..., None]).all()


def test_the_loser_is_paid_for_the_last_decision(tmp_path: Path) -> None:
    with trainer(tmp_path) as played:
        rewards, ends, values = played.rewards, played.terminals.bool(), played.values
        assert {-1.0, 1.0} <= set(rewards[ends].tolist()) <= {-1.0, 0.0, 1.0}
        assert (rewards[~ends] == 0).all()
        # PufferLib keeps the reward of a decision with the observation that follows it.
        advantages = compute_puff_advantage(
            values, rewards, played.terminals, played.ratio, torch.zeros_like(values), 0.995, 0.95, 1.0, 1.0
        )
        last = ends[:, 1:]
        torch.testing.assert_close(advantages[:, :-1][last], (rewards[:, 1:] - values[:, :-1])[last])


def test_saved_weights_play_the_same(tmp_path: Path) -> None:
    policy, _ = train(parse([*SMALL, "--steps", "256", "--out", str(tmp_path)]))
    again = Policy(ThreeUpPuffer(MINI, 1, "greedy"))
    again.load_state_dict(torch.load(next(tmp_path.glob("*.pt"))))
    batch = SelfPlayBatch(Rules.mini(2), 64, seed=1)
    chosen = []
    for one in (policy, again):
        torch.manual_seed(1)
        chosen.append(one.act_batch(batch.observation, batch.action_mask))
    np.testing.assert_array_equal(*chosen)
    assert batch.action_mask[np.arange(64), chosen[0]].all()


def test_it_learns(tmp_path: Path) -> None:
    arguments = ["--num-envs", "32", "--num-steps", "64", "--minibatch-size", "512", "--steps", "32768"]
    policy, _ = train(parse(["--env", MINI, *arguments, "--out", str(tmp_path)]))
    assert evaluate(MINI, policy, "random", games=2000, seed=1).ci_low > 0.55
