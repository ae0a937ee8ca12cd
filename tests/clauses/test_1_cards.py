"""docs/rules.md section 1: cards."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from threeup_env import Game, InvalidRulesError, Rules
from threeup_env.cards import CARDS, CLEAR, COLORS, KINDS

from ..tables import play, table


def cards_of(rules: Rules) -> Counter[str]:
    return Counter({card: int(count) for card, count in zip(CARDS, rules.deck_counts, strict=True) if count})


def expected(numbers: dict[str, int], clears: dict[str, int]) -> Counter[str]:
    deck = Counter({color + kind: sets for color, sets in numbers.items() for kind in KINDS[:CLEAR]})
    return deck + Counter(clears)


def test_1_1_kinds_in_rising_order() -> None:
    assert KINDS == ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "C", "C+1", "C+2")
    assert COLORS == ("g", "r", "b")


def test_1_1_a_card_is_written_colour_then_kind() -> None:
    assert len(CARDS) == len(set(CARDS)) == 39
    assert {"g10", "rC", "gC+2", "bC+1"} <= set(CARDS)
    assert list(CARDS) == [color + kind for kind in KINDS for color in COLORS]


def test_1_1_clears_rank_above_every_number() -> None:
    game = table("g9 | g8 | g10", "r9 | r8 | rC")
    assert play(game, "play 10").legal_actions == ["play C"]


def test_1_2_standard_deck() -> None:
    rules = Rules.standard(2)
    assert rules.deck_size == 84
    assert rules.copies.tolist() == [7] * 10 + [7, 6, 1]
    clears = {"gC": 3, "rC": 2, "bC": 2, "gC+1": 2, "rC+1": 2, "bC+1": 2, "gC+2": 1}
    assert cards_of(rules) == expected({"g": 3, "r": 2, "b": 2}, clears)
    assert [cards_of(Rules(2, colors=[color])).total() for color in COLORS] == [36, 24, 24]


def test_1_3_gamerules_deck() -> None:
    rules = Rules(2, deck="gamerules")
    assert rules.deck_size == 74
    clears = {color + kind: 2 for color in COLORS for kind in ("C", "C+1")} | {"gC+2": 2}
    assert cards_of(rules) == expected({"g": 2, "r": 2, "b": 2}, clears)


def test_1_4_colors_leaves_colours_out_of_any_deck() -> None:
    for deck in ("standard", "gamerules"):
        assert Rules(2, deck=deck, colors=["r", "b"]).copies[-1] == 0, "without green there is no C+2"
    custom = {"g1": 6, "r2": 6, "b3": 3}
    rules = Rules(2, deck=custom, colors=["r", "g"], table_cards=1, hand_size=1)
    assert cards_of(rules) == {"g1": 6, "r2": 6}
    assert set(Game(rules, seed=1).rules.deck) == set(custom)


def test_1_4_a_custom_deck_may_hold_zero_of_a_card() -> None:
    rules = Rules(2, deck={"g1": 6, "r1": 0, "b10": 0}, table_cards=1, hand_size=1)
    assert cards_of(rules) == {"g1": 6}


def test_1_4_at_most_seven_of_one_kind() -> None:
    Rules(2, deck={"g1": 4, "r1": 3}, table_cards=1, hand_size=1)
    with pytest.raises(InvalidRulesError, match="at most 7 of one kind"):
        Rules(2, deck={"g1": 4, "r1": 4}, table_cards=1, hand_size=1)


def test_1_4_enough_cards_to_deal() -> None:
    Rules(3, deck={"g1": 7, "g2": 5}, table_cards=1, hand_size=2)
    with pytest.raises(InvalidRulesError, match="at least 12"):
        Rules(3, deck={"g1": 7, "g2": 4}, table_cards=1, hand_size=2)


@pytest.mark.parametrize("rules", [Rules.standard(3), Rules.gamerules(2), Rules.geeky(4)], ids=["3", "GR", "GH"])
def test_1_5_colour_never_affects_what_may_be_played(rules: Rules) -> None:
    rng = random.Random(5)
    for seed in range(5):
        deck = _shuffled(rules, rng)
        other = _repainted(deck, rng)
        one = Game(rules, seed=seed, decks=[deck], first_player=0)
        two = Game(rules, seed=seed, decks=[other], first_player=0)
        while one.player is not None:
            assert (one.player, one.legal_actions) == (two.player, two.legal_actions)
            action = rng.choice(one.legal_actions)
            play(one, action)
            play(two, action)
        assert one.outcome == two.outcome


def _shuffled(rules: Rules, rng: random.Random) -> list[str]:
    deck = list(cards_of(rules).elements())
    rng.shuffle(deck)
    return deck


def _repainted(deck: list[str], rng: random.Random) -> list[str]:
    """The same kinds in the same order, their colours dealt out anew among the cards of each kind."""
    colors: dict[str, list[str]] = {}
    for card in deck:
        colors.setdefault(card[1:], []).append(card[0])
    for held in colors.values():
        rng.shuffle(held)
    return [colors[card[1:]].pop() + card[1:] for card in deck]
