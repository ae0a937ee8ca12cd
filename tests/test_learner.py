"""`LearnerBatch`: one seat learns, the others are opponents'."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from threeup_env.aec import ThreeUpAEC
from threeup_env.agents import GreedyAgent
from threeup_env.cards import NUM_COLORS, NUM_KINDS, STANDARD_DECK
from threeup_env.core.state import NO_CARD
from threeup_env.errors import (
    IllegalActionError,
    InvalidConfigError,
    InvalidRecordError,
    InvalidRulesError,
    ResetNeededError,
    UnknownAgentError,
)
from threeup_env.learner import LearnerBatch, last_place_reward
from threeup_env.observation import observation_layout
from threeup_env.rules import Rules

ARRAYS = ("observation", "action_mask", "reward", "exact_reward", "terminated", "truncated", "seat", "steps", "illegal")
RULES = {
    "standard": Rules.standard(2),
    "four": Rules.standard(4),
    "house": Rules.house(3),
    "match": Rules.match(3),
    "geeky": Rules.geeky(2),
    "gamerules": Rules.gamerules(3),
    "mini": Rules.mini(2),
    "limit": Rules.standard(3, max_decisions=60),
    "truncate": Rules.standard(3, max_decisions=60, at_limit="truncate"),
}


class Asked:
    """`greedy`, as an agent that Python has to ask; keeps what it was shown."""

    def __init__(self, rules: Rules) -> None:
        self.greedy = GreedyAgent(rules)
        self.seen: list[npt.NDArray[np.int8]] = []

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        self.seen.append(observation)
        return self.greedy.act(observation, action_mask)


class AskedInBatches(Asked):
    """The same, asked for many games at once."""

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        self.seen.extend(observations)
        return self.greedy.act_batch(observations, action_masks)


class Cheat:
    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        return int(np.argmin(action_mask))


def pick(masks: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """A legal action of each mask, any where there is none."""
    return np.argmax(masks * rng.random(masks.shape), axis=1)


def opponents_play(table: ThreeUpAEC, seat: int) -> None:
    """Let `greedy` play all other seats until `seat` decides or the game is over."""
    greedy = GreedyAgent(table.rules)
    while table.game.player not in (None, seat):
        player = table.game.player
        assert player is not None
        table.step(greedy.act(table.game.observation(player), table.game.action_mask))


def snapshot(batch: LearnerBatch) -> dict[str, npt.NDArray[Any]]:
    return {name: np.copy(getattr(batch, name)) for name in ARRAYS}


def assert_same(one: LearnerBatch, other: LearnerBatch) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def play_both(one: LearnerBatch, other: LearnerBatch, steps: int, seed: int = 0) -> int:
    """Play two batches by the same actions and compare all they say; how many games ended."""
    rng = np.random.default_rng(seed)
    ended = 0
    assert_same(one, other)
    for _ in range(steps):
        actions = pick(one.action_mask, rng)
        one.step(actions)
        other.step(actions)
        assert_same(one, other)
        ended += int((one.terminated | one.truncated).sum())
    return ended


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("reward", ["win", "place", "score"])
def test_every_game_is_the_game_of_its_seed(name: str, reward: Any) -> None:
    """Decision by decision, over several games of the same generator, with `greedy` in the other seats."""
    rules = RULES[name]
    n = rules.num_players
    children = np.random.SeedSequence(7).spawn(3)
    batch = LearnerBatch(rules, 3, "greedy", reward=reward, seed=7)
    tables = []
    for child in children:
        tables.append(ThreeUpAEC(rules, reward=reward))
        tables[-1].reset(seed=child)

    seats = [i % n for i in range(3)]
    for table, seat in zip(tables, seats, strict=True):
        opponents_play(table, seat)
    rng = np.random.default_rng(3)
    ended = 0
    for _ in range(400 if name == "match" else 150):
        np.testing.assert_array_equal(batch.seat, seats)
        for i, table in enumerate(tables):
            np.testing.assert_array_equal(batch.observation[i], table.game.observation(seats[i]))
            np.testing.assert_array_equal(batch.action_mask[i], table.game.action_mask)
        actions = pick(batch.action_mask, rng)
        batch.step(actions)
        for i, table in enumerate(tables):
            table.step(int(actions[i]))
            opponents_play(table, seats[i])
            over = table.game.player is None
            assert batch.terminated[i] == (over and table.game.outcome.ended != "truncated")
            assert batch.truncated[i] == (over and table.game.outcome.ended == "truncated")
            assert batch.exact_reward[i] == table.game.rewards(reward)[seats[i]]
            if over:
                ended += 1
                np.testing.assert_array_equal(batch.final_observation[i], table.game.observation(seats[i]))
                table.reset()
                seats[i] = (seats[i] + 1) % n
                opponents_play(table, seats[i])
    assert ended >= 3


@pytest.mark.parametrize("name", ["standard", "house", "match"])
def test_results_do_not_depend_on_threads(name: str) -> None:
    batches = [LearnerBatch(RULES[name], 7, "random", seat="random", seed=1, num_threads=k) for k in (1, 2, 5)]
    steps = 60 * RULES[name].num_players * RULES[name].rounds
    assert play_both(batches[0], batches[1], steps) > 0
    batches[0].reset(1)
    play_both(batches[0], batches[2], 20)


def test_a_game_does_not_depend_on_the_others() -> None:
    children = np.random.SeedSequence(4).spawn(5)
    batch = LearnerBatch(RULES["four"], 5, "random", seat="random", seed=4)
    alone = LearnerBatch(RULES["four"], 1, "random", seat="random", seed=[children[3]])
    rng = np.random.default_rng(0)
    for _ in range(150):
        np.testing.assert_array_equal(batch.observation[3:4], alone.observation)
        actions = pick(batch.action_mask, rng)
        batch.step(actions)
        alone.step(actions[3:4])
        np.testing.assert_array_equal(batch.reward[3:4], alone.reward)


@pytest.mark.parametrize("kind", [Asked, AskedInBatches])
@pytest.mark.parametrize("name", ["standard", "four", "house", "match"])
def test_asked_opponents_play_like_compiled_ones(kind: type[Asked], name: str) -> None:
    rules = RULES[name]
    opponent = kind(rules)
    asked = LearnerBatch(rules, 6, opponent, seed=2)
    assert play_both(asked, LearnerBatch(rules, 6, "greedy", seed=2), 300) > 0
    assert opponent.seen


def test_one_opponent_for_each_other_seat_in_playing_order() -> None:
    rules = Rules.standard(3, first_player=0)
    second, third = AskedInBatches(rules), AskedInBatches(rules)
    batch = LearnerBatch(rules, 4, [second, third], seat=0, seed=3)
    rng = np.random.default_rng(0)
    for _ in range(30):
        batch.step(pick(batch.action_mask, rng))
    first_player = observation_layout(rules)["first_player"]
    for opponent, distance in ((second, 2), (third, 1)):
        rows = first_player.view(np.stack(opponent.seen))
        assert (rows.argmax(axis=1) == distance).all()


def test_mix_is_drawn_by_weight_anew_for_each_game() -> None:
    rules = Rules.mini(2)
    mix = [AskedInBatches(rules) for _ in range(3)]
    batch = LearnerBatch(rules, 400, mix, weights=[1.0, 0.0, 3.0], seed=1)
    drawn = np.bincount(batch._tables["agent"].max(axis=1), minlength=3)
    assert drawn[1] == 0
    assert 60 < drawn[0] < 140
    before = batch._tables["agent"].max(axis=1)
    for _ in range(30):
        batch.step(batch.action_mask.argmax(axis=1))
    assert (before != batch._tables["agent"].max(axis=1)).any()
    assert not mix[1].seen


def test_opponents_change_with_the_next_game() -> None:
    """A league adds snapshots while games run: those go on with the opponents they began with."""
    rules = Rules.standard(2)
    old, new = AskedInBatches(rules), AskedInBatches(rules)
    batch = LearnerBatch(rules, 8, old, seed=5)
    untouched = LearnerBatch(rules, 8, old, seed=5)
    batch.set_opponents([old, new], weights=[0.0, 1.0])
    old.seen.clear()
    assert play_both(batch, untouched, 5) == 0
    assert not new.seen
    assert play_both(batch, untouched, 150) > 8
    assert new.seen
    batch.set_opponents("random")
    for _ in range(200):
        batch.step(batch.action_mask.argmax(axis=1))
    batch.set_opponents("greedy")
    assert old not in batch.opponents
    assert new not in batch.opponents


def test_seat_rotates_from_the_index_of_the_game() -> None:
    batch = LearnerBatch(Rules.mini(3), 5, "random", seed=1)
    assert batch.seat.tolist() == [0, 1, 2, 0, 1]
    expected = batch.seat
    for _ in range(60):
        batch.step(batch.action_mask.argmax(axis=1))
        expected = (expected + (batch.terminated | batch.truncated)) % 3
        np.testing.assert_array_equal(batch.seat, expected)
    batch.reset(1)
    assert batch.seat.tolist() == [0, 1, 2, 0, 1]
    batch.reset()
    assert batch.seat.tolist() == [1, 2, 0, 1, 2]


def test_seat_may_be_fixed_or_drawn() -> None:
    assert (LearnerBatch(Rules.mini(3), 9, seat=2, seed=1).seat == 2).all()
    assert set(LearnerBatch(Rules.mini(3), 60, seat="random", seed=1).seat.tolist()) == {0, 1, 2}


def test_a_loss_on_an_opponents_move_is_the_learners() -> None:
    """PettingZoo 1147: a single-agent wrapper trained on the opponent's reward."""
    batch = LearnerBatch(Rules.standard(2), 32, "greedy", autoreset="next", seed=1)
    rng = np.random.default_rng(1)
    won = lost = 0
    for _ in range(300):
        batch.step(pick(batch.action_mask, rng))
        for i in np.flatnonzero(batch.terminated):
            outcome = batch.game(i).outcome
            assert outcome is not None
            assert batch.exact_reward[i] == outcome.rewards[batch.seat[i]]
            won += batch.reward[i] > 0
            lost += batch.reward[i] < 0
    assert won > 5
    assert lost > 20


def test_last_observation_is_kept_where_the_mode_puts_it() -> None:
    """SuperSuit 231: the terminal observation was lost on autoreset."""
    same = LearnerBatch(Rules.standard(3), 1, "random", seat=1, seed=6)
    after = LearnerBatch(Rules.standard(3), 1, "random", seat=1, autoreset="next", seed=6)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(300):
        np.testing.assert_array_equal(same.observation, after.observation)
        actions = pick(same.action_mask, rng)
        same.step(actions)
        after.step(actions)
        assert same.terminated == after.terminated
        assert same.reward == after.reward
        if same.terminated:
            ended += 1
            np.testing.assert_array_equal(same.final_observation, after.observation)
            assert not after.action_mask.any()
            after.step([0])
            assert not after.terminated
            assert after.reward == 0
    assert ended == 3


@pytest.mark.parametrize("reward", ["win", "place", "score"])
def test_an_illegal_action_ends_the_game_in_last_place(reward: Any) -> None:
    """PettingZoo 185: an illegal move's consequences were unclear; never terminated and truncated at once."""
    rules = Rules.match(3)
    batch = LearnerBatch(rules, 3, reward=reward, autoreset="next", seed=1)
    actions = batch.action_mask.argmax(axis=1)
    actions[1] = np.argmin(batch.action_mask[1])
    batch.step(actions)
    assert batch.terminated.tolist() == [False, True, False]
    assert not batch.truncated.any()
    assert batch.illegal.tolist() == [False, True, False]
    assert batch.exact_reward[1] == last_place_reward(rules, reward)
    assert not batch.action_mask[1].any()
    batch.step(batch.action_mask.argmax(axis=1))
    assert not batch.illegal.any()
    assert batch.action_mask.any(axis=1).all()


def test_last_place_reward_is_the_lowest() -> None:
    assert last_place_reward(Rules.standard(4), "win") == -1 / 3
    assert last_place_reward(Rules.standard(4), "place") == -1.0
    # Seven of each number, 7 C, 6 C+1, 1 C+2.
    assert last_place_reward(Rules.match(4), "score") == -3 * (7 * 55 + 7 * 15 + 6 * 20 + 25) / 100


@pytest.mark.parametrize("wrong", [-1, 143, 10**9, 91])
def test_an_illegal_action_may_be_an_error_that_changes_nothing(wrong: int) -> None:
    batch = LearnerBatch(Rules.standard(2), 4, illegal_action="raise", seed=1)
    before, states, tables = snapshot(batch), batch._states.tobytes(), batch._tables.tobytes()
    actions = batch.action_mask.argmax(axis=1)
    actions[2] = wrong
    with pytest.raises(IllegalActionError, match=rf"env 2: action {wrong}\b.*illegal; legal: up "):
        batch.step(actions)
    assert states == batch._states.tobytes()
    assert tables == batch._tables.tobytes()
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(batch, name), value)


@pytest.mark.parametrize("wrong", [[0.0, 1.0], [0], [[0, 1]], ["a", "b"], [True, False]])
def test_actions_must_be_integers_one_a_game(wrong: Any) -> None:
    with pytest.raises(IllegalActionError, match="allowed: 2 integers"):
        LearnerBatch(Rules.standard(2), 2, seed=1).step(wrong)


def test_an_opponent_that_cheats_is_named() -> None:
    with pytest.raises(IllegalActionError, match=r"opponent .*Cheat.* in env \d+: action .* legal: up"):
        batch = LearnerBatch(Rules.standard(2), 4, Cheat(), seed=1)
        for _ in range(5):
            batch.step(batch.action_mask.argmax(axis=1))


def test_a_broken_step_needs_a_reset() -> None:
    rules = Rules.standard(2)

    class Breaks(AskedInBatches):
        def act_batch(self, observations: Any, action_masks: Any) -> Any:
            if len(self.seen) > 60:
                raise RuntimeError("out of memory")
            return super().act_batch(observations, action_masks)

    opponent = Breaks(rules)
    batch = LearnerBatch(rules, 4, opponent, seed=1)
    with pytest.raises(RuntimeError, match="out of memory"):
        for _ in range(100):
            batch.step(batch.action_mask.argmax(axis=1))
    with pytest.raises(ResetNeededError, match="reset"):
        batch.step(batch.action_mask.argmax(axis=1))
    opponent.seen.clear()
    batch.reset(1)
    batch.step(batch.action_mask.argmax(axis=1))


def test_a_game_without_a_decision_of_the_learner_is_left_out() -> None:
    rules = Rules.standard(2, max_decisions=1)
    batch = LearnerBatch(rules, 4, seat=1, seed=1)
    first_player = observation_layout(rules)["first_player"]
    for _ in range(20):
        assert (first_player.view(batch.observation)[:, 0] == 1).all()
        batch.step(batch.action_mask.argmax(axis=1))
        assert batch.terminated.all()
    with pytest.raises(InvalidRulesError, match="max_decisions: with 1"):
        LearnerBatch(Rules.standard(2, max_decisions=1, first_player=0), 1, seat=1, seed=1)


def test_options_fix_the_deals_of_the_games_that_reset_starts() -> None:
    rules = Rules.match(2, pile_swaps=2)
    deck = [card for card, count in STANDARD_DECK.items() for _ in range(count)]
    options = {
        "decks": [deck, deck[::-1]],
        "first_player": 1,
        "pile_swaps": [[(0, 1), (1, 0)], [(0, 1), (0, 1)]],
        "unknown": 1,
    }
    batch = LearnerBatch(rules, 2, "greedy", seat=0, seed=1)
    batch.reset(3, options)
    table = ThreeUpAEC(rules)
    table.reset(seed=np.random.SeedSequence(3).spawn(2)[1], options=options)
    assert table.game.player == 1
    opponents_play(table, 0)
    over = False
    while not over:
        np.testing.assert_array_equal(batch.observation[1], table.game.observation(0))
        actions = batch.action_mask.argmax(axis=1)
        batch.step(actions)
        table.step(int(actions[1]))
        opponents_play(table, 0)
        over = table.game.player is None
        assert batch.terminated[1] == over
    np.testing.assert_array_equal(batch.final_observation[1], table.game.observation(0))
    decks = [list(deal.deck) for deal in table.game.record().deals]
    assert decks[:2] == options["decks"]
    assert decks[2] not in decks[:2]
    # The next game is drawn again, from where the generator stands.
    table.reset()
    opponents_play(table, 0)
    np.testing.assert_array_equal(batch.observation[1], table.game.observation(0))


def test_bad_options_and_seeds_change_nothing() -> None:
    batch = LearnerBatch(Rules.standard(2), 2, seed=1)
    other = LearnerBatch(Rules.standard(2), 2, seed=1)
    for options in ({"decks": [["g1"]]}, {"first_player": 2}, {"pile_swaps": [[(0, 1)]]}):
        with pytest.raises(InvalidRecordError):
            batch.reset(9, options)
    for seed in (-1, "x", [1, 2, 3], 1.5, [0.5, "y"]):
        with pytest.raises(InvalidConfigError, match="seed"):
            batch.reset(seed)  # type: ignore[arg-type]
    play_both(batch, other, 40)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_copies_in_mid_game_are_exact_and_independent(duplicate: Callable[[LearnerBatch], LearnerBatch]) -> None:
    """PettingZoo 1307, 1186, 1271: copies lost state; the generators are part of it."""
    batch = LearnerBatch(Rules.house(3), 5, ["random", "greedy"], weights=[1, 1], seat="random", seed=1)
    for _ in range(40):
        batch.step(batch.action_mask.argmax(axis=1))
    twin = duplicate(batch)
    assert play_both(batch, twin, 150) > 0
    before = snapshot(twin)
    batch.step(batch.action_mask.argmax(axis=1))
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(twin, name), value)


def test_a_seed_means_the_same_every_time_and_reset_goes_on() -> None:
    """PettingZoo 1223: reset(seed) then reset() was not reproducible."""
    one, other = (LearnerBatch(Rules.standard(3), 3, "random", seat="random", seed=seed) for seed in (1, 2))
    for batch in (one, other):
        for _ in range(10):
            batch.step(batch.action_mask.argmax(axis=1))
        batch.reset(8)
        batch.step(batch.action_mask.argmax(axis=1))
        batch.reset()
    play_both(one, other, 60)
    one.reset([5, None, 6])
    other.reset([5, None, 6])
    play_both(one, other, 20)


def test_seeding_does_not_count_up_in_the_callers_sequence() -> None:
    sequence = np.random.SeedSequence(3)
    one = LearnerBatch(Rules.standard(2), 2, seed=sequence)
    play_both(one, LearnerBatch(Rules.standard(2), 2, seed=sequence), 5)
    assert sequence.n_children_spawned == 0


def test_a_running_game_has_a_legal_action() -> None:
    """sb3-contrib 81, 247: all-false masks."""
    batch = LearnerBatch(Rules.house(4), 16, "random", seed=1)
    rng = np.random.default_rng(0)
    for _ in range(200):
        assert batch.action_mask.any(axis=1).all()
        batch.step(pick(batch.action_mask, rng))


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_envs": 0},
        {"num_envs": True},
        {"num_threads": 0},
        {"seat": 3},
        {"seat": "left"},
        {"seat": True},
        {"reward": "points"},
        {"illegal_action": "ignore"},
        {"autoreset": "never"},
        {"opponent": ["greedy"]},
        {"opponent": ["greedy"], "weights": [0.0]},
        {"opponent": ["greedy"], "weights": [-1.0]},
        {"opponent": ["greedy"], "weights": [float("nan")]},
        {"opponent": ["greedy"], "weights": [1.0, 1.0]},
        {"seed": -1},
    ],
)
def test_wrong_arguments_are_named(wrong: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"rules": Rules.standard(3), "num_envs": 2} | wrong
    name = "weights" if "weights" in wrong else next(iter(wrong))
    with pytest.raises(InvalidConfigError, match=rf"{name}: .*allowed: "):
        LearnerBatch(**arguments)


def test_unknown_opponents_are_named() -> None:
    with pytest.raises(UnknownAgentError, match="allowed"):
        LearnerBatch(Rules.standard(3), 2, "clever")
    with pytest.raises(UnknownAgentError, match="allowed"):
        LearnerBatch(Rules.standard(3), 2, GreedyAgent(Rules.standard(2)))


@pytest.mark.parametrize("rules", [Rules.standard(2), Rules.house(4)], ids=["standard", "house"])
def test_hidden_cards_are_the_hands_of_the_others_and_all_3down_cards(rules: Rules) -> None:
    batch = LearnerBatch(rules, 8, "random", seed=3, seat="rotate")
    rng = np.random.default_rng(1)
    n = rules.num_players
    for _ in range(40):
        hidden = batch.hidden_cards().reshape(8, 2 * n - 1, NUM_KINDS)
        for index in range(8):
            state, seat = batch._states[index], int(batch.seat[index])
            order = [(seat + distance) % n for distance in range(n)]
            assert hidden[index, : n - 1].tolist() == state["hand"][order[1:]].tolist()
            for row, other in zip(hidden[index, n - 1 :], order, strict=True):
                kinds = [card // NUM_COLORS for card in state["down"][other].tolist() if card != NO_CARD]
                assert row.tolist() == np.bincount(kinds, minlength=NUM_KINDS).tolist()
        legal = [rng.choice(np.flatnonzero(mask)) for mask in batch.action_mask]
        batch.step(np.array(legal))
