"""`training.examples.agilerl_ppo`: masks in the rollout and the update, the reward of the loser, the saved agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("agilerl")

import torch
from agilerl.algorithms import PPO

from threeup_env import Rules, SelfPlayBatch
from threeup_env.evaluate import evaluate
from training.examples.agilerl_ppo import AgileAgent, Games, collect, main, make_agent, make_env, parse, train

pytestmark = pytest.mark.optional

SMALL = ["--env", "ThreeUp/Mini-2p-v0", "--num-envs", "8", "--num-steps", "32", "--batch-size", "64"]


def rollout() -> tuple[PPO, Any]:
    """An untrained agent and what it played, one row a decision."""
    args = parse(SMALL)
    env = make_env(args)
    agent = make_agent(env, args)
    collect(agent, Games(env, args.seed))
    return agent, agent.rollout_buffer.get_tensor_batch()


def test_it_trains_and_says_what_it_won(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([*SMALL, "--steps", "512", "--games", "100", "--out", str(tmp_path)])
    assert "512 decisions" in capsys.readouterr().out.splitlines()[-1]


def test_masks_are_kept_and_kept_to() -> None:
    masks, actions = (rollout()[1][name] for name in ("action_masks", "actions"))
    assert masks.shape == (256, Rules.mini(2).num_actions)
    assert masks.any(dim=1).all()
    assert not masks.all()
    assert masks.gather(1, actions.reshape(256, 1).long()).all()


def test_the_update_sees_the_masks_of_the_rollout() -> None:
    agent, batch = rollout()
    arguments = {"obs": batch["observations"], "actions": batch["actions"].reshape(256)}
    masked, entropy, _ = agent.evaluate_actions(**arguments, action_mask=batch["action_masks"])
    torch.testing.assert_close(masked, batch["log_probs"].reshape(256), rtol=1e-4, atol=1e-4)
    unmasked, more, _ = agent.evaluate_actions(**arguments)
    assert (masked - unmasked > 1).any()
    assert entropy.mean() < more.mean()


def test_games_pay_at_their_end_and_the_loser_too() -> None:
    agent, _ = rollout()
    held = agent.rollout_buffer.buffer
    # One row a step, one column a game; what the buffer calls done is that a game has just started.
    rewards, values, fresh = held["rewards"][:-1], held["values"][:-1], held["dones"][1:].bool()
    assert {-1.0, 1.0} <= set(rewards[fresh].tolist()) <= {-1.0, 0.0, 1.0}
    assert (rewards[~fresh] == 0).all()
    # The last decision of a game answers for its reward alone, and the one before it for both.
    torch.testing.assert_close(held["returns"][:-1][fresh], rewards[fresh])
    ends = fresh[1:] & ~fresh[:-1]
    expected = 0.995 * values[1:] - values[:-1] + 0.995 * 0.95 * (rewards - values)[1:]
    torch.testing.assert_close(held["advantages"][:-2][ends], expected[ends])


def test_a_saved_agent_plays_the_same(tmp_path: Path) -> None:
    agent, _ = train(parse([*SMALL, "--steps", "256", "--out", str(tmp_path)]))
    with pytest.warns(UserWarning, match="rollout_buffer not found"):
        again = PPO.load(str(tmp_path / "agent.pt"))
    for name in ("actor", "critic"):
        ours, theirs = getattr(agent, name).state_dict(), getattr(again, name).state_dict()
        assert ours.keys() == theirs.keys()
        assert all((ours[key] == theirs[key]).all() for key in ours)
    batch = SelfPlayBatch(Rules.mini(2), 64, seed=1)
    chosen = []
    for one in (agent, again):
        torch.manual_seed(1)
        chosen.append(AgileAgent(one).act_batch(batch.observation, batch.action_mask))
    np.testing.assert_array_equal(*chosen)
    assert batch.action_mask[np.arange(64), chosen[0]].all()


def test_it_learns(tmp_path: Path) -> None:
    arguments = ["--num-envs", "32", "--num-steps", "64", "--batch-size", "512", "--steps", "32768"]
    agent, _ = train(parse(["--env", "ThreeUp/Mini-2p-v0", *arguments, "--out", str(tmp_path)]))
    assert evaluate("ThreeUp/Mini-2p-v0", AgileAgent(agent), "random", games=2000, seed=1).ci_low > 0.55
