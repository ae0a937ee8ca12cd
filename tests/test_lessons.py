"""Lessons: positions with the value of each action, and a policy fitted to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from tests.test_training import metrics, small, train_until_killed
from threeup_env import Game, Rules
from threeup_env.actions import NUM_ACTIONS
from threeup_env.agents import make_agent
from threeup_env.core import search as core
from threeup_env.core.lesson import collect_positions
from threeup_env.core.state import STATE, pack_rules
from threeup_env.errors import InvalidConfigError
from threeup_env.evaluate import evaluate
from threeup_env.registration import rules_of
from training import train as module
from training.lessons import Lessons
from training.train import POLICY, make_run, train

LESSONS = {"steps": 0, "lessons": {"positions": 2_048, "size": 512, "games": 4}, "temperature": 0.03}


def drawn(lessons: Lessons) -> list[Any]:
    lessons.draw()
    return [array.copy() for array in (lessons.observations, lessons.actions, lessons.values, lessons.counts)]


@pytest.mark.parametrize("env", ["ThreeUp/2p-v0", "ThreeUp/House-3p-v0", "ThreeUp/Match-2p-v0"])
def test_positions_are_decisions_with_a_choice(env: str) -> None:
    rules = rules_of(env)
    lessons = Lessons(rules, small(env=env, **LESSONS))
    observations, actions, values, counts = drawn(lessons)
    assert len(observations) == 512
    assert counts.min() >= 2
    legal = np.arange(actions.shape[1]) < counts[:, None]
    assert (np.diff(np.where(legal, actions, NUM_ACTIONS + np.arange(actions.shape[1])), axis=1) > 0).all()
    assert (actions[legal] < rules.num_actions).all()
    assert not values[~legal].any()
    assert np.abs(values[legal]).max() <= 1
    assert len(np.unique(observations, axis=0)) > len(observations) * 0.9


def test_an_action_is_worth_what_greedy_wins_after_it_on_average() -> None:
    """Against simulations in Python: the hidden cards dealt anew, `greedy` in all seats."""
    rules = Rules.standard(3)
    greedy = make_agent("greedy", rules)
    games = []
    seed = 0
    while len(games) < 2:
        game = Game(rules, seed=seed)
        seed += 1
        while game.player is not None and len(games) < 2:
            state = game.state
            if state.drawn == state.deck_size and 2 <= len(game.legal_indices()) <= 3:
                games.append(game)
                break
            game.play(greedy.act(game.observation(game.player), game.action_mask))
    states = np.concatenate([np.array([game.state], STATE) for game in games])
    seats = np.array([game.player for game in games])
    rows, room = len(games), 8
    actions, values = np.zeros((rows, room), np.int64), np.zeros((rows, room), np.float32)
    counts = np.zeros(rows, np.int64)
    search = np.zeros(1, core.SETTING)
    search["max_decisions"] = rules.max_decisions
    collect_positions(
        states, seats, pack_rules(rules), search, np.zeros(core.NUM_TABLES, STATE),
        np.zeros(NUM_ACTIONS, core.ARM), 4_000, core.CHANCES, 0,
        np.zeros((rows, len(games[0].observation(0))), np.int8),
        actions, values, counts,
    )  # fmt: skip

    def play_out(game: Game, action: int, rng: np.random.Generator) -> float:
        seat = game.player
        assert seat is not None
        imagined = game.determinize(seat, rng)
        imagined.play(action)
        while imagined.player is not None:
            imagined.play(greedy.act(imagined.observation(imagined.player), imagined.action_mask))
        return float(imagined.rewards()[seat])

    rng = np.random.default_rng(1)
    for row, game in enumerate(games):
        assert actions[row, : counts[row]].tolist() == game.legal_indices()
        for action, value in zip(game.legal_indices(), values[row], strict=False):
            rewards = [play_out(game, action, rng) for _ in range(150)]
            error = np.hypot(np.std(rewards) / 150**0.5, 1 / 4_000**0.5)
            assert abs(np.mean(rewards) - value) < 4 * error, (game, action)


def test_the_same_seed_gives_the_same_positions_and_goes_on_where_it_was_left() -> None:
    rules = Rules.standard(2)
    first, second, other = (Lessons(rules, small(seed=seed, **LESSONS)) for seed in (1, 1, 2))
    for mine, same, different in zip(drawn(first), drawn(second), drawn(other), strict=True):
        np.testing.assert_array_equal(mine, same)
        assert (mine != different).any()
    other.load_state_dict(first.state_dict())
    for goes_on, same in zip(drawn(other), drawn(second), strict=True):
        np.testing.assert_array_equal(goes_on, same)


def test_a_policy_learns_from_lessons_alone(tmp_path: Path) -> None:
    lessons = {"positions": 32_000, "size": 4_096, "epochs": 1, "games": 16, "early": 1.0, "learning_rate": 5e-3}
    config = small(env="ThreeUp/Mini-2p-v0", network={"hidden": [32, 32]}, **LESSONS | {"lessons": lessons})
    path = train(config, tmp_path, quiet=True)
    rows = metrics(tmp_path)
    assert len(rows) == config.num_lessons == 8
    assert rows[-1]["steps"] == 32_768
    for figure in ("explained", "explained_mean"):
        assert rows[-1][figure] > 0.3 > rows[0][figure]
    # What is best by these values is not an equilibrium, but far from a draw (a random player's own rate is 0.5).
    assert evaluate("ThreeUp/Mini-2p-v0", str(path), "random", games=1_000, seed=1).win_rate > 0.56
    assert (tmp_path / "README.md").exists()


@pytest.mark.parametrize("rollout", [1, 3, 4, 5, 7])
def test_a_run_with_lessons_can_be_stopped_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rollout: int
) -> None:
    config = small(**LESSONS | {"steps": 1_536, "lessons": {"positions": 1_024, "size": 256, "games": 4}})
    whole = train(config, tmp_path / "whole", quiet=True).read_bytes()
    assert [row["steps"] for row in metrics(tmp_path / "whole")] == [256, 512, 768, 1_024, 1_536, 2_048, 2_560]

    train_until_killed(config, tmp_path / "broken", monkeypatch, "write", rollout)
    assert train(config, tmp_path / "broken", resume=True, quiet=True).read_bytes() == whole
    assert (tmp_path / "broken" / POLICY).exists()


def test_a_lesson_may_be_gone_through_more_than_once() -> None:
    errors, updates = [], []
    for epochs in (1, 4):
        settings = LESSONS | {"lessons": {"positions": 1_024, "size": 512, "epochs": epochs}}
        run = make_run(small(**settings))
        errors.append(module.take_lesson(run)["value_error"])
        policy = run.ppo.policy
        updates.append(int(policy.optimizer.state[policy.action_net.weight]["step"]))
    assert updates == [4, 16], "batches of 128"
    # What is logged is of the first time through.
    assert errors[0] == errors[1]


def test_lessons_leave_the_value_alone() -> None:
    run = make_run(small(**LESSONS))
    before = [weight.clone() for weight in run.ppo.policy.value_net.parameters()]
    module.take_lesson(run)
    for weight, kept in zip(run.ppo.policy.value_net.parameters(), before, strict=True):
        assert (weight == kept).all()


def test_a_run_has_to_have_something_to_learn_from() -> None:
    with pytest.raises(
        InvalidConfigError, match=r"steps: 0 without lessons; allowed: at least 1, or lessons\.positions"
    ):
        small(steps=0)
    with pytest.raises(InvalidConfigError, match=r"lessons\.games: 0 is wrong"):
        small(lessons={"games": 0})
