"""The game with chance in the open: the same game as `Game`, and words that tell a seat all it has seen and no more."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from threeup_env import Game, Rules
from threeup_env.actions import ACTION_INDEX, DRAW
from threeup_env.cards import CARDS
from threeup_env.core import chance
from threeup_env.core.state import NO_CARD
from threeup_env.lazy import CHANCE, OVER, LazyGame

from .strategies import rules_strategy

TINY = {"num_players": 2, "table_cards": 1, "hand_size": 1}


def counted(cards: str) -> Counter[str]:
    """A deck of written cards."""
    return Counter(cards.split())


def pick(game: LazyGame, rng: random.Random, greed: float = 0.5) -> int:
    """An outcome by its probability, or an action, with probability `greed` one that hurries the game on."""
    if game.player == CHANCE:
        outcomes, weights = zip(*game.chance_outcomes(), strict=True)
        return int(rng.choices(outcomes, weights)[0])
    legal = game.legal_actions()
    return min(legal) if rng.random() < greed and min(legal) < DRAW else rng.choice(legal)


def steps(rules: Rules, seed: int) -> Iterator[tuple[LazyGame, list[int]]]:
    """A game played at random: the game and its moves so far, before each move and at the end."""
    rng = random.Random(seed)
    greed = rng.choice([0.0, 0.5, 0.9])
    game = LazyGame(rules)
    moves: list[int] = []
    while True:
        yield game, moves
        if game.player == OVER:
            return
        move = pick(game, rng, greed)
        game.apply(move)
        moves.append(move)


class Dealer:
    """Keeps what chance decides, and makes of it the decks, first player and swaps that `Game` can be given."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.first_player: int | None = None
        self.deals: list[tuple[dict[int, int], list[tuple[int, int]]]] = []

    def note(self, game: LazyGame, outcome: int) -> None:
        """Take in what chance is about to decide."""
        deal = int(game.state["deal"])
        if deal == len(self.deals):
            self.deals.append(({}, []))
        at, swaps = self.deals[deal]
        if game.place == chance.FIRST_PLAYER:
            self.first_player = outcome
        elif game.place < chance.DOWN:
            swaps.append(tuple(map(int, game.outcome_name(outcome).split()[1:])))  # type: ignore[arg-type]
        elif game.place >= chance.DECK:
            at[game.place - chance.DECK] = outcome
        else:
            seat, slot = divmod(game.place - chance.DOWN, 3)
            if game.state["revealed"]:
                for one, other in reversed(swaps):
                    seat = {one: other, other: one}.get(seat, seat)
            at[seat * self.rules.table_cards + slot] = outcome

    def decks(self, game: LazyGame) -> list[list[str]]:
        """A deck for each deal: what was not decided lies where there is room."""
        decks = []
        for at, _ in self.deals:
            left = Counter(dict(enumerate(self.rules.deck_counts.tolist())))
            deck: list[int | None] = [None] * self.rules.deck_size
            for position, outcome in at.items():
                alike = [card for card in sorted(left) if game.outcome_of(card) == outcome and left[card]]
                deck[position] = alike[0]
                left[alike[0]] -= 1
            rest = left.elements()
            decks.append([CARDS[next(rest) if card is None else card] for card in deck])
        return decks

    def swaps(self) -> list[list[tuple[int, int]]]:
        """The swaps of each deal; any where a deal ended before the reveal."""
        return [
            swaps if len(swaps) == self.rules.pile_swaps else [(0, 1)] * self.rules.pile_swaps
            for _, swaps in self.deals
        ]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(rules_strategy(), st.integers(0, 2**32))
def test_plays_the_same_as_game(rules: Rules, seed: int) -> None:
    rng = random.Random(seed)
    greed = rng.choice([0.0, 0.5, 0.9])
    lazy, dealer, log = LazyGame(rules), Dealer(rules), []
    while lazy.player != OVER:
        move = pick(lazy, rng, greed)
        if lazy.player == CHANCE:
            dealer.note(lazy, move)
        else:
            looks = [lazy.observation(seat) for seat in range(rules.num_players)]
            log.append((lazy.player, lazy.legal_actions(), looks, move))
        lazy.apply(move)
    assert len(lazy.rewards()) == rules.num_players
    game = Game(rules, 0, dealer.decks(lazy), dealer.first_player, dealer.swaps())
    for player, legal, looks, move in log:
        assert (game.player, game.legal_indices()) == (player, legal)
        for seat, look in enumerate(looks):
            np.testing.assert_array_equal(game.observation(seat), look)
        game.play(move)
    assert game.outcome is not None
    assert list(game.outcome.rewards) == lazy.rewards()
    assert list(game.outcome.scores) == lazy.state["total"][: rules.num_players].tolist()
    assert [place or 0 for place in game.outcome.places] == lazy.state["place"][: rules.num_players].tolist()


@pytest.mark.parametrize(
    "rules", [Rules.standard(2), Rules.geeky(4), Rules.house(3), Rules.match(2, score_table_cards=True)]
)
def test_every_card_is_somewhere(rules: Rules) -> None:
    for game, _ in steps(rules, 3):
        if game.player == CHANCE:
            total = sum(probability for _, probability in game.chance_outcomes())
            assert total == pytest.approx(1)
            continue
        state = game.state
        face_down = (state["down"][: rules.num_players, : rules.table_cards] != NO_CARD) & (state["down_seen"] == 0)[
            : rules.num_players, : rules.table_cards
        ]
        if game.player != OVER:
            assert sum(game.unseen) == state["deck_size"] - state["drawn"] + face_down.sum()


@pytest.mark.parametrize(
    "switches",
    [
        {"max_decisions": 6},
        {"max_decisions": 7, "failed_flip": "stay", "first_player": 1},
        {"max_decisions": 7, "pile_swaps": 1},
        {"max_decisions": 5, "must_play": False, "score_table_cards": True},
    ],
)
def test_chance_is_that_of_a_shuffled_deck(switches: dict[str, Any]) -> None:
    """The value of the game for players who draw their actions uniformly, over all shuffles and over all chance."""
    cards = ["g1", "g1", "g2", "g2", "gC", "g3", "g3"]
    rules = Rules(**TINY, deck=Counter(cards), **{"first_player": 0} | switches)

    def lazily(game: LazyGame) -> float:
        if game.player == OVER:
            return game.rewards()[0]
        outcomes = (
            game.chance_outcomes()
            if game.player == CHANCE
            else [(move, 1 / len(game.legal_actions())) for move in game.legal_actions()]
        )
        value = 0.0
        for move, probability in outcomes:
            child = copy.deepcopy(game)
            child.apply(move)
            value += probability * lazily(child)
        return value

    def shuffled(game: Game) -> float:
        if game.player is None:
            return float(game.rewards()[0])
        children = []
        for move in game.legal_indices():
            child = game.copy()
            child.play(move)
            children.append(shuffled(child))
        return sum(children) / len(children)

    swaps = [[(0, 1)]] if rules.pile_swaps else None
    values = [shuffled(Game(rules, 0, [deck], pile_swaps=swaps)) for deck in set(permutations(cards))]
    assert lazily(LazyGame(rules)) == pytest.approx(sum(values) / len(values), abs=1e-12)
    assert abs(sum(values)) > 1, "the first player has some advantage"


def test_every_seat_may_begin() -> None:
    game = LazyGame(Rules.standard(4))
    assert game.chance_outcomes() == [(seat, 0.25) for seat in range(4)]
    game.apply(2)
    assert game.state["first_player"] == 2
    assert LazyGame(Rules.standard(4, first_player=1)).place >= chance.DECK


def test_chances_are_those_of_the_cards_left() -> None:
    game = LazyGame(Rules.mini(2, first_player=0))
    assert game.chance_outcomes() == [(0, 3 / 9), (1, 2 / 9), (2, 2 / 9), (10, 2 / 9)]
    game.apply(1)
    assert game.chance_outcomes() == [(0, 3 / 8), (1, 1 / 8), (2, 2 / 8), (10, 2 / 8)]
    game.apply(1)
    assert game.chance_outcomes() == [(0, 3 / 7), (2, 2 / 7), (10, 2 / 7)]


def dealt(rules: Rules, *outcomes: int) -> LazyGame:
    """A game in which chance decides these outcomes and players the actions, in this order."""
    game = LazyGame(rules)
    for outcome in outcomes:
        game.apply(outcome)
    return game


def test_a_seat_does_not_learn_what_others_hold() -> None:
    rules = Rules.standard(2, first_player=0)
    one = dealt(rules, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
    other = dealt(rules, 0, 1, 2, 3, 4, 5, 0, 0, 0, 1, 1, 1)
    assert one.information(0) == other.information(0) == "seat 0 | deal 0, first player 0 | hand 1 2 3 4 5 6"
    assert one.information(1) != other.information(1)


def test_the_order_of_the_cards_dealt_is_nothing_to_know() -> None:
    rules = Rules.standard(2, first_player=0)
    assert dealt(rules, *range(12)).information(1) == dealt(rules, *range(6), *range(11, 5, -1)).information(1)


def test_information_tells_the_game() -> None:
    rules = Rules.mini(2, first_player=0)
    moves: list[int] = [0, 1, 10, 0]
    moves += [ACTION_INDEX["up 1"], ACTION_INDEX["up C"], ACTION_INDEX["play 2"], 2, ACTION_INDEX["take"]]
    game = dealt(rules, *moves)
    assert game.information(0) == (
        "seat 0 | deal 0, first player 0 | hand 1 2 | 0 up 1 | 1 up | shown after 2 decisions 0: 1, 1: C"
        " | 0 play 2 | draws 3 | 1 take"
    )
    assert game.information(1) == (
        "seat 1 | deal 0, first player 0 | hand 1 C | 0 up | 1 up C | shown after 2 decisions 0: 1, 1: C"
        " | 0 play 2 | 1 take"
    )


def test_a_card_turned_in_vain_is_seen_by_its_owner() -> None:
    rules = Rules(**TINY, deck={"g1": 3, "g2": 2, "g3": 2}, first_player=0)
    for seed in range(200):
        *_, (game, _) = steps(rules, seed)
        for actor, other in ((0, 1), (1, 0)):
            event = f" | {actor} flip 0 fails"
            if event in game.information(other):
                assert f"{event} | it was " in game.information(actor)
                assert f"{event} | it was " not in game.information(other)
                return
    raise AssertionError("no such game")


HISTORIES = [
    Rules(**TINY, deck=counted("g1 g1 g1 g2 g2 gC g3 g3"), failed_flip="stay", max_decisions=40),
    Rules(**TINY, deck=counted("g1 r1 b1 g2 r2 gC g3 r3 gC+1"), color_swap=True, must_play=False),
    Rules(**TINY, deck=counted("g1 r1 g2 r2 gC+2 g3 gC+1 rC+1"), sabotage=True, pile_swaps=1),
    Rules(2, table_cards=2, hand_size=2, deck=counted("g1 r1 g2 r2 b2 g3 r3 b3 gC rC g4 r4"), color_swap=True),
    Rules(3, table_cards=1, hand_size=1, deck=counted("g1 g1 g1 g2 g2 g3 gC gC+1 g3"), rounds=2),
]


@pytest.mark.parametrize("rules", HISTORIES)
def test_information_is_what_a_seat_has_seen_and_done(rules: Rules) -> None:
    """Equal words if and only if all observations so far were the same; own actions show in them.

    Words tell more where a deal ends: the last card and the points, which no observation has.
    """
    seen_by_words: list[dict[str, Any]] = [{} for _ in range(rules.num_players)]
    words_by_seen: list[dict[Any, str]] = [{} for _ in range(rules.num_players)]
    meetings = 0
    for seed in range(400):
        seen: list[tuple[Any, ...]] = [() for _ in range(rules.num_players)]
        for game, moves in steps(rules, seed):
            if len(moves) > 40:
                break
            if game.player == CHANCE:
                continue
            for seat in range(rules.num_players):
                # In set-up others may decide without any sign of it (2.3): what looks the same is one look.
                look = game.observation(seat).tobytes()
                if not seen[seat] or seen[seat][-1] != look:
                    seen[seat] += (look,)
                words = game.information(seat)
                meetings += words in seen_by_words[seat]
                assert seen_by_words[seat].setdefault(words, seen[seat]) == seen[seat]
                if game.player != OVER and game.state["deal"] == 0:
                    assert words_by_seen[seat].setdefault(seen[seat], words) == words
    assert meetings > 500
