"""PettingZoo's form, and what users of such environments have met (public reports by name)."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, seed_test

from threeup_env import Game, IllegalActionError, Rules, threeup_v0
from threeup_env.actions import ACTION_INDEX
from threeup_env.aec import ThreeUpAEC
from threeup_env.cards import STANDARD_DECK
from threeup_env.errors import InvalidConfigError, InvalidRecordError, ResetNeededError
from threeup_env.learner import last_place_reward
from threeup_env.observation import observation_layout
from threeup_env.registration import ENV_RULES

DECK = [card for card, count in STANDARD_DECK.items() for _ in range(count)]
FORMS = (threeup_v0.raw_env, threeup_v0.env)


def play(env: Any, decisions: int, seed: int = 0) -> list[Any]:
    """All that `last` says while the environment is played by random legal actions, over as many games as it takes."""
    rng = np.random.default_rng(seed)
    said = []
    for _ in range(decisions):
        if not env.agents:
            env.reset()
        observation, reward, terminated, truncated, info = env.last()
        said.append((env.agent_selection, observation, reward, terminated, truncated, info))
        over = terminated or truncated
        env.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return said


def play_to_end(env: Any) -> None:
    """Play until the first agent has to be told that the game is over."""
    while not (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))


@pytest.mark.parametrize("env_id", ENV_RULES)
def test_api(env_id: str) -> None:
    """Over 1,000 cycles; masks are zeros at the end, of which the test warns, as of observations that are dicts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Action mask numpy array is all zeros")
        warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        api_test(pettingzoo.make("aec", env_id), num_cycles=1000)


@pytest.mark.parametrize("env_id", ENV_RULES)
def test_seeds(env_id: str) -> None:
    seed_test(lambda: pettingzoo.make("aec", env_id), num_cycles=50)


def test_the_game_is_the_game_of_the_seed() -> None:
    rules = Rules.house(3)
    env = threeup_v0.raw_env(rules)
    env.reset(seed=4)
    game = Game(rules, seed=4)
    rng = np.random.default_rng(1)
    while game.player is not None:
        assert env.agent_selection == f"player_{game.player}"
        for seat, agent in enumerate(env.agents):
            observation = env.observe(agent)
            np.testing.assert_array_equal(observation["observation"], game.observation(seat))
            expected = game.action_mask if seat == game.player else np.zeros(144, np.int8)
            np.testing.assert_array_equal(observation["action_mask"], expected)
        action = int(rng.choice(game.legal_indices()))
        game.play(action)
        env.step(action)
    assert list(env.rewards.values()) == game.rewards().tolist()
    assert env.game.record() == game.record()


def test_agents_and_spaces_stand_before_the_first_reset() -> None:
    """PettingZoo 922, RLCard 220: a documented shape was not the real one."""
    for form in FORMS:
        env = form(Rules.house(3))
        assert env.possible_agents == ["player_0", "player_1", "player_2"]
        for agent in env.possible_agents:
            space = env.observation_space(agent)
            assert space is env.observation_space(agent)
            assert env.action_space(agent) is env.action_space(agent)
            assert space["observation"].shape == (observation_layout(Rules.house(3)).size,)
            assert space["action_mask"].shape == (144,)
            assert env.action_space(agent).n == 144
    assert threeup_v0.raw_env().action_space("player_0").n == 109


@pytest.mark.parametrize("form", FORMS)
def test_observations_lie_in_the_space_and_masks_are_the_same_everywhere(form: Any) -> None:
    """PettingZoo 1117: tests read the mask only from one place."""
    env = form(Rules.house(4))
    env.reset(seed=1)
    for agent, observation, _, terminated, truncated, info in play(env, 400):
        assert observation in env.observation_space(agent)
        np.testing.assert_array_equal(observation["action_mask"], info["action_mask"])
        assert observation["action_mask"].any() != (terminated or truncated)


def test_mask_of_an_agent_that_is_not_to_decide_is_zeros() -> None:
    env = threeup_v0.raw_env(Rules.house(4))
    env.reset(seed=1)
    for _ in range(150):
        for agent in env.agents:
            deciding = agent == env.agent_selection
            assert env.observe(agent)["action_mask"].any() == deciding
            assert env.infos[agent]["action_mask"].any() == deciding
        env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
        if env.terminations[env.agent_selection]:
            env.reset()


@pytest.mark.parametrize("reward", ["win", "place", "score"])
def test_each_agent_is_paid_once_and_rewards_sum_to_zero(reward: Any) -> None:
    """PettingZoo 355, 1260: when the winner is paid; Tianshou 900: rewards and cumulative rewards mixed up."""
    env = threeup_v0.env(Rules.house(4), reward=reward)
    env.reset(seed=1)
    for _ in range(3):
        paid = dict.fromkeys(env.possible_agents, 0.0)
        told: dict[str, list[float]] = {agent: [] for agent in env.possible_agents}
        for agent in env.agent_iter():
            observation, cumulative, terminated, truncated, _ = env.last()
            told[agent].append(cumulative)
            assert cumulative == env._cumulative_rewards[agent]
            env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
            for other, amount in env.rewards.items():
                paid[other] += amount
        assert sum(paid.values()) == pytest.approx(0)
        assert max(paid.values()) > 0
        outcome = env.unwrapped.game.rewards(reward).tolist()
        assert list(paid.values()) == outcome
        for agent, amounts in told.items():
            assert amounts[:-1] == [0.0] * (len(amounts) - 1)
            assert amounts[-1] == paid[agent]
        env.reset()


def test_agents_leave_in_order() -> None:
    """PettingZoo 996, 1244: order of dead steps, `agents` not empty at the end."""
    for form in FORMS:
        env = form(Rules.standard(3))
        env.reset(seed=1)
        play_to_end(env)
        assert env.agents == env.possible_agents
        left = []
        for agent in env.agent_iter():
            assert env.last()[2]
            left.append(agent)
            env.step(None)
        assert left == env.possible_agents
        assert env.agents == []
        assert env.terminations == env.rewards == env.infos == {}


def test_a_dead_agent_takes_none_only() -> None:
    env = threeup_v0.raw_env()
    env.reset(seed=1)
    play_to_end(env)
    with pytest.raises(ValueError, match="None"):
        env.step(0)


@pytest.mark.parametrize("action", [-1, 144, 91, "up 99", 1.0, None, True])
def test_illegal_action_is_an_error_that_changes_nothing_in_the_raw_form(action: Any) -> None:
    env, other = threeup_v0.raw_env(), threeup_v0.raw_env()
    env.reset(seed=1)
    other.reset(seed=1)
    with pytest.raises(IllegalActionError, match="legal: up "):
        env.step(action)
    assert data_equivalence(play(env, 100), play(other, 100), exact=True)


@pytest.mark.parametrize("reward", ["win", "place", "score"])
def test_illegal_action_ends_the_game_in_the_wrapped_form(reward: Any) -> None:
    """PettingZoo 185: an illegal move's consequences were unclear; never terminated and truncated at once."""
    rules = Rules.standard(3)
    env = threeup_v0.env(rules, reward=reward)
    env.reset(seed=1)
    play(env, 10)
    loser = env.agent_selection
    env.step(ACTION_INDEX["draw"] if not env.last()[0]["action_mask"][ACTION_INDEX["draw"]] else 0)
    assert set(env.terminations.values()) == {True}
    assert set(env.truncations.values()) == {False}
    assert env.rewards[loser] == last_place_reward(rules, reward)
    assert sum(env.rewards.values()) == pytest.approx(0)
    assert not any(info["action_mask"].any() for info in env.infos.values())
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        assert (terminated, truncated) == (True, False)
        assert not observation["action_mask"].any()
        env.step(None)
    assert env.agents == []
    env.reset()
    assert len(play(env, 200)) == 200


def test_price_of_an_illegal_action_may_be_set() -> None:
    env = threeup_v0.env(Rules.standard(3), illegal_reward=-4)
    env.reset(seed=1)
    loser = env.agent_selection
    env.step(0)
    assert env.rewards[loser] == -4
    assert sorted(env.rewards.values()) == [-4, 2, 2]


def test_wrappers_are_pettingzoos() -> None:
    env = threeup_v0.env()
    with pytest.raises(AttributeError, match="before reset"):
        _ = env.agents
    with pytest.raises(AssertionError, match="reset"):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(AssertionError, match="action space"):
        env.step(109)
    assert str(env) == "threeup_v0"
    assert isinstance(env.unwrapped, ThreeUpAEC)


def test_calls_at_the_wrong_time() -> None:
    env = threeup_v0.raw_env()
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), lambda: env.game):
        with pytest.raises(ResetNeededError, match="reset"):
            call()
    env.reset(seed=1)
    play_to_end(env)
    env.step(None)
    env.step(None)
    with pytest.raises(ResetNeededError, match="done"):
        env.step(None)


def test_seeded_stream_goes_on() -> None:
    """PettingZoo 1223: reset(seed) then reset() was not reproducible; 1312: a seeded reset lost settings."""
    env = threeup_v0.env(Rules.standard(3), reward="place")
    runs = []
    for _ in range(2):
        env.reset(seed=3)
        play(env, 20)
        env.reset()
        runs.append(play(env, 400))
    assert data_equivalence(runs[0], runs[1], exact=True)
    assert env.unwrapped.reward == "place"
    decks = set()
    for _ in range(4):
        env.reset()
        decks.add(env.unwrapped.game.record().deals[0].deck)
    assert len(decks) == 4


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_in_mid_game(form: Any, duplicate: Any) -> None:
    """PettingZoo 1307, 1186, 1271: copies lost state; OpenSpiel 778, 1277: saved games lost the generator."""
    env = form(Rules.house(3))
    env.reset(seed=1)
    play(env, 40)
    twin = duplicate(env)
    assert data_equivalence(play(env, 400), play(twin, 400), exact=True)
    table = str(twin.unwrapped.game)
    play(env, 3)
    assert str(twin.unwrapped.game) == table


def test_arrays_are_the_callers() -> None:
    """SuperSuit PR 116, Gymnasium PR 1715: returned buffers changed under the caller."""
    env, other = threeup_v0.env(), threeup_v0.env()
    env.reset(seed=1)
    other.reset(seed=1)
    for _ in range(60):
        observation, *_, info = env.last()
        frozen = copy.deepcopy((observation, info))
        action = int(observation["action_mask"].argmax())
        env.step(action)
        assert data_equivalence((observation, info), frozen, exact=True)
        spoiled, *_, info = other.last()
        for array in (*spoiled.values(), info["action_mask"]):
            array[:] = 1
        other.step(action)
        assert data_equivalence(env.last(), other.last(), exact=True)
        if env.terminations[env.agent_selection]:
            break


def test_last_takes_any_truth() -> None:
    """Tianshou 900: a wrapper calls `last(self)`."""
    env = threeup_v0.raw_env()
    env.reset(seed=1)
    assert data_equivalence(env.last(env), env.last(), exact=True)
    assert env.last(0)[0] is None


def test_nothing_hangs_on_the_hash_seed() -> None:
    """PettingZoo 241: games differed between processes with the hash seed."""
    code = (
        "import hashlib; from threeup_env import Rules, threeup_v0; d = hashlib.sha256();"
        "env = threeup_v0.env(Rules.house(3)); env.reset(seed=1)\n"
        "for a in env.agent_iter():\n"
        "    o, r, t, u, i = env.last(); d.update(a.encode() + o['observation'].tobytes())\n"
        "    env.step(None if t or u else int(o['action_mask'].argmax()))\n"
        "print(d.hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "42")
    }
    assert len(digests) == 1


def test_options_fix_the_deals_of_one_game() -> None:
    rules = Rules.match(2, pile_swaps=1)
    options: dict[str, Any] = {"decks": [DECK], "first_player": 1, "pile_swaps": [[(0, 1)]], "colour": "blue"}
    env = threeup_v0.env(rules)
    env.reset(seed=3, options=options)
    first = env.unwrapped.game.record().deals[0]
    assert (list(first.deck), first.first_player, first.pile_swaps) == (DECK, 1, ((0, 1),))
    env.reset(options=options)
    assert list(env.unwrapped.game.record().deals[0].deck) == DECK
    env.reset()
    assert list(env.unwrapped.game.record().deals[0].deck) != DECK


@pytest.mark.parametrize("seed", [None, 2])
@pytest.mark.parametrize("options", [{"decks": [DECK[:-1]]}, {"first_player": 2}, {"pile_swaps": [[(0, 1)]]}])
def test_bad_options_lose_nothing(seed: int | None, options: dict[str, Any]) -> None:
    env, other = threeup_v0.env(), threeup_v0.env()
    for one in (env, other):
        one.reset(seed=1)
        play(one, 10)
    with pytest.raises(InvalidRecordError):
        env.reset(seed=seed, options=options)
    assert data_equivalence(play(env, 200), play(other, 200), exact=True)


def test_limit_truncates_only_where_the_rules_say_so() -> None:
    for at_limit in ("points", "truncate"):
        env = threeup_v0.env(Rules.standard(2, max_decisions=10, at_limit=at_limit))
        env.reset(seed=1)
        play_to_end(env)
        truncated = at_limit == "truncate"
        assert set(env.truncations.values()) == {truncated}
        assert set(env.terminations.values()) == {not truncated}
        assert any(env.rewards.values()) != truncated or not truncated


def test_what_is_hidden_shows_nowhere() -> None:
    """PettingZoo PR 233: opponents' hands leaked; EnvPool's info shows all hands (10.4)."""
    # Seat 0 holds DECK[6:12]; its 3DOWN cards, the other seat's cards and the draw pile are hidden from it.
    own, hidden = DECK[6:12], DECK[:6] + DECK[12:]
    said = []
    for number in range(2):
        others = hidden[::-1] if number else hidden
        env = threeup_v0.env(render_mode="ansi")
        env.reset(seed=1, options={"decks": [[*others[:6], *own, *others[6:]]], "first_player": 0})
        said.append([env.last(), env.infos["player_0"], str(env), repr(env.unwrapped.game), env.render()])
    assert data_equivalence(said[0], said[1], exact=True)


def test_pictures_are_drawn_from_the_state_at_every_call() -> None:
    """PettingZoo 1169, 864: a stale or black last frame."""
    env = threeup_v0.env(render_mode="ansi")
    env.reset(seed=1)
    play(env, 12)
    before = env.render()
    env.step(int(env.last()[0]["action_mask"].argmax()))
    assert env.render() != before
    play_to_end(env)
    last = env.render()
    env.step(None)
    env.step(None)
    assert env.render() == last
    env.close()


def test_wrong_arguments() -> None:
    for wrong in ({"reward": "money"}, {"render_mode": "hologram"}):
        with pytest.raises(InvalidConfigError, match="allowed"):
            threeup_v0.raw_env(**wrong)
