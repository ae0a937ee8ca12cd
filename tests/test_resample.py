"""Games drawn anew: the same to the seat, drawn from what it knows alone, and each as likely as it should be."""

from __future__ import annotations

import copy
import random
from collections import Counter

import numpy as np
import pytest

from threeup_env import Rules
from threeup_env.actions import ACTION_INDEX
from threeup_env.errors import ResampleError
from threeup_env.lazy import CHANCE, OVER, LazyGame
from threeup_env.resample import resample

from .test_lazy import dealt, steps

SHORT = {"max_decisions": 120}


def replayed(rules: Rules, moves: list[int]) -> LazyGame:
    """The game of these moves; a move that is not possible raises."""
    return dealt(rules, *moves)


@pytest.mark.parametrize(
    "rules",
    [
        Rules.standard(2, **SHORT),
        Rules.standard(3, clear_sets=True, extra_draw="refill", low_third="taken", **SHORT),
        Rules.standard(6, **SHORT),
        Rules.geeky(3, reverse_ones=True, play_on=True, **SHORT),
        Rules.gamerules(4, must_play=False, **SHORT),
        Rules.standard(3, sabotage=True, failed_flip="stay", pile_swaps=2, table_cards=2, hand_size=4, **SHORT),
        Rules.standard(2, color_swap=True, **SHORT),
        Rules.house(4, **SHORT),
        Rules.match(2, score_table_cards=True, failed_flip="stay", max_decisions=50),
        Rules.mini(2),
        Rules.mini(4, failed_flip="stay"),
    ],
    ids=repr,
)
def test_the_game_looks_the_same(rules: Rules) -> None:
    rng = random.Random(5)
    changed = 0
    often = 3 / rules.max_decisions
    for seed in range(6):
        for game, moves in steps(rules, seed):
            if game.player == CHANCE or rng.random() > often:
                continue
            seat = rng.randrange(rules.num_players)
            other = replayed(rules, resample(game, moves, seat, rng.random))
            assert other.information(seat) == game.information(seat)
            assert other.player == game.player
            np.testing.assert_array_equal(other.observation(seat), game.observation(seat))
            if game.player == seat:
                assert other.legal_actions() == game.legal_actions()
            changed += [other.information(any_seat) for any_seat in range(rules.num_players)] != [
                game.information(any_seat) for any_seat in range(rules.num_players)
            ]
    assert changed > 3


@pytest.mark.parametrize(
    "rules", [Rules.standard(3, must_play=False, **SHORT), Rules.geeky(2, **SHORT), Rules.house(2, **SHORT)]
)
def test_nothing_hidden_has_a_say(rules: Rules) -> None:
    """From two games that look the same the same numbers draw the same game."""
    rng = random.Random(6)
    for game, moves in steps(rules, 8):
        if game.player == CHANCE or rng.random() > 0.1:
            continue
        for seat in range(rules.num_players):
            other = resample(game, moves, seat, rng.random)
            number = rng.random()
            drawn = [
                resample(replayed(rules, start), start, seat, random.Random(number).random) for start in (moves, other)
            ]
            assert drawn[0] == drawn[1]


def test_nothing_changes_in_the_game() -> None:
    for game, moves in steps(Rules.mini(2), 1):
        if game.player != CHANCE:
            before = copy.deepcopy(game)
            resample(game, moves, 0, random.Random(1).random)
            assert str(before) == str(game)
            assert [before.information(seat) for seat in (0, 1)] == [game.information(seat) for seat in (0, 1)]


def test_not_where_chance_is_to_decide() -> None:
    with pytest.raises(ResampleError, match="chance is to decide"):
        resample(LazyGame(Rules.mini(2)), [], 0, random.Random(1).random)


def test_a_game_that_is_over_can_be_drawn_too() -> None:
    rules = Rules.mini(2)
    for game, moves in steps(rules, 2):
        if game.player == OVER:
            other = replayed(rules, resample(game, moves, 1, random.Random(1).random))
            assert other.player == OVER
            assert other.information(1) == game.information(1)


def hands(rules: Rules, moves: list[int], seat: int, of: int, number: int) -> Counter[str]:
    """How often each hand of `of` is drawn."""
    game = replayed(rules, moves)
    rng = random.Random(9)
    drawn: Counter[str] = Counter()
    for _ in range(number):
        drawn[replayed(rules, resample(game, moves, seat, rng.random)).hand_text(of)] += 1
    return drawn


def test_hands_are_as_likely_as_their_cards_are_many() -> None:
    """2.1: after the deal the other's two cards are any two of those not seen."""
    rules = Rules.mini(2, first_player=0)
    counts = hands(rules, [0, 1, 10, 2], seat=0, of=1, number=2000)
    left = ["1"] * 2 + ["2"] + ["3"] * 2 + ["C"] * 2
    pairs = [(a, b) for i, a in enumerate(left) for b in left[i + 1 :]]
    expected = Counter(f"{a} {b}" for a, b in pairs)
    assert set(counts) == set(expected)
    chi_square = sum(
        (counts[hand] - 2000 * n / len(pairs)) ** 2 / (2000 * n / len(pairs)) for hand, n in expected.items()
    )
    assert chi_square < 26.1, "99.9 % of a chi-square with 8 degrees of freedom"


def test_who_took_the_pile_held_nothing_playable() -> None:
    """3.4: seat 1 took a 2, so it held a 1; with the pile and no more to draw it holds a 1 and a 2."""
    rules = Rules.mini(2, first_player=0)
    moves = [0, 1, 10, 0]
    moves += [ACTION_INDEX["up 1"], ACTION_INDEX["up C"], ACTION_INDEX["play 2"], 2, ACTION_INDEX["take"]]
    assert set(hands(rules, moves, seat=0, of=1, number=50)) == {"1 2"}


def test_who_drew_instead_of_discarding_could_have_discarded() -> None:
    """8.2: seat 1 drew on a 3 with one card in hand, so that is a 3 or a Clear."""
    rules = Rules.mini(2, first_player=0, must_play=False)
    moves = [2, 0, 10, 2]
    moves += [ACTION_INDEX["up 1"], ACTION_INDEX["up C"], ACTION_INDEX["play 3"], 0, ACTION_INDEX["draw"], 1]
    counts = hands(rules, moves, seat=0, of=1, number=300)
    assert set(counts) == {"1 3", "2 3", "1 C", "2 C", "3 C"}
