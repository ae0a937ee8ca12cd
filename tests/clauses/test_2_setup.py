"""docs/rules.md section 2: deal and set-up."""

from __future__ import annotations

import pytest

from threeup_env import Game, InvalidRulesError, Rules
from threeup_env.cards import CARDS

from ..tables import decode, down, draw_pile, hand, pile, play, table, up


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_2_1_seats_are_clockwise(players: int) -> None:
    game = table(*[f"g{9 - seat} | r{9 - seat} | b{seat + 1}" for seat in range(players)])
    for seat in range(players):
        assert game.player == seat
        play(game, f"play {seat + 1}")
    assert game.player == 0


@pytest.mark.parametrize("players", [0, 1, 7])
def test_2_1_two_to_six_players(players: int) -> None:
    with pytest.raises(InvalidRulesError, match="num_players"):
        Rules(players)


def test_2_1_the_deck_is_shuffled_uniformly() -> None:
    rules = Rules.mini(2)  # nine cards, each once
    deals = 1800
    seen = [[0] * 39 for _ in range(9)]
    for seed in range(deals):
        game = Game(rules, seed=seed)
        cards = game._deals[0].deck
        assert sorted(cards) == [card for card in range(39) if rules.deck_counts[card]]
        for place, card in enumerate(cards):
            seen[place][card] += 1
    for place in range(9):
        expected = deals / 9
        counts = [count for count in seen[place] if count]
        # 8 degrees of freedom: beyond 31 once in 7,500.
        assert len(counts) == 9
        assert sum((count - expected) ** 2 / expected for count in counts) < 31


def test_2_2_dealing_takes_cards_from_the_front() -> None:
    cards = list(CARDS[:26])
    rules = Rules(2, deck=dict.fromkeys(cards, 1))
    game = Game(rules, decks=[cards], first_player=0)
    assert [down(game, seat) for seat in (0, 1)] == [" ".join(cards[0:3]), " ".join(cards[3:6])]
    assert [hand(game, seat) for seat in (0, 1)] == [" ".join(cards[6:12]), " ".join(cards[12:18])]
    assert draw_pile(game) == " ".join(cards[18:])


def test_2_2_the_draw_pile_is_drawn_from_the_front() -> None:
    game = table("g9 | g8 | g1 g2", "r9 | r8 | r1 r2", draw="b7 b3 b5")
    play(game, "play 1")
    assert (hand(game, 0), draw_pile(game)) == ("g2 b7", "b3 b5")
    play(game, "play 2")
    assert (hand(game, 1), draw_pile(game)) == ("r1 b3", "b5")


def test_2_3_a_whole_player_at_a_time_clockwise_from_the_first() -> None:
    game = Game(Rules.standard(4), seed=3, first_player=2)
    for seat in (2, 3, 0, 1):
        for laid in range(3):
            assert game.player == seat
            kinds = sorted({CARDS.index(card) // 3 for card in hand(game, seat).split()})
            assert game.legal_indices() == [96 + kind for kind in kinds]
            assert len(hand(game, seat).split()) == 6 - laid
            play(game, game.legal_actions[-1])
        assert (len(up(game, seat).split()), len(hand(game, seat).split())) == (3, 3)
    assert game.player == 2


def test_2_3_choices_are_secret_until_the_last_player_has_chosen() -> None:
    game = table("g9 b9 | g8 b8 | g1 b1", "r9 b10 | r8 r7 | r1 r2", lay_up=False)
    play(game, "up 8", "up 1", "up 8")
    assert decode(game, 1)["up"][1] == [0] * 13
    assert decode(game, 1)["hand_size"] == [3, 2], "how many cards each hand still holds is seen"
    assert decode(game, 0)["up"][0] == [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert decode(game, 0)["up"][1] == [0] * 13
    play(game, "up 2")
    assert decode(game, 1)["up"] == [[0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]]


def test_2_3_nobody_sees_whether_an_up_or_its_color_is_chosen() -> None:
    game = table("g9 | g7 | r7", "r9 | r8 | r1", lay_up=False, color_swap=True)
    before = [game.observation(seat).tolist() for seat in (0, 1)]
    play(game, "up 7")
    assert game.legal_actions == ["color g", "color r"]
    assert game.observation(1).tolist() == before[1]
    assert game.observation(0).tolist() != before[0]


def test_2_4_the_first_player_is_a_seat() -> None:
    for seat in range(3):
        assert {Game(Rules(3, first_player=seat), seed=seed).player for seed in range(20)} == {seat}


def test_2_4_the_first_player_is_drawn_uniformly_by_the_seed() -> None:
    assert Rules().first_player == "random"
    counts = [0, 0, 0]
    for seed in range(900):
        counts[Game(Rules.mini(3), seed=seed).player] += 1
    # 2 degrees of freedom: beyond 18 once in 8,000.
    assert sum((count - 300) ** 2 / 300 for count in counts) < 18
    assert Game(Rules(5), seed=7).player == Game(Rules(5), seed=7).player


def test_2_4_with_rounds_it_is_that_of_the_first_deal() -> None:
    game = Game(Rules.match(3, first_player=2, max_decisions=12), seed=1)
    for first in (2, 0, 1):
        assert game.player == first
        deal = game.deal
        while game.player is not None and game.deal == deal:
            play(game, game.legal_actions[0])
    assert game.outcome is not None


def test_2_5_options_come_after_the_reveal_then_the_first_player_begins() -> None:
    game = table("g9 | g8 | g1", "r9 | r7 | r2", first_player=1, sabotage=True, pile_swaps=[(0, 1)])
    assert (up(game, 0), up(game, 1)) == ("r7", "g8")
    assert (game.player, game.legal_actions) == (1, ["pass", "target 1"])
    play(game, "pass", "pass")
    assert (game.player, game.legal_actions) == (1, ["play 2"])


def test_2_5_the_discard_pile_starts_empty() -> None:
    game = table("g9 | g8 | g1", "r9 | r8 | r2")
    assert pile(game) == ""
    assert decode(game, 1)["top"] is None
