"""The game in OpenSpiel: its own checks over a range of rules, its algorithms, and what it asks of a game."""

from __future__ import annotations

import copy
import pickle
import random
import re
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspiel")

import pyspiel
from open_spiel.integration_tests import api_test
from open_spiel.python.algorithms import cfr, exploitability, ismcts, mcts, outcome_sampling_mccfr
from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation
from open_spiel.python.tests import games_sim_test

from threeup_env import Game, IllegalActionError, InvalidRulesError, Rules, observation_layout
from threeup_env.cards import CARDS
from threeup_env.errors import ResampleError
from threeup_env.open_spiel import ThreeUpState, load_game, parameters, read_parameters

from .test_lazy import Dealer

pytestmark = pytest.mark.optional

SHORT = {"max_decisions": 60}
RULES = [
    *(Rules.standard(n, **SHORT) for n in range(2, 7)),
    Rules.gamerules(3, **SHORT),
    Rules.geeky(4, first_player=2, at_limit="truncate", **SHORT),
    Rules.house(2, **SHORT),
    Rules.house(6, failed_flip="stay", pile_swaps=3, **SHORT),
    Rules.match(2, score_table_cards=True, max_decisions=30),
    Rules.mini(2),
    Rules.mini(4),
]
TINY = Rules(2, table_cards=1, hand_size=1, deck=Counter(["g1", "g1", "g2", "g2", "g3", "gC"]), max_decisions=6)
"""Small enough to walk through every history."""
EXAMPLES = re.findall(
    r"```python\n(.*?)```",
    (Path(__file__).parent.parent / "docs" / "open_spiel.md").read_text(encoding="utf-8"),
    re.DOTALL,
)


def name(rules: Rules) -> str:
    return str(load_game(rules))


def play(state: Any, rng: random.Random) -> int:
    """Make one move at random; the move."""
    if state.is_chance_node():
        outcomes, weights = zip(*state.chance_outcomes(), strict=True)
        move = rng.choices(outcomes, weights)[0]
    else:
        move = rng.choice(state.legal_actions())
    state.apply_action(move)
    return int(move)


# What OpenSpiel checks of any game


@pytest.mark.parametrize("rules", RULES, ids=name)
def test_random_simulations(rules: Rules) -> None:
    pyspiel.random_sim_test(load_game(rules), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("rules", [Rules.mini(2), Rules.house(3, max_decisions=30)], ids=name)
def test_python_simulations(rules: Rules) -> None:
    np.random.seed(0)  # noqa: NPY002 (OpenSpiel draws from it)
    games_sim_test.GamesSimTest("sim_game").sim_game(load_game(rules))


@pytest.mark.parametrize("rules", [Rules.standard(2), Rules.mini(3), Rules.house(4), TINY], ids=name)
def test_api(rules: Rules) -> None:
    random.seed(0)
    case = type("Api", (api_test.EnforceAPIOnPartialTreeBase,), {"game": load_game(rules), "game_name": "threeup"})
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.testsRun >= 5
    assert result.wasSuccessful(), result.errors + result.failures


def test_every_history_of_a_tiny_game() -> None:
    """What OpenSpiel checks of the whole trees of small games; there it wants tensors, so it is written out here."""
    game = load_game(TINY)
    paths: dict[tuple[int, str], list[tuple[str, int]]] = {}
    legal: dict[str, list[int]] = {}
    kinds: Counter[Any] = Counter()

    def walk(state: Any, own: list[list[tuple[str, int]]]) -> None:
        kinds[state.get_type()] += 1
        player = state.current_player()
        if state.is_terminal():
            assert sum(state.returns()) == 0
            assert set(state.returns()) in ({1.0, -1.0}, {0.0})
            return
        if player >= 0:
            words = state.information_state_string()
            assert paths.setdefault((player, words), own[player]) == own[player], "perfect recall"
            assert legal.setdefault(words, state.legal_actions()) == state.legal_actions()
        for move in state.legal_actions():
            after = own
            if player >= 0:
                after = own.copy()
                after[player] = [*own[player], (words, move)]
            walk(state.child(move), after)

    walk(game.new_initial_state(), [[], []])
    assert len({words for _, words in paths}) == len(paths), "no string belongs to two players"
    assert min(kinds.values()) > 1000


# The same game as `Game`


@pytest.mark.parametrize("rules", RULES, ids=name)
def test_plays_the_same_as_game(rules: Rules) -> None:
    for seed in range(3):
        rng = random.Random(seed)
        state = load_game(rules).new_initial_state()
        dealer, log = Dealer(rules), []
        while not state.is_terminal():
            before = state.clone()
            move = play(state, rng)
            if before.is_chance_node():
                dealer.note(before.table, move)
            else:
                log.append((before, move))
        game = Game(rules, 0, dealer.decks(state.table), dealer.first_player, dealer.swaps())
        for before, move in log:
            assert game.player == before.current_player()
            assert game.legal_indices() == before.legal_actions()
            assert game.legal_actions == [before.action_to_string(action) for action in before.legal_actions()]
            for seat in range(rules.num_players):
                assert game.observation(seat).tolist() == before.observation_tensor(seat)
            game.play(move)
        assert game.outcome is not None
        assert list(game.outcome.rewards) == state.returns() == state.rewards()


def test_an_illegal_action_changes_nothing() -> None:
    state = load_game(Rules.mini(2)).new_initial_state()
    with pytest.raises(IllegalActionError, match="chance outcome 12 is impossible; possible: "):
        state.apply_action(12)
    rng = random.Random(1)
    while state.is_chance_node():
        play(state, rng)
    before = str(state)
    with pytest.raises(IllegalActionError, match=r"action 91 is illegal for player \d; legal: "):
        state.apply_action(91)
    assert str(state) == before


def test_moves_in_words() -> None:
    state = load_game(Rules.house(2)).new_initial_state()
    assert state.action_to_string(1) == "first player 1"
    state.apply_action(1)
    assert state.action_to_string(CARDS.index("gC+2")) == "card gC+2"
    rng = random.Random(1)
    while not (state.is_chance_node() and state.table.state["drawn"] and not state.table.state["revealed"]):
        play(state, rng)
    assert state.action_to_string(0) == "swap 0 1"
    assert state.chance_outcomes() == [(0, 1.0)]


# Parameters


def test_switches_in_a_game_string() -> None:
    game = pyspiel.load_game("threeup(num_players=3,reverse_ones=True,first_player=2,colors=gb,extra_draw=refill)")
    assert game.rules == Rules(3, reverse_ones=True, first_player=2, colors=["g", "b"], extra_draw="refill")
    assert pyspiel.load_game("threeup").rules == Rules()
    assert str(pyspiel.load_game("threeup(num_players=2,must_play=True)")) == "threeup()"


@pytest.mark.parametrize("rules", RULES, ids=name)
def test_rules_come_back_from_their_parameters(rules: Rules) -> None:
    game = load_game(rules)
    assert read_parameters(parameters(rules)) == rules == game.rules
    assert pyspiel.load_game(str(game)).rules == rules
    assert pickle.loads(pickle.dumps(game)).rules == rules
    assert game.get_type() == pickle.loads(pickle.dumps(game.get_type()))


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("num_players=7", "num_players: 7 is wrong; allowed: an integer from 2 to 6"),
        ("failed_flip=away", "failed_flip: 'away' is wrong; allowed: 'hand' or 'stay'"),
        ("first_player=2", "first_player: 2 is no seat where num_players=2"),
        ("first_player=-2", "first_player: -2 is wrong"),
        (
            "deck=mine",
            "deck: 'mine' is wrong at 'mine'; allowed: 'standard' or 'gamerules', or each card with its count",
        ),
        ("deck=g1:2 x1:1", "deck: 'x1' is not a card"),
        ("deck=g1:2 g1:1", "wrong at 'g1:1'"),
        ("colors=gx", "colors: ['g', 'x'] is not a set of colours"),
        ("rounds=2,play_on=True", "play_on: True does not go with rounds=2"),
    ],
)
def test_a_wrong_value_is_named(parameter: str, message: str) -> None:
    with pytest.raises(InvalidRulesError, match=re.escape(message)):
        pyspiel.load_game(f"threeup({parameter})")


@pytest.mark.parametrize(
    ("parameter", "message"), [("must_play=1", "must_play"), ("players=3", "Unknown parameter 'players'")]
)
def test_open_spiel_refuses_names_and_types(parameter: str, message: str) -> None:
    with pytest.raises(pyspiel.SpielError, match=message):
        pyspiel.load_game(f"threeup({parameter})")


def test_what_the_game_says_of_itself() -> None:
    game = load_game(Rules.house(6))
    assert (game.num_players(), game.num_distinct_actions()) == (6, 144)
    assert game.max_chance_outcomes() == len(CARDS)
    assert load_game(Rules.standard(6, pile_swaps=1)).max_chance_outcomes() == 15, "pairs of seats"
    assert load_game(Rules.standard(2)).max_chance_outcomes() == 13
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (-0.2, 1.0, 0.0)
    assert game.observation_tensor_shape() == [observation_layout(game.rules).size]
    endless = load_game(Rules.match(2, max_decisions=2**31 - 1))
    assert 0 < endless.max_game_length() < endless.max_history_length() <= 2**31 - 1


# States


@pytest.mark.parametrize(
    "rules", [Rules.house(3, max_decisions=40), Rules.mini(2), Rules.geeky(2, max_decisions=40)], ids=name
)
def test_serialization(rules: Rules) -> None:
    rng = random.Random(3)
    game = load_game(rules)
    state = game.new_initial_state()
    while not state.is_terminal():
        _, again = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
        for other in (again, pickle.loads(pickle.dumps(state)), state.clone(), copy.deepcopy(state)):
            assert isinstance(other, ThreeUpState)
            assert (str(other), other.history()) == (str(state), state.history())
        ahead = random.Random(4)
        moves = [play(again, ahead) for _ in range(3) if not again.is_terminal()]
        for move in moves:
            assert move in state.legal_actions()
            state.apply_action(move)
        assert str(again) == str(state)
        for seat in range(rules.num_players):
            assert again.information_state_string(seat) == state.information_state_string(seat)
        if not state.is_terminal():
            play(state, rng)


def test_a_clone_is_independent() -> None:
    state = load_game(Rules.mini(2)).new_initial_state()
    before = str(state)
    play(state.clone(), random.Random(1))
    assert str(state) == before
    assert state.history() == []


# What players see


def test_observers() -> None:
    game = load_game(Rules.geeky(3))
    state = game.new_initial_state()
    rng = random.Random(1)
    for _ in range(60):
        play(state, rng)
    while state.is_chance_node():
        play(state, rng)
    now, ever = make_observation(game), make_observation(game, INFO_STATE_OBS_TYPE)
    for seat in range(3):
        now.set_from(state, seat)
        observation = state.table.observation(seat)
        np.testing.assert_array_equal(now.tensor, observation)
        assert now.tensor.dtype == np.float32
        for part in observation_layout(game.rules):
            np.testing.assert_array_equal(now.dict[part.name], part.view(observation))
        assert now.string_from(state, seat) == state.observation_string(seat)
        assert (
            f"hand_size: {observation_layout(game.rules)['hand_size'].view(observation).tolist()}"
            in now.string_from(state, seat)
        )
        assert ever.tensor is None
        assert ever.string_from(state, seat) == state.information_state_string(seat) == state.table.information(seat)
    assert not game.get_type().provides_information_state_tensor


@pytest.mark.parametrize("private", [pyspiel.PrivateInfoType.NONE, pyspiel.PrivateInfoType.ALL_PLAYERS])
@pytest.mark.parametrize("perfect_recall", [False, True])
def test_other_observers_are_not_provided(private: Any, perfect_recall: bool) -> None:
    kind = pyspiel.IIGObservationType(public_info=True, perfect_recall=perfect_recall, private_info=private)
    assert make_observation(load_game(Rules()), kind) is None
    with pytest.raises(ValueError, match="params"):
        load_game(Rules()).make_py_observer(None, {"more": 1})


@pytest.mark.parametrize("rules", RULES, ids=name)
def test_resampled_states_look_the_same(rules: Rules) -> None:
    sampler = pyspiel.UniformProbabilitySampler(0.0, 1.0)
    rng = random.Random(2)
    state = load_game(rules).new_initial_state()
    while not state.is_terminal():
        if not state.is_chance_node() and rng.random() < 5 / rules.max_decisions:
            for seat in range(rules.num_players):
                other = state.resample_from_infostate(seat, sampler)
                assert other.information_state_string(seat) == state.information_state_string(seat)
                assert other.observation_tensor(seat) == state.observation_tensor(seat)
                assert other.current_player() == state.current_player()
                again = load_game(rules).new_initial_state()
                for move in other.history():
                    assert move in again.legal_actions()
                    again.apply_action(move)
                assert str(again) == str(other)
            for _ in range(4):
                if not other.is_terminal():
                    play(other, rng)
        play(state, rng)


def test_chance_is_not_resampled() -> None:
    state = load_game(Rules()).new_initial_state()
    with pytest.raises(ResampleError):
        state.resample_from_infostate(0, random.Random(1).random)


# OpenSpiel's algorithms


@pytest.mark.slow
def test_cfr_learns_a_tiny_game() -> None:
    game = load_game(Rules.mini(2, deck=Counter(["g1", "g1", "g2", "g2", "g3", "gC"]), max_decisions=4, first_player=0))
    solver = cfr.CFRSolver(game)
    before = exploitability.exploitability(game, solver.average_policy())
    for _ in range(5):
        solver.evaluate_and_update_policy()
    assert exploitability.exploitability(game, solver.average_policy()) < before / 2


def test_outcome_sampling_runs() -> None:
    np.random.seed(1)  # noqa: NPY002 (OpenSpiel draws from it)
    solver = outcome_sampling_mccfr.OutcomeSamplingSolver(load_game(Rules.mini(2)))
    for _ in range(20):
        solver.iteration()
    policy = solver.average_policy()
    state = load_game(Rules.mini(2)).new_initial_state()
    rng = random.Random(1)
    while state.is_chance_node():
        play(state, rng)
    assert sum(policy.action_probabilities(state).values()) == pytest.approx(1)


@pytest.mark.parametrize("rules", [Rules.mini(2), Rules.standard(3, max_decisions=40)], ids=name)
def test_search_bots_play(rules: Rules) -> None:
    game = load_game(rules)
    generator = np.random.RandomState(1)
    bots = [
        mcts.MCTSBot(game, 1.0, 5, mcts.RandomRolloutEvaluator(1, generator), random_state=generator),
        ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, generator), 1.0, 5, random_state=generator),
    ]
    state = game.new_initial_state()
    rng = random.Random(1)
    for _ in range(60):
        if state.is_terminal():
            break
        if state.is_chance_node():
            play(state, rng)
        else:
            action = bots[state.current_player() % 2].step(state)
            assert action in state.legal_actions()
            state.apply_action(action)


# Documentation, and the package without OpenSpiel


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_run(example: str) -> None:
    exec(compile(example, "docs/open_spiel.md", "exec"), {})


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 2


def test_without_open_spiel_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['pyspiel'] = None; import threeup_env; import threeup_env.open_spiel"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'threeup_env[openspiel]'" in run.stderr
