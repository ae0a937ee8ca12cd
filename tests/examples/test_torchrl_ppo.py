"""`training.examples.torchrl_ppo`: masks, credit, the games between two steps, the saved policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torchrl")

import numpy as np
import torch
from torchrl.envs import step_mdp

from threeup_env import Rules, SelfPlayBatch
from threeup_env.evaluate import evaluate
from training.examples.torchrl_ppo import Player, main, make_env, make_policy, parse, train

pytestmark = pytest.mark.optional

MINI = "ThreeUp/Mini-2p-v0"
SMALL = ["--env", MINI, "--games", "16", "--steps", "32"]


@pytest.fixture(scope="module")
def rollout() -> Any:
    """512 decisions of an untrained policy in eight games of the standard rules, `(8, 512)`."""
    torch.manual_seed(0)
    env = make_env("ThreeUp/2p-v0", 8, seed=5)
    with torch.no_grad():
        return env.rollout(512, make_policy(env), break_when_any_done=False)


def test_masks_reach_the_policy(rollout: Any) -> None:
    actions, masks = rollout["action"], rollout["action_mask"]
    assert masks.any(-1).all()
    assert masks.gather(-1, actions[..., None]).all()
    torch.manual_seed(0)
    policy = make_policy(make_env("ThreeUp/2p-v0", 1, seed=5))
    probabilities = policy.get_dist(rollout).probs
    assert (probabilities[~masks] == 0).all()
    assert (probabilities[masks] > 0).all()


def test_winners_and_losers_are_paid_with_their_own_last_decision(rollout: Any) -> None:
    done, reward = rollout["next", "done"], rollout["next", "reward"]
    assert set(reward[done].tolist()) == {-1.0, 1.0}
    assert (reward[~done] == 0).all()
    assert torch.equal(done, rollout["next", "terminated"])


def test_the_last_observation_is_that_of_the_game_that_ended(rollout: Any) -> None:
    done = rollout["next", "done"].squeeze(-1)
    assert (rollout["next", "action_mask"][done] == 0).all()
    went_on = ~done[:, :-1]
    for key in ("observation", "action_mask"):
        after, before = rollout[key][:, 1:], rollout["next", key][:, :-1]
        assert torch.equal(after[went_on], before[went_on])
        assert not torch.equal(after[~went_on], before[~went_on])


def test_the_same_seed_gives_the_same_games() -> None:
    def play() -> Any:
        env = make_env(MINI, 4, seed=3)
        step, seen = env.reset(), []
        for _ in range(20):
            step["action"] = step["action_mask"].byte().argmax(-1)
            step, following = env.step_and_maybe_reset(step)
            seen.append(step)
            step = following
        return torch.stack(seen)

    assert (play() == play()).all()
    assert step_mdp(play()[0]).batch_size == (4,)


def test_it_trains_and_the_saved_policy_plays_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([*SMALL, "--updates", "2", "--evaluation", "100", "--out", str(tmp_path)])
    assert capsys.readouterr().out.splitlines()[-1].startswith("1,024 decisions, ")
    policy, decisions, _ = train(parse([*SMALL, "--updates", "2"]))
    assert decisions == 1024
    again = make_policy(make_env(MINI, 1, seed=0))
    again.load_state_dict(torch.load(tmp_path / "policy.pt", weights_only=True))
    for one, other in zip(policy.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)
    batch = SelfPlayBatch(Rules.mini(2), 64, seed=1)
    actions = Player(policy).act_batch(batch.observation, batch.action_mask)
    np.testing.assert_array_equal(actions, Player(again).act_batch(batch.observation, batch.action_mask))
    assert actions[0] == Player(again).act(batch.observation[0], batch.action_mask[0])


def test_it_learns() -> None:
    policy, _, _ = train(parse(["--env", MINI, "--games", "64", "--steps", "32", "--updates", "12"]))
    torch.manual_seed(0)
    untrained = make_policy(make_env(MINI, 1, seed=0))
    before, after = (evaluate(MINI, Player(player), "random", 2000, seed=1) for player in (untrained, policy))
    assert after.ci_low > before.ci_high
