"""The agent that searches: what it reads, what it counts, and that every face can ask it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from threeup_env import Game, Rules
from threeup_env.actions import ACTION_INDEX, ACTIONS
from threeup_env.agents import Agent, PolicyAgent, SearchAgent, StateAgent, act_game, agent_names, make_agent
from threeup_env.agents import search as module
from threeup_env.agents.networks import MLP
from threeup_env.agents.policy import make_header, save_policy
from threeup_env.cli import main
from threeup_env.core import search as core
from threeup_env.core.state import STATE
from threeup_env.errors import IllegalActionError, InvalidConfigError, InvalidPolicyError, UnknownAgentError
from threeup_env.evaluate import evaluate
from threeup_env.learner import LearnerBatch
from threeup_env.observation import observation_layout
from threeup_env.record import read_records

from .tables import choose, play
from .test_hiding import twin

RULES = Rules.standard(2)
METHODS = ("flat", "tree")
PRESETS = (Rules.standard(3), Rules.geeky(2), Rules.house(4), Rules.match(2), Rules.mini(2), Rules.gamerules(2))


def positions(rules: Rules, seed: int, count: int) -> list[Game]:
    """Games with a choice to make, at different stages."""
    rng = random.Random(seed)
    found: list[Game] = []
    while len(found) < count:
        game = Game(rules, rng.getrandbits(32))
        while game.player is not None and len(found) < count:
            if len(game.legal_actions) > 1 and rng.random() < 0.1:
                found.append(game.copy())
            game.play(choose(game, rng, 0.6))
    return found


def states_of(games: list[Game]) -> np.ndarray:
    return np.concatenate([game._states for game in games])


# What it reads


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rules", [RULES, Rules.house(3, failed_flip="stay"), Rules.match(2)], ids=repr)
def test_it_chooses_the_same_where_only_hidden_cards_differ(rules: Rules, method: Any) -> None:
    rng = random.Random(5)
    agent = SearchAgent(rules, 30, method=method, random_moves=0.2, seed=3)
    for game in positions(rules, 1, 12):
        assert game.player is not None
        found = agent.analyze(game)
        for _ in range(3):
            assert agent.analyze(twin(game, game.player, rng)) == found
        assert ACTIONS[agent.act_game(game)] == found[0].action


def test_games_that_are_handed_in_stay_as_they_are() -> None:
    games = positions(RULES, 2, 3)
    states = states_of(games)
    before = states.tobytes()
    agent = SearchAgent(RULES, 10)
    agent.act_states(states)
    agent.analyze(games[0])
    assert states.tobytes() == before


# What it counts


@pytest.mark.parametrize("parts", [1, 3])
def test_a_tree_plays_as_many_simulations_as_it_is_told(parts: int) -> None:
    for game in positions(RULES, 3, 4):
        for simulations in (1, 2, 50):
            values = SearchAgent(RULES, simulations, method="tree", parts=parts).analyze(game)
            assert sum(value.simulations for value in values) == simulations
            assert [value.action for value in values] != []
            assert all(-1 <= value.value <= 1 for value in values)


@pytest.mark.parametrize("parts", [1, 3])
def test_flat_search_halves_the_actions(parts: int) -> None:
    for game in positions(RULES, 3, 6):
        values = SearchAgent(RULES, 400, parts=parts).analyze(game)
        visits = [value.simulations for value in values]
        assert 400 - 30 * parts <= sum(visits) <= 400
        assert min(visits) >= 1
        assert visits == sorted(visits, reverse=True)
        if parts == 1:
            # Two are left in the last round; the one with the better mean is taken.
            assert visits[0] == visits[1]
            assert values[0].value >= values[1].value
            assert len(set(visits)) == max(1, (len(visits) - 1).bit_length())


def test_flat_search_tries_every_action_once_at_least() -> None:
    game = Game(RULES, 1)
    values = SearchAgent(RULES, 1).analyze(game)
    assert sorted(value.action for value in values) == sorted(game.legal_actions)
    assert all(value.simulations >= 1 for value in values)


@pytest.mark.parametrize("method", METHODS)
def test_it_sees_that_it_wins_at_once(method: Any) -> None:
    """An action that goes out is worth 1, whatever else there is."""
    for game, action in wins_at_hand(8):
        values = {one.action: one for one in SearchAgent(RULES, 60, method=method).analyze(game)}
        assert values[action].value == 1.0
        best = ACTIONS[SearchAgent(RULES, 60, method=method).act_game(game)]
        assert values[best].value == 1.0


def wins_at_hand(count: int) -> list[tuple[Game, str]]:
    """Positions with a choice, in which one action goes out for certain, and that action."""
    rng = random.Random(4)
    found = []
    while len(found) < count:
        game = Game(RULES, rng.getrandbits(32))
        while game.player is not None:
            if len(game.legal_actions) > 1 and not game.legal_actions[0].startswith("flip"):
                for action in game.legal_actions:
                    after = play(game.copy(), action)
                    if after.outcome is not None and after.outcome.places[game.player] == 1:
                        found.append((game.copy(), action))
                        break
            game.play(choose(game, rng, 0.8))
    return found[:count]


@pytest.mark.parametrize("method", METHODS)
def test_games_without_an_end_are_cut(method: Any) -> None:
    rules = Rules(2, max_decisions=10**15)
    game = Game(rules, 1)
    assert SearchAgent(rules, 20, method=method, horizon=40).act_game(game) in game.legal_indices()


@pytest.mark.parametrize("horizon", [10, 1000])
def test_a_simulation_meets_the_limit_of_the_rules_or_its_horizon(horizon: int) -> None:
    """6.3: whichever is nearer."""
    rules = Rules(2, max_decisions=60)
    agent = SearchAgent(rules, horizon=horizon)
    game = Game(rules, 1)
    tables = np.zeros(core.NUM_TABLES, STATE)
    rng = random.Random(1)
    while game.player is not None:
        core.begin(game._states, 0, agent._switches, agent._setting, tables)
        left = int(agent._switches["max_decisions"][0] - tables["decisions"][core.BASE])
        laid_up = int(game.state.up_size.sum())
        made = game.decision if game.state.revealed else laid_up
        assert left == min(60 - made, horizon)
        game.play(choose(game, rng, 0.0))


def test_a_tree_that_is_full_learns_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_NODES", 160)
    values = SearchAgent(RULES, 600, method="tree").analyze(Game(RULES, 1))
    assert sum(value.simulations for value in values) == 600


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_budget_of_time(method: Any, threads: int) -> None:
    agent = SearchAgent(RULES, milliseconds=5, method=method, num_threads=threads)
    games = positions(RULES, 6, 3)
    for game, action in zip(games, agent.act_states(states_of(games)).tolist(), strict=True):
        assert action in game.legal_indices()
    values = agent.analyze(games[0])
    assert all(value.simulations > 0 for value in values)


# The same again


@pytest.mark.parametrize("method", METHODS)
def test_it_is_the_same_for_any_number_of_threads_and_in_any_batch(method: Any) -> None:
    games = positions(Rules.house(3), 7, 10)
    states = states_of(games)
    agents = [
        SearchAgent(Rules.house(3), 40, method=method, parts=2, num_threads=threads, seed=9) for threads in (1, 2, 5)
    ]
    together = [agent.act_states(states).tolist() for agent in agents]
    assert together[0] == together[1] == together[2]
    assert agents[1].act_states(states[::-1].copy()).tolist() == together[0][::-1]
    assert [agents[0].act_game(game) for game in games] == together[0]


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_decides(method: Any) -> None:
    game = Game(RULES, 1)
    values = [SearchAgent(RULES, 40, method=method, seed=seed).analyze(game) for seed in (1, 1, 2, 2**70)]
    assert values[0] == values[1]
    assert values[0] != values[2] != values[3]


# Every rule, every face


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rules", PRESETS, ids=repr)
def test_it_plays_under_every_preset(rules: Rules, method: Any) -> None:
    agent = SearchAgent(rules, 4, method=method, seed=1)
    games = [Game(rules, seed) for seed in range(3)]
    while any(game.player is not None for game in games):
        playing = [game for game in games if game.player is not None]
        for game, action in zip(playing, agent.act_states(states_of(playing)).tolist(), strict=True):
            game.play(action)


def test_names() -> None:
    assert "search" in agent_names()
    assert repr(make_agent("search", RULES)) == "SearchAgent(1000 simulations, flat)"
    agent = make_agent("search:25", RULES, seed=4)
    assert repr(agent) == "SearchAgent(25 simulations, flat)"
    assert isinstance(agent, Agent)
    assert isinstance(agent, StateAgent)
    game = Game(RULES, 3)
    assert act_game(agent, game) == SearchAgent(RULES, 25, seed=4).act_game(game)
    assert make_agent(agent, RULES) is agent
    with pytest.raises(UnknownAgentError, match="allowed: an agent made for these rules"):
        make_agent(agent, Rules.standard(3))


@pytest.mark.parametrize(
    "name", ["search:", "search:0", "search:-1", "search:1e3", "search:ten", "search: 5", "Search"]
)
def test_wrong_names(name: str) -> None:
    with pytest.raises(UnknownAgentError, match=r"is unknown; allowed: .*'search', .*'search:SIMULATIONS'"):
        make_agent(name, RULES)


def test_evaluate_asks_it_on_either_side() -> None:
    figures = evaluate("ThreeUp/2p-v0", "search:8", "random", games=20, seed=1)
    assert figures == evaluate("ThreeUp/2p-v0", "search:8", "random", games=20, seed=1).__class__(**(figures.to_dict()))
    assert figures.win_rate > 0.6
    other = evaluate("ThreeUp/2p-v0", "random", "search:8", games=20, seed=1)
    assert other.win_rate < 0.4


@pytest.mark.slow
def test_it_beats_greedy() -> None:
    """docs/search.md measures it on many more games."""
    agent = SearchAgent(RULES, 300, num_threads=2)
    assert evaluate("ThreeUp/2p-v0", agent, "greedy", games=200, seed=1).win_rate > 0.55


def test_batches_ask_it() -> None:
    batch = LearnerBatch(Rules.standard(3), 6, "search:3", seed=1)
    same = LearnerBatch(Rules.standard(3), 6, SearchAgent(Rules.standard(3), 3, num_threads=2), seed=1)
    for _ in range(25):
        actions = batch.action_mask.argmax(axis=1)
        batch.step(actions)
        same.step(actions)
        assert batch.observation.tolist() == same.observation.tolist()
    mixed = LearnerBatch(RULES, 4, ["search:2", "greedy"], weights=[1, 1], seed=2)
    for _ in range(20):
        mixed.step(mixed.action_mask.argmax(axis=1))


def test_gymnasium_asks_it() -> None:
    env = gymnasium.make("ThreeUp/2p-v0", opponent="search:3")
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        over = terminated or truncated


def test_the_command_records_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "games.jsonl"
    arguments = f"record --env ThreeUp/House-2p-v0 --agents search:3,greedy --games 2 --seed 1 --out {out}"
    monkeypatch.setattr("sys.argv", ["threeup", *arguments.split()])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    records = list(read_records(out))
    assert [record.players for record in records] == [("search:3", "greedy")] * 2
    for number, record in enumerate(records):
        assert len(list(record.replay(number))) > 20


def test_a_search_of_ones_own() -> None:
    """The protocol: whoever has `act_states` is given games."""

    class Own:
        def __init__(self) -> None:
            self.asked: list[np.ndarray] = []

        def act(self, observation: Any, action_mask: Any) -> int:
            raise UnknownAgentError("ask with states")

        def act_states(self, states: np.ndarray) -> np.ndarray:
            self.asked.append(states)
            actions = []
            for legal in states["legal"]:
                word = int(np.flatnonzero(legal)[0])
                actions.append(63 * word + (int(legal[word]) & -int(legal[word])).bit_length() - 1)
            states["hand"] = 0  # what it is given is its own
            return np.array(actions)

    own = Own()
    first = evaluate("ThreeUp/2p-v0", own, "greedy", games=4, seed=1)
    assert first.games == 4
    assert all(states.dtype == STATE for states in own.asked)
    game = Game(RULES, 1)
    assert act_game(own, game) == game.legal_indices()[0]
    assert game.state.hand.any()


# Priors


def uneven_policy(path: Path, action: str) -> Path:
    """A policy that always puts nearly everything on one action."""
    size, num_actions = observation_layout(RULES).size, RULES.num_actions
    weights = {
        "action.weight": np.zeros((num_actions, size), np.float32),
        "action.bias": np.zeros(num_actions, np.float32),
    }
    weights["action.bias"][ACTION_INDEX[action]] = 20.0
    save_policy(path, weights, make_header(RULES, MLP(hidden=())))
    return path


def test_priors_lead_the_first_simulations(tmp_path: Path) -> None:
    game = Game(RULES, 1)
    for action in game.legal_actions:
        path = uneven_policy(tmp_path / "p.safetensors", action)
        for priors in (path, str(path), make_agent(path, RULES)):
            agent = SearchAgent(RULES, 3, method="tree", exploration=10.0, priors=priors)  # type: ignore[arg-type]
            values = agent.analyze(game)
            assert (values[0].action, values[0].simulations) == (action, 3)
    # With more simulations than the priors can outweigh, others are tried.
    agent = SearchAgent(RULES, 500, method="tree", priors=uneven_policy(tmp_path / "q.safetensors", "up 1"))
    assert sum(value.simulations for value in agent.analyze(game)) == 500


def test_priors_must_be_a_policy_for_these_rules_and_a_tree(tmp_path: Path) -> None:
    path = uneven_policy(tmp_path / "p.safetensors", "up 1")
    with pytest.raises(InvalidConfigError, match=r"priors: .* method='flat'; allowed: 'tree'"):
        SearchAgent(RULES, priors=path)
    with pytest.raises(UnknownAgentError, match="priors: 'greedy' is no policy"):
        SearchAgent(RULES, method="tree", priors="greedy")
    with pytest.raises(InvalidPolicyError, match="is for the rules"):
        SearchAgent(Rules.geeky(2), method="tree", priors=path)
    policy = make_agent(path, RULES)
    assert isinstance(policy, PolicyAgent)
    with pytest.raises(UnknownAgentError, match=r"priors: .* plays under"):
        SearchAgent(Rules.geeky(2), method="tree", priors=policy)


# What it refuses


def test_an_observation_is_not_enough() -> None:
    game = Game(RULES, 1)
    agent = SearchAgent(RULES, 5)
    with pytest.raises(UnknownAgentError, match=r"needs the game.*allowed: act_game\(game\)"):
        agent.act(game.observation(0), game.action_mask)


def test_a_game_that_is_over_or_has_other_rules() -> None:
    agent = SearchAgent(RULES, 5)
    game = Game(RULES, 1)
    rng = random.Random(1)
    while game.player is not None:
        game.play(choose(game, rng, 1.0))
    for ask in (agent.act_game, agent.analyze):
        with pytest.raises(IllegalActionError, match="the game is over"):
            ask(game)
        with pytest.raises(UnknownAgentError, match="the game has"):
            ask(Game(Rules.geeky(2), 1))


WRONG: list[dict[str, Any]] = [
    {"simulations": 0},
    {"simulations": 2.5},
    {"simulations": True},
    {"simulations": 2**31},
    {"milliseconds": 0},
    {"milliseconds": float("nan")},
    {"milliseconds": "5"},
    {"method": "mcts"},
    {"method": 1},
    {"exploration": -1},
    {"random_moves": 1.5},
    {"horizon": 0},
    {"reward": "money"},
    {"parts": 0},
    {"num_threads": 0},
    {"seed": -1},
    {"seed": None},
]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_wrong_setting_is_named(wrong: dict[str, Any]) -> None:
    (name, value) = next(iter(wrong.items()))
    with pytest.raises(InvalidConfigError, match=f"{name}: .*{value!r}.* is wrong; allowed: "):
        SearchAgent(RULES, **wrong)
