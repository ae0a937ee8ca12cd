"""The benchmark protocol: duplicate games, the same figures again, an interval that respects the groups."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from threeup_env import Game, Rules
from threeup_env import evaluate as module
from threeup_env.agents import GreedyAgent, RandomAgent
from threeup_env.errors import IllegalActionError, InvalidConfigError, UnknownAgentError, UnknownEnvError
from threeup_env.evaluate import Evaluation, evaluate, interval
from threeup_env.registration import rules_of

KEYS = {
    *("env", "agent", "opponent", "games", "seed", "win_rate", "ci_low", "ci_high", "mean_place", "mean_score"),
    *("limit_games", "decisions_per_game", "decisions_per_second"),
}
ENVS = ["ThreeUp/2p-v0", "ThreeUp/GameRules-3p-v0", "ThreeUp/Geeky-4p-v0", "ThreeUp/House-3p-v0", "ThreeUp/Match-2p-v0"]


class Asked:
    """An agent that Python has to ask, around one that compiled code knows."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        return int(self._agent.act(observation, action_mask))

    def __repr__(self) -> str:
        return "asked"


class AskedTogether(Asked):
    """The same in batches."""

    def act_batch(self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        actions: npt.NDArray[np.int64] = self._agent.act_batch(observations, masks)
        return actions


def figures(result: Evaluation) -> dict[str, Any]:
    """All that must be the same again."""
    values = result.to_dict()
    for key in ("agent", "opponent", "decisions_per_second"):
        values.pop(key)
    return values


def test_the_figures_are_those_of_the_interface() -> None:
    result = evaluate("ThreeUp/2p-v0", "greedy", "random", 200, 3)
    assert set(result.to_dict()) == KEYS
    assert json.loads(json.dumps(result.to_dict())) == result.to_dict()
    assert (result.env, result.agent, result.opponent, result.games, result.seed) == (
        "ThreeUp/2p-v0",
        "greedy",
        "random",
        200,
        3,
    )
    assert result.ci_low < result.win_rate < result.ci_high
    assert result.decisions_per_second > 0


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("asked", [Asked, AskedTogether])
def test_compiled_agents_play_as_asked_ones(env: str, asked: type[Asked]) -> None:
    greedy = GreedyAgent(rules_of(env))
    expected = figures(evaluate(env, "greedy", "random", 60, 5))
    assert figures(evaluate(env, asked(greedy), "random", 60, 5)) == expected
    both = figures(evaluate(env, asked(greedy), asked(greedy), 60, 5))
    assert both == figures(evaluate(env, "greedy", "greedy", 60, 5))


@pytest.mark.parametrize("env", ENVS)
def test_the_same_figures_again_whatever_the_batch(env: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = figures(evaluate(env, "random", "random", 120, 7))
    monkeypatch.setattr(module, "CHUNK", 17)
    assert figures(evaluate(env, "random", "random", 120, 7)) == expected
    assert figures(evaluate(env, "random", "random", 120, 8)) != expected


@pytest.mark.parametrize("env", ENVS)
def test_an_agent_against_itself_wins_its_fair_share_exactly(env: str) -> None:
    """In a group each seat is measured once, and greedy draws no lots: luck cancels altogether."""
    result = evaluate(env, "greedy", "greedy", 90, 1)
    assert result.win_rate == pytest.approx(1 / rules_of(env).num_players)
    assert result.ci_low == pytest.approx(result.win_rate)
    assert result.ci_high == pytest.approx(result.win_rate)


@pytest.mark.parametrize("rules", [Rules.standard(3), Rules.house(2), Rules.match(3)], ids=repr)
def test_games_are_those_that_one_game_plays(rules: Rules) -> None:
    """Group by group, the deals of its seed, the agent in every seat; a match goes on with the same generator."""
    players, greedy = rules.num_players, GreedyAgent(rules)
    shares, scores, decisions = [], [], []
    for group in range(4):
        words = np.random.SeedSequence(9, spawn_key=(group,)).generate_state(2, np.uint64)
        for seat in range(players):
            game = Game(rules, 0)
            game._states["rng"][0] = words
            game._deals.clear()
            game._start(module_start)
            count = 0
            while game.player is not None:
                # The opponent takes the last legal action, so that the seats are told apart.
                if game.player == seat:
                    game.play(greedy.act(game.observation(seat), game.action_mask))
                else:
                    game.play(int(np.flatnonzero(game.action_mask)[-1]))
                count += 1
            assert game.outcome is not None
            places = game.outcome.places
            shares.append(1 / places.count(1) if places[seat] == 1 else 0)
            scores.append(game.outcome.scores[seat])
            decisions.append(count)

    class Last:
        def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
            return int(np.flatnonzero(action_mask)[-1])

    result = evaluate("any", "greedy", Last(), 4 * players, 9, rules=rules)
    assert result.win_rate == pytest.approx(np.mean(shares))
    assert result.mean_score == pytest.approx(np.mean(scores))
    assert result.decisions_per_game == pytest.approx(np.mean(decisions))


def module_start(states: Any, switches: Any) -> int:
    from threeup_env.core import single

    return int(single.start_game(states, switches))


def test_greedy_beats_random() -> None:
    assert evaluate("ThreeUp/2p-v0", "greedy", "random", 2_000, 1).ci_low > 0.8
    assert evaluate("ThreeUp/6p-v0", "greedy", "random", 2_000, 1).ci_low > 0.4


def test_games_are_rounded_up_to_whole_groups() -> None:
    assert evaluate("ThreeUp/3p-v0", "random", "greedy", 100, 1).games == 102


def test_limits_and_games_without_an_outcome_are_counted() -> None:
    points = evaluate("short", "random", "random", 40, 1, rules=Rules(2, max_decisions=20))
    assert points.limit_games == 40
    assert points.mean_place is not None
    truncated = evaluate("short", "random", "random", 40, 1, rules=Rules(2, max_decisions=20, at_limit="truncate"))
    assert (truncated.limit_games, truncated.win_rate, truncated.mean_place) == (40, 0.0, None)
    assert evaluate("match", "random", "random", 40, 1, rules=Rules.match(2, max_decisions=20)).limit_games == 40
    assert evaluate("match", "greedy", "greedy", 40, 1, rules=Rules.match(2)).limit_games == 0


def test_the_interval_is_that_of_student() -> None:
    """Quantiles of Student's t from its tables."""
    for groups, quantile in ((5, 2.7764), (11, 2.2281), (31, 2.0423), (1001, 1.9623)):
        means = np.resize([0.4, 0.6], groups)
        low, high = interval(means)
        expected = quantile * means.std(ddof=1) / groups**0.5
        assert (high - low) / 2 == pytest.approx(expected, rel=2e-3)
    assert interval(np.array([0.5])) == (0.0, 1.0)
    assert interval(np.array([0.0, 1.0])) == (0.0, 1.0)


def test_the_interval_holds_the_rate_as_often_as_it_says() -> None:
    """Against itself `random` wins half of all games."""
    results = [evaluate("mini", "random", "random", 200, seed, rules=Rules.mini(2)) for seed in range(200)]
    held = sum(result.ci_low <= 0.5 <= result.ci_high for result in results)
    assert 180 <= held <= 199


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("ThreeUp/9p-v0", "greedy", "greedy"), UnknownEnvError, "ThreeUp/9p-v0"),
        (("ThreeUp/2p-v0", "gredy", "greedy"), UnknownAgentError, "'gredy' is unknown"),
        (("ThreeUp/2p-v0", "greedy", "gredy"), UnknownAgentError, "'gredy' is unknown"),
        (("ThreeUp/2p-v0", "greedy", "random", 0), InvalidConfigError, "games: 0 is wrong; allowed: an integer of at"),
        (("ThreeUp/2p-v0", "greedy", "random", 1.5), InvalidConfigError, "games: 1.5"),
        (("ThreeUp/2p-v0", "greedy", "random", 2, -1), InvalidConfigError, "seed: -1 is wrong"),
        (("ThreeUp/2p-v0", "greedy", "random", 2, True), InvalidConfigError, "seed: True is wrong"),
        (("ThreeUp/2p-v0", GreedyAgent(Rules.standard(3)), "random", 2), UnknownAgentError, "made for these rules"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        evaluate(*arguments)


@pytest.mark.parametrize("action", [-1, 108, 144, 2**40])
def test_an_illegal_action_is_an_error_that_names_it(action: int) -> None:
    class Cheat:
        def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
            return action if action_mask[91:].any() and not action_mask[96:].any() else int(action_mask.argmax())

        def __repr__(self) -> str:
            return "cheat"

    with pytest.raises(IllegalActionError, match=f"cheat chose action {action}.*illegal; legal: "):
        evaluate("ThreeUp/2p-v0", Cheat(), "random", 20, 1)


def test_a_stochastic_agent_that_is_asked_is_nearly_the_compiled_one() -> None:
    asked = evaluate("ThreeUp/2p-v0", AskedTogether(RandomAgent(1)), "greedy", 4_000, 1)
    compiled = evaluate("ThreeUp/2p-v0", "random", "greedy", 4_000, 1)
    assert abs(asked.win_rate - compiled.win_rate) < 0.02
