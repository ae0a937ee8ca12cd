"""`training.examples.selfplay_ppo`: who is credited with what, legal draws, and a policy file at the end."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("tensorboard")

import torch
from safetensors.numpy import load_file

from threeup_env import Rules, SelfPlayBatch
from threeup_env.agents.policy import load_policy
from threeup_env.evaluate import evaluate
from training.examples.selfplay_ppo import (
    Args,
    Network,
    Rollout,
    collect,
    draw,
    estimate_advantages,
    learn,
    parse,
    train,
)

pytestmark = pytest.mark.optional

GAMMA, LAMBDA = 0.9, 0.8


def script(rules: Rules, steps: int, games: int, seed: int) -> tuple[Rollout, torch.Tensor, torch.Tensor]:
    """A rollout in which anything happens: any player after any other, games that end at any time; and what follows."""
    generator = torch.Generator().manual_seed(seed)
    rollout = Rollout(steps, SelfPlayBatch(rules, games, seed=1), torch.device("cpu"))
    n = rules.num_players
    rollout.players[:] = torch.randint(n, rollout.players.shape, generator=generator)
    rollout.values[:] = torch.randn(rollout.values.shape, generator=generator)
    rollout.ends[:] = torch.rand(rollout.ends.shape, generator=generator) < 1 / (6 * n)
    rollout.rewards[:] = torch.randn(rollout.rewards.shape, generator=generator) * rollout.ends[:, :, None]
    return rollout, torch.randint(n, (games,), generator=generator), torch.randn(games, generator=generator)


def slow_advantages(rollout: Rollout, next_players: Any, next_values: Any) -> list[list[float | None]]:
    """The definition, one player in one game at a time: the sum of (gamma lambda)^k delta_k; None where not known."""
    steps, games = rollout.values.shape
    advantages: list[list[float | None]] = [[None] * games for _ in range(steps)]
    for game in range(games):
        episodes: dict[int, list[int]] = defaultdict(list)
        finished: list[tuple[list[int], float | None, float | None]] = []  # steps, the reward or the value after them
        for step in range(steps):
            episodes[int(rollout.players[step, game])].append(step)
            if rollout.ends[step, game]:
                for seat, mine in episodes.items():
                    finished.append((mine, float(rollout.rewards[step, game, seat]), None))
                episodes.clear()
        for seat, mine in episodes.items():
            finished.append((mine, None, float(next_values[game]) if seat == next_players[game] else None))
        for mine, reward, value in finished:
            values = [float(rollout.values[step, game]) for step in mine]
            follows = [GAMMA * value for value in values[1:]]
            if reward is not None:
                follows.append(reward)
            elif value is not None:
                follows.append(GAMMA * value)
            deltas = [after - value for after, value in zip(follows, values, strict=False)]
            for i in range(len(deltas)):
                advantages[mine[i]][game] = sum((GAMMA * LAMBDA) ** k * delta for k, delta in enumerate(deltas[i:]))
    return advantages


@pytest.mark.parametrize("players", [2, 3, 6])
def test_advantages_are_those_of_the_definition(players: int) -> None:
    rollout, next_players, next_values = script(Rules.standard(players), 60, 20, seed=players)
    advantages, known = estimate_advantages(rollout, next_players, next_values, GAMMA, LAMBDA)
    expected = slow_advantages(rollout, next_players, next_values)
    assert known.tolist() == [[one is not None for one in row] for row in expected]
    wanted = torch.tensor([[one or 0.0 for one in row] for row in expected])
    torch.testing.assert_close(advantages, wanted, rtol=1e-4, atol=1e-5)


def test_a_game_by_hand() -> None:
    """Seat 0 wins with the third decision; seat 1, whose last decision came before, is paid its loss for it."""
    rollout = Rollout(5, SelfPlayBatch(Rules.standard(2), 1, seed=1), torch.device("cpu"))
    rollout.players[:, 0] = torch.tensor([0, 1, 0, 1, 0])
    rollout.values[:, 0] = torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5])
    rollout.ends[2, 0] = True
    rollout.rewards[2, 0] = torch.tensor([1.0, -1.0])
    advantages, known = estimate_advantages(rollout, torch.tensor([0]), torch.tensor([0.7]), 1.0, 1.0)
    # Of the next game seat 0 knows the value of its next decision, seat 1 nothing.
    assert known[:, 0].tolist() == [True, True, True, False, True]
    torch.testing.assert_close(advantages[:, 0], torch.tensor([0.9, -1.2, 0.7, 0.0, 0.2]))


@pytest.mark.parametrize("players", [2, 3, 6])
def test_every_decision_of_a_real_game_returns_what_its_seat_was_paid(players: int) -> None:
    torch.manual_seed(1)
    rules = Rules.standard(players)
    batch = SelfPlayBatch(rules, 8, seed=3)
    rollout = Rollout(400, batch, torch.device("cpu"))
    next_players, next_values = collect(Network(rules, 8, in_bfloat16=False), batch, rollout)
    advantages, known = estimate_advantages(rollout, next_players, next_values, 1.0, 1.0)
    returns = advantages + rollout.values
    checked = lost = 0
    for game in range(8):
        first = 0
        for last in np.flatnonzero(rollout.ends[:, game]):
            paid = rollout.rewards[last, game]
            assert paid.sum().abs() < 1e-6
            for step in range(first, last + 1):
                assert known[step, game]
                seat = rollout.players[step, game]
                assert returns[step, game] == pytest.approx(float(paid[seat]), abs=1e-5)
                checked += 1
                lost += bool(paid[seat] < 0)
            first = last + 1
        # Of the game that goes on, the last decision of each seat is left out, but for the seat to decide.
        left_out = {int(rollout.players[step, game]): step for step in range(first, 400)}
        left_out.pop(int(next_players[game]), None)
        assert set(np.flatnonzero(~known[:, game])) == set(left_out.values())
    assert checked > 500
    assert lost > checked / 4


def test_rollouts_hold_legal_actions_and_what_the_network_said_of_them() -> None:
    torch.manual_seed(1)
    rules = Rules.house(3)
    batch = SelfPlayBatch(rules, 16, seed=1)
    rollout = Rollout(40, batch, torch.device("cpu"))
    network = Network(rules, 16, in_bfloat16=False)
    before = torch.from_numpy(batch.observation.copy())
    collect(network, batch, rollout)
    assert (rollout.observations[0] == before).all()
    assert rollout.masks.gather(2, rollout.actions[:, :, None]).all()
    logits, values = network(rollout.observations.flatten(0, 1), rollout.masks.flatten(0, 1))
    chosen = rollout.actions.flatten()[:, None]
    torch.testing.assert_close(logits.log_softmax(1).gather(1, chosen)[:, 0], rollout.log_probs.flatten())
    torch.testing.assert_close(values, rollout.values.flatten())


@pytest.mark.parametrize("bfloat16", [False, True])
def test_every_minibatch_sees_what_the_one_before_it_changed(bfloat16: bool) -> None:
    torch.manual_seed(1)
    rules = Rules.standard(2)
    batch = SelfPlayBatch(rules, 32, seed=1)
    rollout = Rollout(32, batch, torch.device("cpu"))
    network = Network(rules, 16, bfloat16)
    advantages, known = estimate_advantages(rollout, *collect(network, batch, rollout), GAMMA, LAMBDA)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    losses = learn(network, optimizer, rollout, advantages, known, 0.0, Args(num_minibatches=8, bfloat16=bfloat16))
    assert losses["approx_kl"] > 1e-4
    assert losses["clipfrac"] > 0


def test_draws_follow_the_probabilities() -> None:
    torch.manual_seed(1)
    logits = torch.tensor([0.0, -1e8, 1.0, -1e8, 2.0]).repeat(60_000, 1)
    shares = torch.bincount(draw(logits), minlength=5) / 60_000
    assert shares[1] == shares[3] == 0
    torch.testing.assert_close(shares, logits[0].softmax(0), atol=0.01, rtol=0)


MINI = ["--env", "ThreeUp/Mini-2p-v0", "--num-games", "128", "--num-steps", "32", "--num-minibatches", "8"]
MINI += ["--hidden", "32", "--learning-rate", "0.005", "--no-bfloat16"]


def test_a_short_run_learns_and_writes_a_policy(tmp_path: Path) -> None:
    policy = train(parse([*MINI, "--updates", "60", "--out", str(tmp_path)]))
    header = load_policy(policy, Rules.mini(2)).header
    assert header.training["num_games"] == 128
    # A decision is left out for each game that goes on, at most.
    assert 60 * 128 * 31 <= header.training["decisions"] <= 60 * 128 * 32
    assert list(tmp_path.glob("events.out.tfevents.*"))
    assert evaluate("ThreeUp/Mini-2p-v0", str(policy), "random", games=2000, seed=1).ci_low > 0.58


def test_the_same_run_ends_with_the_same_weights(tmp_path: Path) -> None:
    runs = [train(parse([*MINI, "--updates", "3", "--out", str(tmp_path / name)])) for name in ("one", "two")]
    weights = [load_file(policy) for policy in runs]
    assert weights[0].keys() == weights[1].keys()
    for name in weights[0]:
        np.testing.assert_array_equal(weights[0][name], weights[1][name], err_msg=name)


def test_every_setting_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse([]) == Args()
    assert parse(["--no-bfloat16", "--minutes", "2", "--num-games", "7"]) == Args(
        bfloat16=False, minutes=2.0, num_games=7
    )
    with pytest.raises(SystemExit):
        parse(["--help"])
    assert "(default: 1024)" in capsys.readouterr().out
