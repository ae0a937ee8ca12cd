"""The league: who is in the mix, how often, and what is recorded of the games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from tests.test_training import small
from threeup_env.learner import LearnerBatch
from training.league import PRIOR_GAMES, League
from training.train import Run, make_run


def league_of(weights: dict[str, float], **snapshots: Any) -> tuple[League, Run]:
    run = make_run(small(opponents=weights, snapshots={"every": 1, "keep": 3} | snapshots))
    return run.league, run


def test_the_first_copy_is_in_from_the_start() -> None:
    league, _ = league_of({"greedy": 1, "self": 3})
    assert league.mix == {"greedy": 0.25, "past/0": 0.75}


def test_a_league_of_fixed_agents_takes_no_copies() -> None:
    league, run = league_of({"greedy": 1, "random": 1})
    league.add_snapshot(run.ppo.policy, 5, run.env.batch)
    assert league.mix == {"greedy": 0.5, "random": 0.5}
    assert league.snapshots == []


def test_the_oldest_go_first() -> None:
    league, run = league_of({"self": 1, "past": 1}, priority="uniform")
    for rollout in (1, 2, 3, 4):
        league.add_snapshot(run.ppo.policy, rollout, run.env.batch)
    assert [member.name for member in league.members] == ["past/2", "past/3", "past/4"]
    assert league.mix == pytest.approx({"past/2": 1 / 6, "past/3": 1 / 6, "past/4": 1 / 6 + 1 / 2})


def test_who_beats_the_learner_comes_more_often() -> None:
    league, run = league_of({"past": 1}, power=2)
    league.add_snapshot(run.ppo.policy, 1, run.env.batch)
    weak, strong = league.members
    weak.games, weak.won = 980.0, 0.8 * 1000 - PRIOR_GAMES / 2
    strong.games, strong.won = 980.0, 0.4 * 1000 - PRIOR_GAMES / 2
    assert (league.win_rate(weak), league.win_rate(strong)) == pytest.approx((0.8, 0.4))
    league.enter(run.env.batch)
    assert league.mix["past/1"] / league.mix["past/0"] == pytest.approx((0.6 / 0.2) ** 2)


def test_without_games_the_win_rate_is_the_fair_one() -> None:
    league, _ = league_of({"greedy": 1})
    assert league.win_rate(league.members[0]) == 0.5


@pytest.mark.parametrize("env", ["ThreeUp/2p-v0", "ThreeUp/4p-v0"])
def test_every_game_that_ends_is_recorded_for_who_played_it(env: str) -> None:
    run = make_run(small(env=env, opponents={"greedy": 1, "random": 1, "self": 1}))
    others = run.env.rules.num_players - 1
    counted = {"games": 0, "won": 0}

    def count(batch: LearnerBatch) -> None:
        ended = batch.terminated | batch.truncated
        counted["games"] += int(ended.sum())
        counted["won"] += int((batch.reward[ended] > 0).sum())
        run.league.record(batch)

    for _ in range(3):
        run.ppo.collect(run.env.batch, count)
    assert counted["games"] > 0
    assert sum(member.games for member in run.league.members) == others * counted["games"]
    assert sum(member.won for member in run.league.members) == others * counted["won"]


def test_results_are_those_against_the_opponent_itself() -> None:
    """A learner that plays as `greedy` wins most games against `random`, half of those against itself."""
    run = make_run(small(games=64, opponents={"greedy": 1, "random": 1}))
    batch = run.env.batch
    greedy = run.league.members[0].agent
    for _ in range(400):
        batch.step(greedy.act_batch(batch.observation, batch.action_mask))  # type: ignore[attr-defined]
        run.league.record(batch)
    against = {member.name: run.league.win_rate(member) for member in run.league.members}
    assert 0.4 < against["greedy"] < 0.6
    assert against["random"] > 0.8


def test_a_new_mix_keeps_the_results_of_who_stays() -> None:
    run = make_run(small(opponents={"greedy": 1, "self": 1}))
    batch = run.env.batch
    for _ in range(200):
        batch.step(np.argmax(batch.action_mask, axis=1))
        run.league.record(batch)
    before = {member.name: run.league.win_rate(member) for member in run.league.members}
    games = run.league.members[0].games
    run.league.add_snapshot(run.ppo.policy, 1, batch)
    assert 0 < run.league.members[0].games < games
    assert run.league.win_rate(run.league.members[0]) == pytest.approx(before["greedy"], abs=0.1)
    # Games that began before the change still name their opponents right.
    for _ in range(50):
        batch.step(np.argmax(batch.action_mask, axis=1))
        run.league.record(batch)
