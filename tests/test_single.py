"""Gymnasium's single environment, and what users of such environments have met (public reports by name)."""

from __future__ import annotations

import copy
import itertools
import pickle
import random
import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

from threeup_env.agents import GreedyAgent
from threeup_env.cards import STANDARD_DECK
from threeup_env.errors import (
    IllegalActionError,
    InvalidConfigError,
    InvalidRecordError,
    InvalidRulesError,
    ResetNeededError,
)
from threeup_env.game import Game
from threeup_env.observation import observation_layout
from threeup_env.rules import Rules
from threeup_env.single import ThreeUpEnv

IDS = ("ThreeUp/2p-v0", "ThreeUp/6p-v0", "ThreeUp/House-3p-v0", "ThreeUp/Match-2p-v0", "ThreeUp/Mini-2p-v0")
DECK = [card for card, count in STANDARD_DECK.items() for _ in range(count)]


def make(env_id: str = "ThreeUp/2p-v0", **arguments: Any) -> ThreeUpEnv:
    env = gymnasium.make(env_id, **arguments).unwrapped
    assert isinstance(env, ThreeUpEnv)
    return env


def play(env: Any, steps: int, seed: int = 0) -> list[Any]:
    """All that an environment says while it is played by random legal actions, over as many games as it takes."""
    rng = np.random.default_rng(seed)
    said: list[Any] = []
    info: dict[str, Any] = {"action_mask": env.action_masks()}
    for _ in range(steps):
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        said.append(env.step(action))
        _, _, terminated, truncated, info = said[-1]
        if terminated or truncated:
            said.append(env.reset())
            info = said[-1][1]
    return said


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("mask_in_observation", [False, True])
def test_gymnasium_check(env_id: str, mask_in_observation: bool) -> None:
    """Every warning is an error; the check samples illegal actions."""
    check_env(make(env_id, mask_in_observation=mask_in_observation, render_mode="ansi"))


@pytest.mark.optional
@pytest.mark.parametrize("env_id", IDS)
def test_stable_baselines3_check(env_id: str) -> None:
    """sb3-contrib 145: `check_env` samples illegal actions and crashed."""
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(make(env_id))


@pytest.mark.parametrize("env_id", IDS)
def test_observations_lie_in_the_space(env_id: str) -> None:
    env = make(env_id)
    observation, _ = env.reset(seed=1)
    assert observation in env.observation_space
    for said in play(env, 60):
        assert said[0] in env.observation_space
        assert said[-1]["action_mask"].dtype == np.int8


def test_spaces_and_rules_stand_before_the_first_reset() -> None:
    env = make("ThreeUp/House-3p-v0")
    assert env.observation_space.shape == (observation_layout(Rules.house(3)).size,)
    assert env.action_space == gymnasium.spaces.Discrete(144)
    assert make().action_space == gymnasium.spaces.Discrete(109)


def test_the_game_is_the_game_of_the_seed() -> None:
    rules = Rules.standard(3)
    env = make("ThreeUp/3p-v0", seat=1)
    greedy = GreedyAgent(rules)
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        game = Game(rules, seed)
        over = False
        reward = 0.0
        while not over:
            while game.player not in (None, 1):
                player = game.player
                assert player is not None
                game.play(greedy.act(game.observation(player), game.action_mask))
            np.testing.assert_array_equal(observation, game.observation(1))
            np.testing.assert_array_equal(info["action_mask"], game.action_mask)
            over = game.player is None
            assert reward == game.rewards()[1]
            if not over:
                action = int(np.flatnonzero(game.action_mask)[-1])
                game.play(action)
                observation, reward, terminated, truncated, info = env.step(action)
        assert terminated
        assert not truncated


def test_learner_is_paid_for_a_loss_on_an_opponents_move() -> None:
    """PettingZoo 1147: a single-agent wrapper trained on the opponent's reward."""
    env = make("ThreeUp/2p-v0", seat=0)
    env.reset(seed=1)
    lost = 0
    for said in play(env, 900):
        if len(said) == 5 and said[2]:
            outcome = env.game.outcome if env.game.player is None else None
            assert outcome is None or said[1] == outcome.rewards[0]
            assert said[1] in (-1.0, 1.0)
            lost += said[1] < 0
        elif len(said) == 5:
            assert said[1] == 0.0
    assert lost > 5


def test_seeding_touches_the_generator_only() -> None:
    """PettingZoo 1312: a seeded reset rebuilt the environment and lost its settings."""
    env = make("ThreeUp/3p-v0", seat=2, reward="score", illegal_action="raise", mask_in_observation=True)
    spaces = env.observation_space, env.action_space
    for seed in (None, 3, None, 4):
        observation, _ = env.reset(seed=seed)
        assert set(observation) == {"observation", "action_mask"}
        assert env.seat == 2
        with pytest.raises(IllegalActionError):
            env.step(int(np.argmin(env.action_masks())))
    assert (env.observation_space, env.action_space) == spaces
    assert any(abs(said[1]) not in (0.0, 1.0) for said in play(env, 100) if len(said) == 5)


def test_seeded_stream_goes_on() -> None:
    """PettingZoo 1223: reset(seed) then reset() was not reproducible."""
    env = make("ThreeUp/3p-v0", seat="random", opponent="random")
    trajectories = []
    for _ in range(2):
        env.reset(seed=5)
        said = play(env, 20)
        env.reset()
        trajectories.append(said + play(env, 60))
    assert data_equivalence(trajectories[0], trajectories[1], exact=True)
    first = make()
    first.reset(seed=5)
    decks = {bytes(first.game.state["deck"])}
    for _ in range(3):
        first.reset()
        decks.add(bytes(first.game.state["deck"]))
    assert len(decks) == 4


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_in_mid_game(duplicate: Any) -> None:
    """PettingZoo 1307, 1186, 1271: deep copies and pickles lost state; OpenSpiel 276: a saved game lost its turn."""
    env = make("ThreeUp/House-4p-v0", opponent=["random", "greedy", "random"], seat="rotate")
    env.reset(seed=1)
    play(env, 15)
    twin = duplicate(env)
    assert data_equivalence(play(env, 150), play(twin, 150), exact=True)
    table = str(twin.game)
    play(env, 1)
    assert str(twin.game) == table


def test_arrays_are_the_callers() -> None:
    """SuperSuit PR 116, Gymnasium PR 1715: returned buffers changed under the caller."""
    for masked in (False, True):
        env = make(mask_in_observation=masked)
        other = make(mask_in_observation=masked)
        kept = [env.reset(seed=1), *play(env, 60)]
        other.reset(seed=1)
        rng = np.random.default_rng(0)
        again = [copy.deepcopy(other.reset(seed=1))]
        info = again[0][1]
        for _ in range(60):
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            said: Any = other.step(action)
            again.append(copy.deepcopy(said))
            over = said[2]
            # The caller may do with the arrays what they like.
            for array in (*said[0].values(), said[4]["action_mask"]) if masked else (said[0], said[4]["action_mask"]):
                array[:] = 7
            info = again[-1][-1]
            if over:
                again.append(copy.deepcopy(other.reset()))
                info = again[-1][1]
        assert data_equivalence(kept, again, exact=True)


def test_nothing_hangs_on_global_generators() -> None:
    """RLCard 125: results hung on a global generator."""
    runs = []
    for number in range(2):
        random.seed(number)
        np.random.seed(number)  # noqa: NPY002  (the global generator is what this is about)
        env = make(opponent="random", seat="random")
        env.reset(seed=3)
        runs.append(play(env, 100))
    assert data_equivalence(runs[0], runs[1], exact=True)


def test_nothing_hangs_on_the_hash_seed() -> None:
    """PettingZoo 241: games differed between processes with the hash seed."""
    code = (
        "import hashlib, gymnasium, threeup_env; d = hashlib.sha256();"
        "env = gymnasium.make('ThreeUp/House-3p-v0', opponent='random', seat='random'); o, i = env.reset(seed=1)\n"
        "for _ in range(80):\n"
        "    o, r, t, _, i = env.step(int(i['action_mask'].argmax())); d.update(o.tobytes() + bytes([t]))\n"
        "    if t: o, i = env.reset()\n"
        "print(d.hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "42")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("action", [-1, 144, 91, 1.0, "up 1", None, True, np.float32(0), np.nan])
def test_illegal_action_ends_the_game(action: Any) -> None:
    """PettingZoo 185: an illegal move's consequences were unclear; never terminated and truncated at once."""
    env = make("ThreeUp/4p-v0")
    _, info = env.reset(seed=1)
    assert "illegal_action" not in info
    observation, reward, terminated, truncated, info = env.step(action)
    assert observation in env.observation_space
    assert (reward, terminated, truncated) == (-1 / 3, True, False)
    assert info["illegal_action"] is True
    assert not info["action_mask"].any()
    assert not env.action_masks().any()


@pytest.mark.parametrize("action", [-1, 144, 91, 1.0, "up 1", None, True])
def test_illegal_action_may_be_an_error_that_changes_nothing(action: Any) -> None:
    env, other = make(illegal_action="raise"), make(illegal_action="raise")
    env.reset(seed=1)
    other.reset(seed=1)
    with pytest.raises(IllegalActionError, match="illegal; legal: up "):
        env.step(action)
    assert data_equivalence(play(env, 40), play(other, 40), exact=True)


def test_action_may_be_any_integer() -> None:
    for kind in (int, np.int64, np.int8, np.uint8, np.array):
        env = make(illegal_action="raise")
        env.reset(seed=1)
        env.step(kind(int(env.action_masks().argmax())))


def test_steps_at_the_wrong_time() -> None:
    env = make(render_mode="ansi")
    for call in (lambda: env.step(0), env.action_masks, env.render):
        with pytest.raises(ResetNeededError, match="reset"):
            call()
    env.reset(seed=1)
    env.step(-1)
    with pytest.raises(ResetNeededError, match="over"):
        env.step(0)
    env.reset()
    env.step(int(env.action_masks().argmax()))


def test_masks_are_never_empty_before_the_end_and_the_same_everywhere() -> None:
    """sb3-contrib 81, 247: all-false masks; PettingZoo 1117: the mask was in one place only."""
    env = make("ThreeUp/House-4p-v0", mask_in_observation=True)
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(300):
        action = int(rng.choice(np.flatnonzero(env.action_masks())))
        observation, _, terminated, truncated, info = env.step(action)
        np.testing.assert_array_equal(observation["action_mask"], info["action_mask"])
        np.testing.assert_array_equal(observation["action_mask"], env.action_masks())
        assert info["action_mask"].any() != (terminated or truncated)
        if terminated or truncated:
            ended += 1
            env.reset()
    assert ended


def test_masks_are_found_through_wrappers() -> None:
    """sb3-contrib 49, 68, 279, 256: masks were lost in wrappers."""
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("ThreeUp/2p-v0"))
    env.reset(seed=1)
    np.testing.assert_array_equal(env.get_wrapper_attr("action_masks")(), make_mask(1))


def make_mask(seed: int) -> Any:
    env = make()
    env.reset(seed=seed)
    return env.action_masks()


def test_options_fix_one_deal() -> None:
    env = make("ThreeUp/2p-v0", seat=0)
    options = {"decks": [DECK], "first_player": 0, "something": "else"}
    observation, info = env.reset(seed=3, options=options)
    game = Game(Rules(), seed=3, decks=[DECK], first_player=0)
    np.testing.assert_array_equal(observation, game.observation(0))
    np.testing.assert_array_equal(info["action_mask"], game.action_mask)
    env.reset()
    assert bytes(env.game.state["deck"][:84]) != bytes(game.state["deck"][:84])


@pytest.mark.parametrize(
    "options",
    [
        {"decks": [DECK[:-1]]},
        {"decks": [["x"]]},
        {"decks": [DECK, DECK]},
        {"first_player": 2},
        {"pile_swaps": [[(0, 1)]]},
    ],
)
def test_bad_options_lose_nothing(options: dict[str, Any]) -> None:
    env, other = make(), make()
    for one in (env, other):
        one.reset(seed=1)
        play(one, 3)
    with pytest.raises(InvalidRecordError):
        env.reset(seed=2, options=options)
    assert data_equivalence(play(env, 40), play(other, 40), exact=True)


def test_a_match_ends_with_its_last_deal() -> None:
    env = make("ThreeUp/Match-2p-v0", reward="score")
    env.reset(seed=1)
    deals = set()
    terminated = False
    while not terminated:
        deals.add(env.game.deal)
        _, reward, terminated, _, _ = env.step(int(env.action_masks().argmax()))
    assert deals == {0, 1, 2}
    outcome = env.game.outcome
    assert outcome is not None
    assert outcome.ended == "match"
    assert reward == env.game.rewards("score")[env.seat]


def test_limit_truncates_only_where_the_rules_say_so() -> None:
    for at_limit in ("points", "truncate"):
        env = make(rules=Rules.standard(2, max_decisions=10, at_limit=at_limit))
        env.reset(seed=1)
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step(int(env.action_masks().argmax()))
            over = terminated or truncated
        assert (terminated, truncated) == ((True, False) if at_limit == "points" else (False, True))
        assert at_limit == "points" or reward == 0.0


def test_what_is_hidden_shows_nowhere() -> None:
    """PettingZoo PR 233: opponents' hands leaked; EnvPool's info shows all hands (10.4)."""
    rules = Rules.standard(2)
    # Seat 0 holds deck[6:12] and, unseen, deck[:3]; everything else is hidden from it.
    own = DECK[6:12]
    hidden = DECK[:6] + DECK[12:]
    said = []
    for number in range(2):
        others = hidden[::-1] if number else hidden
        env = ThreeUpEnv(rules, seat=0, render_mode="ansi")
        first = env.reset(seed=1, options={"decks": [[*others[:6], *own, *others[6:]]], "first_player": 0})
        said.append(
            (
                first,
                env.render(),
                repr(env.game),
                str(env.game),
                str(env),
                env.step(int(env.action_masks().argmax())),
                env.render(),
            )
        )
    assert data_equivalence(said[0], said[1], exact=True)


def test_pictures_are_drawn_from_the_state_at_every_call() -> None:
    """PettingZoo 1169, 864: a stale or black last frame."""
    env = make(render_mode="ansi")
    env.reset(seed=1)
    pictures = [env.render()]
    terminated = False
    while not terminated:
        _, _, terminated, _, _ = env.step(int(env.action_masks().argmax()))
        pictures.append(env.render())
        assert pictures[-1] == env.render()
    assert all(one != other for one, other in itertools.pairwise(pictures))
    env.reset(seed=1)
    assert env.render() == pictures[0]


def test_render_without_a_mode_warns() -> None:
    env = make()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert env.render() is None


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"seat": 2}, InvalidConfigError),
        ({"reward": "money"}, InvalidConfigError),
        ({"illegal_action": "skip"}, InvalidConfigError),
        ({"opponent": ["greedy", "greedy"]}, InvalidConfigError),
        ({"rules": {"num_players": 7}}, InvalidRulesError),
    ],
)
def test_wrong_arguments(wrong: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="allowed"):
        make(**wrong)


def test_agents_are_asked_with_the_observation_of_their_seat() -> None:
    """sb3-contrib 142, 178, 212: `predict` without masks."""
    rules = Rules.standard(3)
    layout = observation_layout(rules)
    asked = []

    class Opponent:
        def act(self, observation: Any, action_mask: Any) -> int:
            asked.append(layout["to_play"].view(observation).tolist())
            assert action_mask.any()
            return int(action_mask.argmax())

    env = make("ThreeUp/3p-v0", opponent=Opponent())
    env.reset(seed=1)
    play(env, 30)
    assert asked
    assert all(row == [1, 0, 0] for row in asked)
