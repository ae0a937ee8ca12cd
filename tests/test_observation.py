"""The observation: its table, its numbers, and its shape under all rules."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from threeup_env.cards import CARDS, MAX_DECK, NUM_KINDS
from threeup_env.core import state as core
from threeup_env.game import Game
from threeup_env.observation import ENCODING, MOST_EXTRAS, Part, limit_digits, observation_layout
from threeup_env.rules import Rules

from .strategies import rules_strategy
from .tables import choose, decode, play, state_of, table

MANY = settings(deadline=None, max_examples=100, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
FAMILIES = (Rules.standard, Rules.gamerules, Rules.geeky, Rules.house, Rules.match)
NAMED = [family(players) for family in FAMILIES for players in range(2, 7)] + [Rules.mini(2)]
"""The rules of every environment ID."""


# The table


@MANY
@given(rules_strategy())
def test_slices_are_contiguous_and_cover_the_observation(rules: Rules) -> None:
    layout = observation_layout(rules)
    start = 0
    for part in layout:
        assert part.start == start
        assert part.stop == part.start + part.size == part.start + int(np.prod(part.shape))
        assert part.size > 0
        assert part.low <= 0 < part.high
        assert part.meaning
        start = part.stop
    assert start == layout.size == len(layout.low) == len(layout.high)


@MANY
@given(rules_strategy())
def test_names_are_unique_and_those_of_the_parts(rules: Rules) -> None:
    layout = observation_layout(rules)
    names = [part.name for part in layout]
    assert len(names) == len(set(names)) == len(layout)
    assert names == [part.name.lower() for part in Part if part.name.lower() in names], "in the order of the parts"
    for part in layout:
        assert part.name in layout
        assert layout[part.name] is part
    assert "hands" not in layout
    with pytest.raises(KeyError, match="no slice 'hands'; there are: hand, "):
        layout["hands"]


def test_parts_that_the_rules_lack_are_left_out() -> None:
    plain = observation_layout(Rules())
    for name, switches in {
        "direction": {"reverse_ones": True},
        "place": {"play_on": True},
        "deal": {"rounds": 2},
        "total": {"rounds": 2},
        "lead": {"rounds": 2},
        "down_seen": {"failed_flip": "stay"},
        "seen_kind": {"failed_flip": "stay"},
        "row": {"color_swap": True},
        "hand_card": {"color_swap": True},
        "said": {"color_swap": True},
        "give_kind": {"color_swap": True},
        "want_kind": {"sabotage": True},
        "victim": {"sabotage": True},
    }.items():
        assert name not in plain
        assert name in observation_layout(Rules(**switches))


@pytest.mark.parametrize("rules", NAMED, ids=lambda rules: f"{rules.num_players}")
def test_the_documented_shape_is_the_real_one(rules: Rules) -> None:
    layout = observation_layout(rules)
    game = Game(rules, seed=3)
    for seat in range(rules.num_players):
        observation = game.observation(seat)
        assert (observation.shape, observation.dtype) == ((layout.size,), np.int8)
        views = [part.view(observation) for part in layout]
        assert [view.shape for view in views] == [part.shape for part in layout]
        assert np.concatenate([view.ravel() for view in views]).tolist() == observation.tolist()
    assert observation_layout(Rules.from_dict(rules.to_dict())) == layout


def test_views_of_a_batch() -> None:
    game = Game(Rules(3), seed=3)
    batch = np.stack([game.observation(seat) for seat in range(3)])
    for part in observation_layout(game.rules):
        view = part.view(batch)
        assert view.shape == (3, *part.shape)
        assert (view[1] == part.view(batch[1])).all()


def test_describe_is_a_markdown_table() -> None:
    layout = observation_layout(Rules.house(4, failed_flip="stay"))
    lines = layout.describe().splitlines()
    assert lines[:2] == ["| index | name | shape | range | meaning |", "|---|---|---|---|---|"]
    assert len(lines) == len(layout) + 2
    for line, part in zip(lines[2:], layout, strict=True):
        match = re.fullmatch(r"\| (\d+)\.\.(\d+) \| `(\w+)` \| ([\dx]+) \| (-?\d+)\.\.(\d+) \| (.+) \|", line)
        assert match
        assert (int(match[1]), int(match[2]) + 1, match[3]) == (part.start, part.stop, part.name)
        assert tuple(map(int, match[4].split("x"))) == part.shape
        assert (int(match[5]), int(match[6]), match[7]) == (part.low, part.high, part.meaning)


def test_the_encoding_is_versioned() -> None:
    assert re.fullmatch(r"threeup-observation/\d+", ENCODING)


def test_observations_are_the_callers() -> None:
    game = Game(Rules(), seed=1)
    observation = game.observation(0)
    kept = observation.copy()
    observation[:] = 0
    assert game.observation(0).tolist() == kept.tolist()


@pytest.mark.parametrize("seat", [-1, 2, 6])
def test_no_such_seat(seat: int) -> None:
    with pytest.raises(ValueError, match="no seat"):
        Game(Rules(2), seed=1).observation(seat)


# Every number that can occur is there, within the bounds


def within(game: Game, seat: int) -> bool:
    layout, observation = observation_layout(game.rules), game.observation(seat)
    return bool((observation >= layout.low).all() and (observation <= layout.high).all())


@pytest.mark.parametrize("count", range(8))
def test_counts(count: int) -> None:
    game = Game(Rules(), seed=1)
    s = state_of(game)
    s["revealed"] = 1
    for name in ("hand", "known"):
        s[name][0, 4] = count
    s["removed"][4] = count
    s["up"][1, 4] = min(count, 3)
    s["pile"][4] = min(count, 2)
    seen = decode(game, 0)
    assert (seen["hand"][4], seen["known"][0][4], seen["removed"][4]) == (count, count, count)
    assert (seen["up"][1][4], seen["pile"][4]) == (min(count, 3), min(count, 2))
    assert within(game, 0)


def test_counts_by_card() -> None:
    rules = Rules(2, deck={"g5": 7, "g1": 7, "g2": 7}, color_swap=True)
    for count in range(8):
        game = Game(rules, seed=1)
        state_of(game)["hand_card"][0, 12] = state_of(game)["removed_card"][12] = count
        seen = decode(game, 0)
        assert (seen["hand_card"][12], seen["removed_card"][12]) == (count, count)
        assert within(game, 0)


def test_sizes() -> None:
    deck = {color + kind: count for kind in map(str, range(1, 11)) for color, count in (("g", 3), ("r", 2), ("b", 2))}
    deck |= {"gC": 7, "gC+1": 7, "gC+2": 7}
    rules = Rules(2, deck=deck)
    assert rules.deck_size == MAX_DECK == 91
    for size in range(MAX_DECK + 1):
        game = Game(rules, seed=1)
        s = state_of(game)
        s["hand_size"][1] = size
        s["drawn"] = MAX_DECK - size
        seen = decode(game, 0)
        assert (seen["hand_size"][1], seen["draw_pile"]) == (size, size)
        assert within(game, 0)


def test_extras_at_their_most() -> None:
    """No more than this can be owed: seven C+2, then seven C+1, each an extra of the one before."""
    for owed in range(MOST_EXTRAS + 1):
        game = Game(Rules(), seed=1)
        s = state_of(game)
        s["revealed"], s["phase"], s["extras"] = 1, core.TURN, owed
        assert decode(game, 0)["extras"] == owed
        assert within(game, 0)


@pytest.mark.parametrize("limit", [1, 7, 8, 63, 64, 300, 1000, 4095, 4096, 10**6, 2**31 - 1, 2**31, 2**62])
def test_decisions_left(limit: int) -> None:
    rules = Rules(2, max_decisions=limit)
    assert observation_layout(rules)["decisions_left"].shape == (limit_digits(limit),)
    assert 8 ** limit_digits(limit) > limit
    game = Game(rules, seed=1)
    assert decode(game, 0)["decisions_left"] == limit
    play(game, game.legal_actions[0])
    assert decode(game, 0)["decisions_left"] == limit - 1
    assert within(game, 0)


@pytest.mark.parametrize("limit", [2**63 - 1, 2**63, 10**30])
def test_limits_without_end(limit: int) -> None:
    """6.3: `max_decisions` has no upper bound."""
    game = Game(Rules(2, max_decisions=limit), seed=1)
    for _ in range(10):
        play(game, game.legal_actions[0])
    assert within(game, 0)


@pytest.mark.parametrize("total", [0, 1, 7, 8, 511, 512, 100_000, 200_000])
def test_totals(total: int) -> None:
    game = Game(Rules(3, rounds=100), seed=1)
    s = state_of(game)
    s["total"][1], s["deal"] = total, 99
    seen = decode(game, 0)
    assert (seen["total"], seen["deal"]) == ([0, total, 0], 99)
    assert seen["lead"][1] == [int(total > least) for least in (-60, -30, -15, -5, 0, 5, 15, 30)]
    assert seen["lead"][0] == [1, 1, 1, 1, 0, 0, 0, 0]
    assert decode(game, 1)["lead"][2] == [int(-total > least) for least in (-60, -30, -15, -5, 0, 5, 15, 30)]
    assert within(game, 0)


def test_totals_of_the_longest_match_fit() -> None:
    most = 100 * sum(7 * points for points in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25))
    digits = observation_layout(Rules(2, rounds=100))["total"].shape[-1]
    assert 8**digits > most
    assert np.iinfo(core.STATE["total"].base).max > most
    assert np.iinfo(core.STATE["score"].base).max > most // 100


def test_finished_deals_up_to_a_hundred() -> None:
    game = table("g9 | g8 | g1", "r9 | r8 | r2", rounds=100, max_decisions=2, lay_up=False)
    while game.player is not None:
        assert decode(game, 0)["deal"] == game.deal
        assert within(game, 0)
        play(game, game.legal_actions[0])
    assert decode(game, 0)["deal"] == 100
    assert within(game, 0)


# Seats are relative


@MANY
@given(rules_strategy(first_player=0, pile_swaps=0, rounds=1), st.integers(0, 2**32 - 1), st.data())
def test_seats_are_relative(rules: Rules, seed: int, data: st.DataObject) -> None:
    """The same game one seat further on: each player observes what they observed before."""
    n = rules.num_players
    by = data.draw(st.integers(1, n - 1))
    moved = Rules.from_dict(rules.to_dict() | {"first_player": by})
    cards = [CARDS[card] for card in Game(rules, seed)._deals[0].deck]
    game = Game(rules, decks=[cards])
    other = Game(moved, decks=[_moved_on(rules, cards, by)])
    rng = random.Random(seed)
    for _ in range(150):
        for seat in range(n):
            assert game.observation(seat).tolist() == other.observation((seat + by) % n).tolist()
        if game.player is None:
            break
        assert (game.player + by) % n == other.player
        action = choose(game, rng, 0.6)
        game.play(action)
        other.play(action)


def _moved_on(rules: Rules, cards: list[str], by: int) -> list[str]:
    """The deck that deals to seat `s + by` what `cards` deals to seat `s`."""
    n, t, size = rules.num_players, rules.table_cards, rules.table_cards + rules.hand_size
    face_down = [cards[t * seat : t * (seat + 1)] for seat in range(n)]
    rest = cards[t * n :]
    held = [rest[size * seat : size * (seat + 1)] for seat in range(n)]
    order = [(seat - by) % n for seat in range(n)]
    return [card for zone in (face_down, held) for seat in order for card in zone[seat]] + rest[size * n :]


def test_row_0_is_the_observer_and_row_k_the_kth_next_seat() -> None:
    game = table("g9 | g1 | r9", "r9 | g2 | b9", "b9 | g3 | b8", "b7 | g4 | g8", first_player=3)
    for seat in range(4):
        seen = decode(game, seat)
        kinds = [row.index(1) for row in seen["up"]]
        assert kinds == [(seat + distance) % 4 for distance in range(4)]
        assert seen["first_player"] == seen["to_play"] == (3 - seat) % 4
    assert len(seen["known"][0]) == NUM_KINDS
